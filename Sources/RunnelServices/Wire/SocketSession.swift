package import RunnelBase

/// A client of Socket.IO that connects again and again, without a network and a clock.
///
/// The owner carries out the effects in order, reports what happens to the attempt that it belongs
/// to, and calls `tick` at the deadline. Times are milliseconds of a clock that only goes forward.
///
/// ```
///   idle --call, start--> connecting --CONNECT--> signing in --signedIn--> ready
///              ^               |                        |                    |
///              |          failure, lost connection ----------------------------
///            waiting (growing pauses)      refused, absent: only a call tries again
/// ```
///
/// Invariants:
/// - S1. Each call is answered once: by the server, or with an error that says whether it was sent.
/// - S2. No call is sent twice.
/// - S3. Before `ready`, and after a refused sign-in, only calls that sign in are sent.
public struct SocketSession: Sendable {
  /// What has to be done.
  package enum Effect: Sendable {
    /// An effect of the attempt with a number.
    case engine(attempt: Int, EngineLink.Effect)
    /// An event came: its name, and the first argument or null.
    case event(String, JSONValue)
    /// A call is answered.
    case answered(Int, Result<JSONValue, FeathersError>)
    /// The answer to a call that had failed at its time limit.
    case answeredLate(Int, Result<JSONValue, FeathersError>)
    /// A connection is there: sign in, then call `signedIn`.
    case signIn
    /// The server has ended the session of who was signed in.
    case sessionEnded
    /// The state has changed.
    case state(State)
  }

  /// The state of the connection.
  public enum State: Hashable, Sendable {
    /// There was no reason yet to connect.
    case idle
    /// A connection is being made.
    case connecting
    /// The server answers.
    case connected(SocketTransport, EngineVersion)
    /// Connected, but the server owes an answer or a ping, and nothing comes.
    case silent(SocketTransport, EngineVersion)
    /// The next attempt is made after this many milliseconds.
    case waiting(milliseconds: Int64, reason: String)
    /// The server refuses; only a call leads to another attempt.
    case refused(String)
    /// The server has no Socket.IO; only a call leads to another attempt.
    case absent(String)
    /// The program has closed the connection.
    case stopped
  }

  /// The transports that are used.
  public enum Carrying: String, Hashable, Sendable, CaseIterable {
    /// A web socket; polling if none can be opened.
    case socketFirst
    /// A web socket and nothing else.
    case socketOnly
    /// Polling, then a web socket if the server offers it.
    case pollingFirst
    /// Polling and nothing else.
    case pollingOnly
  }

  /// Times and choices.
  public struct Options: Hashable, Sendable {
    /// The transports.
    public var carrying = Carrying.socketFirst
    /// The longest time for a call, from when it is sent, in milliseconds.
    public var callMilliseconds: Int64 = 20_000
    /// The longest wait of a call for the connection, in milliseconds.
    public var waitMilliseconds: Int64 = 10_000
    /// The longest time to connect, in milliseconds.
    public var connectMilliseconds: Int64 = 20_000
    /// False to fail the waiting calls at the first failure to connect.
    public var isPatient = true

    /// Makes the usual options.
    public init() {}
  }

  enum Phase { case down, connecting, signingIn, ready }

  struct Call: Sendable {
    var key: Int
    var event: String
    var arguments: [JSONValue]
    var isSignIn: Bool
    var isRenewal: Bool
    var deadline: Int64
  }

  /// How long a server may stay silent about its version, in milliseconds.
  static let decideMilliseconds: Int64 = 300
  /// How long a connection has to stand to be thought healthy, in milliseconds.
  static let healthyMilliseconds: Int64 = 10_000
  private static let pauseMax = 30_000.0
  /// The most calls that wait for a connection.
  static let waitingMax = 10_000

