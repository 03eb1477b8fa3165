import Logging
import RunnelNetwork

/// The listeners for administrators of the machine: a Unix socket beside the database, if that is a
/// file, and an optional address.
///
/// ```
///   new --start--> listening --stop--> ended
/// ```
final class AdminServer: Sendable {
  private static let connectionsMax = 1000

  private let file: String?
  private let fileServer: NetworkServer?
  private let addressServer: NetworkServer?
  private let logger: Logger

  /// Makes a server that does not listen yet.
  ///
  /// - Throws: `NetworkError` or `ServerError` if the address is invalid or not loopback.
  init(_ configuration: ServerConfiguration, _ service: AdminService, _ logger: Logger) throws {
    self.logger = logger
    file = AdminSocket.path(of: configuration.databases)
    var limits = NetworkLimits()
    limits.connectionsMax = AdminServer.connectionsMax
    fileServer = try file.map { [limits] file in
      try NetworkServer(
        [], socketFile: file, tls: nil, limits: limits, threadCount: 1, service: service)
    }
    guard let text = configuration.adminAddress else {
      addressServer = nil
      return
    }
    let addresses = try NetworkAddress.resolve(
      text, defaultPort: ServerConfiguration.defaultAdminPort)
    if let open = addresses.first(where: { !$0.isLoopback }) {
      throw ServerError(
        "Others than this machine could administer the server at \(open): "
          + "give --admin localhost:PORT\(file.map { ", or use the socket \($0)" } ?? "").",
        isUsage: true)
    }
    addressServer = try NetworkServer(
      addresses, tls: nil, limits: limits, threadCount: 1, service: service)
  }

  /// Starts to listen; a failure to make the socket is logged, and the server goes on without it.
  ///
  /// - Returns: the places.
  /// - Throws: `NetworkError` if the address cannot be listened on.
  func start() async throws -> [String] {
    var places: [String] = []
    if let file, let fileServer {
      do {
        _ = try await fileServer.start()
        places.append(file)
      } catch {
        logger.warning("The socket for administrators was not made: \(error)")
      }
    }
    if let addressServer {
      places += try await addressServer.start().bound.map { "http://\($0)" }
    }
    return places
  }

  /// Takes no more connections, and closes the existing ones.
  func stop() async {
    await addressServer?.end()
    await fileServer?.end()
  }
}
