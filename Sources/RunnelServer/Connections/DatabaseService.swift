import HTTPTypes
import RunnelBase
import RunnelNetwork
import RunnelSync

/// What a server does with its connections: each is for one database, or refused.
struct DatabaseService: NetworkService {
  private static let socketPath = "/.ws"
  private static let protocolVersion = "5"
  /// What is said where requests of other kinds go.
  private static let missing: [Substring: String] = [
    "/.lp": "Long polling is not served: use a WebSocket.",
    "/.ws": "A WebSocket begins with an upgrade, and has the protocol version 5.",
  ]

  let databases: ServedDatabases
  let world: ServerWorld
  let hosts: HostCheck
  let isEmulator: Bool

  /// Where a request goes.
  private enum Place {
    case database(OpenDatabase)
    case refused(Int, String)
  }

  private func place(of request: HTTPRequest) -> Place {
    guard let found = databases.find(request) else {
      world.metrics.refused(.database)
      return .refused(404, "There is no database of this name here.")
    }
    if isEmulator || found.database.isOpen, let refusal = hosts.refusal(of: request) {
      world.metrics.refused(.host)
      return .refused(403, refusal)
    }
    return .database(found)
  }

  private static func path(of request: HTTPRequest) -> Substring {
    (request.path ?? "/").prefix { $0 != "?" }
  }

  // MARK: WebSockets

  func acceptsSocket(_ request: HTTPRequest, from peer: NetworkPeer) -> Bool {
    guard DatabaseService.path(of: request) == DatabaseService.socketPath,
      let target = request.path,
      ServedDatabases.parameter("v", of: target) == DatabaseService.protocolVersion,
      case .database = place(of: request)
    else { return false }
    return true
  }

  func openSocket(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: SocketChannel
  ) -> any SocketHandling {
    // A database that was there when the request was accepted stays.
    guard let found = databases.find(request) else { return ClosedSocket(channel) }
    var name = String()
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2 { name += String(random.next(), radix: 36) }
    let configuration = ServerSession.Configuration(
      name: name, host: request.authority ?? "localhost",
      previous: request.path.flatMap { ServedDatabases.parameter("ls", of: $0) },
      limits: world.limits.wire)
    return SocketConnection(configuration, found.database, found.verifier, world, peer, channel)
  }

  // MARK: Requests

  func openExchange(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: ExchangeChannel
  ) -> any ExchangeHandling {
    if DatabaseService.path(of: request) == ServiceAccounts.tokenPath {
      return TokenExchange(request, databases, peer, world, channel)
    }
    switch place(of: request) {
    case .refused(let status, let text):
      return RefusedExchange(status, text, request, peer, world, channel)
    case .database(let open):
      if let text = DatabaseService.missing[DatabaseService.path(of: request)] {
        return RefusedExchange(404, text, request, peer, world, channel)
      }
      return RequestConnection(
        request, world.limits.rest, open.database, open.verifier, world, peer, channel)
    }
  }
}

/// A WebSocket that is closed at once.
///
/// Loop only.
private final class ClosedSocket: SocketHandling {
  private let channel: SocketChannel

  init(_ channel: SocketChannel) { self.channel = channel }

  func opened() { channel.close(code: 1008, text: "There is no such database.") }
  func received(_ text: [UInt8]) {}
  func heard() {}
  func timeIsUp() {}
  func closed() {}
}

/// A request that is answered without asking a database.
///
/// Loop only.
private final class RefusedExchange: ExchangeHandling {
  private let status: Int
  private let text: String
  private let request: HTTPRequest
  private let peer: NetworkPeer
  private let world: ServerWorld
  private let channel: ExchangeChannel

  init(
    _ status: Int, _ text: String, _ request: HTTPRequest, _ peer: NetworkPeer,
    _ world: ServerWorld, _ channel: ExchangeChannel
  ) {
    (self.status, self.text, self.request) = (status, text, request)
    (self.peer, self.world, self.channel) = (peer, world, channel)
  }

  func opened() {
    let json: JSONValue = ["error": .string(text)]
    let body = json.jsonBytes()
    var head = HTTPResponse(status: HTTPResponse.Status(code: status))
    head.headerFields[.contentType] = "application/json; charset=utf-8"
    head.headerFields[.contentLength] = String(body.count)
    channel.send(head)
    channel.send(body)
    channel.end()
    channel.flush()
    world.metrics.answered(status)
    world.log.answered(
      peer, request, "", status: status, sentBytes: body.count, milliseconds: 0)
  }

  func received(_ piece: [UInt8]) {}
  func receivedAll() {}
  func canSendMore() {}
  func timeIsUp() {}
  func closed() {}
}
