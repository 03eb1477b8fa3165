import RunnelBase
import RunnelTree

/// One connection of a client, seen from the server: frames become operations on the tree that is
/// served, and what the tree tells becomes frames.
///
/// Responsibilities:
/// - It reads frames, answers what concerns the connection alone, and asks the tree for the rest, in
///   order.
/// - It knows what the connection listens to and under which tag, for whom it speaks, and what is to be
///   done when it ends.
/// - It holds the limits of one connection.
///
/// It sends nothing itself, knows no time but what it is given, and does no operation: it returns
/// effects, which are to be carried out in order.
///
/// Terms. An operation is *under way* until the tree has answered it. The session *holds* while a
/// credential is verified, or something is kept for the end: what is asked meanwhile waits, for it
/// depends on that.
///
/// ```
///   new --open--> open --close, closed, a limit, a mistake--> closed
///                 |  ^
///                 +--+ receive, answer, tell, verified, advance
/// ```
///
/// Invariants:
/// - I1. Operations are asked for in the order of the requests; while the session holds, none is.
/// - I2. A push of a listen leaves only between its answer and its end.
/// - I3. After `leave` nothing is asked for and nothing leaves.
///
/// Source: wire protocol, sections A3 to A6.
public struct ServerSession: Sendable {
  /// What is to be done, in order.
  public enum Effect: Hashable, Sendable {
    /// Send the text of a frame, in UTF-8.
    case send([UInt8])
    /// Ask the tree; its answer is given to `answer`.
    case operate(ServedRequest)
    /// Find out for whom a credential speaks; `verified` is told.
    case verify(Credential)
    /// End the session of this name, if it is this client's and still there.
    case endSession(String)
    /// Send a ping frame; `heard` is told of the pong.
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

  /// What a session is made of.
  public struct Configuration: Hashable, Sendable {
    /// The name of the session: no other one has or had it, and nobody guesses it.
    public var name: String
    /// The host by which the client came.
    public var host: String
    /// The session that this one takes over from, as the client tells it; nil for none.
    public var previous: String?
    /// What the connection may use.
    public var limits: WireLimits
    /// True if the tree does a write with a name once, and the client is told that.
    public var takesWriteNames = true

    /// Makes a configuration.
    public init(
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
    /// False until its answer is told.
    var isAnswered = false
  }

  /// A request that the tree was asked for.
  struct UnderWay: Sendable {
    /// The request's number; nil for what the client did not ask for.
    var number: Int64?
    var operation: ServedOperation
  }

  /// A request that waits.
  struct Waiting: Sendable {
    var number: Int64
    var request: WireRequest
    var bytes: Int
  }

  /// What the session was made of.
  public let configuration: Configuration
  /// For whom the connection speaks.
  public internal(set) var caller = Caller.nobody
  /// By what that is known; nil for nobody.
  public internal(set) var credential: Credential?
  /// The bytes that were sent and not taken by the network.
  public internal(set) var unsentBytes = 0

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
  /// The request by which a credential was shown that is being verified, and the credential.
  var verifying: (number: Int64, credential: Credential)?
  var isPaused = false
  /// What the client may send in a second.
  var requestAllowance: Allowance
  var byteAllowance: Allowance
  /// When the client may send more; nil if it may now.
  var allowedTime: Int64?
  var disconnects = OnDisconnect()
  /// What is to be done at the end, once the tree has kept it.
  var held: OnDisconnect?
  /// When the credential's time is over, in milliseconds since 1970.
  var expiry: Int64?
  /// When something was heard last.
  var lastHeard: Int64 = 0
  var isAwaitingSign = false
  /// When the message began of which a part is missing.
  var messageStart: Int64?

  /// Makes a session of a connection that is not open yet.
  public init(_ configuration: Configuration) {
    self.configuration = configuration
    assembler = FrameAssembler(bytesMax: configuration.limits.messageBytesMax)
    requestAllowance = Allowance(perSecond: configuration.limits.requestsPerSecond)
    byteAllowance = Allowance(perSecond: configuration.limits.bytesPerSecond)
  }

  var limits: WireLimits { configuration.limits }

  /// True between `open` and the end.
  public var isOpen: Bool { phase == .open }

  /// The number of queries that are listened to.
  public var listenCount: Int { listens.count }

