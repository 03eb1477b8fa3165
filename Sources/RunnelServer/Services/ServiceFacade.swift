import HTTPTypes
import RunnelBase
import RunnelNetwork
import RunnelServices
import RunnelSync
import Synchronization

/// The services of a server: which request is for which, and the sessions of Socket.IO.
///
/// Source: services protocol, sections 3.1, 4.1 and 12.
struct ServiceFacade: Sendable {
  /// The path of Socket.IO; the slash at its end is a part of it.
  static let socketPath = "/socket.io/"

  /// The target of a request.
  enum Route: Hashable, Sendable {
    /// A service, and the id in the path.
    case service(ServedCollection, ServiceID?)
    /// The service for signing in, and the id in the path.
    case authentication(ServiceID?)
    /// A path below a service's records.
    case missing
    case socket
  }

  let configuration: ServicesConfiguration
  let accounts: AccountService?
  let world: ServerWorld
  /// The origins of pages that may use the services, in small letters.
  let origins: Set<String>
  let sessions: ServiceSessions
  /// What is understood of queries.
  let rules: QueryRules
  private let collections: [String: ServedCollection]

  /// Makes the services; nil if none are configured.
  init?(
    _ configuration: ServicesConfiguration, _ accounts: AccountService?, _ world: ServerWorld,
    origins: Set<String>
  ) {
    if configuration.collections.isEmpty { return nil }
    (self.configuration, self.accounts, self.world) = (configuration, accounts, world)
    self.origins = origins
    sessions = ServiceSessions(configuration)
    rules = configuration.rules
    collections = Dictionary(configuration.collections.map { ($0.service, $0) }) { $1 }
  }

  /// The collection of a service; nil if there is none.
  func collection(_ path: String) -> ServedCollection? { collections[path] }

  /// The target of a request; nil if it is for no service.
  func route(_ request: HTTPRequest) -> Route? {
    let path = (request.path ?? "/").prefix { $0 != "?" }
    if path == ServiceFacade.socketPath { return .socket }
    // These name places of a database.
    if path.hasSuffix(".json") { return nil }
    let pieces = path.split(separator: "/").map { piece in
      PercentEncoding.decoded(piece.utf8, isPlusSpace: false) ?? String(piece)
    }
    if pieces.first == ServiceLogin.path {
      if pieces.count > 2 { return .missing }
      return .authentication(pieces.count == 2 ? ServiceID(pieces[1]) : nil)
    }
    for count in stride(from: pieces.count, to: 0, by: -1) {
      guard let found = collections[pieces.prefix(count).joined(separator: "/")] else { continue }
      switch pieces.count - count {
      case 0:
        // An id that is empty names no record; without it the call would be for all.
        let isForRecord = path.hasSuffix("/") && [.put, .patch, .delete].contains(request.method)
        return .service(found, isForRecord ? ServiceID("") : nil)
      case 1: return .service(found, ServiceID(pieces[count]))
      default: return .missing
      }
    }
    return nil
  }

  /// Returns the handler of a request for a route.
  func open(
    _ route: Route, _ request: HTTPRequest, _ open: OpenDatabase, from peer: NetworkPeer,
    _ channel: ExchangeChannel
  ) -> any ExchangeHandling {
    if route == .socket { return EngineExchange(request, self, open, peer, channel) }
    return ServiceExchange(route, request, self, open, peer, channel)
  }

  /// The headers by which pages of other origins may read an answer: none unless that is configured.
  func originFields(_ request: HTTPRequest) -> [(HTTPField.Name, String)] {
    guard let origin = request.headerFields[.origin], origins.contains(origin.lowercased()) else {
      return []
    }
    var fields: [(HTTPField.Name, String)] = [
      (.accessControlAllowOrigin, origin), (.accessControlAllowCredentials, "true"),
      (.vary, "Origin"),
    ]
    guard request.method == .options else { return fields }
    fields.append((.accessControlAllowMethods, "GET, POST, PUT, PATCH, DELETE, OPTIONS"))
    fields.append(
      (.accessControlAllowHeaders, "Accept, Authorization, Content-Type, X-Service-Method"))
    fields.append((.accessControlMaxAge, "3600"))
    return fields
  }

  // MARK: Web sockets