  /// The state.
  package private(set) var state = State.idle
  /// The number of the present attempt.
  package private(set) var attempt = 0
  let options: Options
  private var random: SeededRandom
  var link: EngineLink?
  private var joiner = SocketPacketJoiner()
  var phase = Phase.down
  /// Why the sign-in of the present connection was refused, so that no call is sent as nobody.
  var refusal: FeathersError?
  private var version = EngineVersion.four
  private var isFallback = false
  private var failures = 0
  /// The connections since the last healthy one: each shows that the server is there, so that the next pause is short,
  /// but longer after each.
  private var shortConnections = 0
  private var connectedTime: Int64?
  private var disconnectTime: Int64?
  /// When anything came from the server last.
  var lastHeard: Int64 = 0
  /// True once there was a connection.
  private var hasConnected = false
  private var (connectDeadline, decideDeadline, retryTime): (Int64?, Int64?, Int64?)
  private var lastReason = "it is not reached yet"
  var waiting: [Call] = []
  var sent: [Int: Call] = [:]
  /// The ids of sent calls by time, from `sentStart` on, which is not answered; others may be.
  var sentOrder: [Int] = []
  var sentStart = 0
  /// The calls that ended at their time limits, by the numbers under which they were sent.
  var late: [Int: Int] = [:]
  var nextID = 0

  /// Makes a session; the seed decides the pauses between attempts.
  package init(_ options: Options = Options(), seed: UInt64) {
    (self.options, random) = (options, SeededRandom(seed: seed))
  }

  /// When `tick` has to be called; nil for never.
  package var deadline: Int64? {
    [
      link?.deadline, connectDeadline, decideDeadline, retryTime, waiting.first?.deadline,
      oldestSent?.deadline, silenceTime,
    ].compactMap { $0 }.min()
  }

  // MARK: Starting and stopping

  /// Connects, if there is no connection and no attempt.
  package mutating func start(now: Int64) -> [Effect] {
    guard phase == .down, state != .stopped else { return [] }
    return begin(now)
  }

  /// Closes the connection for good; all calls fail.
  package mutating func stop() -> [Effect] {
    if state == .stopped { return [] }
    var effects: [Effect] = []
    if var link {
      self.link = nil
      effects = link.close().filter { if case .ended = $0 { false } else { true } }
        .map { .engine(attempt: attempt, $0) }
    }
    down()
    let text = "The connection was closed by the program."
    effects += failSent(FeathersError(.unavailable, text, data: ["isSent": true]))
    effects += failWaiting(FeathersError(.unavailable, text, data: ["isSent": false]))
    return effects + set(.stopped)
  }

  mutating func set(_ state: State) -> [Effect] {
    if self.state == state { return [] }
    self.state = state
    return [.state(state)]
  }

  private mutating func down() {
    phase = .down
    (connectDeadline, decideDeadline, retryTime, connectedTime) = (nil, nil, nil, nil)
    joiner = SocketPacketJoiner()
  }

  private mutating func begin(_ now: Int64) -> [Effect] {
    attempt += 1
    retryTime = nil
    phase = .connecting
    joiner = SocketPacketJoiner()
    connectDeadline = now + options.connectMilliseconds
    let isPolling =
      switch options.carrying {
      case .socketOnly: false
      case .socketFirst: isFallback
      case .pollingFirst, .pollingOnly: true
      }
    var link = EngineLink(
      isPolling ? .polling : .websocket, version: version,
      mayUpgrade: options.carrying == .pollingFirst)
    let effects = link.start()
    self.link = link
    return set(.connecting) + handle(effects, now)
  }

  // MARK: What happens to the connection

  /// Reports what happened to the connection of an attempt; earlier attempts are ignored.
  package mutating func report(
    attempt: Int, now: Int64, _ change: (inout EngineLink) -> [EngineLink.Effect]
  ) -> [Effect] {
    guard attempt == self.attempt, link != nil else { return [] }
    let effects = advance(now, change)
    // The end of a connection is no sign of life.
    guard attempt == self.attempt, link != nil else { return effects }
    return noteHeard(now) + effects
  }

  mutating func advance(
    _ now: Int64, _ change: (inout EngineLink) -> [EngineLink.Effect]
  ) -> [Effect] {
    guard var link else { return [] }
    let effects = change(&link)
    self.link = link
    return handle(effects, now) + moved()
  }

  /// Tells of a move to a web socket.
  private mutating func moved() -> [Effect] {
    guard case .connected(let transport, let version) = state, let link,
      link.transport != transport
    else { return [] }
    return set(.connected(link.transport, version))
  }

