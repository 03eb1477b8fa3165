import RunnelBase

/// How a session of Engine.IO is carried.
public enum SocketTransport: String, Hashable, Sendable {
  /// By requests that the server holds.
  case polling
  /// By a web socket.
  case websocket
}

/// Why a session of Engine.IO ended.
package enum EngineEnd: Hashable, Sendable {
  /// The program has closed it.
  case closedHere
  /// The server has closed it.
  case closedThere
  /// The connection broke, or could not be made.
  case broken(String)
  /// The server was silent for too long.
  case pingTimeout
  /// The server sent what cannot be understood.
  case damaged(String)
  /// The server does not know the session, for example since it was started again.
  case unknownSession
  /// The server wants another version of the protocol.
  case otherVersion
  /// The server refuses the connection.
  case refused(String)
  /// The server has nothing at the address.
  case absent(String)

  /// The reason in words.
  package var reason: String {
    switch self {
    case .closedHere: "closed by this program"
    case .closedThere: "closed by the server"
    case .broken(let reason): reason
    case .pingTimeout: "ping timeout"
    case .damaged(let reason): "the server sent what is not understood: \(reason)"
    case .unknownSession: "the server does not know the session"
    case .otherVersion: "the server wants another version of the protocol"
    case .refused(let reason), .absent(let reason): reason
    }
  }
}

