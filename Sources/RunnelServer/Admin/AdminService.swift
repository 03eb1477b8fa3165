import HTTPTypes
import Logging
import RunnelNetwork

/// The requests of the machine's administrators: readiness, counters, and connections.
///
/// There are no users: every client that reaches the address may send every request.
struct AdminService: NetworkService {
  private static let connections = "/connections"
  /// Source: Prometheus, "Exposition formats", version 0.0.4.
  private static let metricsType = "text/plain; version=0.0.4; charset=utf-8"

  let world: ServerWorld
  let hosts: HostCheck
  let logger: Logger
  /// Whether the server can take work.
  let readiness: @Sendable (Readiness.Scope) -> Readiness.Answer
  let metricsText: @Sendable () -> String

  func reached(_ limit: NetworkLimit, by peer: NetworkPeer) { world.metrics.reached(limit) }

  func acceptsSocket(_ request: HTTPRequest, from peer: NetworkPeer) -> Bool { false }

  func openSocket(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: SocketChannel
  ) -> any SocketHandling {
    ClosedSocket(channel, "There are no WebSockets here.")
  }

  func openExchange(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: ExchangeChannel
  ) -> any ExchangeHandling {
    // Web pages cannot reach a Unix socket, which has no address.
    if !peer.address.isEmpty, let refusal = hosts.refusal(of: request) {
      return FixedExchange(FixedAnswer(error: refusal, status: 403), channel)
    }
    let path = String((request.path ?? "/").prefix { $0 != "?" })
    if path == AdminService.connections, request.method == .get {
      if !ConnectionListing.hasValidLimit(request) {
        return FixedExchange(
          FixedAnswer(error: "The limit is a number from 0 on.", status: 400), channel)
      }
      if let name = request.path.flatMap({ ServedDatabases.parameter("database", of: $0) }),
        readiness(.database(name)) == .unknown
      {
        return FixedExchange(
          FixedAnswer(error: "There is no database \(name.prefix(64)) here.", status: 404), channel)
      }
      return ConnectionListing(request, world.switchboard, channel)
    }
    return FixedExchange(answer(request.method, path, request.path ?? ""), channel)
  }

  /// Source: stores.md, "Behind a balancer".
  private func readiness(_ target: String) -> FixedAnswer {
    let scope: Readiness.Scope
    if let store = ServedDatabases.parameter("store", of: target) {
      scope = .store(store)
    } else if let name = ServedDatabases.parameter("ns", of: target) {
      scope = .database(name)
    } else {
      scope = .server
    }
    switch readiness(scope) {
    case .ready(let rest): return FixedAnswer((["ready"] + rest).joined(separator: "\n") + "\n")
    case .notReady(let reason): return FixedAnswer(reason + "\n", status: 503)
    case .unknown: return FixedAnswer("That is not served here.\n", status: 404)
    }
  }

  private func answer(
    _ method: HTTPRequest.Method, _ path: String, _ target: String
  ) -> FixedAnswer {
    let isReading = method == .get || method == .head
    switch path {
    case "/healthz" where isReading: return FixedAnswer("ok\n")
    case "/readyz" where isReading:
      return readiness(target)
    case "/metrics" where isReading:
      return FixedAnswer(metricsText(), contentType: AdminService.metricsType)
    case "/healthz", "/readyz", "/metrics":
      return FixedAnswer(error: "This is read by GET.", status: 405)
    case AdminService.connections:
      return FixedAnswer(
        error: "Connections are read by GET, and ended by DELETE /connections/ID.", status: 405)
    default:
      if path.hasPrefix(AdminService.connections + "/") { return connection(method, path) }
      return FixedAnswer(
        error: "There are /healthz, /readyz, /metrics, /connections and /connections/ID.",
        status: 404)
    }
  }

  private func connection(_ method: HTTPRequest.Method, _ path: String) -> FixedAnswer {
    guard method == .delete else {
      return FixedAnswer(error: "A connection is ended by DELETE.", status: 405)
    }
    let text = path.dropFirst(AdminService.connections.count + 1)
    guard let number = Int64(text), world.switchboard.disconnect(number) else {
      return FixedAnswer(
        error: "There is no connection \(text.prefix(20)): see /connections.", status: 404)
    }
    logger.notice("An administrator ended connection \(number).")
    return FixedAnswer(status: 204)
  }
}
