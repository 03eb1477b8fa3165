import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel set`: replaces what stands at a place by a value.
struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Replace everything at a place by a value.",
    discussion: """
      null removes what stands there. {".sv": "timestamp"} becomes the time of the write. The \
      database is made if it does not exist.

      Examples:
        runnel set /users/ana '{"name": "Ana", "since": {".sv": "timestamp"}}'
        runnel set /users/ana/name '"Ana"'
        runnel set /temperature -- -5
      """)

  @Argument(help: Place.requiredHelp, transform: Place.path) var path: Path
  @OptionGroup var data: DataArgument
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    let json = try data.json()
    try database.open(for: .create) { _ = try $0.write(.set(path, json)) }
  }
}
