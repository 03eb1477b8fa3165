import HTTPTypes
import RunnelBase
import RunnelNetwork
import RunnelServices
import RunnelSync
import RunnelTree

/// A session of Socket.IO with a client of services.
///
/// ```
///   open --CONNECT--> connected --DISCONNECT, end of the token--> open --end of the carrier--> ended
/// ```
///
/// It lives on the loop of its first request. Polls and sockets of other loops visit it there.
///
/// Loop only.
///
/// Source: services protocol, sections 5, 6, 7.3 and 12.
final class ServiceSession: ServedConnection, UnsentHolder {
  let facade: ServiceFacade
  let login: ServiceLogin
  let peer: NetworkPeer
  private let database: ServedDatabase
  let loop: NetworkLoop
  /// The value of `Authorization` in the request that began the session; nil once it was used.
  private var authorization: String?
  private var engine: EngineHost
  private var alarm: NetworkAlarm?
  /// What waits for polls; the network counts what is on a socket.
  let share: UnsentShare
  /// The poll that waits for its answer.
  private var heldPoll: LoopBound<EngineExchange>?
  private var socket: EngineSocket.Reference?
  private var number: Int64 = 0
  private var sentBytes = 0
  /// The effects that wait to be carried out.
  private var waiting: [EngineHost.Effect] = []
  private var isCarryingOut = false
  /// True if frames were sent that the network has not been handed.
  private var hasUnflushed = false
  /// True once changes were not told: the session ends when its calls are answered, and takes no others.
  private(set) var isLeaving = false
  // Socket.IO:
  private(set) var isConnected = false
  private var connectDeadline: Int64?
  private(set) var proof: ServiceLogin.Proof?
  /// The ids by which the client finds the answers of calls under way; nil if it wants none.
  private var calls: [Int: Int?] = [:]
  private var lastCall = 0
  /// The messages that wait, because too many calls are under way.
  private var delayed: ArraySlice<[UInt8]> = []
  private var delayedBytes = 0
  private var isDraining = false
  private var isReadingPaused = false
  /// True once the session is to end as soon as all calls are answered.
  private var isEnding = false
  /// When a session that is to end does not wait any more for a poll that fetches its last packets.
  private var fetchDeadline: Int64?
  /// The time for that, from poll to poll: one on a new connection never comes, as none is taken.
  private static let fetchMilliseconds: Int64 = 2_000

  init(
    _ engine: EngineHost, _ facade: ServiceFacade, _ open: OpenDatabase, _ request: HTTPRequest,
    _ peer: NetworkPeer, _ loop: NetworkLoop
  ) {
    (self.engine, self.facade, database) = (engine, facade, open.database)
    login = ServiceLogin(
      verifier: open.verifier, accounts: facade.accounts, world: facade.world)
    authorization = request.headerFields[.authorization]
    (self.peer, self.loop) = (peer, loop)
    share = UnsentShare(of: facade.world.unsent, loop)
  }

  var world: ServerWorld { facade.world }
  private var uptime: Int64 { world.now.uptime }
  var caller: Caller { proof?.verified.caller ?? .nobody }

  // MARK: Beginning

  /// Begins a session that polls, with its first poll.
  func begin(_ poll: LoopBound<EngineExchange>) {
    heldPoll = poll
    begin()
  }

  /// Begins a session on a socket.
  func begin(_ socket: EngineSocket.Reference) {
    self.socket = socket
    begin()
  }

  private func begin() {
    alarm = NetworkAlarm(loop) { [weak self] in
      self?.tick()
      self?.flush()
    }
    number = world.switchboard.add(self, on: loop, session: nil)
    world.metrics.sessionBegan()
    world.log.socketOpened(peer, database.name, number)
    connectDeadline = uptime + facade.configuration.times.connectTimeout
    carryOut(engine.open(now: uptime))
    // Clients of this version wait for it.
    if engine.version == .three { connect() }
    if world.switchboard.isEnding { stop(.serverEnds) }
  }

  // MARK: From the carrier

