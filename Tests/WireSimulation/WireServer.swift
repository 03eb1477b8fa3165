import RunnelBase
import RunnelPostgres
import RunnelSync
import RunnelTree

/// A server of a simulation: a tree, whose speed the simulation controls, and a session for each
/// connection.
///
/// The tree is in memory, or in a store that has other servers too.
///
/// No client may write below `/forbidden`; only the boss may read and write below `/hidden`.
struct WireServer {
  private(set) var tree: MemoryServedTree
  /// The link to the store; nil for a tree in memory, and while the server is down.
  private var store: StoreServer?
  /// True if the program stands still.
  var isPaused = false
  /// True if it learns late what other servers have written.
  var isFeedDelayed = false
  /// True if it is to look for what other servers have written.
  private var isToLook = false
  /// True if it is to do what other servers left.
  private var isToTakeOver = false
  /// When the first batch failed of those that are done anew; nil for none.
  private var failureTime: Int64?
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
  /// Decides when the disk is full, and when there is room again; nil if there always is.
  var disk: SeededRandom?
  /// True while the disk takes no writes.
  var isDiskFull = false
  var limits = WireLimits()

  init(takesWriteNames: Bool) {
    self.takesWriteNames = takesWriteNames
    tree = MemoryServedTree(access: WireServer.access)
  }

  /// What clients may do.
  static let access: MemoryServedTree.Access = {
    let isBoss = { @Sendable (caller: Caller) in caller.auth["uid"] == .string("boss") }
    let meets = { @Sendable (path: Path, name: String) in
      path.isRoot || path.keys.first?.text == name
    }
    return MemoryServedTree.Access(
      canRead: { query, caller, _ in !meets(query.path, "hidden") || isBoss(caller) },
      canWrite: { parts, caller, _, _ in
        parts.allSatisfy { part in
          !meets(part.path, "forbidden") && (!meets(part.path, "hidden") || isBoss(caller))
        }
      })
  }()

  /// True if requests wait for the tree or for a verification.
  var isBusy: Bool { !requests.isEmpty || !unverified.isEmpty || isToLook || isToTakeOver }

  mutating func takeEffects() -> [(connection: Int64, effect: ServerSession.Effect)] {
    defer { effects = [] }
    return effects
  }

  // MARK: Connections

