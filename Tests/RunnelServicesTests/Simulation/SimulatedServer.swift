import RunnelBase
import RunnelServices

/// A server of Socket.IO on both transports, on a network that loses connections, all in one thread.
///
/// It counts how often it has carried each call out.
struct SimulatedServer {
  /// One session of Engine.IO at the server.
  private struct Session {
    var isConnected = false
    var transport: SocketTransport
    /// What waits for a poll.
    var outgoing: [EnginePacket] = []
    /// True after `3probe` was sent and before `5` came.
    var isProbed = false
  }

  let version: EngineVersion
  /// How often each call, by the number in its data, was carried out.
  private(set) var done: [Int: Int] = [:]
  private var sessions: [String: Session] = [:]
  private var lastSession = 0

  init(_ version: EngineVersion) { self.version = version }

  private func opening(_ name: String, canUpgrade: Bool) -> EnginePacket {
    let upgrades = canUpgrade ? "[\"websocket\"]" : "[]"
    let payload = version == .four ? ",\"maxPayload\":4000" : ""
    return EnginePacket(
      .open,
      Array(
        "{\"sid\":\"\(name)\",\"upgrades\":\(upgrades),\"pingInterval\":5000,\"pingTimeout\":3000\(payload)}"
          .utf8))
  }

  private mutating func open(_ transport: SocketTransport) -> String {
    lastSession += 1
    let name = "s\(lastSession)"
    var session = Session(transport: transport)
    session.outgoing.append(opening(name, canUpgrade: transport == .polling))
    if version == .three {
      session.isConnected = true
      session.outgoing.append(EnginePacket(.message, Array("0".utf8)))
    }
    sessions[name] = session
    return name
  }

  /// Forgets all sessions, as a server that was started again.
  mutating func restart() { sessions = [:] }

  // MARK: Polling

  /// Answers a poll; nil while there is nothing to say.
  mutating func poll(_ session: String?) -> (status: Int, body: [UInt8], session: String)? {
    let name = session ?? open(.polling)
    guard sessions[name] != nil else { return (400, unknown, name) }
    guard let packets = sessions[name]?.outgoing, !packets.isEmpty else { return nil }
    sessions[name]?.outgoing = []
    return (200, EnginePayload.encoded(packets, version), name)
  }

  private var unknown: [UInt8] { Array("{\"code\":1,\"message\":\"Session ID unknown\"}".utf8) }

  /// Takes a post.
  mutating func post(_ session: String, _ body: [UInt8]) -> (status: Int, body: [UInt8]) {
    guard sessions[session] != nil else { return (400, unknown) }
    for packet in EnginePayload.decoded(body, version).packets { take(packet, session) }
    return (200, Array("ok".utf8))
  }

  // MARK: Web sockets

  /// Opens a web socket: of a new session, or of one that moves.
  mutating func connect(_ session: String?) -> String? {
    guard let session else { return open(.websocket) }
    return sessions[session] == nil ? nil : session
  }

  /// Takes a frame.
  mutating func frame(_ session: String, _ text: [UInt8]) -> [[UInt8]] {
    guard sessions[session] != nil, let packet = try? EnginePacket(text: text) else { return [] }
    if packet.kind == .ping, packet.data.elementsEqual("probe".utf8) {
      sessions[session]?.isProbed = true
      // It releases the poll.
      sessions[session]?.outgoing.append(EnginePacket(.noop))
      return [Array("3probe".utf8)]
    }
    if packet.kind == .upgrade {
      sessions[session]?.transport = .websocket
    } else {
      take(packet, session)
    }
    return frames(session)
  }

  /// Returns the frames that wait for the web socket.
  mutating func frames(_ session: String) -> [[UInt8]] {
    guard let found = sessions[session], found.transport == .websocket else { return [] }
    sessions[session]?.outgoing = []
    return found.outgoing.compactMap { $0.kind == .noop ? nil : $0.text }
  }

  /// The web socket of a session was lost.
  mutating func lost(_ session: String) {
    if sessions[session]?.transport == .websocket { sessions[session] = nil }
  }

  /// Pings all sessions of version 4.
  mutating func ping() {
    if version == .three { return }
    for name in sessions.keys { sessions[name]?.outgoing.append(EnginePacket(.ping)) }
  }

  // MARK: Packets

  private mutating func take(_ packet: EnginePacket, _ session: String) {
    switch packet.kind {
    case .close: sessions[session] = nil
    case .ping: sessions[session]?.outgoing.append(EnginePacket(.pong))
    case .message:
      guard let message = try? SocketPacket(packet.data) else { return }
      answer(message, session)
    default: break
    }
  }

  private mutating func answer(_ packet: SocketPacket, _ session: String) {
    switch packet.kind {
    case .connect where version == .four:
      sessions[session]?.isConnected = true
      send(SocketPacket(.connect, payload: ["sid": .string(session)]), session)
    case .event:
      guard sessions[session]?.isConnected == true, let id = packet.id,
        let number = packet.payload?[2]?["n"]?.int
      else { return }
      done[number, default: 0] += 1
      let record: JSONValue = ["n": .number(JSONNumber(Int64(number)))]
      send(SocketPacket(.event, payload: ["m created", record]), session)
      send(SocketPacket(.acknowledge, id: id, payload: [nil, record]), session)
    default: break
    }
  }

  private mutating func send(_ packet: SocketPacket, _ session: String) {
    sessions[session]?.outgoing.append(EnginePacket(.message, packet.text))
  }
}
