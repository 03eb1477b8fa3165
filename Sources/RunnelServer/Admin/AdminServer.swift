import Logging
import RunnelNetwork

/// Where administrators of the machine ask a server: a Unix socket beside the database, and an address if
/// one is wanted.
///
/// ```
///   new --start--> listening --stop--> ended
/// ```
final class AdminServer: Sendable {
  private static let connectionsMax = 1000

  private let file: String
  private let fileServer: NetworkServer
  private let addressServer: NetworkServer?
  private let logger: Logger

  /// Makes a server that does not listen yet.
  ///
  /// - Throws: `NetworkError` or `ServerError` if the address is none for this machine only.
  init(_ configuration: ServerConfiguration, _ service: AdminService, _ logger: Logger) throws {
    self.logger = logger
    file = AdminSocket.path(of: configuration.databases)
    var limits = NetworkLimits()
    limits.connectionsMax = AdminServer.connectionsMax
    fileServer = try NetworkServer(
      [], socketFile: file, tls: nil, limits: limits, threadCount: 1, service: service)
    guard let text = configuration.adminAddress else {
      addressServer = nil
      return
    }
    let addresses = try NetworkAddress.resolve(
      text, defaultPort: ServerConfiguration.defaultAdminPort)
    if let open = addresses.first(where: { !$0.isLoopback }) {
      throw ServerError(
        "Others than this machine could administer the server at \(open): "
          + "give --admin localhost:PORT, or use the socket \(file).", isUsage: true)
    }
    addressServer = try NetworkServer(
      addresses, tls: nil, limits: limits, threadCount: 1, service: service)
  }

  /// Listens; a socket that cannot be made is told to the log, and the server goes on without.
  ///
  /// - Returns: where.
  /// - Throws: `NetworkError` if nobody can listen on the address.
  func start() async throws -> [String] {
    var places: [String] = []
    do {
      _ = try await fileServer.start()
      places.append(file)
    } catch {
      logger.warning("There is no socket for administrators: \(error)")
    }
    if let addressServer {
      places += try await addressServer.start().bound.map { "http://\($0)" }
    }
    return places
  }

  /// Takes no more connections, and closes those that there are.
  func stop() async {
    await addressServer?.end()
    await fileServer.end()
  }
}