  /// Opens the session of a new connection, or sends its client elsewhere.
  mutating func open(
    _ connection: Int64, host: String, previous: String?, now: WireTime
  ) throws {
    var configuration = ServerSession.Configuration(
      name: "s\(connection)", host: host, previous: previous, limits: limits)
    configuration.takesWriteNames = takesWriteNames
    sessions[connection] = ServerSession(configuration)
    if let address = store?.address(now: now) {
      redirectCount += 1
      try change(connection) { $0.redirect(to: address) }
    } else {
      try change(connection) { $0.open(now: now) }
    }
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
      SimulationTrace.note("asked by \(connection): \(request.operation)")
      if case .keepForDisconnect = request.operation {
        keeping[connection, default: []].append(request.id)
      }
      // In a store, whoever does the disconnect writes then does them once.
      if store != nil {
        switch request.operation {
        case .leave, .doDisconnects: noteEnd(of: connection)
        default: break
        }
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

  /// Does one operation of the tree, or as many as `batchCount` for a store, or verifies a credential.
  mutating func work(on tree: Bool, batchCount: Int = 1, now: WireTime) throws {
    if tree, store != nil {
      try workOnStore(batchCount, now)
    } else if tree, !requests.isEmpty {
      let (connection, request) = requests.removeFirst()
      if request.isWriting, try isRefused(request, of: connection) { return }
      try perform(request, of: connection, now: now)
    } else if !tree, !unverified.isEmpty {
      let (connection, credential) = unverified.removeFirst()
      let result = Result { () throws(CredentialRefusal) in
        try WireServer.verify(credential, now: now.calendar)
      }
      try change(connection) { $0.verified(result, now: now) }
    }
  }

  /// True if the disk does not take what a request writes; then it is refused, or waits.
  private mutating func isRefused(
    _ request: ServedRequest, of connection: Int64
  ) throws -> Bool {
    if var random = disk {
      if Int.random(in: 0..<12, using: &random) == 0 { isDiskFull.toggle() }
      disk = random
    }
    if !isDiskFull { return false }
    SimulationTrace.note("the disk does not take \(request.operation) of \(connection)")
    switch request.operation {
    case .leave, .doDisconnects: requests.insert((connection, request), at: 0)
    default:
      let answer = ServedAnswer.refused(TreeError(.unavailable, "The disk is full."))
      note(answer, to: request.id, of: connection)
      try change(connection) { $0.answer(request.id, answer) }
      if case .keepForDisconnect = request.operation { return true }
      try endFailed(connection)
    }
    return true
  }

  private mutating func perform(
    _ request: ServedRequest, of connection: Int64, now: WireTime
  ) throws {
    switch request.operation {
    case .leave: noteEnd(of: connection)
    case .doDisconnects: noteFarewell(of: connection)
    default: break
    }
    try tell(tree.perform(request, of: connection, now: now.calendar))
  }

  private mutating func tell(_ told: StoreTree.Told) throws {
    for (other, told) in told {
      switch told {
      case .push(let listen, let push): try change(other) { $0.tell(listen, push) }
      case .answer(let id, let answer):
        note(answer, to: id, of: other)
        try change(other) { $0.answer(id, answer) }
      }
    }
  }

  private mutating func note(_ answer: ServedAnswer, to id: Int64, of connection: Int64) {
    SimulationTrace.note("  answer to \(connection): \(answer)")
    guard keeping[connection]?.contains(id) == true else { return }
    keeping[connection]?.removeAll { $0 == id }
    // The tree keeps the requests of an ended session until `leave`.
    guard let client = clients[connection] else { return }
    if answer != .done {
      // A store may have kept them, if nobody knows what became of the commit.
      if store != nil { doubtfulFarewells[client, default: 0] += 1 }
    } else if sessions[connection]?.isOpen == true {
      promised[connection] = client
    } else {
      doubtfulFarewells[client, default: 0] += 1
    }
  }

  private mutating func noteEnd(of connection: Int64) {
    SimulationTrace.note(
      "end of \(connection), client \(clients[connection] ?? -1), promised "
        + "\(promised[connection] != nil), unanswered \(keeping[connection] ?? [])")
    let unanswered = keeping.removeValue(forKey: connection) ?? []
    if store != nil, !unanswered.isEmpty, let client = clients[connection] {
      // They may have been stored all the same.
      doubtfulFarewells[client, default: 0] += unanswered.count
    }
    noteFarewell(of: connection)
  }

  private mutating func noteFarewell(of connection: Int64) {
    guard let client = promised.removeValue(forKey: connection) else { return }
    farewells[client, default: 0] += 1
  }

  /// Kills and restarts the server: unfinished operations are lost, confirmed disconnect writes are
  /// done.
  mutating func crash(now: WireTime) {
    let isKept = Set(promised.keys)
    SimulationTrace.note("crash of \(store?.identifier.bytes.prefix(2) ?? [])")
    sessions = [:]
    requests = []
    unverified = []
    effects = []
    for connection in isKept.sorted() { noteEnd(of: connection) }
    for connection in keeping.keys.sorted() where store != nil { noteEnd(of: connection) }
    promised = [:]
    keeping = [:]
    if let store {
      store.close()
      (self.store, failureTime) = (nil, nil)
      (isPaused, isFeedDelayed, isToLook, isToTakeOver) = (false, false, false, false)
    } else {
      tree.restart(now: now.calendar)
    }
  }

  // MARK: A store

  /// True if it has begun to serve a store.
  var isUp: Bool { store != nil }
  /// The name of its lease; nil while it is down.
  var identifier: PostgresIdentifier? { store?.identifier }
  /// True if it has lost its lease, and not begun another one.
  var isWithoutLease: Bool { store.map { !$0.holdsLease } ?? false }
  /// True if its tree does not show the newest change of the store.
  var isBehind: Bool { store?.isBehind ?? false }
  /// The number of commits of which it had to find out what became of them.
  private(set) var doubtCount = 0
  /// The number of times that it found the database to have lost writes.
  private(set) var alarmCount = 0
  private(set) var leasesLostCount = 0
  private(set) var redirectCount = 0
  private(set) var takeOverCount = 0

  /// Begins to serve a store.
  ///
  /// - Throws: `PostgresError` if the database fails; then it stays down.
  mutating func serve(
    _ database: ModelDatabase, address: String, names: IdentifierSource, now: WireTime
  ) throws {
    store = try StoreServer(
      database, address: address, names: names, access: WireServer.access, now: now)
  }

  /// Looks after its lease and for changes.
  mutating func look(now: WireTime) throws {
    guard let news = store?.look(now: now) else { return }
    if news.hasChanges, !isFeedDelayed { isToLook = true }
    if news.hasOrphans { isToTakeOver = true }
    if news.lostLease {
      leasesLostCount += 1
      SimulationTrace.note("lease lost, now \(store?.identifier.bytes.prefix(2) ?? [])")
      try endSessions("The lease is lost.")
    }
  }

  /// Looks for changes, as after a wake-up.
  mutating func wake() { if store != nil { isToLook = true } }

  private mutating func endSessions(_ reason: String) throws {
    for connection in sessions.keys.sorted() {
      try change(connection) { $0.close(.goingAway(reason)) }
    }
  }

  /// Ends as a program that is told to: sessions first, then the lease.
  mutating func retire(now: WireTime) throws {
    guard store != nil else { return }
    try endSessions("The server ends.")
    for _ in 0..<20 where !requests.isEmpty { try workOnStore(10, now) }
    store?.endLease()
  }

  private mutating func workOnStore(_ count: Int, _ now: WireTime) throws {
    guard let store else { return }
    let batch = StoreServer.Batch(
      requests: Array(requests.prefix(count)), takesOver: isToTakeOver)
    if batch.requests.isEmpty, !isToLook, !isToTakeOver { return }
    defer {
      doubtCount += store.takeDoubtCount()
      alarmCount += store.takeAlarmCount()
    }
    SimulationTrace.note(
      "server \(store.identifier.bytes.prefix(2)): \(batch.requests.map { "\($0.connection) \($0.request.operation)" })"
        + (batch.takesOver ? " takes over" : ""))
    let told: StoreTree.Told
    do {
      told = try store.perform(batch, now: now)
    } catch let error as PostgresError {
      SimulationTrace.note("  failed: \(error)")
      let start = failureTime ?? now.uptime
      if error.isWorthRetrying, now.uptime - start < WireServer.patienceMilliseconds {
        failureTime = start
        return
      }
      failureTime = nil
      requests.removeFirst(batch.requests.count)
      (isToLook, isToTakeOver) = (false, false)
      if error.isWorthRetrying || error.kind == .inDoubt { putBackOwed(batch) }
      return try refuse(batch)
    }
    if batch.takesOver { takeOverCount += 1 }
    failureTime = nil
    requests.removeFirst(batch.requests.count)
    (isToLook, isToTakeOver) = (false, false)
    try tell(told)
  }

  /// How long a batch is done anew.
  private static let patienceMilliseconds: Int64 = 60_000

  /// Puts back the ends of what was promised, which are done as soon as the store is there again.
  private mutating func putBackOwed(_ batch: StoreServer.Batch) {
    let owed = batch.requests.filter { _, request in
      switch request.operation {
      case .leave, .doDisconnects: true
      default: false
      }
    }
    requests.insert(contentsOf: owed, at: 0)
  }

  /// Tells that the requests of a batch were not done, as far as is known.
  private mutating func refuse(_ batch: StoreServer.Batch) throws {
    let error = TreeError(.unavailable, "The store cannot be reached.")
    for (connection, request) in batch.requests {
      switch request.operation {
      case .leave: store?.leaveAll(connection)
      case .unlisten, .doDisconnects: break
      case .listen, .get, .write, .writeIf, .compareAndSet, .keepForDisconnect, .review:
        note(.refused(error), to: request.id, of: connection)
        try change(connection) { $0.answer(request.id, .refused(error)) }
      }
      switch request.operation {
      case .write, .writeIf, .compareAndSet: try endFailed(connection)
      default: break
      }
    }
  }

  /// Ends a session whose write was not done: its client sends it again before those that came after it.
  private mutating func endFailed(_ connection: Int64) throws {
    requests.removeAll { other, request in
      if other != connection { return false }
      switch request.operation {
      case .write, .compareAndSet, .keepForDisconnect: return true
      default: return false
      }
    }
    try change(connection) { $0.close(.goingAway("The storage failed at a write.")) }
  }

  /// Reads the whole tree from the store.
  func storedRoot() throws -> Node { try store?.root() ?? tree.tree.root }

  /// Verifies the credential `user:NAME:END`; END is in milliseconds since 1970.
  static func verify(
    _ credential: Credential, now: Int64
  ) throws(CredentialRefusal) -> VerifiedCredential {
    let pieces = credential.text.split(separator: ":").map(String.init)
    guard pieces.count == 3, pieces[0] == "user", let end = Int64(pieces[2]) else { throw .invalid }
    return VerifiedCredential(Caller(auth: ["uid": .string(pieces[1])]), expiry: end)
  }
}
