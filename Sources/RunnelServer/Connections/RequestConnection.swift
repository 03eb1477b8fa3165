import HTTPTypes
import RunnelBase
import RunnelDatabase
import RunnelNetwork
import RunnelSync
import RunnelTree

/// A request over HTTP: carries out the effects of a `RESTExchange`.
///
/// Loop only.
final class RequestConnection: ExchangeHandling, ServedConnection {
  private let channel: ExchangeChannel
  private let peer: NetworkPeer
  private let request: HTTPRequest
  private let database: ServedDatabase
  private let verifier: TokenVerifier
  private let world: ServerWorld
  private var exchange: RESTExchange
  private var number: Int64 = 0
  private let startTime: Int64
  private var status = 0
  /// The name of a limit that the request reached; nil if it reached none.
  private var limit: String?
  private var sentBytes = 0
  /// The bytes of a stream that its client has not taken.
  private var unsent: UnsentCount
  private var isEnded = false
  /// The text that was read and not sent yet.
  private var text: [UInt8]?
  /// The export that reads a large text piece by piece.
  private var export: LargeExport?
  /// True if the next piece is requested and the network has no room for it yet.
  private var isAwaitingRoom = false
  /// The read that the tree was asked for.
  private var asked: (operation: RESTOperation, caller: Caller)?
  private var spool: SpooledBody?
  private var bodyBytes = 0
  /// True while the body counts as a large one in memory.
  private var isLargeWrite = false
  /// True from when a long write was submitted until it is answered.
  private var isLongWrite = false
  private var isListening = false
  /// The effects that wait to be carried out.
  private var waiting: [RESTExchange.Effect] = []
  private var isCarryingOut = false

  init(
    _ request: HTTPRequest, _ limits: RESTExchange.Limits, _ database: ServedDatabase,
    _ verifier: TokenVerifier, _ world: ServerWorld, _ peer: NetworkPeer,
    _ channel: ExchangeChannel
  ) {
    (self.request, self.database, self.verifier, self.world) = (request, database, verifier, world)
    (self.peer, self.channel) = (peer, channel)
    unsent = UnsentCount(max: world.limits.wire.unsentBytesMax)
    exchange = RESTExchange(RESTRequest(request), limits: limits)
    startTime = world.now.uptime
  }

  // MARK: From the network

  var endsWithInput: Bool { exchange.wantsStream }

  func opened() {
    number = world.switchboard.add(self, on: channel.loop, session: nil)
    carryOut(exchange.begin(now: world.now))
  }

  func received(_ piece: [UInt8]) {
    bodyBytes += piece.count
    carryOut(exchange.receive(piece, now: world.now))
    // What is spooled is not in memory.
    if isEnded || isLargeWrite || spool != nil || bodyBytes < exchange.limits.spoolBytesMin {
      return
    }
    isLargeWrite = world.largeWrites.enter()
    if isLargeWrite { return }
    world.metrics.reached(RESTLimit.largeWrites)
    limit = RESTLimit.largeWrites.rawValue
    let text =
      "Too many large writes are under way (--max-large-writes): try again later, or write smaller parts."
    carryOut(exchange.spoolFailed(TreeError(.unavailable, text)))
  }

  func receivedAll() { carryOut(exchange.receivedAll(now: world.now)) }

  func canSendMore() {
    if isAwaitingRoom { sendNext() }
  }

  func timeIsUp() { carryOut(exchange.advance(now: world.now)) }

  func closed() {
    carryOut(exchange.closed())
    finish()
  }

  // MARK: From the tree

  func take(_ news: TreeNews) {
    if isEnded { return }
    switch news {
    case .answered(.answer(let answer)): take(answer)
    case .answered(.content(let hash, let text)):
      self.text = text
      let answer = RESTAnswer.content(hash: hash, byteCount: text.count)
      carryOut(exchange.answer(answer, now: world.now))
    case .answered(.large): readElsewhere(isLarge: true)
    case .changed(let change): carryOut(exchange.tell(change, now: world.now))
    case .revoked: carryOut(exchange.revoked())
    // The tree itself checks streams.
    case .rulesChanged: break
    case .told, .pushed, .writeFailed, .unread: preconditionFailure("Only sessions receive these.")
    case .served, .serviceEvent, .serviceEventsMissed:
      preconditionFailure("Only clients of services receive these.")
    }
    unsent.settle(unsent: channel.unsentBytes)
    if exchange.isStreaming, unsent.isExceeded {
      world.metrics.reached(WireLimit.unsentBytes)
      abort()
    }
  }

  private func take(_ answer: RESTAnswer) {
    if case .refused(let error) = answer, error.code == .permissionDenied {
      world.metrics.denied(over: .http)
    }
    carryOut(exchange.answer(answer, now: world.now))
  }

