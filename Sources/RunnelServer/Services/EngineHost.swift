import RunnelBase
import RunnelServices
import RunnelSync

/// The server's side of a session of Engine.IO, without a network and a clock.
///
/// The owner carries out the effects in order, reports what happens, and calls `tick` at the deadline.
/// Times are milliseconds of a clock that only goes forward.
///
/// ```
///   polling --socket attached, 2probe--> probing --5--> web socket --end--> ended
///             <--socket closed, or too late--
/// ```
///
/// Invariants:
/// - H1. At most one poll waits.
/// - H2. A packet leaves once: in the answer to a poll, or as a frame.
/// - H3. After `ended` there are no effects.
///
/// Source: services protocol, section 4.
struct EngineHost: Sendable {
  /// What has to be done.
  enum Effect: Hashable, Sendable {
    /// Answer the poll that waits.
    case answerPoll([UInt8])
    /// Send a text frame on the socket.
    case frame([UInt8])
    /// Close the socket.
    case closeSocket
    /// A message came.
    case message([UInt8])
    /// The session has ended.
    case ended
  }

  /// The close frame of a session's socket.
  struct Closing: Hashable, Sendable {
    var code: UInt16 = 1000
    /// Why the session ended, for people; empty if the client knows.
    var text = ""
  }

  /// The most bytes of a body, and of a message.
  static let payloadMax = 1_000_000
  /// The most packets in the answer to a poll: clients in Python take no more.
  private static let packetsMax = 16

  let id: String
  let version: EngineVersion
  private let times: EngineTimes
  private(set) var transport: SocketTransport
  private(set) var isEnded = false
  /// What the socket is closed with.
  private(set) var closing = Closing()
  /// True if the session ends once the client has what waits.
  private var isEnding = false
  /// The bytes of the packets that wait for a poll.
  private var unsent: UnsentCount
  private var waiting: [[UInt8]] = []
  private var hasPoll: Bool
  /// True if a socket is attached to which a polling session may move.
  private var hasProbe = false
  /// True once the client has tried that socket.
  private var isProbed = false
  private var pingTime: Int64?
  /// When the client must have given a sign of life.
  private var signDeadline: Int64?
  private var upgradeDeadline: Int64?

  /// Makes a session; one that polls begins with a poll that waits.
  init(
    _ id: String, _ version: EngineVersion, _ transport: SocketTransport, _ times: EngineTimes,
    unsentBytesMax: Int = .max
  ) {
    (self.id, self.version, self.transport, self.times) = (id, version, transport, times)
    unsent = UnsentCount(max: unsentBytesMax)
    hasPoll = transport == .polling
  }

  /// When `tick` has to be called; nil for never.
  var deadline: Int64? { [pingTime, signDeadline, upgradeDeadline].compactMap { $0 }.min() }

  /// The number of bytes that wait for a poll.
  var waitingBytes: Int { unsent.bytes }

  /// True if more wait than may, the last large packet not counted.
  var isTooFull: Bool { unsent.isExceeded }

  // MARK: Beginning and end

  /// Begins the session: tells the client about it.
  mutating func open(now: Int64) -> [Effect] {
    startHeartbeat(now)
    let upgrades: JSONValue = transport == .polling ? ["websocket"] : .array([])
    let opening: JSONValue = [
      "sid": .string(id), "upgrades": upgrades,
      "pingInterval": .number(JSONNumber(times.pingInterval)),
      "pingTimeout": .number(JSONNumber(times.pingTimeout)),
      "maxPayload": .number(JSONNumber(Int64(EngineHost.payloadMax))),
    ]
    return send([UInt8(ascii: "0")] + opening.jsonBytes())
  }

  /// Ends the session, and tells the client.
  mutating func close(_ closing: Closing = Closing()) -> [Effect] {
    if !isEnded { self.closing = closing }
    return end([EnginePacket(.close)])
  }

  /// Ends the session once the client has what was sent to it, with a last packet; nothing is sent any more.
  mutating func closeAfterSent(_ closing: Closing, last: [UInt8]? = nil) -> [Effect] {
    if isEnded || isEnding { return [] }
    self.closing = closing
    // On a socket the end follows all frames.
    if transport == .websocket { return (last.map { [.frame($0)] } ?? []) + end([]) }
    if let last { enqueue(last) }
    enqueue([EnginePacket.Kind.close.rawValue + 0x30])
    isEnding = true
    return flush()
  }

  /// Has a packet wait for a poll.
  private mutating func enqueue(_ packet: [UInt8]) {
    waiting.append(packet)
    unsent.add(packet.count)
  }

  private mutating func forgetWaiting() {
    waiting = []
    unsent.settle(unsent: 0)
  }

  private mutating func end(_ last: [EnginePacket]) -> [Effect] {
    if isEnded { return [] }
    isEnded = true
    var effects: [Effect] = []
    if hasPoll { effects.append(.answerPoll(EnginePayload.encoded(last, version))) }
    if transport == .websocket || hasProbe { effects.append(.closeSocket) }
    (hasPoll, hasProbe) = (false, false)
    (pingTime, signDeadline, upgradeDeadline) = (nil, nil, nil)
    forgetWaiting()
    return effects + [.ended]
  }

  /// Ends the session because the client sent what is not understood.
  mutating func endDamaged(
    _ closing: Closing = Closing(text: "The client sent what is not understood.")
  ) -> [Effect] {
    if !isEnded { self.closing = closing }
    return end([EnginePacket(.noop), EnginePacket(.close)])
  }

