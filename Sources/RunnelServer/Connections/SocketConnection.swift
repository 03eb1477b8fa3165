import RunnelBase
import RunnelNetwork
import RunnelSync
import RunnelTree

/// A client's WebSocket: carries out the effects of a `ServerSession`.
///
/// Loop only.
final class SocketConnection: SocketHandling, ServedConnection {
  private let channel: SocketChannel
  private let peer: NetworkPeer
  private let database: ServedDatabase
  private let verifier: TokenVerifier
  private let world: ServerWorld
  /// The server to which the client is sent; nil to serve it here.
  private let address: String?
  private var session: ServerSession
  private var number: Int64 = 0
  private var sentBytes = 0
  private let room: ReadRoom
  /// The unsent bytes that the room knows.
  private var notedBytes = 0
  /// The effects that wait to be carried out.
  private var waiting: [ServerSession.Effect] = []
  private var isCarryingOut = false

  init(
    _ configuration: ServerSession.Configuration, _ database: ServedDatabase,
    _ verifier: TokenVerifier, _ world: ServerWorld, _ peer: NetworkPeer, _ channel: SocketChannel,
    belongsTo address: String? = nil
  ) {
    self.address = address
    (self.database, self.verifier, self.world) = (database, verifier, world)
    (self.peer, self.channel) = (peer, channel)
    session = ServerSession(configuration)
    room = ReadRoom(unsentBytesMax: configuration.limits.unsentBytesMax)
  }

  // MARK: From the network

  func opened() {
    number = world.switchboard.add(
      self, on: channel.loop, session: session.configuration.name)
    world.metrics.sessionBegan()
    world.log.socketOpened(peer, database.name, number)
    if let address {
      world.metrics.redirected()
      carryOut(session.redirect(to: address))
      channel.flush()
    } else if world.switchboard.isEnding {
      stop()
    } else {
      carryOut(session.open(now: world.now))
    }
  }

  func received(_ text: [UInt8]) {
    settle()
    // The message itself is the sign of life: its bytes are none later.
    _ = channel.takeSign()
    carryOut(session.receive(text, now: world.now))
  }

  func heard() {
    _ = channel.takeSign()
    session.heard(now: world.now)
    setDeadline()
  }

  func canSendMore() {
    settle()
    noteUnsent()
  }

  func timeIsUp() {
    if channel.takeSign() { session.heard(now: world.now) }
    carryOut(session.advance(now: world.now))
  }

  func closed() {
    carryOut(session.closed())
    noteUnsent()
    world.switchboard.remove(number)
    world.metrics.sessionEnded()
    world.log.socketClosed(peer, database.name, number, sentBytes: sentBytes)
  }

  // MARK: From the tree

  func take(_ news: TreeNews) {
    settle()
    switch news {
    case .told(.push(let listen, let push)): carryOut(session.tell(listen, push))
    case .told(.answer(let id, let answer)):
      noteDenial(id, answer)
      carryOut(session.answer(id, answer))
      room.take(id)
    case .rulesChanged: carryOut(session.review())
    case .writeFailed: carryOut(session.close(.goingAway("The storage failed at a write.")))
    case .unread where !session.isOpen: break
    case .unread:
      world.metrics.reached(WireLimit.unsentBytes)
      carryOut(session.close(.policyViolation("The client does not read its messages.")))
    case .answered, .changed, .revoked:
      preconditionFailure("Only HTTP requests receive these.")
    case .pushed: preconditionFailure("The switchboard makes runs of these.")
    case .served, .serviceEvent, .serviceEventsMissed:
      preconditionFailure("Only clients of services receive these.")
    }
    noteUnsent()
  }

  /// Counts and logs what the rules denied.
  private func noteDenial(_ id: Int64, _ answer: ServedAnswer) {
    guard case .refused(let error) = answer, error.code == .permissionDenied,
      let word = session.operation(id)?.word
    else { return }
    world.metrics.denied(over: .websocket)
    world.log.denied(peer, database.name, number, word, error, user: user)
  }

  func take(_ run: PushRun, of listen: ListenNumber) {
    settle()
    // The deadline does not depend on what is sent.
    carryOut(session.tell(listen, run), movesDeadline: false)
    noteUnsent()
  }

  func flush() { channel.flush() }

