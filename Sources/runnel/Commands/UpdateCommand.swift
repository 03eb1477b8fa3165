import ArgumentParser
import RunnelBase
import RunnelDatabase
import RunnelTree

/// `runnel update`: replaces several values below a place at once.
struct UpdateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Replace some values below a place and keep the others.",
    discussion: """
      The value is an object whose names are paths below the place. All of them are written, or \
      none. The database is made if it does not exist.

      Example:
        runnel update / '{"users/ana/team": "blue", "teams/blue/ana": true}'
      """)

  @Argument(help: Place.requiredHelp, transform: Place.path) var path: Path
  @OptionGroup var data: DataArgument
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    guard case .object(let members) = try data.json() else {
      throw Failure(
        "An update is an object that names what to replace: '{\"name\": \"Ana\"}'. "
          + "To replace the whole, use `runnel set`.")
    }
    try database.open(for: .create) { _ = try $0.write(.update(path, members)) }
  }
}
