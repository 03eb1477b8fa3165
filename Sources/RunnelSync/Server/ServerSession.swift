import RunnelBase
import RunnelTree

/// The server's side of one connection of a client: frames become operations on the served tree,
/// and the tree's messages become frames.
///
/// Responsibilities:
/// - It reads frames, answers what concerns the connection alone, and passes the rest to the tree,
///   in order.
/// - It holds the connection's listens with their tags, its caller, and its disconnect requests.
/// - It enforces the limits of one connection.
///
/// The session sends nothing, reads no clock and does no operation: it returns effects, which the
/// caller carries out in order.
///
/// Terms. An operation is *under way* until the tree has answered it. The session *holds* while a
/// credential is verified or a disconnect request is kept; later requests wait meanwhile, because
/// they depend on the result.
///
/// ```
///   new --open--> open --close, endWhenDone, closed, a limit, a mistake--> closed
///                 |  ^
///                 +--+ receive, answer, tell, verified, advance
/// ```
///
/// Invariants:
/// - I1. Operations are passed on in the order of the requests; none is passed on while the session
///   holds.
/// - I2. A push of a listen leaves only between its answer and its end.
/// - I3. After `leave` no operation is passed on and nothing leaves.
///
/// Source: wire protocol, sections A3 to A6.
package struct ServerSession: Sendable {
  /// An effect for the caller to carry out; effects are carried out in order.
  package enum Effect: Hashable, Sendable {
    /// Send the text of a frame, in UTF-8.
    case send([UInt8])
    /// Send the frames of pushes that other sessions may be sent too.
    case sendRun(PushRun)
    /// Ask the tree; give its answer to `answer`.
    case operate(ServedRequest)
    /// Verify a credential; report the result to `verified`.
    case verify(Credential)
    /// End the session with this name, if it belongs to this client and still exists.
    case endSession(String)
    /// Send a ping frame; report the pong to `heard`.
    case ping
    /// Read no more frames of the connection until `resumeReading`.
    case pauseReading
    /// Read frames again.
    case resumeReading
    /// Count that the client reached a limit.
    case note(WireLimit)
    /// Send a close frame, and end the connection.
    case close(CloseReason)
  }

  /// The parameters of a session.
  package struct Configuration: Hashable, Sendable {
    /// The name of the session: unique for all time and not guessable.
    package var name: String
    /// The host name that the client connected to.
    package var host: String
    /// The session that this one replaces, as the client named it; nil for none.
    package var previous: String?
    /// The limits of the connection.
    package var limits: WireLimits
    /// True if the tree does a named write once, which is announced to the client.
    package var takesWriteNames = true
    /// True if the tree compares the nodes that a merge replaces, which is announced, too.
    package var takesWriteHashes = true

    /// Makes a configuration.
    package init(
      name: String, host: String, previous: String? = nil, limits: WireLimits = WireLimits()
    ) {
      self.name = name
      self.host = host
      self.previous = previous
      self.limits = limits
    }
  }

  enum Phase: Hashable, Sendable {
    case new
    case open
    case closed
  }

  struct Listen: Sendable {
    var asked: AskedQuery
    var tag: Int?
    /// False until the answer to the listen was sent.
    var isAnswered = false
  }

  /// An operation that the tree has not answered yet.
  struct UnderWay: Sendable {
    /// The request's number; nil for an operation that the client did not request.
    var number: Int64?
    var operation: ServedOperation
  }

  /// A request that waits.
  struct Waiting: Sendable {
    var number: Int64
    var request: WireRequest
    var bytes: Int
  }

  /// The parameters that the session was made with.
  package let configuration: Configuration
  /// The caller for whom the connection acts.
  package internal(set) var caller = Caller.nobody
  /// The credential that identified the caller; nil if unauthenticated.
  package internal(set) var credential: Credential?
  /// The number of bytes that were sent and not yet taken by the network.
  package var unsentBytes: Int { unsent.bytes }

  var unsent: UnsentCount
  var phase = Phase.new
  var assembler: FrameAssembler
  var effects: [Effect] = []
  var listens: [ListenNumber: Listen] = [:]
  var numbers: [AskedQuery: ListenNumber] = [:]
  var lastListen: Int64 = 0
  var underWay: [Int64: UnderWay] = [:]
  var lastOperation: Int64 = 0
  var waiting: [Waiting] = []
  var waitingBytes = 0
  var isHolding = false
  /// The credential that is being verified, and the number of its request.
  var verifying: (number: Int64, credential: Credential)?
  var isPaused = false
  /// The remaining allowance of requests and bytes per second.
  var requestAllowance: Allowance
  var byteAllowance: Allowance
  /// When the client may send more, on the monotonic clock; nil if it may now.
  var allowedTime: Int64?
  var disconnects = OnDisconnect()
  /// The disconnect requests to adopt once the tree has kept them.
  var held: OnDisconnect?
  /// When the credential expires, in milliseconds since 1970; nil for never.
  var expiry: Int64?
  /// The time of the last sign of life of the client, on the monotonic clock.
  var lastHeard: Int64 = 0
  var isAwaitingSign = false
  /// Why the connection ends as soon as what was taken is answered; nil if it does not.
  var ending: CloseReason?
  /// The start of an incomplete message, on the monotonic clock; nil if there is none.
  var messageStart: Int64?

  /// Makes a session of a connection that is not open yet.
  package init(_ configuration: Configuration) {
    self.configuration = configuration
    unsent = UnsentCount(max: configuration.limits.unsentBytesMax)
    assembler = FrameAssembler(bytesMax: configuration.limits.messageBytesMax)
    requestAllowance = Allowance(perSecond: configuration.limits.requestsPerSecond)
    byteAllowance = Allowance(perSecond: configuration.limits.bytesPerSecond)
  }

  var limits: WireLimits { configuration.limits }

  /// True between `open` and the end.
  package var isOpen: Bool { phase == .open }

  /// The number of listens.
  package var listenCount: Int { listens.count }

  /// The number of requests that were not answered.
  package var requestCount: Int {
    underWay.values.count { $0.number != nil } + waiting.count + (verifying == nil ? 0 : 1)
  }

  mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }
}

