import RunnelBase
import RunnelSync
import RunnelTree

/// The server of a simulation: a tree in memory, whose speed the simulation controls, and a session
/// for each connection.
///
/// No client may write below `/forbidden`; only the boss may read and write below `/hidden`.
struct WireServer {
  private(set) var tree: MemoryServedTree
  private(set) var sessions: [Int64: ServerSession] = [:]
  /// The effects of the sessions that are not carried out yet, in order.
  private(set) var effects: [(connection: Int64, effect: ServerSession.Effect)] = []
  private var requests: [(connection: Int64, request: ServedRequest)] = []
  private var unverified: [(connection: Int64, credential: Credential)] = []
  /// For each client, the number of confirmed disconnect writes that were done.
  private(set) var farewells: [Int: Int] = [:]
  /// For each client, the number of stored but unconfirmed disconnect writes of ended connections,
  /// which may be done.
  private(set) var doubtfulFarewells: [Int: Int] = [:]
  /// The connections with confirmed disconnect writes.
  private var promised: [Int64: Int] = [:]
  /// The unanswered operations that store disconnect writes.
  private var keeping: [Int64: [Int64]] = [:]
  /// The connections that acted for the boss at some time.
  private var bossConnections: Set<Int64> = []
  /// The client of each connection.
  var clients: [Int64: Int] = [:]
  let takesWriteNames: Bool
  var limits = WireLimits()

  init(takesWriteNames: Bool) {
    self.takesWriteNames = takesWriteNames
    let isBoss = { @Sendable (caller: Caller) in caller.auth["uid"] == .string("boss") }
    let meets = { @Sendable (path: Path, name: String) in
      path.isRoot || path.keys.first?.text == name
    }
    tree = MemoryServedTree(
      access: .init(
        canRead: { query, caller, _ in !meets(query.path, "hidden") || isBoss(caller) },
        canWrite: { parts, caller, _, _ in
          parts.allSatisfy { part in
            !meets(part.path, "forbidden") && (!meets(part.path, "hidden") || isBoss(caller))
          }
        }))
  }

  /// True if requests wait for the tree or for a verification.
  var isBusy: Bool { !requests.isEmpty || !unverified.isEmpty }

  mutating func takeEffects() -> [(connection: Int64, effect: ServerSession.Effect)] {
    defer { effects = [] }
    return effects
  }

  // MARK: Connections

  /// Opens the session of a new connection.
  mutating func open(_ connection: Int64, previous: String?, now: WireTime) throws {
    var configuration = ServerSession.Configuration(
      name: "s\(connection)", host: "server", previous: previous, limits: limits)
    configuration.takesWriteNames = takesWriteNames
    sessions[connection] = ServerSession(configuration)
    try change(connection) { $0.open(now: now) }
  }

  mutating func receive(_ frame: [UInt8], on connection: Int64, now: WireTime) throws {
    try change(connection) { $0.receive(frame, now: now) }
  }

  mutating func heard(_ connection: Int64, now: WireTime) {
    sessions[connection]?.heard(now: now)
  }

  mutating func closed(_ connection: Int64) throws {
    try change(connection) { $0.closed() }
    sessions[connection] = nil
  }

  mutating func endSession(_ name: String) throws {
    let found = sessions.first { $0.value.configuration.name == name }
    guard let connection = found?.key else { return }
    try change(connection) { $0.close(.normal("Another connection took over.")) }
  }

  mutating func advance(now: WireTime) throws {
    for connection in sessions.keys.sorted() {
      guard let end = sessions[connection]?.deadline(now: now), end <= now.uptime else { continue }
      try change(connection) { $0.advance(now: now) }
    }
  }

  /// Returns the earliest deadline of the sessions.
  func deadline(now: WireTime) -> Int64? {
    sessions.values.compactMap { $0.deadline(now: now) }.min()
  }