  func stop(_ reason: StopReason) {
    carryOut(session.close(.goingAway(reason.text)))
    channel.flush()
  }

  func stopWhenDone() {
    carryOut(session.endWhenDone(.goingAway(StopReason.serverEnds.text)))
    channel.flush()
  }

  func disconnect() {
    carryOut(session.close(.policyViolation("An administrator ended the connection.")))
    channel.flush()
  }

  func endSession() {
    carryOut(session.close(.normal("Another connection took over.")))
    channel.flush()
  }

  func reviewCredential() {
    guard let credential = session.credential else { return }
    do throws(CredentialRefusal) {
      _ = try verifier.verify(credential, now: world.now.calendar)
    } catch {
      // What cannot be judged now is judged when the accounts are read again.
      if error == .unconfirmed { return }
      carryOut(session.revokeCredential())
      channel.flush()
    }
  }

  func endIfUnconfirmed() {
    if !isUnconfirmed { return }
    endUnconfirmed()
    channel.flush()
  }

  /// True if the credential depends on accounts that have not been read for a while.
  private var isUnconfirmed: Bool {
    session.isOpen && verifier.isUnconfirmed(session.credential, now: world.now.calendar)
  }

  private func endUnconfirmed() {
    carryOut(session.close(.goingAway(CredentialRefusal.unconfirmed.text)))
  }

  var user: String? { session.caller.auth["uid"]?.string }

  var summary: ConnectionSummary {
    ConnectionSummary(
      number: number, kind: "socket", database: database.name, address: peer.address,
      user: session.caller.author, listenCount: session.listenCount, sentBytes: sentBytes)
  }

  // MARK: Effects

  /// Tells the session the bytes that the network has taken.
  private func settle() {
    let taken = session.unsentBytes - channel.unsentBytes
    if taken > 0 { session.sent(taken) }
  }

  /// Tells the tree whether there is room for more answers.
  private func noteUnsent() {
    if !session.isOpen {
      if room.end() { lookAgain() }
      return
    }
    let unsent = session.unsentBytes
    let bytes = unsent < ReadRoom.countedBytesMin ? 0 : unsent
    if bytes == 0, notedBytes == 0 { return }
    notedBytes = bytes
    if room.update(unsent: bytes) { lookAgain() }
  }

  /// Wakes the tree for the reads that wait.
  private func lookAgain() { database.submit(TreeJob(connection: 0, wish: .look)) }

  /// Carries out effects, after those that are in progress.
  private func carryOut(_ effects: [ServerSession.Effect], movesDeadline: Bool = true) {
    waiting += effects
    if isCarryingOut { return }
    isCarryingOut = true
    while !waiting.isEmpty {
      let next = waiting
      waiting = []
      for effect in next { carryOut(effect) }
    }
    isCarryingOut = false
    if movesDeadline { setDeadline() }
  }

  private func carryOut(_ effect: ServerSession.Effect) {
    switch effect {
    case .send(let frame):
      sentBytes += frame.count
      channel.send(frame)
    case .sendRun(let run):
      sentBytes += run.byteCount
      channel.send(run.frames)
    case .operate where isUnconfirmed:
      // Nothing is done for somebody who may have been removed: the client sends it again.
      endUnconfirmed()
    case .operate(let request):
      database.submit(TreeJob(connection: number, wish: .request(request), room: room))
    case .verify(let credential): verify(credential)
    case .endSession(let name): world.switchboard.endSession(name)
    case .ping:
      channel.ping()
      channel.flush()
    case .pauseReading: channel.pauseReading()
    case .resumeReading: channel.resumeReading()
    case .note(let limit): world.metrics.reached(limit)
    case .close(let reason): channel.close(code: reason.code, text: reason.text)
    }
  }

  private func verify(_ credential: Credential) {
    let own = LoopBound(self, to: channel.loop)
    let result = verifier.verify(credential, now: world.now.calendar) { result in
      own.loop.run {
        own.value.take(result)
        own.value.channel.flush()
      }
    }
    if let result { take(result) }
  }

  private func take(_ result: Result<VerifiedCredential, CredentialRefusal>) {
    if case .failure = result { world.metrics.refused(.credential) }
    carryOut(session.verified(result, now: world.now))
  }

  private func setDeadline() { channel.setDeadline(session.deadline(now: world.now)) }
}
