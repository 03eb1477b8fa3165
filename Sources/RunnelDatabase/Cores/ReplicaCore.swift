import RunnelStorage
import RunnelTree

/// A replica: a tree that belongs to an origin elsewhere.
///
/// Writes made here show at once and are pending until the origin has answered, over restarts.
final class ReplicaCore: SessionCore {
  let context: SessionContext
  /// The number under which this session is marked as running; no other session on the file has it.
  let session: Int64
  /// True if the origin is made of services.
  private let isOfServices: Bool
  /// The listeners and the pending writes.
  private(set) var engine: ReplicaEngine
  /// The reasons to keep the replica offline; empty if there are none.
  private var offlineReasons: Set<String> = []
  /// The number of messages from the origin since the size of the cache was checked.
  private var messageCount = 0
  /// The output for the origin and for waiting callers, until it is taken.
  private var output = OriginOutput()
  /// The pending writes as they were told last.
  private var toldPending: [PendingWrite] = []
  /// The refused writes that are kept, as this session knows them.
  private var kept = KnownRefusals()
  /// The deliveries that could not be returned when they were found.
  private var undelivered: [Delivery] = []

  /// The entry of the history whose times were settled last: the next one is looked for after it.
  private var settledEntry: Int64 = 0
  /// The most writes after an acknowledged one, so that its entry is looked for: with more, it has
  /// left the history.
  private static let settledWritesMax = 1000

  /// The number of messages from the origin after which the size of the cache is checked (section
  /// 15.3).
  private static let messagesPerPruning = 1000
  /// The same while writes wait for the origin.
  private static let messagesPerLatePruning = 20_000
  /// The most answers that one check removes: the listeners wait for it.
  private static let prunedMax = 500

  /// How the names of origins begin that are asked by `find`, which knows filters and several orders.
  private static let servicesPrefix = "feathers+"

  /// Reads the stored state of the replica.
  init(_ context: SessionContext, _ transaction: StoreTransaction) throws {
    self.context = context
    session = context.markedNumber()
    isOfServices =
      try transaction.originName()?.hasPrefix(ReplicaCore.servicesPrefix) == true
    engine = ReplicaEngine(
      book: try transaction.replicaBook(), session: session,
      policy: context.environment.conflictPolicy,
      reach: isOfServices ? .everything : .ranges)
    if context.environment.keepsRefusals { kept = try kept.read(transaction) }
  }

  var connectionInfo: ConnectionInfo { engine.connectionInfo }
  var hasListeners: Bool { engine.hasListeners }
  var hasUndelivered: Bool { !undelivered.isEmpty }
  var canUndoRemovals: Bool { false }

  /// The writes that the origin has not answered, oldest first.
  var pendingWrites: [PendingWrite] { engine.replica.book.pending }

  /// The same without passing ones, which end with the connection and so do not wait.
  var waitingWrites: [PendingWrite] { pendingWrites.filter { !$0.isPassing } }

  /// The known nodes upon which a write that the origin has not answered was made, by their places.
  func bases(ofWrite id: Int64) -> [Path: RunnelTree.Node] {
    engine.replica.book.pendingWrite(id)?.write.knownBases ?? [:]
  }

  /// The number of places of a pending write that the origin has done already.
  func doneCount(ofWrite id: Int64) -> Int {
    engine.replica.book.pendingWrite(id)?.write.doneCount ?? 0
  }

  /// The record of each query that the origin was asked.
  var trackedQueries: [TrackedQuery] { engine.replica.book.trackedQueries }

  func shown(_ transaction: StoreTransaction) -> any TreeReader {
    ShownTree(transaction, engine.replica.book)
  }
}

// MARK: Steps

/// An input to a replica's engine.
typealias ReplicaStep = (
  inout ReplicaEngine, inout StoreTransaction, _ now: Int64
) throws -> ReplicaOutcome

extension ReplicaCore {
  /// Changes the replica: storage, then events, then the origin; all changes go through here.
  ///
  /// A step that only notes which queries are asked need not wait for the disk (`isDurable` is false).
  func step(isDurable: Bool = true, _ body: ReplicaStep) throws -> [Delivery] {
    let now = context.environment.now()
    context.newestEntryID = nil
    let (changed, end, entry, outcome, known) = try context.store.write(isDurable: isDurable) {
      transaction in
      var changed = engine
      var storage = transaction
      storage.beacon = context.beacon
      if context.environment.keepsRefusals { storage.keepsRefusalsAt = now }
      var outcome = try absorbOthers(into: &changed, storage)
      var end = outcome.sequence
      var own = try body(&changed, &storage, now)
      if end != context.sequence {
        own.append(try changed.attendToOthers(now: now, &storage))
      }
      let isNoted = transaction.notesEntry
      if !own.touched.isEmpty || !own.commands.isEmpty {
        end = try transaction.appendChange(own.touched)
      }
      outcome.outcome.append(own)
      let known = try knownRefusals(transaction, isNew: end != context.sequence)
      return (changed, end, isNoted ? end : nil, outcome.outcome, known)
    }
    context.newestEntryID = entry
    if end != context.sequence { context.beacon?.signal() }
    engine = changed
    context.sequence = end
    kept = known
    take(outcome)
    return takeUndelivered() + outcome.deliveries
  }