  private mutating func change(
    _ connection: Int64, _ body: (inout ServerSession) -> [ServerSession.Effect]
  ) throws {
    guard var session = sessions[connection] else { return }
    // The session is removed during the change, so that it is not copied.
    sessions[connection] = nil
    let effects = body(&session)
    sessions[connection] = session
    if session.caller.auth["uid"] == .string("boss") { bossConnections.insert(connection) }
    for effect in effects { try carryOut(effect, connection) }
  }

  private mutating func carryOut(_ effect: ServerSession.Effect, _ connection: Int64) throws {
    switch effect {
    case .operate(let request):
      if case .keepForDisconnect = request.operation {
        keeping[connection, default: []].append(request.id)
      }
      requests.append((connection, request))
    case .verify(let credential): unverified.append((connection, credential))
    case .send(let frame):
      try checkSecrecy(frame, connection)
      sessions[connection]?.sent(frame.count)
      effects.append((connection, effect))
    case .sendRun(let run):
      for frame in run.frames { try carryOut(.send(frame), connection) }
    case .endSession, .ping, .pauseReading, .resumeReading, .note, .close:
      effects.append((connection, effect))
    }
  }

  /// Checks that a frame has no data that only the boss may read.
  private func checkSecrecy(_ frame: [UInt8], _ connection: Int64) throws {
    if bossConnections.contains(connection) { return }
    let text = String(decoding: frame, as: UTF8.self)
    if text.contains("hush") { throw SimulationError("\(connection) is told \(text)") }
  }

  // MARK: Work

  /// Does one operation of the tree, or verifies a credential.
  mutating func work(on tree: Bool, now: WireTime) throws {
    if tree, !requests.isEmpty {
      let (connection, request) = requests.removeFirst()
      try perform(request, of: connection, now: now)
    } else if !tree, !unverified.isEmpty {
      let (connection, credential) = unverified.removeFirst()
      let result = Result { () throws(CredentialRefusal) in
        try WireServer.verify(credential, now: now.calendar)
      }
      try change(connection) { $0.verified(result, now: now) }
    }
  }

  private mutating func perform(
    _ request: ServedRequest, of connection: Int64, now: WireTime
  ) throws {
    if case .leave = request.operation { noteEnd(of: connection) }
    for (other, told) in tree.perform(request, of: connection, now: now.calendar) {
      switch told {
      case .push(let listen, let push): try change(other) { $0.tell(listen, push) }
      case .answer(let id, let answer):
        note(answer, to: id, of: other)
        try change(other) { $0.answer(id, answer) }
      }
    }
  }

  private mutating func note(_ answer: ServedAnswer, to id: Int64, of connection: Int64) {
    guard keeping[connection]?.contains(id) == true else { return }
    keeping[connection]?.removeAll { $0 == id }
    // The tree keeps the requests of an ended session until `leave`.
    guard answer == .done, let client = clients[connection] else { return }
    if sessions[connection]?.isOpen == true {
      promised[connection] = client
    } else {
      doubtfulFarewells[client, default: 0] += 1
    }
  }

  private mutating func noteEnd(of connection: Int64) {
    keeping[connection] = nil
    guard let client = promised.removeValue(forKey: connection) else { return }
    farewells[client, default: 0] += 1
  }

  /// Kills and restarts the server: unfinished operations are lost, confirmed disconnect writes are
  /// done.
  mutating func crash(now: WireTime) {
    let isKept = Set(promised.keys)
    sessions = [:]
    requests = []
    unverified = []
    effects = []
    for connection in isKept.sorted() { noteEnd(of: connection) }
    promised = [:]
    keeping = [:]
    tree.restart(now: now.calendar)
  }

  /// Verifies the credential `user:NAME:END`; END is in milliseconds since 1970.
  static func verify(
    _ credential: Credential, now: Int64
  ) throws(CredentialRefusal) -> VerifiedCredential {
    let pieces = credential.text.split(separator: ":").map(String.init)
    guard pieces.count == 3, pieces[0] == "user", let end = Int64(pieces[2]) else { throw .invalid }
    return VerifiedCredential(Caller(auth: ["uid": .string(pieces[1])]), expiry: end)
  }
}
