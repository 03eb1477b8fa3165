import HTTPTypes
import RunnelIdentity
import RunnelNetwork
import RunnelSync

/// The service of a server's connections: each is for one database, or refused.
struct DatabaseService: NetworkService {
  private static let socketPath = "/.ws"
  private static let protocolVersion = "5"
  /// The answers for kinds of requests that are not served.
  private static let missing: [Substring: String] = [
    "/.lp": "Long polling is not served: use a WebSocket.",
    "/.ws": "A WebSocket begins with an upgrade, and has the protocol version 5.",
  ]
  private static let noLease =
    "The primary of the store does not confirm that this server may serve: try again, or another server."

  private static let notYet =
    "A database of this name is not served here yet: try again in a moment."

  let databases: ServedDatabases
  let accounts: AccountService?
  /// The services; nil if none are served.
  let services: ServiceFacade?
  let world: ServerWorld
  let hosts: HostCheck
  let isEmulator: Bool

  /// The target of a request.
  private enum Place {
    case database(OpenDatabase)
    /// A database that is empty, because only a write makes it.
    case unmade
    case moved(MovedNamespace)
    case refused(Int, String)
  }

  private func place(of request: HTTPRequest, isForServices: Bool = false) -> Place {
    let byHost = isForServices && databases.isAlone
    // What a page may do is asked here; it is sent on when it does it.
    if request.method != .options, let moved = databases.moved(request, byHost: byHost) {
      return .moved(moved)
    }
    // What is listened to is opened.
    let makes =
      isForServices || DatabaseService.makesDatabase(request)
      || DatabaseService.beginsSession(request)
    let there = find(request, byHost: byHost, makes: false)
    let prospect = databases.prospect(of: request, byHost: byHost)
    let mayCome = there == nil && databases.mayCome(request, byHost: byHost)
    if there == nil, !mayCome, prospect == .makes {
      // Everything would be allowed there: a page that may not use that makes none.
      if let refusal = hosts.refusal(of: request) {
        world.metrics.refused(.host)
        return .refused(403, refusal)
      }
      if !makes { return .unmade }
    }
    guard let found = there ?? find(request, byHost: byHost, makes: makes) else {
      // Clients that were sent here by the servers of another store try again.
      if mayCome { return .refused(503, DatabaseService.notYet) }
      world.metrics.refused(.database)
      if prospect == .isFull { return .refused(404, fullText) }
      let isNamed = byHost || ServedDatabases.parameter("ns", of: request.path ?? "") != nil
      return .refused(
        404,
        isNamed || databases.all.count < 2
          ? "There is no database of this name here."
          : "Several databases are served here: the address names one by ?ns=NAME.")
    }
    if databases.isArriving(found.database) { return .refused(503, DatabaseService.notYet) }
    if isEmulator || found.database.isOpen, let refusal = hosts.refusal(of: request) {
      world.metrics.refused(.host)
      return .refused(403, refusal)
    }
    return .database(found)
  }

  private func find(_ request: HTTPRequest, byHost: Bool, makes: Bool) -> OpenDatabase? {
    byHost ? databases.findByHost(request, makes: makes) : databases.find(request, makes: makes)
  }

  private var fullText: String {
    let most = databases.configuration.creationsMax
    return "There is no database of this name here, and none is made: the folder has as many as "
      + "--create-databases \(most) allows."
  }

  /// True unless the request only reads, listens, or asks what a page may do: what is not there yet reads as
  /// nothing.
  ///
  /// Who asks for the tag of what is there is about to write.
  private static func makesDatabase(_ request: HTTPRequest) -> Bool {
    ![.get, .head, .options].contains(request.method)
      || HTTPField.Name("X-Firebase-ETag").flatMap { request.headerFields[$0] } != nil
  }

  /// The answer for a read of a database that is not there yet.
  private static func nothing(_ request: HTTPRequest) -> FixedAnswer {
    if request.method == .options {
      var answer = FixedAnswer(status: 204)
      answer.allowsPages = true
      answer.headers = RESTHead.preflight(RESTRequest(request))
      return answer
    }
    let path = path(of: request)
    let json = "application/json; charset=utf-8"
    // Without a file of rules, everything is allowed.
    let isRules = path == "/.settings/rules.json"
    if path.hasSuffix(".json") {
      let text = isRules ? "{\"rules\":{\".read\":true,\".write\":true}}" : "null"
      var answer = FixedAnswer(text, contentType: json)
      answer.allowsPages = true
      return answer
    }
    return FixedAnswer(
      error: missing[path] ?? "append .json to your request URI to use the REST API.", status: 404)
  }

  private static func path(of request: HTTPRequest) -> Substring {
    (request.path ?? "/").prefix { $0 != "?" }
  }

  func reached(_ limit: NetworkLimit, by peer: NetworkPeer) { world.metrics.reached(limit) }

  // MARK: WebSockets