  /// The refused writes that are kept now; each of their changes is in the feed.
  private func knownRefusals(_ transaction: StoreTransaction, isNew: Bool) throws -> KnownRefusals {
    isNew && context.environment.keepsRefusals ? try kept.read(transaction) : kept
  }

  /// Carries out a step that the engine gives an id.
  func numberedStep(
    _ body: (
      inout ReplicaEngine, inout StoreTransaction, _ now: Int64
    ) throws -> (id: Int64, outcome: ReplicaOutcome)
  ) throws -> (id: Int64, deliveries: [Delivery]) {
    var id: Int64 = 0
    let deliveries = try step { (engine, storage, now) in
      let started = try body(&engine, &storage, now)
      id = started.id
      return started.outcome
    }
    return (id, deliveries)
  }

  private func take(_ outcome: ReplicaOutcome) {
    output.commands += outcome.commands
    output.completions += outcome.completions
  }

  private func takeUndelivered() -> [Delivery] {
    defer { undelivered = [] }
    return undelivered
  }

  /// Takes in the changes that other processes made to the file since this session looked last.
  private func absorbOthers(
    into engine: inout ReplicaEngine, _ transaction: StoreTransaction
  ) throws -> (outcome: ReplicaOutcome, sequence: Int64) {
    let foreign = try transaction.foreignChanges(after: context.sequence)
    if foreign.sequence == context.sequence { return (ReplicaOutcome(), context.sequence) }
    let outcome = try engine.absorb(
      transaction.replicaBook(), touched: foreign.touched, transaction)
    return (outcome, foreign.sequence)
  }

  func catchUp() throws -> [Delivery] {
    var changed = engine
    let before = context.sequence
    let (result, isWaitedFor, known) = try context.store.read { transaction in
      let result = try absorbOthers(into: &changed, transaction)
      if result.sequence == before { return (result, false, kept) }
      var storage = transaction
      storage.beacon = context.beacon
      let known = try knownRefusals(transaction, isNew: true)
      return (result, try changed.mustAttendToOthers(storage), known)
    }
    engine = changed
    kept = known
    context.sequence = result.sequence
    take(result.outcome)
    undelivered += result.outcome.deliveries
    var told = try takeBackLostWrites()
    if isWaitedFor {
      told += try step { (engine, storage, now) in
        try engine.attendToOthers(now: now, &storage)
      }
    }
    return takeUndelivered() + told
  }
}

// MARK: Writing

extension ReplicaCore {
  /// Carries out a write; the origin's answer is completed under `newestWriteID`, which is nil if
  /// the write was done before.
  func write(
    name: WriteID?, cause: WriteCause, if conditions: ConditionSet, _ make: WriteMaker
  ) throws -> (isApplied: Bool, deliveries: [Delivery]) {
    var id: Int64?
    var isNew = false
    let taking = context.taking
    let deliveries = try step { (engine, storage, now) in
      let taken = try taking?.take(storage) ?? []
      if let entry = cause.undoes { try storage.checkUnchanged(entry, onReplica: true) }
      if let name {
        id = engine.replica.book.pendingWrite(named: name)?.id
        if try id != nil || storage.isNameTaken(name) { return ReplicaOutcome() }
      }
      let write = try make(ShownTree(storage, engine.replica.book), now)
      // As the engine computes them: the history then has the values that are shown.
      let parts = try write.assignments(now: engine.originTime(now), reader: storage)
      var outcome = ReplicaOutcome()
      // Services have no such write; whoever insists on it gets their refusal.
      let isAsked = conditions.needsOrigin || !isOfServices
      let place = isAsked ? try conditions.placeCompared(changing: parts) : nil
      // An origin of services compares bases itself.
      let comparing =
        place == nil && !isOfServices ? conditions.placesCompared(undoing: cause.undoes) : []
      let isKept = !engine.removesAtDisconnection(parts.map(\.path))
      let partlyKnown = try engine.partlyKnown(parts, storage)
      try context.recording(
        parts, storage, now: now, cause: cause, isKept: isKept, partlyKnown: partlyKnown
      ) {
        let written = try engine.write(
          write, name: name, ifUnchanged: place, comparing: comparing,
          holdsBases: cause.undoes != nil || conditions.undoes, now: now, &storage)
        (id, outcome) = (written.id, written.outcome)
      }
      isNew = true
      let doneCount = taken.reduce(0) { $0 + $1.write.doneCount }
      if let id, doneCount > 0 { try engine.noteDone(doneCount, of: id, &storage) }
      if let id, isOfServices {
        for entry in taken { try engine.keepBases(of: entry.write, in: id, &storage) }
      }
      if let id, let tries = taken.map(\.tries).max() { try storage.noteTries(tries, of: id) }
      // The other sessions look at the refused writes where something has changed.
      if outcome.touched.isEmpty { outcome.touched = taken.flatMap(\.places) }
      return outcome
    }
    context.newestWriteID = id
    return (isNew, deliveries)
  }