  /// A poll came.
  func poll(_ exchange: LoopBound<EngineExchange>) {
    if engine.isEnded { return exchange.loop.run { exchange.value.refuseSession() } }
    if engine.transport == .websocket {
      return exchange.loop.run { exchange.value.refuseTransport() }
    }
    if fetchDeadline != nil { fetchDeadline = uptime + ServiceSession.fetchMilliseconds }
    let (isTaken, effects) = engine.poll()
    if isTaken { heldPoll = exchange } else { exchange.loop.run { exchange.value.refusePoll() } }
    carryOut(effects)
  }

  /// The client of a poll is gone, and with it maybe an answer: the session cannot go on.
  func pollClosed() { end() }

  /// A body came.
  func post(_ body: [UInt8], _ exchange: LoopBound<EngineExchange>) {
    if engine.isEnded { return exchange.loop.run { exchange.value.refuseSession() } }
    if engine.transport == .websocket {
      return exchange.loop.run { exchange.value.refuseTransport() }
    }
    carryOut(engine.post(body, now: uptime))
    exchange.loop.run { exchange.value.answerPost() }
  }

  /// Attaches the socket to which the session may move.
  func attach(_ socket: EngineSocket.Reference) {
    guard engine.attachSocket(now: uptime) else {
      return socket.visit(from: loop) { $0.close(code: 1008, text: "Bad request") }
    }
    self.socket = socket
    carryOut([])
  }

  func frame(_ text: [UInt8], from id: ObjectIdentifier) {
    if socket?.id == id { carryOut(engine.frame(text, now: uptime)) }
  }

  func socketClosed(_ id: ObjectIdentifier) {
    if socket?.id != id { return }
    socket = nil
    carryOut(engine.socketClosed())
  }

  private func tick() {
    let now = world.now
    if let connectDeadline, connectDeadline <= now.uptime {
      self.connectDeadline = nil
      return end(EngineHost.Closing(text: "The client did not connect in time."))
    }
    if let fetchDeadline, fetchDeadline <= now.uptime {
      return end(EngineHost.Closing(.serverEnds))
    }
    if let expiry = proof?.verified.expiry, expiry <= now.calendar { endLogin() }
    carryOut(engine.tick(now: now.uptime))
  }

  // MARK: Effects

  /// Ends the session, and tells the client.
  func end(_ closing: EngineHost.Closing = EngineHost.Closing()) {
    carryOut(engine.close(closing))
  }

  /// Ends the session because the client sent what is not understood.
  func endDamaged() { carryOut(engine.endDamaged()) }

  /// The error of a call that is not made, since the session is about to end.
  static let leaving = FeathersError(
    .unavailable,
    "The session ends, as too many records were changed. Nothing was done: connect anew.")

  /// Ends the session once its calls are answered, and the client has the answers.
  private func leave() {
    isLeaving = true
    if calls.isEmpty, delayed.isEmpty {
      carryOut(engine.closeAfterSent(.tooManyChanges))
    }
  }

  /// Sends a packet of Socket.IO.
  func send(_ packet: SocketPacket) { send(message: ServiceSession.message(packet)) }

  private static func message(_ packet: SocketPacket) -> [UInt8] {
    [UInt8(ascii: "4")] + packet.text
  }

  private func send(message: [UInt8]) { carryOut(engine.send(message)) }

  /// Carries out effects, after those that are in progress.
  private func carryOut(_ effects: [EngineHost.Effect]) {
    waiting += effects
    if isCarryingOut { return }
    isCarryingOut = true
    while !waiting.isEmpty {
      let next = waiting
      waiting = []
      for effect in next { carryOut(effect) }
    }
    isCarryingOut = false
    if engine.isEnded { return }
    if engine.isTooFull {
      world.metrics.reached(WireLimit.unsentBytes)
      return end(.slowReader)
    }
    share.note(unsentBytes, of: self)
    setDeadline()
    endIfDone()
  }

  var unsentBytes: Int { engine.waitingBytes }
  var takenBytes: Int { sentBytes }

  func endUnread() {
    if engine.isEnded { return }
    world.metrics.reached(NetworkLimit.unsentBytes)
    end(.slowReader)
    flush()
  }

  private func carryOut(_ effect: EngineHost.Effect) {
    switch effect {
    case .answerPoll(let body):
      sentBytes += body.count
      guard let poll = heldPoll else { return }
      heldPoll = nil
      poll.loop.run { poll.value.answerPoll(body) }
    case .frame(let text):
      sentBytes += text.count
      hasUnflushed = true
      socket?.visit(from: loop) { $0.send(text) }
    case .closeSocket:
      let closing = engine.closing
      socket?.visit(from: loop) { $0.close(code: closing.code, text: closing.text) }
    case .message(let text): if !isEnding { take(text) }
    case .ended: finish()
    }
  }

