import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel remove`: removes the subtree at a place.
struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove everything at a place.",
    discussion: """
      Asks first if standard input is a terminal. Where it is none, the root is removed with --force \
      only. It is no mistake if nothing stands there.

      Example:
        runnel remove /users/ana
      """)

  @Argument(help: PlaceArgument.requiredHelp, transform: PlaceArgument.target) var path: Path
  @Flag(name: [.short, .long], help: "Do not ask.") var force = false
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    if let remote = try database.remote() {
      if StandardInput.isTerminal || path.isRoot {
        try remote.requireConsent(isGiven: force, toRemove: path)
      }
      return try remote.write(.remove(path))
    }
    try database.open(for: .change) { session in
      try consent(session)
      _ = try session.write(.remove(path))
    }
  }

  private func consent(_ session: DatabaseSession) throws {
    if force || (!StandardInput.isTerminal && !path.isRoot) { return }
    if try session.summary(at: path).kind == .empty { return }
    let standing = try Standing(at: path, in: session)
    try Consent(isGiven: false).require(
      "Remove \(standing.words)? \(standing.undoWords)",
      because: "This would remove \(standing.words).")
  }
}
