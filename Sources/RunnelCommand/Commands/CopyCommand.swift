import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel copy`: copies the subtree at one place to another place.
struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copy everything at a place to another place, also of another database.",
    discussion: """
      The copy keeps priorities. It may lie above or below what is copied. If something stands at its \
      place, which the copy would replace, you are asked at a terminal, and --force is needed without \
      one.

      A place without the name of a database is in the database of --database, or else in that of the other \
      place. A large copy to a server is written in batches, so it is not atomic. What others write there meanwhile is \
      not replaced without --force: the copy stops at the first such place.

      Examples:
        runnel copy /users/ana /backup/ana
        runnel copy prod:/users chat.db:/users
      """)

  @Argument(
    help: "The place to copy, such as /users/ana or prod:/users.", transform: PlaceArgument.place)
  var from: DataPlace
  @Argument(help: "The place that the copy replaces.", transform: PlaceArgument.placeToWrite)
  var to: DataPlace
  @Flag(
    name: [.short, .long],
    help: ArgumentHelp(
      "Replace what stands there without asking, also what others write into a server's database meanwhile."
    ))
  var force = false
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    let source = database.for(from, beside: to)
    let target = database.for(to, beside: from)
    // A mistake in the name of the source is reported before the target is looked at.
    if try source.originChoice() == nil, source.database == target.database {
      return try copy(within: source)
    }
    try DataCopy(source, from.path, target, to.path, access: .change, isForced: force).run()
  }

  private func copy(within options: DatabaseOptions) throws {
    try options.open(for: .change) { session in
      // If the copy is impossible, no consent is needed, and the write reports the error.
      if from.path != to.path, try session.summary(at: from.path).kind != .empty {
        try Consent(isGiven: force).requireToReplace(to.path, in: session)
      }
      _ = try session.write(.copy(from: from.path, to: to.path))
    }
  }
}
