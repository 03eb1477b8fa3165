import Logging
import RunnelApp
import RunnelClient
import RunnelNetwork
import RunnelPostgres
import RunnelServer
import RunnelSync

/// A namespace of a store, as a workspace of this process reads and writes it: without any server but
/// the one inside this process.
///
/// That server takes part in the store as all others do, with a lease and the feed, so that the workspace is
/// live and its writes are in the one order. It serves this namespace alone, on a Unix socket in a folder
/// that only the user may open, and takes whoever knows its secret for an administrator.
///
/// ```
///   new --start--> serving --stop--> ended
/// ```
final class StoreGate {
  /// How long answers under way are waited for at the end.
  private static let stopDuration = Duration.seconds(2)

  /// What the workspace needs to show the namespace.
  let wish: OriginWish
  private let configuration: ServerConfiguration
  private let scratch: ScratchDatabase
  private var server: DatabaseServer?

  /// Looks up a namespace of a store.
  ///
  /// - Throws: `Failure` if there is no such namespace here, `PostgresError` if the store cannot be used.
  init(_ namespace: String, ofStore name: String) throws {
    let place = try StoreOption.place(named: name)
    let store = try PostgresStore(place)
    defer { store.close() }
    let found = try RulesOfStoreCommand.namespace(named: namespace, of: store)
    if found.state == .moved {
      throw Failure(
        "\(namespace) was moved to \(try store.newPlace(of: found).words): name that one with --store."
      )
    }
    guard DatabaseNames.isValid(namespace) else {
      throw Failure(
        "\(namespace) cannot be opened: names of served namespaces have small letters, digits and "
          + "hyphens.", status: .usage)
    }
    let address = try OriginAddress("http://\(StoreGate.host(of: name))/?ns=\(namespace)")
    scratch = try ScratchDatabase(named: "socket")
    let secret = ServerSecrets.newText()
    var storeConfiguration = StoreConfiguration(name: name, connection: place.text)
    storeConfiguration.namespace = namespace
    var configuration = ServerConfiguration(.store(storeConfiguration))
    (configuration.listen, configuration.socketFile) = ([], scratch.file)
    (configuration.ownSecret, configuration.logsRequests) = (secret, false)
    configuration.stopDuration = StoreGate.stopDuration
    self.configuration = configuration
    var options = OriginOptions(environment: [:])
    options.socketFile = scratch.file
    options.userAgent = OriginArguments.userAgent
    wish = OriginWish(address, as: .token(secret), options)
  }

  /// The host that stands for a store in the address of a replica: different for each name.
  ///
  /// Hosts are written in small letters.
  private static func host(of store: String) -> String {
    var host = ""
    for scalar in store.unicodeScalars {
      if scalar == "_" { host += "_" }
      if ("A"..."Z").contains(scalar) { host += "_" }
      host.unicodeScalars.append(scalar)
    }
    return host.lowercased() + ".store.localhost"
  }

  /// Begins to serve.
  ///
  /// - Throws: `Failure`, `PostgresError` or `DatabaseError` that says why it cannot.
  func start() throws {
    do {
      // What is logged goes where the workspace's log goes, as the screen is not to be written on.
      let server = try DatabaseServer(
        configuration, lines: LogLines { _ in }, logger: Logger(label: "runnel.store"))
      self.server = server
      _ = try AsyncWork.wait { try await server.start() }
    } catch let error as ServerError {
      throw Failure(error.message)
    } catch let error as NetworkError {
      throw Failure(error.message)
    }
  }

  /// Ends the server and its lease, and removes the socket.
  func stop() {
    if let server {
      self.server = nil
      // Nobody waits for more than the end.
      try? AsyncWork.wait { await server.stop() }
    }
    scratch.remove()
  }
}
