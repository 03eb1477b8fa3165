public import RunnelBase
import Synchronization

/// Asks an application in the same program as if it were at a server.
///
/// Calls and events pass the hooks, the rules about methods and the channels of the application, but
/// no network.
public final class InProcessProvider: ServiceProvider {
  private let server: Feathers
  private let name: String
  private let connection = Mutex<ServiceConnection?>(nil)
  private let onConnect: (@Sendable (ServiceConnection) -> Void)?

  /// Makes a provider.
  ///
  /// - Parameters:
  ///   - server: the application to ask.
  ///   - name: what hooks there find as the provider of the parameters.
  ///   - onConnect: gets the connection, for example to let it join channels.
  public init(
    server: Feathers, name: String = "in-process",
    onConnect: (@Sendable (ServiceConnection) -> Void)? = nil
  ) {
    (self.server, self.name, self.onConnect) = (server, name, onConnect)
  }

  /// True: the application's publishers reach this provider.
  public var hasEvents: Bool { true }

  /// Connects to the application.
  public func attach(_ link: ProviderLink) {
    let made = ServiceConnection { path, event, data in link.events(path, event, data) }
    connection.withLock { $0 = made }
    onConnect?(made)
  }

  /// Makes a call.
  public func call(_ call: ProviderCall) async throws(FeathersError) -> JSONValue {
    guard let connection = connection.withLock({ $0 }), connection.isOpen else {
      throw FeathersError(.unavailable, "The connection is closed.")
    }
    var params = ServiceParams(query: call.request.query, provider: name)
    params.connection = connection
    params.headers = call.headers
    if let token = call.token { params.headers["authorization"] = "Bearer \(token)" }
    return try await server.answer(path: call.path, call.request, params)
  }

  /// Leaves the channels of the application.
  public func close() {
    if let connection = connection.withLock({ $0 }) { server.disconnect(connection) }
  }
}