  // MARK: Sending

  /// Sends a packet.
  mutating func send(_ packet: [UInt8]) -> [Effect] {
    if isEnded || isEnding { return [] }
    if transport == .websocket { return [.frame(packet)] }
    enqueue(packet)
    return flush()
  }

  private mutating func flush() -> [Effect] {
    if transport == .websocket {
      let frames = waiting.map { Effect.frame($0) }
      forgetWaiting()
      return isEnding ? frames + end([]) : frames
    }
    guard hasPoll else { return [] }
    if waiting.isEmpty {
      // A client that moves to a socket waits until its poll is answered.
      return isProbed ? answer([EnginePacket(.noop)]) : []
    }
    var (count, bytes) = (0, 0)
    for packet in waiting.prefix(EngineHost.packetsMax) {
      bytes += packet.count + 12
      if count > 0, bytes > EngineHost.payloadMax { break }
      count += 1
    }
    let packets = waiting.prefix(count).compactMap { try? EnginePacket(text: $0) }
    unsent.take(waiting.prefix(count).reduce(0) { $0 + $1.count })
    waiting.removeFirst(count)
    let effects = answer(packets)
    return isEnding && waiting.isEmpty ? effects + end([]) : effects
  }

  private mutating func answer(_ packets: [EnginePacket]) -> [Effect] {
    hasPoll = false
    return [.answerPoll(EnginePayload.encoded(packets, version))]
  }

  // MARK: Polling

  /// A poll came; false if that is an error, since another one waits: then the session ends.
  mutating func poll() -> (isTaken: Bool, effects: [Effect]) {
    if isEnded || transport == .websocket { return (false, []) }
    if hasPoll { return (false, end([EnginePacket(.close)])) }
    hasPoll = true
    return (true, flush())
  }

  /// A body came.
  mutating func post(_ body: [UInt8], now: Int64) -> [Effect] {
    if isEnded || transport == .websocket { return [] }
    let (packets, error) = EnginePayload.decoded(body, version)
    var effects: [Effect] = []
    for packet in packets where !isEnded { effects += take(packet, now) }
    return error == nil ? effects : effects + endDamaged()
  }

  // MARK: Web sockets

  /// Attaches a socket to a session that polls; false if it has one already, or needs none.
  mutating func attachSocket(now: Int64) -> Bool {
    if isEnded || transport == .websocket || hasProbe { return false }
    hasProbe = true
    upgradeDeadline = now + times.upgradeTimeout
    return true
  }

  /// A text frame came.
  mutating func frame(_ text: [UInt8], now: Int64) -> [Effect] {
    if isEnded { return [] }
    guard let packet = try? EnginePacket(text: text) else { return endDamaged() }
    if transport == .websocket { return take(packet, now) }
    switch packet.kind {
    case .ping where packet.data.elementsEqual("probe".utf8):
      isProbed = true
      return [.frame(Array("3probe".utf8))] + flush()
    case .upgrade where isProbed:
      (transport, hasProbe, isProbed, upgradeDeadline) = (.websocket, false, false, nil)
      let released: [Effect] = hasPoll ? answer([EnginePacket(.noop)]) : []
      return released + flush()
    default: return dropProbe()
    }
  }

  /// The socket is closed.
  mutating func socketClosed() -> [Effect] {
    if transport == .websocket { return end([]) }
    (hasProbe, isProbed, upgradeDeadline) = (false, false, nil)
    return []
  }

  private mutating func dropProbe() -> [Effect] {
    (hasProbe, isProbed, upgradeDeadline) = (false, false, nil)
    return [.closeSocket]
  }

  // MARK: Packets and time

  private mutating func take(_ packet: EnginePacket, _ now: Int64) -> [Effect] {
    if version == .three { startHeartbeat(now) }
    switch (packet.kind, version) {
    case (.close, _): return end([EnginePacket(.noop)])
    case (.ping, .three): return send([EnginePacket.Kind.pong.rawValue + 0x30])
    case (.pong, .four):
      startHeartbeat(now)
      return []
    // A heartbeat in the wrong direction.
    case (.ping, .four), (.pong, .three): return endDamaged()
    case (.message, _):
      if packet.isBinary { return endDamaged(Closing(code: 1003, text: "Only text is taken.")) }
      if packet.data.count > EngineHost.payloadMax {
        return endDamaged(
          Closing(
            code: 1009,
            text: "A packet has \(packet.data.count) bytes, and at most \(EngineHost.payloadMax) "
              + "are taken."))
      }
      return [.message(packet.data)]
    case (.open, _), (.upgrade, _), (.noop, _): return []
    }
  }

  /// Starts the time until the next ping: the server's (version 4), or the client's.
  private mutating func startHeartbeat(_ now: Int64) {
    switch version {
    case .four: (pingTime, signDeadline) = (now + times.pingInterval, nil)
    case .three: signDeadline = now + times.pingInterval + times.pingTimeout
    }
  }

  /// Does what is due.
  mutating func tick(now: Int64) -> [Effect] {
    if isEnded { return [] }
    if let signDeadline, signDeadline <= now {
      return close(Closing(text: "The client gave no sign of life."))
    }
    var effects: [Effect] = []
    if let upgradeDeadline, upgradeDeadline <= now { effects += dropProbe() }
    if let pingTime, pingTime <= now {
      (self.pingTime, signDeadline) = (nil, now + times.pingTimeout)
      effects += send([EnginePacket.Kind.ping.rawValue + 0x30])
    }
    return effects
  }
}
