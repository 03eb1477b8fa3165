import RunnelBase
import RunnelSync
import RunnelTree

/// A client of a simulation: a replica, its session, and the record of its writes and their
/// results.
struct WireClient {
  /// The purpose of a write, from which its result is checked.
  enum Purpose: Hashable {
    case increment
    case log(Path, JSONValue)
    case forbidden(Path)
    case other
  }

  let number: Int
  private var storage: MemoryReplicaStorage
  private var engine = ReplicaEngine()
  private(set) var session: ClientSession
  private let seed: UInt64
  private let limits: ClientLimits
  private(set) var effects: [ClientSession.Effect] = []
  /// The session's news that the replica has not handled, and the commands of the replica.
  private var news: [ReplicaNews] = []
  private var commands: [(connection: Int64, commands: [OriginCommand])] = []
  /// The connection that the replica knows of.
  private var connection: Int64 = 0
  private(set) var windows: [ListenerID: ListenerWindow] = [:]
  private var listenerCount = 0
  /// The writes, in order, and those that have ended.
  private(set) var writes: [(id: Int64, purpose: Purpose)] = []
  private(set) var acknowledged: Set<Int64> = []
  private(set) var rejected: Set<Int64> = []
  private(set) var givenUp: Set<Int64> = []
  private(set) var committedCount = 0
  /// Transactions that may or may not have been done.
  private(set) var doubtfulCount = 0
  private var runningTransactions: Set<Int64> = []

  init(number: Int, seed: UInt64, limits: ClientLimits) {
    (self.number, self.seed, self.limits) = (number, seed, limits)
    storage = MemoryReplicaStorage(awakeKeysMax: seed % 2 == 0 ? 0 : TrackedQuery.awakeKeysMax)
    session = WireClient.makeSession(number, seed, limits, lastEarlierWrite: .min)
  }

  private static func makeSession(
    _ number: Int, _ seed: UInt64, _ limits: ClientLimits, lastEarlierWrite: Int64,
    lastSession: String? = nil
  ) -> ClientSession {
    var configuration = ClientConfiguration(
      host: "server", isSecure: false, namespace: "demo", writers: WriterNames("client\(number)"))
    // The first client is the boss; the last one is unauthenticated.
    configuration.hasCredential = number < 2
    configuration.lastEarlierWrite = lastEarlierWrite
    configuration.lastSession = lastSession
    return ClientSession(configuration, limits: limits, seed: seed &+ UInt64(number))
  }

  var name: String { number == 0 ? "boss" : "user\(number)" }

  /// True if messages between session and replica are waiting.
  var isBusy: Bool { !news.isEmpty || !commands.isEmpty }

  var pending: [PendingWrite] { engine.replica.book.pending }

  func shown(_ path: Path) throws -> Node { try storage.node(at: path) }

  mutating func takeEffects() -> [ClientSession.Effect] {
    defer { effects = [] }
    return effects
  }

  // MARK: The session

  mutating func change(_ body: (inout ClientSession) -> [ClientSession.Effect]) {
    for effect in body(&session) {
      if case .tell(let told) = effect { news.append(told) } else { effects.append(effect) }
    }
  }

  /// Passes one message between session and replica.
  mutating func pass(now: WireTime) throws {
    if !commands.isEmpty {
      let (connection, commands) = commands.removeFirst()
      change { $0.send(commands, on: connection, now: now) }
      // The first commands on a connection are those with which it begins.
      change { $0.asked(on: connection) }
    } else if !news.isEmpty {
      try take(news.removeFirst(), now)
    }
  }

  private mutating func take(_ told: ReplicaNews, _ now: WireTime) throws {
    switch told {
    case .connected(let connection, let originTime):
      self.connection = connection
      let outcome = try engine.connect(now: now.calendar, originTime: originTime, &storage)
      if outcome.commands.isEmpty { commands.append((connection, [])) }
      try take(outcome)
    case .disconnected: try take(engine.disconnect(now: now.calendar, &storage))
    case .message(let message):
      try take(engine.receive(message, now: now.calendar, &storage))
    }
  }