  func take(_ run: PushRun, of listen: ListenNumber) {
    for push in run.pushes {
      if let change = push.change { take(.changed(change)) }
    }
  }

  func flush() { channel.flush() }

  func stop(_ reason: StopReason) {
    if !exchange.isStreaming { return }
    abort()
  }

  func disconnect() {
    if !isEnded { abort() }
  }

  func endSession() {}

  func reviewCredential() {
    // Other requests are over soon.
    guard exchange.isStreaming, let credential = exchange.credential else { return }
    do throws(CredentialRefusal) {
      _ = try verifier.verify(credential, now: world.now.calendar)
    } catch {
      if error == .unconfirmed { return }
      carryOut(exchange.credentialRevoked())
      channel.flush()
    }
  }

  func endIfUnconfirmed() {
    if exchange.isStreaming, !isEnded, isUnconfirmed { abort() }
  }

  /// True if the credential depends on accounts that have not been read for a while.
  private var isUnconfirmed: Bool {
    verifier.isUnconfirmed(exchange.credential, now: world.now.calendar)
  }

  var user: String? { exchange.caller.auth["uid"]?.string }

  var summary: ConnectionSummary {
    ConnectionSummary(
      number: number, kind: exchange.isStreaming ? "stream" : "request", database: database.name,
      address: peer.address, user: exchange.caller.author,
      listenCount: exchange.isStreaming ? 1 : 0, sentBytes: sentBytes)
  }

  // MARK: Effects

  /// Carries out effects, after those that are in progress.
  private func carryOut(_ effects: [RESTExchange.Effect]) {
    waiting += effects
    if isCarryingOut { return }
    isCarryingOut = true
    while !waiting.isEmpty {
      let next = waiting
      waiting = []
      for effect in next { carryOut(effect) }
    }
    isCarryingOut = false
    if !isEnded { channel.setDeadline(exchange.deadline(now: world.now)) }
  }

  private func carryOut(_ effect: RESTExchange.Effect) {
    switch effect {
    case .verify(let credential): verify(credential)
    case .spool(let piece): keep(piece)
    case .parse(let body): parse(body)
    case .operate(let operation, let caller): operate(operation, caller)
    case .readNext: sendNext()
    case .head(let head):
      status = head.status
      channel.send(HTTPResponse(head))
    case .body(let piece):
      sentBytes += piece.count
      unsent.add(piece.count)
      channel.send(piece)
    case .end:
      channel.end()
      // Who has the answer finds it counted.
      finish()
      channel.flush()
    case .abort: abort()
    case .cancel: cancel()
    case .note(let limit):
      self.limit = limit.rawValue
      world.metrics.reached(limit)
    }
  }

  private func verify(_ credential: Credential) {
    let own = LoopBound(self, to: channel.loop)
    let result = verifier.verify(credential, now: world.now.calendar) { result in
      own.loop.run {
        if own.value.isEnded { return }
        own.value.take(result)
        own.value.channel.flush()
      }
    }
    if let result { take(result) }
  }

  private func take(_ result: Result<VerifiedCredential, CredentialRefusal>) {
    if case .failure = result { world.metrics.refused(.credential) }
    carryOut(exchange.verified(result, now: world.now))
  }

  private func operate(_ operation: RESTOperation, _ caller: Caller) {
    // The body may have come long after the credential.
    if isUnconfirmed {
      let error = TreeError(.unavailable, CredentialRefusal.unconfirmed.text)
      return carryOut(exchange.answer(.refused(error), now: world.now))
    }
    if case .stream = operation { isListening = true }
    noteLongWrite(operation)
    guard case .putSpooled(let path, let condition, let hashes) = operation else {
      asked = (operation, caller)
      if case .read = operation, database.hasLongWrite { return readElsewhere(isLarge: false) }
      return database.submit(TreeJob(connection: number, wish: .operation(operation, caller)))
    }
    guard let spool else { preconditionFailure("The body was spooled before.") }
    let job = TreeJob(
      connection: number,
      wish: .putSpooled(spool, path, condition: condition, hashes: hashes, caller))
    // The job follows the pieces that are still to be written.
    world.files.submit { [database] in database.submit(job) }
  }

  /// Notes a write that will keep the tree's thread busy for a while, so that reads do not wait for it.
  private func noteLongWrite(_ operation: RESTOperation) {
    switch operation {
    case .putSpooled: isLongWrite = true
    case .write, .push: isLongWrite = bodyBytes >= ServedDatabase.longWriteBytesMin
    case .read, .readPriority, .stream, .readRules, .writeRules: isLongWrite = false
    }
    if isLongWrite { database.beginLongWrite() }
  }

  private func abort() {
    channel.abort()
    cancel()
    finish()
  }

