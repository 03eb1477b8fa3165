import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel copy`: copies the subtree at one place to another place.
struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copy everything at a place to another place.",
    discussion: """
      The copy keeps priorities. It may lie above or below what is copied. If something stands at its \
      place, which the copy would replace, you are asked at a terminal, and --force is needed without \
      one.

      Example:
        runnel copy /users/ana /backup/ana
      """)

  @Argument(help: "The place to copy, such as /users/ana.", transform: PlaceArgument.path) var from:
    Path
  @Argument(help: "The place that the copy replaces.", transform: PlaceArgument.target) var to: Path
  @Flag(name: [.short, .long], help: "Replace what stands there without asking.") var force = false
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    try database.open(for: .change) { session in
      // If the copy is impossible, no consent is needed, and the write reports the error.
      if from != to, try session.summary(at: from).kind != .empty {
        try Consent(isGiven: force).requireToReplace(to, in: session)
      }
      _ = try session.write(.copy(from: from, to: to))
    }
  }
}