  /// True if a request may become a web socket of Socket.IO.
  func acceptsSocket(_ request: HTTPRequest) -> Bool {
    let parameters = EngineParameters(request)
    guard parameters.transport == .websocket, parameters.version != nil else { return false }
    guard let id = parameters.session else { return true }
    return sessions.find(id) != nil
  }

  /// Opens the handler of a web socket: of a new session, or one that moves to it.
  func openSocket(
    _ request: HTTPRequest, _ open: OpenDatabase, from peer: NetworkPeer, _ channel: SocketChannel
  ) -> any SocketHandling {
    let parameters = EngineParameters(request)
    if let id = parameters.session {
      guard let session = sessions.find(id) else {
        return ClosedSocket(channel, "Session ID unknown")
      }
      return EngineSocket(session, channel, world, isMove: true)
    }
    guard let version = parameters.version else {
      return ClosedSocket(channel, "Unsupported protocol version")
    }
    do throws(ServiceSessions.Full) {
      let id = try sessions.reserve(peer.address)
      let session = ServiceSession(
        EngineHost(id, version, .websocket, configuration.times), self, open, request, peer,
        channel.loop)
      let bound = LoopBound(session, to: channel.loop)
      sessions.bind(id, bound)
      return EngineSocket(bound, channel, world, isMove: false)
    } catch {
      world.metrics.reached(error.limit)
      return ClosedSocket(channel, "Too many sessions: try again later.")
    }
  }
}

/// The parameters of a request for Engine.IO; others are ignored.
///
/// Source: services protocol, section 4.1.
struct EngineParameters: Hashable, Sendable {
  /// The version; nil if it is not served.
  var version: EngineVersion?
  /// The transport; nil if there is none of that name.
  var transport: SocketTransport?
  var session: String?

  init(_ request: HTTPRequest) {
    let target = request.path ?? ""
    switch ServedDatabases.parameter("EIO", of: target) {
    case "4": version = .four
    case "3", nil: version = .three
    default: version = nil
    }
    transport = ServedDatabases.parameter("transport", of: target).flatMap {
      SocketTransport(rawValue: $0)
    }
    session = ServedDatabases.parameter("sid", of: target)
  }
}

/// The sessions of Socket.IO by their ids, with a bound on their number.
///
/// Any thread may use it.
final class ServiceSessions: Sendable {
  /// There are too many sessions.
  struct Full: Error { var limit: ServiceLimit }

  private struct Entry {
    var household: String
    var session: LoopBound<ServiceSession>?
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var counts: [String: Int] = [:]
  }

  private let sessionsMax: Int
  private let sessionsPerAddressMax: Int
  private let state = Mutex(State())

  init(_ configuration: ServicesConfiguration) {
    (sessionsMax, sessionsPerAddressMax) =
      (configuration.sessionsMax, configuration.sessionsPerAddressMax)
  }

  /// Makes the id of a new session.
  ///
  /// - Throws: `Full` if there are too many.
  func reserve(_ address: String) throws(Full) -> String {
    var random = SystemRandomNumberGenerator()
    let bytes = (0..<15).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    let id = Base64URL.text(bytes)
    let household = AddressRange.household(of: address)
    let limit: ServiceLimit? = state.withLock { state in
      if state.entries.count >= sessionsMax { return .sessions }
      if state.counts[household, default: 0] >= sessionsPerAddressMax { return .sessionsPerAddress }
      state.entries[id] = Entry(household: household)
      state.counts[household, default: 0] += 1
      return nil
    }
    if let limit { throw Full(limit: limit) }
    return id
  }

  /// Makes a session known by its id.
  func bind(_ id: String, _ session: LoopBound<ServiceSession>) {
    state.withLock { $0.entries[id]?.session = session }
  }

  /// The session with an id; nil if there is none.
  func find(_ id: String) -> LoopBound<ServiceSession>? {
    state.withLock { $0.entries[id]?.session }
  }

  /// Forgets a session.
  func remove(_ id: String) {
    // The session is released after the lock.
    let entry = state.withLock { state in
      let entry = state.entries.removeValue(forKey: id)
      if let entry {
        let count = state.counts[entry.household, default: 1] - 1
        state.counts[entry.household] = count > 0 ? count : nil
      }
      return entry
    }
    withExtendedLifetime(entry) {}
  }
}