  func acceptsSocket(_ request: HTTPRequest, from peer: NetworkPeer) -> Bool {
    if let services, services.route(request) == .socket {
      guard case .database(let open) = place(of: request, isForServices: true) else {
        return false
      }
      return open.database.place.isConfirmed && services.acceptsSocket(request)
    }
    guard DatabaseService.path(of: request) == DatabaseService.socketPath,
      let target = request.path,
      ServedDatabases.parameter("v", of: target) == DatabaseService.protocolVersion
    else { return false }
    switch place(of: request) {
    case .refused, .unmade: return false
    // The socket says where it was moved.
    case .moved: return true
    case .database(let open): return open.database.place.isConfirmed
    }
  }

  func openSocket(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: SocketChannel
  ) -> any SocketHandling {
    if let services, services.route(request) == .socket {
      guard let found = find(request, byHost: databases.isAlone, makes: true) else {
        return ClosedSocket(channel, "There is no such database.")
      }
      return services.openSocket(databases.serviceRequest(request), found, from: peer, channel)
    }
    if let moved = databases.moved(request) {
      if moved.address != nil { world.metrics.redirected() }
      return MovedSocket(channel, moved)
    }
    // A namespace may be dropped meanwhile.
    guard let found = databases.find(request) else {
      return ClosedSocket(channel, "There is no such database.")
    }
    var name = String()
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2 { name += String(random.next(), radix: 36) }
    let configuration = ServerSession.Configuration(
      name: name, host: request.authority ?? "localhost",
      previous: request.path.flatMap { ServedDatabases.parameter("ls", of: $0) },
      limits: world.limits.wire)
    return SocketConnection(
      configuration, found.database, found.verifier, world, peer, channel,
      belongsTo: databases.address(of: found.database))
  }

  // MARK: Requests

  func openExchange(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: ExchangeChannel
  ) -> any ExchangeHandling {
    if DatabaseService.path(of: request) == ServiceAccounts.tokenPath {
      return TokenExchange(
        OpenExchange(request, from: peer, world, channel), databases, hosts: hosts.hosts)
    }
    if let accounts, isForAccounts(request) {
      if isEmulator, let refusal = hosts.refusal(of: request) {
        world.metrics.refused(.host)
        return refuse(403, refusal, request, peer, channel)
      }
      let exchange = OpenExchange(request, from: peer, world, channel)
      return DatabaseService.path(of: request) == IdentityRoute.actionPath
        ? ActionPage(exchange, accounts) : AccountExchange(exchange, accounts)
    }
    if let services, let route = services.route(request) ?? missingRoute(request) {
      switch place(of: request, isForServices: true) {
      case .refused(let status, let text):
        return refuse(status, text, request, peer, channel)
      case .unmade:
        return answer(DatabaseService.nothing(request), request, peer, channel)
      case .moved(let moved): return refuse(503, moved.text, request, peer, channel)
      case .database(let open):
        if route != .missing, !open.database.place.isConfirmed {
          return refuse(503, DatabaseService.noLease, request, peer, channel)
        }
        return services.open(
          route, databases.serviceRequest(request), open, from: peer, channel)
      }
    }
    switch place(of: request) {
    case .refused(let status, let text):
      return refuse(status, text, request, peer, channel)
    case .unmade: return answer(DatabaseService.nothing(request), request, peer, channel)
    case .moved(let moved):
      if moved.address != nil { world.metrics.redirected() }
      return answer(moved.answer(to: request, from: peer), request, peer, channel)
    case .database(let open):
      // What is read may be old, and nothing can be written.
      if !open.database.place.isConfirmed, request.method != .options {
        return refuse(503, DatabaseService.noLease, request, peer, channel)
      }
      if let text = DatabaseService.missing[DatabaseService.path(of: request)] {
        return refuse(404, text, request, peer, channel)
      }
      return RequestConnection(
        request, world.limits.rest, open.database, open.verifier, world, peer, channel)
    }
  }

  /// True if a request is for a WebSocket or a stream of events: what ends when a server loses its lease.
  private static func beginsSession(_ request: HTTPRequest) -> Bool {
    path(of: request) == socketPath
      || request.method == .get
        && request.headerFields[.accept]?.contains("text/event-stream") == true
  }

  /// The route of a page that is neither a service nor a place of a database: clients of services
  /// understand errors of services only.
  private func missingRoute(_ request: HTTPRequest) -> ServiceFacade.Route? {
    let path = DatabaseService.path(of: request)
    let isKnown = path == "/" || path.hasSuffix(".json") || DatabaseService.missing[path] != nil
    return isKnown ? nil : .missing
  }

  private func isForAccounts(_ request: HTTPRequest) -> Bool {
    let path = DatabaseService.path(of: request)
    return IdentityRoute.owns(path) || isEmulator && path == "/"
  }

  private func refuse(
    _ status: Int, _ text: String, _ request: HTTPRequest, _ peer: NetworkPeer,
    _ channel: ExchangeChannel
  ) -> any ExchangeHandling {
    answer(FixedAnswer(error: text, status: status), request, peer, channel)
  }

  private func answer(
    _ answer: FixedAnswer, _ request: HTTPRequest, _ peer: NetworkPeer, _ channel: ExchangeChannel
  ) -> any ExchangeHandling {
    world.metrics.answered(answer.status)
    world.log.answered(
      peer, request, "", status: answer.status, sentBytes: answer.body.count, milliseconds: 0)
    return FixedExchange(answer, channel)
  }
}
