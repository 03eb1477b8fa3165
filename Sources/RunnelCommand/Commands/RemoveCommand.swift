import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel remove`: removes the subtree at a place.
struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove everything at a place.",
    discussion: """
      Asks first if standard input is a terminal. If it is not, the root, and what is too large to be \
      brought back by `runnel undo` (more than 64 KiB, also on a server), are removed with --force only. It is \
      not an error if nothing is there.

      Example:
        runnel remove /users/ana
      """)

  @Argument(help: PlaceArgument.requiredHelpWithData, transform: PlaceArgument.placeToWrite)
  var place: DataPlace
  @Flag(name: [.short, .long], help: "Do not ask.") var force = false
  @OptionGroup var database: DatabaseOptions

  private var path: Path { place.path }

  func run() throws {
    if let remote = try database.of(place).remote(for: .change) {
      if StandardInput.isTerminal || remote.isRoot(place) || remote.choice.confirms {
        try remote.requireConsent(isGiven: force, toRemove: path)
      } else {
        try remote.requireConsent(isGiven: force, toRemoveLarge: path)
      }
      return try remote.write(.remove(path))
    }
    try database.of(place).open(for: .change) { session in
      if try session.summary(at: path).kind == .empty {
        if try !session.mayHoldMore(at: path) {
          return StandardError.say("There is nothing at \(path).")
        }
        // The copy of a server's database: what the server has there goes when the write is sent.
        try Consent(isGiven: force).require(
          "Remove what the server has at \(path)? It is not known here.",
          because: "What the server has at \(path) is not known here.")
      } else {
        try consent(session)
      }
      _ = try session.write(.remove(path))
    }
  }

  private func consent(_ session: DatabaseSession) throws {
    if force { return }
    let standing = try Standing(at: path, in: session)
    if !StandardInput.isTerminal, !path.isRoot, !standing.isLostForGood { return }
    try Consent(isGiven: false).require(
      "Remove \(standing.words)? \(standing.undoWords)",
      because: "This would remove \(standing.words). \(standing.undoWords)")
  }
}
