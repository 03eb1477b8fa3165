import RunnelBase
import RunnelSync
import RunnelTree

/// Sessions of some clients and the tree that they are served from, without a network.
struct ServedWorld {
  /// The text of a message that one sends to the other.
  enum Line: Hashable, CustomStringConvertible {
    case client(String)
    case server(String)

    var description: String {
      switch self {
      case .client(let text): "C→S \(text)"
      case .server(let text): "S→C \(text)"
      }
    }
  }

  var tree: MemoryServedTree
  private(set) var sessions: [Int64: ServerSession] = [:]
  /// What each client was sent, as whole messages, since it was last asked.
  private var sent: [Int64: [String]] = [:]
  private var assemblers: [Int64: FrameAssembler] = [:]
  private(set) var closes: [Int64: CloseReason] = [:]
  /// The effects that are no frames and no operations.
  private(set) var others: [Int64: [ServerSession.Effect]] = [:]
  /// The limits that clients reached, in order.
  private(set) var reached: [WireLimit] = []
  /// Operations that were asked for while the tree was slow, the oldest first.
  private var late: [(connection: Int64, request: ServedRequest)] = []
  /// True while the tree does nothing.
  var isSlow = false
  /// True while credentials stay unverified.
  var isVerifierSlow = false
  private var unverified: [(connection: Int64, credential: Credential)] = []
  var now = WireTime(calendar: 1_735_689_600_123, uptime: 0)
  private var connectionCount: Int64 = 0

  init(_ json: String = "null", access: MemoryServedTree.Access = .init()) throws {
    tree = MemoryServedTree(
      MemoryTree(try Node(json: JSONValue(parsing: json))), access: access)
  }

  /// A connection; its handshake is dropped.
  mutating func connect(
    previous: String? = nil, limits: WireLimits = WireLimits()
  ) -> Int64 {
    connectionCount += 1
    let connection = connectionCount
    sessions[connection] = ServerSession(
      .init(
        name: "s\(connection)", host: "localhost:9000", previous: previous, limits: limits))
    assemblers[connection] = FrameAssembler(bytesMax: 1 << 26)
    change(connection) { $0.open(now: $1) }
    _ = take(connection)
    return connection
  }

  /// What a client was told since the last time.
  mutating func take(_ connection: Int64) -> [String] {
    defer { sent[connection] = [] }
    return sent[connection] ?? []
  }

  /// A client sends a frame; returns what it is told.
  @discardableResult
  mutating func send(_ frame: String, by connection: Int64) -> [String] {
    change(connection) { $0.receive(Array(frame.utf8), now: $1) }
    return take(connection)
  }

  mutating func change(
    _ connection: Int64, _ body: (inout ServerSession, WireTime) -> [ServerSession.Effect]
  ) {
    guard var session = sessions[connection] else { return }
    sessions[connection] = nil
    let effects = body(&session, now)
    sessions[connection] = session
    carryOut(effects, connection)
  }

  private mutating func carryOut(_ effects: [ServerSession.Effect], _ connection: Int64) {
    for effect in effects {
      switch effect {
      case .send(let frame): note(frame, connection)
      case .sendRun(let run): for frame in run.frames { note(frame, connection) }
      case .operate(let request):
        late.append((connection, request))
        if !isSlow { operate() }
      case .verify(let credential):
        unverified.append((connection, credential))
        if !isVerifierSlow { verify() }
      case .note(let limit): reached.append(limit)
      case .close(let reason): closes[connection] = reason
      default: others[connection, default: []].append(effect)
      }
    }
  }

  private mutating func note(_ frame: [UInt8], _ connection: Int64) {
    // The frames of a server's message are never too long here.
    guard let message = try? assemblers[connection]?.take(frame) else { return }
    sent[connection, default: []].append(String(decoding: message, as: UTF8.self))
  }

  /// The tree does what it was asked for.
  mutating func operate(atMost count: Int = .max) {
    var rest = count
    while rest > 0, !late.isEmpty {
      let (connection, request) = late.removeFirst()
      rest -= 1
      pass(on: tree.perform(request, of: connection, now: now.calendar))
    }
  }

  /// Credentials are verified.
  mutating func verify() {
    while !unverified.isEmpty {
      let (connection, credential) = unverified.removeFirst()
      let result = Result { () throws(CredentialRefusal) in
        try TestVerifier().verify(credential, now: now.calendar)
      }
      change(connection) { $0.verified(result, now: $1) }
    }
  }

  /// Somebody else writes.
  mutating func write(_ write: Write) throws {
    pass(on: try tree.write(write, now: now.calendar))
  }

  private mutating func pass(on told: [(connection: Int64, told: ServedTold)]) {
    for (connection, told) in told {
      switch told {
      case .push(let listen, let push):
        change(connection) { session, _ in session.tell(listen, push) }
      case .answer(let id, let answer):
        change(connection) { session, _ in session.answer(id, answer) }
      }
    }
  }

  /// The messages of a transcript, client's and server's; what the client says is sent, and what it is
  /// told stands where it was told.
  mutating func replay(_ transcript: String, by connection: Int64) -> [Line] {
    var lines: [Line] = []
    for line in transcript.split(separator: "\n") {
      guard line.hasPrefix("C→S ") else { continue }
      let text = String(line.dropFirst("C→S ".count))
      lines.append(.client(text))
      lines += send(text, by: connection).map { .server($0) }
    }
    return lines
  }

  static func lines(_ transcript: String) -> [Line] {
    transcript.split(separator: "\n").map { line in
      let text = String(line.dropFirst("C→S ".count))
      return line.hasPrefix("C→S ") ? .client(text) : .server(text)
    }
  }
}

/// Takes `owner` for an administrator, and `user:NAME`, maybe with `:MILLISECONDS` of its end, for a user; cannot
/// judge `later`.
struct TestVerifier: CredentialVerifier {
  func verify(
    _ credential: Credential, now: Int64
  ) throws(CredentialRefusal) -> VerifiedCredential {
    if credential.text == "owner" { return VerifiedCredential(.administrator) }
    if credential.text == "later" { throw CredentialRefusal(.unavailable, "Try again later.") }
    let pieces = credential.text.split(separator: ":").map(String.init)
    guard pieces.count >= 2, pieces[0] == "user" else { throw .invalid }
    let expiry = pieces.count > 2 ? Int64(pieces[2]) : nil
    return VerifiedCredential(Caller(auth: ["uid": .string(pieces[1])]), expiry: expiry)
  }
}
