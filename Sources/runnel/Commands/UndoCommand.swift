import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel undo`: puts back what stood before a write.
struct UndoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Put back what stood before a write.",
    discussion: """
      Takes the number that `runnel history` prints; without one, the newest write of all is undone. \
      It is refused if one of its places was written since. An undoing is a write too, and can be \
      undone.

      Example:
        runnel undo 42
      """)

  @Argument(help: "The number of the write.") var write: Int64?
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    try database.open(for: .change) { session in
      guard let id = try write ?? session.history(count: 1).first?.id else {
        throw Failure("There is nothing to undo: no write is remembered.")
      }
      _ = try session.undo(id)
    }
  }
}
