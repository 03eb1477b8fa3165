import ArgumentParser
import Foundation
import RunnelApp
import RunnelPostgres

/// The store that the command line names.
struct StoreOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The store: a name under `stores` in the configuration, or a service of libpq.",
      valueName: "name"))
  var store = "main"

  /// Opens the store.
  ///
  /// - Throws: `Failure` of usage if the name is none, `PostgresError` if there is no connection.
  func opened() throws -> PostgresStore { try PostgresStore(try StoreOption.place(named: store)) }

  /// The place of a store.
  ///
  /// - Throws: `Failure` of usage if the text is no name: it may hold a password, which everybody on the
  ///   machine could read.
  static func place(named name: String) throws -> PostgresPlace {
    guard PostgresPlace.isName(name) else {
      throw Failure(
        "--store takes a name, and no connection string, because others can read the command line: write "
          + "it under `stores` in the configuration file (`runnel config path`), or in pg_service.conf.",
        status: .usage)
    }
    return configured(name) ?? PostgresPlace(service: name)
  }

  /// The place of a store as the configuration has it; nil if its name does not stand there.
  static func configured(_ name: String) -> PostgresPlace? {
    let path = ConfigurationFile.path(environment: ProcessInfo.processInfo.environment)
    let stores = path.map { ConfigurationFile(file: $0).stores } ?? [:]
    return stores[name].map { PostgresPlace($0) }
  }
}