  /// The number of requests that were not answered.
  public var requestCount: Int {
    underWay.values.count { $0.number != nil } + waiting.count + (verifying == nil ? 0 : 1)
  }

  mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }
}

// MARK: The connection

extension ServerSession {
  /// The connection is open: the handshake is the first message.
  public mutating func open(now: WireTime) -> [Effect] {
    precondition(phase == .new, "A session is opened once.")
    phase = .open
    lastHeard = now.uptime
    if let previous = configuration.previous { effects.append(.endSession(previous)) }
    send(
      .handshake(
        Handshake(
          timestamp: now.calendar, host: configuration.host, session: configuration.name,
          takesWriteNames: configuration.takesWriteNames)))
    return takeEffects()
  }

  /// Sends the client to another host, in place of a handshake or later.
  public mutating func redirect(to host: String) -> [Effect] {
    guard phase != .closed else { return [] }
    send(.redirect(host: host))
    end(.normal("See \(host)."))
    return takeEffects()
  }

  /// Ends the connection; `isForGood` if the client is not to come back by itself.
  public mutating func close(_ reason: CloseReason, isForGood: Bool = false) -> [Effect] {
    guard phase != .closed else { return [] }
    if isForGood { send(.shutdown(reason: reason.text)) }
    end(reason)
    return takeEffects()
  }

  /// The connection ended by itself.
  public mutating func closed() -> [Effect] {
    guard phase == .open else {
      phase = .closed
      return []
    }
    leave()
    return takeEffects()
  }

  /// The network took bytes that were sent.
  public mutating func sent(_ bytes: Int) { unsentBytes = max(0, unsentBytes - bytes) }

  /// The client gave a sign of life that is no text frame.
  public mutating func heard(now: WireTime) {
    lastHeard = now.uptime
    isAwaitingSign = false
  }

  /// When `advance` is to be called next, on the clock that never goes back; nil if it need not be.
  public func deadline(now: WireTime) -> Int64? {
    guard isOpen else { return nil }
    let silence =
      lastHeard + limits.silenceMilliseconds + (isAwaitingSign ? limits.signMilliseconds : 0)
    let message = messageStart.map { $0 + limits.messageMilliseconds }
    let credential = expiry.map { now.uptime + max(0, $0 - now.calendar) }
    return [silence, message, credential, allowedTime].compactMap { $0 }.min()
  }

  /// Time went on.
  public mutating func advance(now: WireTime) -> [Effect] {
    guard isOpen else { return [] }
    if let expiry, expiry <= now.calendar { endCredential(.expired) }
    if let allowedTime, allowedTime <= now.uptime {
      self.allowedTime = nil
      updateReading()
    }
    if let messageStart, messageStart + limits.messageMilliseconds <= now.uptime {
      effects.append(.note(.messageTime))
      end(.policyViolation("The rest of a message did not arrive in time."))
    } else if isAwaitingSign {
      let end = lastHeard + limits.silenceMilliseconds + limits.signMilliseconds
      if end <= now.uptime {
        effects.append(.note(.silence))
        self.end(.goingAway("The client gave no sign of life."))
      }
    } else if lastHeard + limits.silenceMilliseconds <= now.uptime {
      isAwaitingSign = true
      effects.append(.ping)
    }
    return takeEffects()
  }

  /// Ends the connection from here, and leaves.
  mutating func end(_ reason: CloseReason) {
    if phase == .open { leave() }
    phase = .closed
    effects.append(.close(reason))
  }

  /// What the connection left to be done is done, and nothing more is asked for.
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
    // One message may be larger than what may wait.
    let isFull = unsentBytes > limits.unsentBytesMax
    for frame in frames {
      unsentBytes += frame.count
      effects.append(.send(frame))
    }
    if isOpen, isFull {
      effects.append(.note(.unsentBytes))
      end(.policyViolation("The client does not read what it is told."))
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

  /// Asks the tree for something.
  mutating func ask(_ operation: ServedOperation, number: Int64?) {
    precondition(isOpen, "I3: after the end nothing is asked for.")
    lastOperation += 1
    let request = ServedRequest(id: lastOperation, caller: caller, operation: operation)
    switch operation {
    case .unlisten, .leave: break
    default: underWay[lastOperation] = UnderWay(number: number, operation: operation)
    }
    effects.append(.operate(request))
  }
}
