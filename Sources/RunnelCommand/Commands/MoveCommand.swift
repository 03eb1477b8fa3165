import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel move`: moves the subtree at one place to another place.
struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move everything at a place to another place.",
    discussion: """
      All of it happens at once: nobody sees the tree with both, or with none. If something stands at \
      the new place, which would be replaced, you are asked at a terminal, and --force is needed \
      without one.

      Example:
        runnel move /users/ana /users/anna
      """)

  @Argument(help: "The place to empty, such as /users/ana.", transform: PlaceArgument.target)
  var from: Path
  @Argument(help: "The place that is replaced.", transform: PlaceArgument.target) var to: Path
  @Flag(name: [.short, .long], help: "Replace what stands there without asking.") var force = false
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    try database.open(for: .change) { session in
      // If the move is impossible, no consent is needed, and the write reports the error.
      if !from.contains(to), try session.summary(at: from).kind != .empty {
        try Consent(isGiven: force).requireToReplace(to, in: session)
      }
      _ = try session.write(.move(from: from, to: to))
    }
  }
}