// MARK: The connection

extension ServerSession {
  /// Opens the session: the handshake is the first message.
  package mutating func open(now: WireTime) -> [Effect] {
    precondition(phase == .new, "A session is opened once.")
    phase = .open
    lastHeard = now.uptime
    if let previous = configuration.previous { effects.append(.endSession(previous)) }
    send(
      .handshake(
        Handshake(
          timestamp: now.calendar, host: configuration.host, session: configuration.name,
          takesWriteNames: configuration.takesWriteNames,
          takesWriteHashes: configuration.takesWriteHashes)))
    return takeEffects()
  }

  /// Sends the client to another host, in place of a handshake or later.
  package mutating func redirect(to host: String) -> [Effect] {
    guard phase != .closed else { return [] }
    send(.redirect(host: host))
    end(.normal("See \(host)."))
    return takeEffects()
  }

  /// Ends the connection; `isForGood` tells the client not to reconnect automatically.
  package mutating func close(_ reason: CloseReason, isForGood: Bool = false) -> [Effect] {
    guard phase != .closed else { return [] }
    if isForGood { send(.shutdown(reason: reason.text)) }
    end(reason)
    return takeEffects()
  }

  /// Takes no more messages, and ends the connection as soon as what was taken is done and answered.
  package mutating func endWhenDone(_ reason: CloseReason) -> [Effect] {
    guard isOpen else { return close(reason) }
    ending = reason
    endIfDone()
    return takeEffects()
  }

  /// Ends the connection if it is to end, and nothing waits for an answer.
  mutating func endIfDone() {
    if isOpen, let ending, requestCount == 0 { end(ending) }
  }

  /// Takes the news that the connection ended.
  package mutating func closed() -> [Effect] {
    guard phase == .open else {
      phase = .closed
      return []
    }
    leave()
    return takeEffects()
  }