  /// Restarts the client: only the storage and the name of the last session remain, and listeners register again.
  mutating func crash(now: WireTime) throws {
    let last = try storage.takeWriteID()
    engine = ReplicaEngine(book: storage.savedBook)
    session = WireClient.makeSession(
      number, seed &+ UInt64(last) &* 7919, limits, lastEarlierWrite: last,
      lastSession: session.sessionName)
    (news, commands, effects) = ([], [], [])
    doubtfulCount += runningTransactions.count
    runningTransactions = []
    let requests = windows.sorted { $0.key < $1.key }.map(\.value.request)
    windows = [:]
    try take(engine.takeBackLost(now: now.calendar, &storage))
    for request in requests { try listen(request, now: now) }
    change { $0.start(now: now) }
  }

  // MARK: Operations of users

  mutating func listen(_ request: ListenRequest, now: WireTime) throws {
    listenerCount += 1
    let listener = ListenerID(listenerCount)
    windows[listener] = ListenerWindow(request)
    try take(engine.listen(listener, request, now: now.calendar, &storage))
  }

  /// Requests more rows of a paged window.
  mutating func extend(by count: Int, now: WireTime) throws {
    let paged = windows.filter { $0.value.request.paging != nil && $0.value.hasMore }
    guard let listener = paged.keys.min() else { return }
    windows[listener]?.isExtended = true
    try take(engine.extend(listener, by: count, now: now.calendar, &storage))
  }

  mutating func unlisten(now: WireTime) throws {
    guard let listener = windows.keys.min() else { return }
    windows[listener] = nil
    try take(engine.unlisten(listener, now: now.calendar, &storage))
  }

  mutating func write(_ write: Write, _ purpose: Purpose, now: WireTime) throws {
    let written = try engine.write(write, now: now.calendar, &storage)
    writes.append((written.id, purpose))
    try take(written.outcome)
  }

  mutating func transact(_ path: Path, now: WireTime) throws {
    let request = TransactionRequest(path) { node in
      guard case .number(let old)? = node.leaf else { return .number(JSONNumber(1)) }
      return .number(JSONNumber((old.integer ?? 0) + 1))
    }
    let started = try engine.run(request, now: now.calendar, &storage)
    runningTransactions.insert(started.id)
    try take(started.outcome)
  }

  mutating func ask(_ request: DisconnectRequest, now: WireTime) throws {
    try take(engine.ask(request, &storage).outcome)
  }

  /// Decides about the writes of unknown outcome.
  mutating func giveUpUnknownWrites(now: WireTime) throws {
    for id in session.writesOfUnknownOutcome {
      session.forget(id)
      guard let outcome = try engine.dropPendingWrite(id, now: now.calendar, &storage) else {
        continue
      }
      givenUp.insert(id)
      try take(outcome)
    }
  }

  private mutating func take(_ outcome: ReplicaOutcome) throws {
    if !outcome.commands.isEmpty { commands.append((connection, outcome.commands)) }
    for delivery in outcome.deliveries { try windows[delivery.listener]?.take(delivery.event) }
    for completion in outcome.completions { take(completion) }
  }

  private mutating func take(_ completion: ReplicaCompletion) {
    SimulationTrace.note("client \(number): \(completion)")
    switch completion {
    case .acknowledged(let id): acknowledged.insert(id)
    case .rejected(let id, _): rejected.insert(id)
    case .transaction(let id, let isCommitted, _):
      runningTransactions.remove(id)
      if isCommitted { committedCount += 1 }
    case .transactionFailed(let id, let error):
      runningTransactions.remove(id)
      if error.code == .disconnected { doubtfulCount += 1 }
    case .cancelled(let listener, _, _): windows[listener] = nil
    case .got, .getFailed: break
    }
  }

  /// Traps if the replica's data is inconsistent.
  func checkInvariants() { engine.replica.book.checkInvariants() }
}
