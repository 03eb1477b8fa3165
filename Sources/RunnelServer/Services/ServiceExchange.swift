import HTTPTypes
import RunnelBase
import RunnelNetwork
import RunnelServices
import RunnelSync

/// A call of a service over REST.
///
/// Loop only.
///
/// Source: services protocol, section 3.
final class ServiceExchange: ExchangeHandling, ServedConnection {
  /// The most bytes of a body.
  private static let bytesMax = 16_777_216

  private let route: ServiceFacade.Route
  private let request: HTTPRequest
  private let facade: ServiceFacade
  private let database: ServedDatabase
  private let login: ServiceLogin
  private let peer: NetworkPeer
  private let channel: ExchangeChannel
  private let startTime: Int64
  private var number: Int64 = 0
  private var body: [UInt8] = []
  private var proof: ServiceLogin.Proof?
  private var successStatus = 200
  private var isAnswered = false
  private var sentBytes = 0

  init(
    _ route: ServiceFacade.Route, _ request: HTTPRequest, _ facade: ServiceFacade,
    _ open: OpenDatabase, _ peer: NetworkPeer, _ channel: ExchangeChannel
  ) {
    (self.route, self.request, self.facade) = (route, request, facade)
    (database, self.peer, self.channel) = (open.database, peer, channel)
    login = ServiceLogin(
      verifier: open.verifier, accounts: facade.accounts, world: facade.world)
    startTime = facade.world.now.uptime
  }

  private var world: ServerWorld { facade.world }

  // MARK: From the network

  func opened() {
    number = world.switchboard.add(self, on: channel.loop, session: nil)
    if request.method == .options, !facade.originFields(request).isEmpty { send(204, nil) }
  }

  func received(_ piece: [UInt8]) {
    if isAnswered { return }
    body += piece
    let most = min(world.limits.rest.writeBytesMax, ServiceExchange.bytesMax)
    if body.count <= most { return }
    world.metrics.reached(RESTLimit.writeBytes)
    body = []
    answer(FeathersError(.badRequest, "The body has more than \(most) bytes (--max-write)."))
  }

  func receivedAll() {
    if isAnswered { return }
    do throws(FeathersError) {
      try carryOut()
    } catch {
      answer(error)
    }
  }

  func canSendMore() {}
  func timeIsUp() {}

  func closed() {
    isAnswered = true
    world.switchboard.remove(number)
  }

  // MARK: Carrying out

  private func carryOut() throws(FeathersError) {
    if let token = ServiceLogin.token(in: request.headerFields[.authorization]) {
      proof = try login.proof(of: token)
    }
    switch route {
    case .service(let collection, let id):
      let call = try self.call(try method(hasID: id != nil), id)
      let task = ServiceTask(
        number: 0, collection: collection, call: call,
        caller: proof?.verified.caller ?? .nobody, rules: facade.rules)
      database.submit(TreeJob(connection: number, wish: .service(task)))
    case .authentication(let id): try authenticate(id)
    case .missing, .socket:
      let path = (request.path ?? "/").prefix { $0 != "?" }.prefix(200)
      throw FeathersError(.notFound, "Page not found", data: ["url": .string(String(path))])
    }
  }

  /// The method that the request names.
  ///
  /// - Throws: `MethodNotAllowed`.
  private func method(hasID: Bool) throws(FeathersError) -> ServiceMethod {
    switch request.method {
    case .get: return hasID ? .get : .find
    case .post where !hasID:
      if let name = HTTPField.Name("X-Service-Method").flatMap({ request.headerFields[$0] }) {
        throw FeathersError(
          .methodNotAllowed, "Method `\(name.prefix(100))` is not supported by this endpoint.")
      }
      return .create
    case .put: return .update
    case .patch: return .patch
    case .delete: return .remove
    default:
      throw FeathersError(
        .methodNotAllowed, "Method \(request.method.rawValue.prefix(20)) not allowed")
    }
  }

  private func call(
    _ method: ServiceMethod, _ id: ServiceID?
  ) throws(FeathersError) -> ServiceCall {
    if method == .create { successStatus = 201 }
    let data = method.hasData ? try json() : .null
    let halves = (request.path ?? "").split(separator: "?", maxSplits: 1)
    let query = try QueryString.decoded(halves.count == 2 ? String(halves[1]) : "")
    return ServiceCall(method, id: id, data: data, textual: query)
  }

  private func json() throws(FeathersError) -> JSONValue {
    if body.isEmpty { return .object([]) }
    defer { body = [] }
    if JSONDepth.exceeds(world.limits.rest.jsonDepthMax, in: body) {
      world.metrics.reached(WireLimit.jsonDepth)
      throw FeathersError(.badRequest, "The body is nested too deep.")
    }
    do throws(JSONError) {
      return try JSONValue(parsing: body)
    } catch {
      throw FeathersError(.badRequest, "The body is not JSON: \(error).")
    }
  }

  private func authenticate(_ id: ServiceID?) throws(FeathersError) {
    let method = try self.method(hasID: id != nil)
    switch method {
    case .create:
      successStatus = 201
      let bound = LoopBound(self, to: channel.loop)
      login.create(try json(), from: peer.address) { result in
        bound.loop.run { bound.value.finish(result.map(\.answer)) }
      }
    case .remove: finish(.success(try login.remove(id, proof)))
    default: throw ServiceLogin.refusal(of: method)
    }
  }

  // MARK: Answering

  private func finish(_ result: Result<JSONValue, FeathersError>) {
    switch result {
    case .success(.null): send(204, nil)
    case .success(let json): send(successStatus, json.jsonBytes())
    case .failure(let error): answer(error)
    }
  }

  private func answer(_ error: FeathersError) { send(error.code, error.json.jsonBytes()) }

  private func send(_ status: Int, _ bytes: [UInt8]?) {
    if isAnswered { return }
    isAnswered = true
    var head = HTTPResponse(status: HTTPResponse.Status(code: status))
    if let bytes {
      head.headerFields[.contentType] = "application/json; charset=utf-8"
      head.headerFields[.contentLength] = String(bytes.count)
    }
    head.headerFields[.cacheControl] = "no-store"
    for (name, value) in facade.originFields(request) { head.headerFields[name] = value }
    channel.send(head)
    if let bytes { channel.send(bytes) }
    channel.end()
    sentBytes = bytes?.count ?? 0
    world.switchboard.remove(number)
    // Who has the answer finds it counted.
    world.metrics.answered(status)
    world.log.answered(
      peer, request, database.name, status: status, sentBytes: sentBytes,
      milliseconds: world.now.uptime - startTime)
    channel.flush()
  }

  // MARK: From the tree

  func take(_ news: TreeNews) {
    guard case .served(_, let result) = news else { return }
    world.metrics.noteDenial(in: result)
    finish(result)
  }

  func flush() { channel.flush() }

  /// The answer gets time until the server ends.
  func stop(_ reason: StopReason) {}

  func disconnect() {
    if isAnswered { return }
    isAnswered = true
    world.switchboard.remove(number)
    channel.abort()
  }

  func endSession() {}

  /// The request is over soon.
  func reviewCredential() {}

  func endIfUnconfirmed() {}

  var user: String? { proof?.verified.caller.auth["uid"]?.string }

  var summary: ConnectionSummary {
    ConnectionSummary(
      number: number, kind: "service", database: database.name, address: peer.address,
      user: proof?.verified.caller.author ?? "", listenCount: 0, sentBytes: sentBytes)
  }
}