  private func cancel() {
    if isListening { database.submit(TreeJob(connection: number, wish: .endStream)) }
    isListening = false
    text = nil
    closeExport()
  }

  private func closeExport() {
    guard let export else { return }
    self.export = nil
    world.files.submit { export.close() }
  }

  /// Finishes the request; called last.
  private func finish() {
    if isEnded { return }
    isEnded = true
    cancel()
    spool = nil
    if isLargeWrite { world.largeWrites.leave() }
    isLargeWrite = false
    if isLongWrite { database.endLongWrite() }
    isLongWrite = false
    world.switchboard.remove(number)
    world.metrics.answered(status)
    let milliseconds = world.now.uptime - startTime
    world.log.answered(
      peer, request, database.name, status: status, limit: limit, sentBytes: sentBytes,
      milliseconds: milliseconds)
  }

  // MARK: Large bodies

  /// Appends a piece of the body to a file; reading pauses until that is done.
  private func keep(_ piece: [UInt8]) {
    do throws(TreeError) {
      let body: SpooledBody
      if let spool {
        body = spool
      } else {
        body = try SpooledBody(beside: database.place.spoolFile)
      }
      spool = body
      channel.pauseReading()
      let bound = LoopBound(self, to: channel.loop)
      world.files.submit {
        let result = Result { () throws(TreeError) in try body.append(piece) }
        bound.loop.run { bound.value.kept(result) }
      }
    } catch {
      kept(.failure(error))
    }
  }

  private func kept(_ result: Result<Void, TreeError>) {
    if isEnded { return }
    channel.resumeReading()
    if case .failure(let error) = result { carryOut(exchange.spoolFailed(error)) }
  }

  /// Parses a body on another thread.
  private func parse(_ body: [UInt8]) {
    let bound = LoopBound(self, to: channel.loop)
    world.bodies.submit { [limits = exchange.limits] in
      let body = RESTBody(parsing: body, limits)
      bound.loop.run { bound.value.parsed(body) }
    }
  }

  private func parsed(_ body: RESTBody) {
    if isEnded { return }
    carryOut(exchange.parsed(body))
    channel.flush()
  }

  // MARK: Large answers

  /// Reads on the file thread, because the result is too large for the tree's thread, or that thread has a
  /// long write to do.
  private func readElsewhere(isLarge: Bool) {
    guard let (operation, caller) = asked,
      case .read(let query, let form, let isPretty, let hashes) = operation
    else { preconditionFailure("Only reads are large.") }
    let bound = LoopBound(self, to: channel.loop)
    let wish = LargeExport.Wish(
      query: query, form: form, isPretty: isPretty, hashes: hashes, caller: caller)
    let (database, now) = (database, world.now.calendar)
    world.files.submit {
      let begun = LargeExport.begin(wish, of: database, now: now, isLarge: isLarge)
      bound.loop.run { bound.value.began(begun) }
    }
  }

  private func began(_ begun: LargeExport.Begun) {
    switch begun {
    case .refused(let error): take(.refused(error))
    case .reading(let export, let hash):
      if isEnded { return world.files.submit { export.close() } }
      self.export = export
      carryOut(exchange.answer(.content(hash: hash), now: world.now))
    case .whole(let text, let hash): take(.answered(.content(hash: hash, text: text)))
    }
    channel.flush()
  }

  /// Sends pieces, as long as the network has room.
  private func sendNext() {
    isAwaitingRoom = !channel.isWritable
    if isAwaitingRoom { return }
    if let text {
      self.text = nil
      if !text.isEmpty { carryOut(exchange.piece(text)) }
      // The text is complete.
      return carryOut(exchange.piece(nil))
    }
    guard let export else { return carryOut(exchange.piece(nil)) }
    let bound = LoopBound(self, to: channel.loop)
    world.files.submit {
      let result = export.next()
      bound.loop.run { bound.value.took(result) }
    }
  }

  private func took(_ result: Result<[UInt8]?, TreeError>) {
    if isEnded { return }
    switch result {
    case .success(let piece):
      carryOut(exchange.piece(piece))
      channel.flush()
      if piece != nil { sendNext() }
    case .failure:
      carryOut(exchange.failed())
    }
  }
}

extension RESTRequest {
  /// Makes the request that `RESTExchange` reads.
  init(_ request: HTTPRequest) {
    self.init(
      request.method.rawValue, request.path ?? "/",
      headers: request.headerFields.map { Header($0.name.rawName, $0.value) })
  }
}

extension HTTPResponse {
  /// The head of an answer.
  init(_ head: RESTHead) {
    self.init(status: Status(code: head.status))
    for header in head.headers {
      guard let name = HTTPField.Name(header.name) else { continue }
      headerFields.append(HTTPField(name: name, value: header.value))
    }
  }
}
