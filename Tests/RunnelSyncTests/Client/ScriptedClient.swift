import RunnelBase
import RunnelSync
import RunnelTree

/// A client session and what it did, for tests that play its origin.
struct ScriptedClient {
  private(set) var session: ClientSession
  /// What was done and not taken, in order; frames as text.
  private(set) var log: [String] = []
  private(set) var messages: [OriginMessage] = []
  /// The number of the connection on which the replica may send; nil while it may not.
  private(set) var live: Int64?
  private(set) var connection: Int64 = 0
  private(set) var targets: [ClientTarget] = []
  /// The states of the link that were reported, in order.
  private(set) var links: [LinkState] = []
  var now = WireTime(calendar: 1_735_689_600_000, uptime: 0)

  init(
    _ change: (inout ClientConfiguration) -> Void = { _ in }, limits: ClientLimits = .init()
  ) {
    var configuration = ClientConfiguration(
      host: "localhost:9", isSecure: false, namespace: "demo", writers: WriterNames("writer"))
    change(&configuration)
    session = ClientSession(configuration, limits: limits, seed: 1)
  }

  mutating func change(_ body: (inout ClientSession, WireTime) -> [ClientSession.Effect]) {
    for effect in body(&session, now) {
      switch effect {
      case .connect(let target, let number):
        connection = number
        targets.append(target)
        let scheme = target.isSecure ? "wss" : "ws"
        log.append("connect \(scheme)://\(target.host)\(target.request)")
      case .send(let frame): log.append(String(decoding: frame, as: UTF8.self))
      case .close: log.append("close")
      case .tell(.connected(let number, _)):
        live = number
        log.append("connected")
      case .tell(.disconnected):
        live = nil
        log.append("disconnected")
      case .tell(.message(let message)): messages.append(message)
      case .askCredential(let isRefresh): log.append(isRefresh ? "ask again" : "ask")
      case .indexMissing(let query): log.append("no index for \(query.path)")
      case .writeOutcomeUnknown(let id): log.append("unknown \(id)")
      case .link(let state): links.append(state)
      case .latency(let milliseconds): log.append("latency \(milliseconds)")
      case .log, .received: break
      }
    }
  }

  /// What was done since the last time.
  mutating func take() -> [String] {
    defer { log = [] }
    return log
  }

  mutating func takeMessages() -> [OriginMessage] {
    defer { messages = [] }
    return messages
  }

  /// The origin says something.
  mutating func hear(_ texts: String...) {
    for text in texts {
      change { [connection] in $0.receive(Array(text.utf8), of: connection, now: $1) }
    }
  }

  /// The replica wants something sent.
  mutating func send(_ commands: OriginCommand...) {
    guard let live else { return }
    change { $0.send(commands, on: live, now: $1) }
  }

  /// The replica has given all commands with which the connection begins.
  mutating func asked() {
    guard let live else { return }
    change { session, _ in session.asked(on: live) }
  }

  mutating func open() { change { [connection] in $0.opened(connection, now: $1) } }

  mutating func lose(_ reason: String = "lost") {
    change { [connection] in $0.closed(connection, reason, now: $1) }
  }

  static func handshake(
    session: String = "sess1", host: String = "localhost:9", named: Bool = false
  )
    -> String
  {
    let names = named ? #","x":["w"]"# : ""
    return
      #"{"t":"c","d":{"t":"h","d":{"ts":1735689600123,"v":"5","h":"\#(host)","s":"\#(session)"\#(names)}}}"#
  }

  /// From the start to the handshake, without a credential.
  mutating func goLive(named: Bool = false) {
    change { $0.start(now: $1) }
    open()
    hear(ScriptedClient.handshake(named: named))
    _ = take()
  }

  /// The wait is over, and the next attempt succeeds.
  mutating func comeBack(named: Bool = false) {
    while case .waiting(let end, _) = session.link {
      now.uptime = max(now.uptime, end)
      change { $0.advance(now: $1) }
    }
    open()
    hear(ScriptedClient.handshake(session: "sess2", named: named))
  }
}