  private mutating func handle(_ effects: [EngineLink.Effect], _ now: Int64) -> [Effect] {
    var result: [Effect] = []
    let attempt = attempt
    for effect in effects {
      // An effect may have ended the attempt that it belongs to.
      guard attempt == self.attempt else { break }
      switch effect {
      case .opened: result += opened(now)
      case .message(let text):
        if link == nil { break }
        do throws(EngineError) {
          if let packet = try joiner.take(text) { result += take(packet, now) }
        } catch {
          result += damaged(error, now)
        }
      case .binary(let bytes):
        if link == nil { break }
        do throws(EngineError) {
          if let packet = try joiner.take(binary: bytes) { result += take(packet, now) }
        } catch {
          result += damaged(error, now)
        }
      case .ended(let reason): result += ended(reason, now)
      default: result.append(.engine(attempt: attempt, effect))
      }
    }
    return result
  }

  private mutating func damaged(_ error: EngineError, _ now: Int64) -> [Effect] {
    close(.damaged(error.description), now)
  }

  /// Gives the present connection up.
  private mutating func close(_ reason: EngineEnd, _ now: Int64) -> [Effect] {
    guard var link else { return [] }
    self.link = nil
    let effects = link.close().filter { if case .ended = $0 { false } else { true } }
    return effects.map { .engine(attempt: attempt, $0) } + ended(reason, now)
  }

  private mutating func opened(_ now: Int64) -> [Effect] {
    switch link?.version {
    case .four?: return connect(now)
    // Version 3 connects by itself.
    case .three?: return []
    case nil:
      decideDeadline = now + SocketSession.decideMilliseconds
      return []
    }
  }

  private mutating func connect(_ now: Int64) -> [Effect] { transmit(SocketPacket(.connect), now) }

  private mutating func transmit(_ packet: SocketPacket, _ now: Int64) -> [Effect] {
    advance(now) { $0.send([EnginePacket(.message, packet.text)]) }
  }

  private mutating func ended(_ reason: EngineEnd, _ now: Int64) -> [Effect] {
    let wasConnected = connectedTime != nil
    let stood = connectedTime.map { now - $0 } ?? 0
    let wasSocket = link?.transport == .websocket || options.carrying == .socketFirst && !isFallback
    let asked = version
    link = nil
    down()
    let words = reason.reason
    lastReason = words.hasSuffix(".") ? String(words.dropLast()) : words
    var effects = failSent(
      FeathersError(
        .unavailable, "The connection was lost before the answer (\(lastReason)).",
        data: ["isSent": true]))
    if case .otherVersion = reason, asked == .four {
      (version, isFallback) = (.three, false)
      return effects + begin(now)
    }
    let refusal: State? =
      switch reason {
      case .refused: .refused(lastReason)
      // What was there is there again once the server was started again.
      case .absent: hasConnected ? nil : .absent(lastReason)
      default: nil
      }
    if !wasConnected, refusal == nil, options.carrying == .socketFirst, wasSocket, !isFallback {
      isFallback = true
      return effects + begin(now)
    }
    // The next attempt begins with the web socket again.
    if !wasConnected { (isFallback, version) = (false, .four) }
    if stood >= SocketSession.healthyMilliseconds { (failures, shortConnections) = (0, 0) }
    if let refusal {
      effects += failWaiting(unreachable())
      return effects + set(refusal)
    }
    if !options.isPatient, !wasConnected { effects += failWaiting(unreachable()) }
    defer { failures += 1 }
    if reason == .unknownSession && failures < 3 || wasConnected && failures == 0 {
      return effects + begin(now)
    }
    let pause = pause()
    retryTime = now + pause
    return effects + set(.waiting(milliseconds: pause, reason: lastReason))
  }

  /// Returns the pause before the next attempt: it grows, and is never quite the same.
  private mutating func pause() -> Int64 {
    let step = min(1_000 * Double(1 << min(failures, 20)), SocketSession.pauseMax)
    let factor = Double.random(in: 0.5...1.5, using: &random)
    return Int64(min(step * factor, SocketSession.pauseMax))
  }