  func perform(
    _ change: DirectChange, _ body: (StoreTransaction, _ now: Int64) throws -> [Path]
  ) throws -> [Delivery] {
    throw change.refusal(context.file)
  }

  func run(_ request: TransactionRequest) throws -> Decision<TransactionOutcome> {
    let (id, deliveries) = try start(request)
    return .awaited(id: id, deliveries: deliveries)
  }

  /// Starts a transaction; its end is among the completions, under the id returned.
  func start(_ request: TransactionRequest) throws -> (id: Int64, deliveries: [Delivery]) {
    try numberedStep { (engine, storage, now) in try engine.run(request, now: now, &storage) }
  }

  /// Gives up a transaction whose caller waits no more.
  func cancel(transaction id: Int64) throws -> [Delivery] {
    try step { (engine, storage, now) in
      try engine.cancel(transaction: id, now: now, &storage)
    }
  }
}

// MARK: Reading

extension ReplicaCore {
  func listen(_ listener: ListenerID, _ request: ListenRequest) throws -> [Delivery] {
    try step(isDurable: false) { (engine, storage, now) in
      try engine.listen(listener, request, now: now, &storage)
    }
  }

  func unlisten(_ listener: ListenerID) {
    do {
      let told = try step(isDurable: false) { (engine, storage, now) in
        try engine.unlisten(listener, now: now, &storage)
      }
      // Changes by others are told with the next deliveries.
      undelivered = told.filter { $0.listener != listener }
    } catch {
      // The listener must be removed even if the storage fails; the query then stays asked a little
      // longer.
      engine.forget(listener)
    }
  }

  func extend(_ listener: ListenerID, by count: Int) throws -> [Delivery] {
    try step(isDurable: false) { (engine, storage, now) in
      try engine.extend(listener, by: count, now: now, &storage)
    }
  }

  func get(_ query: Query, beforeAsking: () throws -> Void) throws -> Decision<Node> {
    try beforeAsking()
    let (id, deliveries) = try ask(query)
    return .awaited(id: id, deliveries: deliveries)
  }

  func ask(_ request: DisconnectRequest) throws -> Decision<[Delivery]> {
    let (id, deliveries) = try numberedStep { (engine, storage, _) in
      try engine.ask(request, &storage)
    }
    return .awaited(id: id, deliveries: deliveries)
  }

  // The origin does the disconnect writes of other clients.
  var awaitsOthers: Bool { false }

  /// Requests the result of a query once; the answer is among the completions, under the id
  /// returned.
  func ask(_ query: Query) throws -> (id: Int64, deliveries: [Delivery]) {
    // Who went offline on purpose does not wait for a connection.
    let isPatient = offlineReasons.isEmpty
    return try numberedStep { (engine, storage, now) in
      try engine.get(query, now: now, isPatient: isPatient, &storage)
    }
  }

  /// Drops a question: its answer completes nothing.
  func cancel(get id: Int64) { engine.cancel(get: id) }

  /// The milliseconds until questions must be answered without a connection; nil if no question
  /// waits.
  var millisecondsToDeadline: Int? {
    engine.nextDeadline.map { Int(max($0 - context.environment.now(), 0)) }
  }
}

// MARK: The origin

extension ReplicaCore {
  func receive(_ messages: [OriginMessage]) throws -> [Delivery] {
    messageCount += messages.count
    // While writes wait, their answers go first: each may leave an answer to be pruned.
    let countMin =
      engine.replica.book.hasNoPending
      ? ReplicaCore.messagesPerPruning : ReplicaCore.messagesPerLatePruning
    let isCacheDue = messageCount > countMin
    if isCacheDue { messageCount = 0 }
    let cacheBytesMax = context.environment.cacheBytesMax
    return try step { (engine, storage, now) in
      var outcome = ReplicaOutcome()
      for message in messages {
        let answered = answeredWrite(message, engine)
        outcome.append(try engine.receive(message, now: now, &storage))
        if let answered { try storage.settleTimes(of: answered, from: &settledEntry) }
      }
      outcome.append(try engine.watchLess(now: now, &storage))
      if isCacheDue {
        outcome.append(
          try engine.prune(
            toBytes: cacheBytesMax, queries: Replica.inactiveQueriesMax,
            atMost: ReplicaCore.prunedMax, &storage))
      }
      return outcome
    }
  }

