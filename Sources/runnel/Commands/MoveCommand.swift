import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel move`: takes what stands at one place to another.
struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move everything at a place to another place.",
    discussion: """
      What stood at the new place is replaced. All of it happens at once: nobody sees the tree with \
      both, or with none.

      Example:
        runnel move /users/ana /users/anna
      """)

  @Argument(help: "The place to empty, such as /users/ana.", transform: Place.path) var from: Path
  @Argument(help: "The place that is replaced.", transform: Place.path) var to: Path
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    try database.open(for: .change) { _ = try $0.write(.move(from: from, to: to)) }
  }
}