  func unreachable() -> FeathersError {
    // A reason may say so itself, with the address.
    let isSaid = lastReason.contains("cannot be reached")
    return FeathersError(
      .unavailable, (isSaid ? "" : "The server cannot be reached: ") + lastReason + ".",
      data: ["isSent": false])
  }

  // MARK: Packets

  private mutating func take(_ packet: SocketPacket, _ now: Int64) -> [Effect] {
    guard packet.namespace == "/" else { return [] }
    switch packet.kind {
    case .connect: return connected(packet, now)
    case .disconnect: return disconnected(now)
    case .refusal:
      let text =
        packet.payload?["message"]?.string ?? packet.payload?.string
        ?? packet.payload?.jsonText() ?? "no reason was given"
      let error = FeathersError(
        .forbidden, "The server refuses the connection: \(text)", data: packet.payload?["data"])
      return failWaiting(error) + close(.refused(text), now)
    case .event, .binaryEvent:
      let elements = packet.payload?.array ?? []
      let answer = packet.id.map { id in
        transmit(SocketPacket(.acknowledge, id: id, payload: []), now)
      }
      guard let name = elements.first?.string else { return answer ?? [] }
      return [.event(name, elements.count > 1 ? elements[1] : .null)] + (answer ?? [])
    case .acknowledge, .binaryAcknowledge:
      guard let id = packet.id else { return [] }
      if let key = late.removeValue(forKey: id) {
        return [.answeredLate(key, SocketSession.result(packet.payload?.array ?? []))]
      }
      guard let call = take(sent: id) else { return [] }
      let result = SocketSession.result(packet.payload?.array ?? [])
      if call.isSignIn, case .success = result { refusal = nil }
      return [.answered(call.key, result)]
    }
  }

  private static func result(_ answer: [JSONValue]) -> Result<JSONValue, FeathersError> {
    if let error = answer.first, !error.isNull { return .failure(FeathersError(json: error)) }
    return .success(answer.count > 1 ? answer[1] : .null)
  }

  private mutating func connected(_ packet: SocketPacket, _ now: Int64) -> [Effect] {
    if phase != .connecting { return [] }
    link?.decide(packet.payload?["sid"] == nil ? .three : .four, now: now)
    (connectDeadline, decideDeadline, refusal) = (nil, nil, nil)
    (phase, connectedTime, hasConnected) = (.signingIn, now, true)
    failures = min(failures, shortConnections)
    shortConnections += 1
    guard let link else { return [] }
    return set(.connected(link.transport, link.version ?? .four)) + [.signIn]
      + flush(now, isSigningIn: true)
  }

  /// The server has disconnected the client, for example since the token has expired; in version 4
  /// the carrier stays, and the client may connect on it again.
  private mutating func disconnected(_ now: Int64) -> [Effect] {
    let isRepeated = disconnectTime.map { now - $0 < SocketSession.healthyMilliseconds } ?? false
    disconnectTime = now
    if isRepeated {
      // Servers that are stopped one after the other do this, too: so another attempt follows, after a pause.
      failures = max(failures, 1)
      return [.sessionEnded] + close(.broken("the server disconnects this client"), now)
    }
    guard link?.version == .four else { return [.sessionEnded] + close(.closedThere, now) }
    phase = .connecting
    connectDeadline = now + options.connectMilliseconds
    let lost = failSent(
      FeathersError(
        .unavailable, "The server ended the session before the answer.", data: ["isSent": true]))
    return lost + [.sessionEnded] + set(.connecting) + connect(now)
  }

  // MARK: Time

  /// Does what is due.
  package mutating func tick(now: Int64) -> [Effect] {
    var effects = expire(now)
    if let decideDeadline, decideDeadline <= now {
      self.decideDeadline = nil
      effects += connect(now)
    }
    if let connectDeadline, connectDeadline <= now {
      self.connectDeadline = nil
      effects += close(
        .broken("there was no answer within \(options.connectMilliseconds / 1000) s"), now)
    }
    if let retryTime, retryTime <= now { effects += begin(now) }
    if let due = link?.deadline, due <= now { effects += advance(now) { $0.tick(now: now) } }
    return effects + noteSilence(now)
  }
}