  /// Takes the number of sent bytes that the network has taken.
  package mutating func sent(_ bytes: Int) { unsent.take(bytes) }

  /// Takes a sign of life of the client other than a text frame.
  package mutating func heard(now: WireTime) {
    lastHeard = now.uptime
    isAwaitingSign = false
  }

  /// The time of the next call of `advance`, on the monotonic clock, or nil if none is needed.
  package func deadline(now: WireTime) -> Int64? {
    guard isOpen else { return nil }
    let message = messageStart.map { $0 + limits.messageMilliseconds }
    let credential = expiry.map { now.uptime + max(0, $0 - now.calendar) }
    var first = silenceEnd
    if let message { first = min(first, message) }
    if let credential { first = min(first, credential) }
    if let allowedTime { first = min(first, allowedTime) }
    return first
  }

  /// Carries out what is due at this time.
  package mutating func advance(now: WireTime) -> [Effect] {
    guard isOpen else { return [] }
    if let expiry, expiry <= now.calendar { endCredential(.expired) }
    if let allowedTime, allowedTime <= now.uptime {
      self.allowedTime = nil
      updateReading()
    }
    if let messageStart, messageStart + limits.messageMilliseconds <= now.uptime {
      effects.append(.note(.messageTime))
      end(.policyViolation("The rest of a message did not arrive in time."))
    } else if silenceEnd <= now.uptime {
      endSilence(now: now)
    }
    return takeEffects()
  }

  /// When the client has been silent for too long, on the monotonic clock.
  private var silenceEnd: Int64 {
    lastHeard + limits.silenceMilliseconds + (isAwaitingSign ? limits.signMilliseconds : 0)
  }

  private mutating func endSilence(now: WireTime) {
    if isPaused {
      // What the client sends is not read: the silence is not its own.
      heard(now: now)
    } else if isAwaitingSign {
      effects.append(.note(.silence))
      end(.goingAway("The client gave no sign of life."))
    } else {
      isAwaitingSign = true
      effects.append(.ping)
    }
  }

  /// Ends the connection from this side, and leaves.
  mutating func end(_ reason: CloseReason) {
    if phase == .open { leave() }
    phase = .closed
    effects.append(.close(reason))
  }

  /// Hands the disconnect requests to the tree; nothing more is asked after that.
  private mutating func leave() {
    ask(.leave(disconnects.execute()), number: nil)
    phase = .closed
    (listens, numbers, waiting, underWay) = ([:], [:], [], [:])
    verifying = nil
  }
}

// MARK: Sending

extension ServerSession {
  mutating func send(_ message: ServerMessage) { send(message.bytes) }

  mutating func send(_ message: [UInt8]) { send(frames: FrameSplitter.frames(of: message)) }

  mutating func send(frames: [[UInt8]]) {
    // A single message may be larger than the limit of unsent bytes.
    let isFull = unsent.isExceeded
    unsent.add(frames.reduce(0) { $0 + $1.count })
    effects += frames.map { .send($0) }
    if isOpen, isFull {
      effects.append(.note(.unsentBytes))
      end(.policyViolation("The client does not read its messages."))
    }
  }

  mutating func respond(_ number: Int64, _ status: WireStatus, _ data: JSONValue) {
    guard isOpen else { return }
    send(.response(number, status, data))
  }

  mutating func refuse(_ number: Int64, _ error: TreeError) {
    let status = WireStatus(error)
    let text =
      status == .permissionDenied ? WireStatus.permissionDeniedText : error.description
    respond(number, status, .string(text))
  }

  /// Passes an operation to the tree.
  mutating func ask(_ operation: ServedOperation, number: Int64?) {
    precondition(isOpen, "I3: after the end nothing is asked for.")
    lastOperation += 1
    let request = ServedRequest(id: lastOperation, caller: caller, operation: operation)
    switch operation {
    case .unlisten, .doDisconnects, .leave: break
    default: underWay[lastOperation] = UnderWay(number: number, operation: operation)
    }
    effects.append(.operate(request))
  }
}