  private func setDeadline() {
    let now = world.now
    let expiry = proof?.verified.expiry.map { now.uptime + max(0, $0 - now.calendar) }
    alarm?.set([engine.deadline, connectDeadline, fetchDeadline, expiry].compactMap { $0 }.min())
  }

  private func finish() {
    alarm?.end()
    alarm = nil
    share.note(0, of: self)
    if isConnected { attend(nil) }
    isConnected = false
    (calls, delayed, delayedBytes) = ([:], [], 0)
    facade.sessions.remove(engine.id)
    world.switchboard.remove(number)
    world.metrics.sessionEnded()
    world.log.socketClosed(
      peer, database.name, number, sentBytes: sentBytes, reason: engine.closing.text)
  }

  // MARK: The namespace

  private func attend(_ caller: Caller?) {
    database.submit(TreeJob(connection: number, wish: .attend(caller)))
  }

  /// Connects the client to the namespace, as the caller whose token the first request had.
  func connect() {
    if let token = ServiceLogin.token(in: authorization), proof == nil {
      do throws(FeathersError) {
        proof = try login.proof(of: token)
        authorization = nil
      } catch {
        let refusal: JSONValue =
          engine.version == .four
          ? ["message": .string(error.message), "data": error.data ?? .null]
          : error.data ?? .string(error.message)
        return send(SocketPacket(.refusal, payload: refusal))
      }
    }
    (isConnected, connectDeadline) = (true, nil)
    attend(caller)
    if engine.version == .four {
      let payload: JSONValue = ["sid": .string(engine.id + "S")]
      send(SocketPacket(.connect, payload: payload))
    } else {
      send(SocketPacket(.connect))
    }
  }

  /// Ends the connection to the namespace; the carrier stays, so that the client can connect anew.
  func disconnect(tellingClient: Bool) {
    if !isConnected { return }
    isConnected = false
    proof = nil
    calls = [:]
    attend(nil)
    connectDeadline = uptime + facade.configuration.times.connectTimeout
    if tellingClient {
      (delayed, delayedBytes) = ([], 0)
      setReading()
      send(SocketPacket(.disconnect))
    }
    if isLeaving { leave() }
  }

  /// The token of the caller is not valid any more.
  private func endLogin() { disconnect(tellingClient: true) }

  /// Takes a message; it waits while too many calls are under way.
  private func take(_ message: [UInt8]) {
    delayed.append(message)
    delayedBytes += message.count
    drain()
    if delayed.isEmpty { return }
    world.metrics.reached(WireLimit.requests)
    if delayedBytes <= world.limits.wire.waitingBytesMax { return setReading() }
    world.metrics.reached(WireLimit.waitingBytes)
    end(EngineHost.Closing(code: 1008, text: "Too many calls wait to be made."))
  }

  /// Takes the messages that need not wait any more.
  private func drain() {
    if isDraining { return }
    isDraining = true
    while calls.count < world.limits.wire.requestsMax, let message = delayed.popFirst() {
      delayedBytes -= message.count
      receive(message)
    }
    isDraining = false
    setReading()
  }

  private func receive(_ text: [UInt8]) {
    if JSONDepth.exceeds(world.limits.wire.jsonDepthMax, in: text) {
      world.metrics.reached(WireLimit.jsonDepth)
      let text = "A packet is nested deeper than \(world.limits.wire.jsonDepthMax) levels."
      return carryOut(engine.endDamaged(EngineHost.Closing(code: 1008, text: text)))
    }
    guard let packet = try? SocketPacket(text), packet.attachmentCount == 0 else {
      return endDamaged()
    }
    receive(packet)
  }

  /// Refuses a namespace, of which there is one only.
  func refuseNamespace(_ name: String) {
    let text: JSONValue = "Invalid namespace"
    let payload: JSONValue = engine.version == .four ? ["message": text] : text
    send(
      SocketPacket(
        .refusal, namespace: String(name.prefix { $0 != "?" }), payload: payload))
  }

