import HTTPTypes
import RunnelBase
import RunnelNetwork
import RunnelServices
import RunnelSync

/// A request of Engine.IO over HTTP: a handshake, a poll or a post.
///
/// Loop only; its session may be on another loop.
///
/// Source: services protocol, sections 4.2, 4.4 and 4.7.
final class EngineExchange: ExchangeHandling {
  /// The errors of requests, with their numbers.
  private enum Fault: Int {
    case transportUnknown, sessionUnknown, badMethod, badRequest
    case unsupportedVersion = 5

    var text: String {
      switch self {
      case .transportUnknown: "Transport unknown"
      case .sessionUnknown: "Session ID unknown"
      case .badMethod: "Bad handshake method"
      case .badRequest: "Bad request"
      case .unsupportedVersion: "Unsupported protocol version"
      }
    }
  }

  private let request: HTTPRequest
  private let facade: ServiceFacade
  private let open: OpenDatabase
  private let peer: NetworkPeer
  private let channel: ExchangeChannel
  private let startTime: Int64
  private var session: LoopBound<ServiceSession>?
  private var body: [UInt8] = []
  private var isPoll = false
  private var isHandshake = false
  private var isAnswered = false

  init(
    _ request: HTTPRequest, _ facade: ServiceFacade, _ open: OpenDatabase, _ peer: NetworkPeer,
    _ channel: ExchangeChannel
  ) {
    (self.request, self.facade, self.open) = (request, facade, open)
    (self.peer, self.channel) = (peer, channel)
    startTime = facade.world.now.uptime
  }

  // MARK: From the network

  /// A session is gone with its poll.
  var endsWithInput: Bool { isPoll }

  /// The answers of calls are fetched by polls, also when the server ends.
  var outlastsListening: Bool { session != nil }

  func opened() {
    if request.method == .options { return send(204, "", []) }
    let parameters = EngineParameters(request)
    guard let transport = parameters.transport else { return refuse(.transportUnknown) }
    guard let id = parameters.session else { return shakeHands(parameters) }
    guard let found = facade.sessions.find(id) else { return refuse(.sessionUnknown) }
    if transport == .websocket { return refuse(.badRequest) }
    session = found
    switch request.method {
    case .get:
      isPoll = true
      let poll = LoopBound(self, to: channel.loop)
      found.visit(from: channel.loop) { $0.poll(poll) }
    case .post: break
    default: refuse(.badMethod)
    }
  }

  private func shakeHands(_ parameters: EngineParameters) {
    if request.method != .get { return refuse(.badMethod) }
    guard let version = parameters.version else { return refuse(.unsupportedVersion) }
    if parameters.transport == .websocket { return refuse(.badRequest) }
    do throws(ServiceSessions.Full) {
      let id = try facade.sessions.reserve(peer.address)
      let session = ServiceSession(
        EngineHost(
          id, version, .polling, facade.configuration.times,
          unsentBytesMax: facade.world.limits.wire.unsentBytesMax),
        facade, open, request, peer, channel.loop)
      let bound = LoopBound(session, to: channel.loop)
      facade.sessions.bind(id, bound)
      (self.session, isPoll, isHandshake) = (bound, true, true)
      session.begin(LoopBound(self, to: channel.loop))
    } catch {
      facade.world.metrics.reached(error.limit)
      send(
        503, "application/json",
        (["code": 4, "message": "Too many sessions: try again later."] as JSONValue).jsonBytes())
    }
  }

  func received(_ piece: [UInt8]) {
    if isAnswered { return }
    body += piece
    if body.count > EngineHost.payloadMax { send(413, "text/html", []) }
  }

  func receivedAll() {
    guard request.method == .post, !isAnswered, let session else { return }
    let (body, post) = (body, LoopBound(self, to: channel.loop))
    self.body = []
    session.visit(from: channel.loop) { $0.post(body, post) }
  }

  func canSendMore() {}
  func timeIsUp() {}

  func closed() {
    if isAnswered { return }
    isAnswered = true
    if isPoll, let session { session.visit(from: channel.loop) { $0.pollClosed() } }
  }

  // MARK: Answering

  /// Answers a poll.
  func answerPoll(_ body: [UInt8]) { send(200, "text/plain; charset=UTF-8", body) }

  /// Answers a second poll, while the first one waited.
  func refusePoll() { send(400, "text/html", []) }

  /// Answers a post.
  func answerPost() { send(200, "text/html", Array("ok".utf8)) }

  /// Answers a request for a session that has ended meanwhile.
  func refuseSession() { refuse(.sessionUnknown) }

  /// Answers a request that does not fit the transport of the session.
  func refuseTransport() { refuse(.badRequest) }

  private func refuse(_ fault: Fault) {
    let json: JSONValue = [
      "code": .number(JSONNumber(Int64(fault.rawValue))), "message": .string(fault.text),
    ]
    send(400, "application/json", json.jsonBytes())
  }

  private func send(_ status: Int, _ type: String, _ bytes: [UInt8]) {
    if isAnswered { return }
    isAnswered = true
    var head = HTTPResponse(status: HTTPResponse.Status(code: status))
    if !type.isEmpty {
      head.headerFields[.contentType] = type
      head.headerFields[.contentLength] = String(bytes.count)
    }
    head.headerFields[.cacheControl] = "no-store"
    // A connection that carried a request does not become a socket, so the client opens another one.
    if isHandshake { head.headerFields[.connection] = "close" }
    for (name, value) in facade.originFields(request) { head.headerFields[name] = value }
    channel.send(head)
    channel.send(bytes)
    channel.end()
    // Who has the answer finds it counted.
    facade.world.metrics.answered(status)
    facade.world.log.answered(
      peer, request, open.database.name, status: status, sentBytes: bytes.count,
      milliseconds: facade.world.now.uptime - startTime)
    channel.flush()
  }
}