/// One session of Engine.IO, from its opening to its end, without a network and a clock.
///
/// The owner carries out the effects in order, reports what happens, and calls `tick` at the
/// deadline. Times are milliseconds of any clock that only goes forward.
///
/// ```
///   new --start--> opening --open packet--> open --end--> ended
///   polling: --upgrade offered--> probing --3probe--> moving --poll and post done--> web socket
/// ```
///
/// Invariants:
/// - E1. At most one poll and one post are under way.
/// - E2. A packet is sent once: it leaves `outgoing` when its frame or post is asked for.
/// - E3. After `ended` there are no effects.
package struct EngineLink: Sendable {
  /// What has to be done.
  package enum Effect: Hashable, Sendable {
    /// Open the web socket, with this query.
    case openSocket(String)
    /// Send a text frame.
    case sendText([UInt8])
    /// Send a frame of bytes.
    case sendBinary([UInt8])
    /// Close the web socket.
    case closeSocket
    /// Send a GET request with this query, and report the answer.
    case get(String)
    /// Send a POST request with this query and body, and report the answer.
    case post(String, [UInt8])
    /// The session is open.
    case opened
    /// A message came.
    case message([UInt8])
    /// A message of bytes came.
    case binary([UInt8])
    /// The session has ended.
    case ended(EngineEnd)
  }

  private enum Upgrade { case none, probing, moving, done }

  /// The largest body that every server takes, if it does not tell.
  private static let payloadMax = 1_000_000
  /// The most packets of a post: more are refused by servers in Python.
  private static let postPacketsMax = 16
  /// The longest time for the move to a web socket.
  private static let upgradeMilliseconds: Int64 = 10_000

  /// The transport in use.
  package private(set) var transport: SocketTransport
  /// The version; nil as long as it is not known.
  package private(set) var version: EngineVersion?
  /// What the server told when it opened the session.
  package private(set) var opening: EngineOpening?
  /// True once the session has ended.
  package private(set) var isEnded = false
  private let asked: EngineVersion
  private let mayUpgrade: Bool
  private var upgrade = Upgrade.none
  private var upgradeDeadline: Int64?
  private var (isPolling, isPosting) = (false, false)
  private var outgoing: [EnginePacket] = []
  /// When the next ping is sent (version 3), or has to have come (version 4).
  private var pingDeadline: Int64?
  /// When the answer to our ping has to have come.
  private var pongDeadline: Int64?

  /// Makes a session that is not started.
  package init(
    _ transport: SocketTransport, version: EngineVersion = .four, mayUpgrade: Bool = false
  ) {
    (self.transport, asked, self.mayUpgrade) = (transport, version, mayUpgrade)
    if version == .three { self.version = .three }
  }

  /// The most bytes of a message.
  package var payloadMax: Int { opening?.maxPayload ?? EngineLink.payloadMax }

  /// When `tick` has to be called; nil for never.
  package var deadline: Int64? {
    [pingDeadline, pongDeadline, upgradeDeadline].compactMap { $0 }.min()
  }

  /// When the server's ping was due (version 4), or ours was sent and is not answered (version 3); nil if
  /// none is awaited.
  var pingTime: Int64? {
    guard let timeout = opening?.pingTimeout else { return nil }
    return (version == .three ? pongDeadline : pingDeadline).map { $0 - timeout }
  }

  // MARK: Starting and ending

  /// Begins the session.
  package mutating func start() -> [Effect] {
    switch transport {
    case .websocket: return [.openSocket(query(.websocket))]
    case .polling:
      isPolling = true
      return [.get(query(.polling))]
    }
  }

  /// Ends the session.
  package mutating func close() -> [Effect] {
    if isEnded { return [] }
    var effects: [Effect] = []
    if transport == .polling, let opening, !isPosting, upgrade != .moving {
      let body = EnginePayload.encoded([EnginePacket(.close)], version ?? .four)
      effects.append(.post(query(.polling, opening.session), body))
    }
    return effects + end(.closedHere)
  }

  private mutating func end(_ reason: EngineEnd) -> [Effect] {
    if isEnded { return [] }
    isEnded = true
    let hasSocket = transport == .websocket || upgrade == .probing || upgrade == .moving
    (pingDeadline, pongDeadline, upgradeDeadline) = (nil, nil, nil)
    outgoing = []
    return (hasSocket ? [.closeSocket] : []) + [.ended(reason)]
  }

  /// Returns the query of a request.
  private func query(_ transport: SocketTransport, _ session: String? = nil) -> String {
    let version = self.version ?? asked
    var query = "EIO=\(version.rawValue)&transport=\(transport.rawValue)"
    if transport == .polling, version == .three { query += "&b64=1" }
    if let session { query += "&sid=\(PercentEncoding.encoded(session))" }
    return query
  }

  /// Decides the version, for a server that did not show it when it opened the session.
  mutating func decide(_ version: EngineVersion, now: Int64) {
    if self.version != nil { return }
    self.version = version
    startHeartbeat(now)
  }

  // MARK: Sending

  /// Sends messages.
  package mutating func send(_ packets: [EnginePacket]) -> [Effect] {
    if isEnded { return [] }
    outgoing += packets
    return flush()
  }

  private mutating func flush() -> [Effect] {
    guard let opening, !outgoing.isEmpty else { return [] }
    switch (transport, upgrade) {
    case (.websocket, _):
      let packets = outgoing
      outgoing = []
      return packets.map { packet in
        packet.text.map { .sendText($0) } ?? .sendBinary(packet.binaryFrame(version ?? .four))
      }
    case (.polling, .moving): return []
    case (.polling, _):
      if isPosting { return [] }
      isPosting = true
      var (count, bytes) = (0, 0)
      for packet in outgoing {
        bytes += packet.data.count * (packet.isBinary ? 2 : 1) + 12
        if count > 0, bytes > payloadMax || count == EngineLink.postPacketsMax { break }
        count += 1
      }
      let body = EnginePayload.encoded(Array(outgoing.prefix(count)), version ?? .four)
      outgoing.removeFirst(count)
      return [.post(query(.polling, opening.session), body)]
    }
  }

  // MARK: The web socket

  /// The web socket is open.
  package mutating func socketOpened() -> [Effect] {
    upgrade == .probing ? [.sendText(Array("2probe".utf8))] : []
  }

  /// A text frame came.
  package mutating func socketText(_ text: [UInt8], now: Int64) -> [Effect] {
    if isEnded { return [] }
    do throws(EngineError) {
      let packet = try EnginePacket(text: text)
      if upgrade == .probing || upgrade == .moving {
        guard packet.kind == .pong, packet.data.elementsEqual("probe".utf8) else { return [] }
        upgrade = .moving
        return move(now)
      }
      // A socket that was given up may still say something.
      return transport == .websocket ? take([packet], now) : []
    } catch {
      return end(.damaged(error.description))
    }
  }

  /// A frame of bytes came.
  package mutating func socketBinary(_ bytes: [UInt8], now: Int64) -> [Effect] {
    if isEnded || transport == .polling { return [] }
    return take([.binary(bytes, version ?? .four)], now)
  }

  /// The web socket has ended, or could not be opened.
  package mutating func socketClosed(_ reason: String) -> [Effect] {
    if isEnded { return [] }
    switch (transport, upgrade) {
    case (.websocket, _):
      let isOther = opening == nil && EngineLink.namesVersion(reason)
      return end(isOther ? .otherVersion : .broken(reason))
    case (.polling, .probing):
      // Polling goes on.
      (upgrade, upgradeDeadline) = (.done, nil)
      return []
    case (.polling, .moving): return end(.broken(reason))
    case (.polling, _): return []
    }
  }

  // MARK: Polling

  /// A poll was answered.
  package mutating func pollAnswered(_ status: Int, _ body: [UInt8], now: Int64) -> [Effect] {
    if isEnded { return [] }
    isPolling = false
    guard status == 200 else { return end(EngineLink.refusal(status, body)) }
    do throws(EngineError) {
      if version == nil {
        guard let found = EnginePayload.version(of: body) else {
          throw EngineError("The answer is no session of Engine.IO.")
        }
        version = found
      }
      let (packets, error) = EnginePayload.decoded(body, version ?? .four)
      var effects = take(packets, now)
      if let error { return effects + end(.damaged(error.description)) }
      if !isEnded { effects += upgrade == .moving ? move(now) : poll() }
      return effects
    } catch {
      return end(.damaged(error.description))
    }
  }

  /// A poll could not be sent, or its answer did not come.
  package mutating func pollFailed(_ reason: String) -> [Effect] {
    isPolling = false
    return end(.broken(reason))
  }

  /// A post was answered.
  package mutating func postAnswered(_ status: Int, _ body: [UInt8], now: Int64) -> [Effect] {
    if isEnded { return [] }
    isPosting = false
    if status == 413 {
      return end(.broken("a message is too big: the server takes \(payloadMax) bytes"))
    }
    guard status == 200 else { return end(EngineLink.refusal(status, body)) }
    return upgrade == .moving ? move(now) : flush()
  }

  /// A post could not be sent, or its answer did not come.
  package mutating func postFailed(_ reason: String) -> [Effect] {
    isPosting = false
    return end(.broken(reason))
  }

  private mutating func poll() -> [Effect] {
    guard transport == .polling, !isPolling, let opening else { return [] }
    isPolling = true
    return [.get(query(.polling, opening.session))]
  }

  /// Moves to the web socket once no poll and no post is under way.
  private mutating func move(_ now: Int64) -> [Effect] {
    if isPolling || isPosting { return [] }
    (transport, upgrade, upgradeDeadline) = (.websocket, .done, nil)
    return [.sendText(Array("5".utf8))] + flush()
  }

  /// Returns what a refused request means.
  static func refusal(_ status: Int, _ body: [UInt8]) -> EngineEnd {
    let json = try? JSONValue(parsing: body)
    switch json?["code"]?.int {
    case 1: return .unknownSession
    case 5: return .otherVersion
    default: break
    }
    let text = json?["message"]?.string ?? json?.string ?? ""
    if namesVersion(text) { return .otherVersion }
    if text.hasPrefix("Invalid session") { return .unknownSession }
    let detail = text.isEmpty ? "" : ": \(text.prefix(200))"
    let reason = "the server answered with status \(status)\(detail)"
    if status >= 500 { return .broken(reason) }
    return [404, 405, 410].contains(status) ? .absent(reason) : .refused(reason)
  }

  /// True for a refusal that is about the version of the protocol.
  private static func namesVersion(_ text: String) -> Bool {
    text.contains("unsupported version") || text.contains("Unsupported protocol version")
  }

  // MARK: Packets

  private mutating func take(_ packets: [EnginePacket], _ now: Int64) -> [Effect] {
    var effects: [Effect] = []
    for packet in packets where !isEnded { effects += take(packet, now) }
    return effects
  }

  private mutating func take(_ packet: EnginePacket, _ now: Int64) -> [Effect] {
    // In version 3 any sign of life counts as an answer to our ping.
    if pongDeadline != nil { startHeartbeat(now) }
    switch packet.kind {
    case .open: return open(packet, now)
    case .close: return end(.closedThere)
    case .ping:
      startHeartbeat(now)
      return send([EnginePacket(.pong, packet.data)])
    case .pong:
      startHeartbeat(now)
      return []
    case .message:
      return [packet.isBinary ? .binary(packet.data) : .message(packet.data)]
    case .upgrade, .noop: return []
    }
  }

  private mutating func open(_ packet: EnginePacket, _ now: Int64) -> [Effect] {
    if opening != nil { return [] }
    do throws(EngineError) {
      let opening = try EngineOpening(packet.data)
      self.opening = opening
      if version == nil, transport == .websocket, opening.maxPayload != nil { version = .four }
      startHeartbeat(now)
      var effects: [Effect] = [.opened]
      if transport == .polling, opening.canUpgrade, mayUpgrade {
        upgrade = .probing
        upgradeDeadline = now + EngineLink.upgradeMilliseconds
        effects.append(.openSocket(query(.websocket, opening.session)))
      }
      return effects + flush()
    } catch {
      return end(.damaged(error.description))
    }
  }

  /// Starts the wait for the next ping: ours or the server's.
  private mutating func startHeartbeat(_ now: Int64) {
    guard let opening else { return }
    pongDeadline = nil
    pingDeadline =
      now + opening.pingInterval + (version == .three ? 0 : opening.pingTimeout)
  }

  // MARK: Time

  /// Does what is due.
  package mutating func tick(now: Int64) -> [Effect] {
    if isEnded { return [] }
    if let upgradeDeadline, upgradeDeadline <= now {
      self.upgradeDeadline = nil
      if upgrade == .moving { return end(.broken("the move to a web socket took too long")) }
      upgrade = .done
      return [.closeSocket]
    }
    if let pongDeadline, pongDeadline <= now { return end(.pingTimeout) }
    guard let pingDeadline, pingDeadline <= now, let opening else { return [] }
    guard version == .three else { return end(.pingTimeout) }
    // A machine that slept finds the connection dead.
    if now - pingDeadline > opening.pingInterval + opening.pingTimeout { return end(.pingTimeout) }
    (self.pingDeadline, pongDeadline) = (nil, now + opening.pingTimeout)
    return send([EnginePacket(.ping)])
  }
}
