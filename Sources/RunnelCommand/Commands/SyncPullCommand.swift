import ArgumentParser
import Foundation
import RunnelSync
import RunnelTree

/// `runnel sync pull`: downloads a place of a server's database into a file.
struct SyncPullCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pull",
    abstract: "Download a place of a server's database into a database file.",
    discussion: """
      The file is made if it does not exist. The download is atomic: if the connection is lost, the file stays \
      unchanged. If the place in the file is not empty, you are asked at a terminal, and --force is needed \
      without one. `runnel undo` brings back the data that were replaced.

      Examples:
        runnel sync pull prod:/users chat.db
        runnel sync pull prod all.db
        runnel sync pull 'https://chat.example.com/users?ns=main' chat.db:/copy/users --force
      """)

  @Argument(
    help: "The place on the server, such as prod:/users, or an address with the place as its path.",
    transform: SyncPullCommand.source)
  var from: DataPlace
  @Argument(
    help: "The database file, maybe with a place in it: chat.db or chat.db:/users.",
    completion: .file())
  var file: String
  @Flag(name: [.short, .long], help: "Replace data in the file without asking.") var force = false
  @OptionGroup var origin: OriginArguments

  func run() throws {
    let target = try SyncPullCommand.place(file)
    let source = DatabaseOptions(database: from.database, origin)
    guard let choice = try source.originChoice() else {
      throw Failure(
        "The place names no server's database\(from.database.map(OriginChoice.question) ?? ""): write prod:/users, "
          + "or https://HOST/users?ns=NAME.",
        status: .usage)
    }
    let options = DatabaseOptions(database: target.database, origin)
    if let other = try options.originChoice() {
      throw Failure(
        "\(other.name) is a server's database, but pull writes to a file. Use `runnel copy` to copy to a server.",
        status: .usage)
    }
    // The default is the same place as on the server.
    let place = try target.place ?? choice.address.place.appending(from.path)
    try DataCopy(source, from.path, options, place, access: .create, isForced: force).run()
  }

  /// Reads the place on the server; the name of a profile alone, `prod` or `prod:`, is its root.
  ///
  /// - Throws: `ValidationError` that describes the mistake.
  private static func source(_ text: String) throws -> DataPlace {
    let isName = !OriginAddress.isMeant(by: text) && !text.isEmpty && !text.contains("/")
    return isName ? DataPlace(.root, in: text) : try PlaceArgument.place(text)
  }

  /// Reads `FILE` or `FILE:/PLACE`.
  private static func place(_ text: String) throws -> (database: String, place: Path?) {
    // An address is refused later, by an error that does not repeat it.
    if OriginAddress.isMeant(by: text) { return (text, nil) }
    if let colon = text.range(of: ":/", options: .backwards)?.lowerBound, colon > text.startIndex {
      let path = try PlaceArgument.target(String(text[text.index(after: colon)...]))
      return (try DatabaseOptions.fileName(String(text[..<colon])), path)
    }
    return (try DatabaseOptions.fileName(text), nil)
  }
}