  // MARK: Signing in

  /// Notes who is signed in.
  func take(_ proof: ServiceLogin.Proof?) {
    self.proof = proof
    attend(caller)
    setDeadline()
  }

  // MARK: Calls

  /// Notes a call, and returns its number.
  func beginCall(answer id: Int?) -> Int {
    lastCall += 1
    calls[lastCall] = .some(id)
    return lastCall
  }

  /// True if a call was not answered and not given up.
  func isUnderWay(_ number: Int) -> Bool { calls[number] != nil }

  /// Has the tree carry out a call.
  func submit(_ call: ServiceCall, of collection: ServedCollection, number: Int) {
    let task = ServiceTask(
      number: number, collection: collection, call: call, caller: caller,
      rules: facade.rules)
    database.submit(TreeJob(connection: self.number, wish: .service(task)))
  }

  /// Answers a call by its number; one that was given up is ignored.
  func answer(_ number: Int, _ result: Result<JSONValue, FeathersError>) {
    guard let id = calls.removeValue(forKey: number) else { return }
    if let id {
      let arguments: [JSONValue] =
        switch result {
        case .success(let value): [.null, value]
        case .failure(let error): [error.json]
        }
      let packet = SocketPacket(.acknowledge, id: id, payload: .array(arguments))
      // A poll that waits takes the end with the last answer.
      if isEnding, calls.isEmpty, delayed.isEmpty {
        leaveWhenFetched(after: packet)
      } else {
        send(packet)
      }
    }
    if !delayed.isEmpty { drain() }
    if isLeaving { leave() }
    endIfDone()
  }

  /// Reading pauses while messages wait.
  private func setReading() {
    let shallPause = !delayed.isEmpty
    if shallPause == isReadingPaused { return }
    isReadingPaused = shallPause
    if engine.transport == .websocket { socket?.visit(from: loop) { $0.setReading(!shallPause) } }
  }

  // MARK: From the tree and the server

  func take(_ news: TreeNews) {
    switch news {
    case .served(let number, let result):
      world.metrics.noteDenial(in: result)
      answer(number, result)
    case .serviceEvent(let message): if isConnected { send(message: message) }
    // The client connects anew, and reads anew; first it gets the answers to what it has asked.
    case .serviceEventsMissed: leave()
    case .told, .pushed, .answered, .changed, .revoked, .rulesChanged, .writeFailed,
      .unread:
      preconditionFailure("Clients of services do not receive these.")
    }
  }

  func flush() {
    if !hasUnflushed { return }
    hasUnflushed = false
    // Sockets of other loops flush what they send.
    if let socket, socket.bound.loop == loop { socket.bound.value.flush() }
  }

  func stop(_ reason: StopReason) {
    isEnding = true
    end(EngineHost.Closing(reason))
    flush()
  }

  func stopWhenDone() {
    isEnding = true
    endIfDone()
    flush()
  }

  /// Ends the session if it is to end and has answered all calls, once its client has the answers.
  private func endIfDone() {
    guard isEnding, fetchDeadline == nil, calls.isEmpty, delayed.isEmpty else { return }
    if engine.waitingBytes == 0 { return end(EngineHost.Closing(.serverEnds)) }
    leaveWhenFetched()
  }

  private func leaveWhenFetched(after packet: SocketPacket? = nil) {
    fetchDeadline = uptime + ServiceSession.fetchMilliseconds
    let last = packet.map { ServiceSession.message($0) }
    carryOut(engine.closeAfterSent(EngineHost.Closing(.serverEnds), last: last))
  }

  func disconnect() {
    end()
    flush()
  }

  func endSession() {}

  func reviewCredential() {
    guard let proof else { return }
    do throws(FeathersError) {
      _ = try login.proof(of: proof.token)
    } catch {
      if login.isUnconfirmed(proof) { return }
      endLogin()
      flush()
    }
  }

  func endIfUnconfirmed() {
    guard login.isUnconfirmed(proof) else { return }
    end()
    flush()
  }

  var user: String? { caller.auth["uid"]?.string }

  var summary: ConnectionSummary {
    ConnectionSummary(
      number: number, kind: "services", database: database.name, address: peer.address,
      user: caller.author, listenCount: isConnected ? 1 : 0, sentBytes: sentBytes)
  }
}
