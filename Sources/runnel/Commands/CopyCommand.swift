import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel copy`: puts a copy of what stands at one place at another.
struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copy everything at a place to another place.",
    discussion: """
      The copy replaces what stands at its place, and keeps priorities. It may lie above or below \
      what is copied.

      Example:
        runnel copy /users/ana /backup/ana
      """)

  @Argument(help: "The place to copy, such as /users/ana.", transform: Place.path) var from: Path
  @Argument(help: "The place that the copy replaces.", transform: Place.path) var to: Path
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    try database.open(for: .change) { _ = try $0.write(.copy(from: from, to: to)) }
  }
}