  /// The write that a message acknowledges, if it has times of the origin and its entry may still be
  /// in the history.
  private func answeredWrite(_ message: OriginMessage, _ engine: ReplicaEngine) -> PendingWrite? {
    guard case .acknowledged(let id) = message,
      let (write, laterCount) = engine.replica.book.pendingWrite(id),
      laterCount < ReplicaCore.settledWritesMax, !write.write.timePlaces.isEmpty
    else { return nil }
    return write
  }

  /// Removes and returns the output for the origin and for waiting callers.
  func takeOutput() -> OriginOutput {
    defer { output = OriginOutput() }
    return output
  }

  /// The pending writes, without passing ones, if they have changed since the last call.
  func takePendingNews() -> DatabaseMessage? {
    let waiting = waitingWrites
    if waiting == toldPending { return nil }
    toldPending = waiting
    return .pendingWrites(toldPending)
  }

  /// The refused writes that are kept, if they have changed since the last call.
  func takeRefusedNews() -> DatabaseMessage? { kept.takeNews().map { .refusedWrites($0) } }

  /// Keeps the replica offline for one more reason; a connection ends.
  func goOffline(because reason: String) throws -> [Delivery] {
    let deliveries = connectionInfo.isConnected ? try disconnect() : []
    offlineReasons.insert(reason)
    return deliveries
  }

  /// Withdraws a reason to stay offline; returns true if no other is left.
  func goOnline(because reason: String) -> Bool {
    offlineReasons.remove(reason)
    return offlineReasons.isEmpty
  }

  /// Connects the origin, unless there is a reason to stay offline.
  func connect(originTime: Int64?) throws -> [Delivery] {
    guard offlineReasons.isEmpty else {
      throw DatabaseError(
        .refused,
        "The origin is not connected: \(offlineReasons.sorted().joined(separator: ", ")).")
    }
    return try step { (engine, storage, now) in
      try engine.connectWatching(now: now, originTime: originTime, &storage)
    }
  }

  func disconnect() throws -> [Delivery] {
    try step { (engine, storage, now) in
      var outcome = try engine.disconnect(now: now, &storage)
      outcome.append(try engine.watchLess(now: now, &storage))
      return outcome
    }
  }
}

// MARK: Sessions on the same file

extension ReplicaCore {
  func tidyUpAfterOthers() throws {
    try takeBackLostWrites()
    guard let beacon = context.beacon else { return }
    let ended = try context.store.read { transaction in
      try transaction.sessionsWithQueries().filter {
        $0 != beacon.session && !beacon.isMarked(session: $0)
      }
    }
    if ended.isEmpty { return }
    try context.store.write { transaction in
      for session in ended { try transaction.deleteQueries(heldBy: session) }
    }
  }

  /// Takes back the writes that end with their session, where it has ended.
  @discardableResult
  private func takeBackLostWrites() throws -> [Delivery] {
    guard let beacon = context.beacon, engine.hasLostWrites(isRunning: beacon.isMarked) else {
      return []
    }
    return try step { (engine, storage, now) in try engine.takeBackLost(now: now, &storage) }
  }

  /// Takes back the writes that end with this session, and releases its queries.
  func leave() throws {
    guard let session = context.beacon?.session else { return }
    var changed = engine
    let hasQueries = try context.store.read { try !$0.queries(heldBy: session).isEmpty }
    guard changed.hasWritesOfSession || hasQueries else { return }
    try context.store.write { transaction in
      var storage = transaction
      storage.beacon = context.beacon
      _ = try absorbOthers(into: &changed, storage)
      try transaction.deleteQueries(heldBy: session)
      let touched = try changed.abandonWritesOfSession(&storage)
      if !touched.isEmpty { _ = try transaction.appendChange(touched) }
    }
    context.beacon?.signal()
  }
}

extension SessionContext {
  /// The most tries to find a number that no other session has; more means that locks are not
  /// available.
  private static let markTriesMax = 100

  /// Marks this session as running, under a number that no other session on the file has; returns
  /// it.
  func markedNumber() -> Int64 {
    if beacon == nil { return PendingWrite.noSession }
    var number: Int64
    var rest = SessionContext.markTriesMax
    repeat {
      number = .random(in: PendingWrite.noSession + 1..<(.max), using: &environment.random)
      rest -= 1
    } while beacon?.mark(session: number) == false && rest > 0
    return number
  }
}
