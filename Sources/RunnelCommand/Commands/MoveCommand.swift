import ArgumentParser
import RunnelDatabase
import RunnelSync
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

      A move is within one file. Where a server's database takes part, or two files do, `runnel copy` and \
      then `runnel remove` do it in two steps.

      Example:
        runnel move /users/ana /users/anna
      """)

  @Argument(help: "The place to empty, such as /users/ana.", transform: PlaceArgument.placeToWrite)
  var from: DataPlace
  @Argument(help: "The place that is replaced.", transform: PlaceArgument.placeToWrite)
  var to: DataPlace
  @Flag(name: [.short, .long], help: "Replace what stands there without asking.") var force = false
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    let source = database.for(from, beside: to)
    let target = database.for(to, beside: from)
    // An address may hold a secret, so that it is not repeated.
    if let origin = try source.originChoice() ?? target.originChoice(), !origin.address.hasServices
    {
      throw Failure(
        "`runnel move` works on files only, and \(origin.name) is a server's database. Nothing was changed: "
          + "`runnel copy`, and then `runnel remove`, do it in two steps.", status: .usage)
    }
    guard source.database == target.database else {
      _ = (try source.file(for: .change), try target.file(for: .change))
      throw Failure(
        "`runnel move` works within one file only. Nothing was changed: `runnel copy`, and then `runnel remove`, "
          + "do it in two steps.", status: .usage)
    }
    try move(from.path, to.path, in: source)
  }

  private func move(_ from: Path, _ to: Path, in options: DatabaseOptions) throws {
    try options.open(for: .change) { session in
      // If the move is impossible, no consent is needed, and the write reports the error.
      if !from.contains(to), try session.summary(at: from).kind != .empty {
        try Consent(isGiven: force).requireToReplace(to, in: session)
      }
      _ = try session.write(.move(from: from, to: to))
    }
  }
}
