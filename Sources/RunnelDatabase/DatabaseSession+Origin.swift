public import RunnelTree

// A session on a replica: a tree that belongs to an origin elsewhere. What is written here shows at
// once and is pending until the origin has answered, over restarts.

/// What a replica has for its origin and for those who wait for it.
public struct OriginOutput: Hashable, Sendable {
  /// What the origin is to be sent, in order.
  public var commands: [OriginCommand] = []
  /// What became of writes and transactions, in order; their events were delivered before.
  public var completions: [ReplicaCompletion] = []

  /// Makes an empty output.
  public init() {}
}

extension DatabaseSession {
  /// The name of the origin that the tree is a replica of; nil if it is a tree of its own.
  ///
  /// - Throws: `DatabaseError` if the file cannot be read.
  public func originName() throws -> String? { try store.read { try $0.originName() } }

  /// Makes an empty database the replica of an origin, for good.
  ///
  /// - Parameter name: what the origin is called; the same every time the database is opened.
  /// - Throws: `DatabaseError` (`refused`) if the database holds data, or is a replica of another
  ///   origin.
  public func becomeReplica(ofOrigin name: String) throws {
    try store.write { transaction in
      switch try transaction.originName() {
      case name: return
      case let other?:
        throw DatabaseError(.refused, "\(file) is a replica of \(other), not of \(name).")
      case nil: break
      }
      if try !transaction.storedNode(at: .root).isEmpty {
        throw DatabaseError(
          .refused,
          "\(file) holds data of its own: export them, and import them where the origin is.")
      }
      try transaction.setOriginName(name)
    }
    try store.read { try openReplica($0) }
  }

  /// Reads what the replica wrote down, if the tree is one.
  func openReplica(_ transaction: StoreTransaction) throws {
    guard replica == nil, try transaction.hasReplica() else { return }
    replica = ReplicaEngine(
      book: try transaction.replicaBook(), session: markedNumber(),
      policy: environment.conflictPolicy)
  }

  /// Takes what there is for the origin and for those who wait; it is given once.
  public func takeOriginOutput() -> OriginOutput {
    defer { originOutput = OriginOutput() }
    return originOutput
  }

  /// The writes that the origin has not answered, oldest first.
  public var pendingWrites: [PendingWrite] { replica?.replica.book.pending ?? [] }

  /// The places that the writes change which the origin has not answered; those of transactions that are
  /// not shown are left out.
  var pendingPlaces: [Path] {
    pendingWrites.filter(\.isVisible).flatMap { $0.parts.map(\.path) }
  }

  /// What is remembered of the queries that the origin was asked.
  public var trackedQueries: [TrackedQuery] { replica?.replica.book.trackedQueries ?? [] }

  /// True if a write that the origin has not answered changes something at a place, or below it, or
  /// gives it with a place above.
  public func hasPendingWrites(at path: Path) -> Bool {
    pendingWrites.contains { write in
      write.parts.contains { $0.path.contains(path) || path.contains($0.path) }
    }
  }
}

// MARK: The origin

extension DatabaseSession {
  /// The origin can be talked to: by one session of a file at a time, which speaks for the others.
  ///
  /// - Parameter originTime: what its clock shows, in milliseconds since 1970, if it tells.
  /// - Returns: what listeners of this session are to be told.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own, and while there is a reason
  ///   to stay offline (`goOffline`): `refused`.
  public func connectOrigin(originTime: Int64? = nil) throws -> [Delivery] {
    try checkMayConnect()
    return try step { (engine, storage, now) in
      try engine.connect(now: now, originTime: originTime, &storage)
    }
  }

  /// The origin is gone.
  ///
  /// - Returns: what listeners of this session are to be told.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  public func disconnectOrigin() throws -> [Delivery] {
    try step { (engine, storage, now) in
      try engine.disconnect(now: now, &storage)
    }
  }

  /// Takes one message of the origin.
  ///
  /// - Returns: what listeners of this session are to be told.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  public func receive(_ message: OriginMessage) throws -> [Delivery] {
    messageCount += 1
    let isCacheDue = messageCount > DatabaseSession.messagesPerPruning
    if isCacheDue { messageCount = 0 }
    return try step { (engine, storage, now) in
      var outcome = try engine.receive(message, now: now, &storage)
      if isCacheDue {
        outcome.append(
          try engine.prune(
            toBytes: environment.cacheBytesMax, queries: Replica.inactiveQueriesMax, &storage))
      }
      return outcome
    }
  }

  /// After how many messages of the origin the size of the cache is looked at (section 15.3).
  private static let messagesPerPruning = 1000

  /// Keeps a query answered although nobody listens, or ends that.
  ///
  /// - Returns: what listeners of this session are to be told.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  public func keepSynced(_ query: Query, _ isKept: Bool) throws -> [Delivery] {
    try step { (engine, storage, now) in
      try engine.keepSynced(query, isKept, now: now, &storage)
    }
  }

  /// Gives up every pending write; what the origin told shows again.
  ///
  /// - Returns: what listeners of this session are to be told.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  public func purgePendingWrites() throws -> [Delivery] {
    try step { (engine, storage, now) in
      try engine.purgePendingWrites(now: now, &storage)
    }
  }

  /// Gives up one pending write, as if the origin had refused it; the others stay, in their order.
  ///
  /// - Returns: what listeners of this session are to be told.
  /// - Throws: `DatabaseError`; then nothing changed. If it is not pending any more: `changed`; on a tree of
  ///   its own: `refused`.
  public func dropPendingWrite(_ id: Int64) throws -> [Delivery] {
    try step { (engine, storage, now) in
      guard let outcome = try engine.dropPendingWrite(id, now: now, &storage) else {
        throw DatabaseError(
          .changed,
          "Write \(id) is not pending any more: the origin answered it, or it was dropped.")
      }
      return outcome
    }
  }

  /// The pending writes, if they are others than when this was called last.
  package func takePendingNews() -> DatabaseMessage? {
    let pending = pendingWrites
    if pending == toldPending { return nil }
    toldPending = pending
    return .pendingWrites(pending)
  }

  /// Starts a transaction on a replica; its end is among the completions, under the id returned.
  ///
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  public func startTransaction(
    _ request: TransactionRequest
  ) throws -> (id: Int64, deliveries: [Delivery]) {
    var id: Int64 = 0
    let deliveries = try step { (engine, storage, now) in
      let started = try engine.run(request, now: now, &storage)
      id = started.id
      return started.outcome
    }
    return (id, deliveries)
  }

  /// Asks for what a query shows, once; the answer is among the completions, under the id returned.
  ///
  /// - Throws: `DatabaseError`; then nothing was asked. On a tree of its own: `refused`.
  public func get(_ query: Query) throws -> (id: Int64, deliveries: [Delivery]) {
    var id: Int64 = 0
    let deliveries = try step { (engine, storage, now) in
      let asked = try engine.get(query, now: now, &storage)
      id = asked.id
      return asked.outcome
    }
    return (id, deliveries)
  }

  /// Nobody waits for the answer of a question any more; nothing comes of it then.
  public func cancel(get id: Int64) { replica?.cancel(get: id) }

  /// In how many milliseconds `giveUpGets` is to be called; nil if no question waits for a connection.
  public var millisecondsToDeadline: Int? {
    replica?.nextDeadline.map { Int(max($0 - environment.now(), 0)) }
  }

  /// Answers the questions that have waited for a connection long enough with what is kept.
  ///
  /// - Returns: what listeners of this session are to be told.
  /// - Throws: `DatabaseError`; call it again then. On a tree of its own: `refused`.
  public func giveUpGets() throws -> [Delivery] {
    try step { (engine, storage, now) in try engine.giveUpGets(now: now, storage) }
  }

  /// Asks the origin for something that is to be done when this client goes away.
  ///
  /// - Returns: the id under which the origin's answer is completed, and what listeners of this session
  ///   are to be told.
  /// - Throws: `DatabaseError`; then nothing was asked. On a tree of its own: `refused`.
  public func ask(
    _ request: DisconnectRequest
  ) throws -> (id: Int64, deliveries: [Delivery]) {
    var id: Int64 = 0
    let deliveries = try step { (engine, storage, _) in
      let asked = try engine.ask(request, &storage)
      id = asked.id
      return asked.outcome
    }
    return (id, deliveries)
  }

  /// Removes from the cache the answers that were not asked for longest, until what is kept of the
  /// origin's tree has at most so many bytes.
  ///
  /// Pending writes, and what is listened to, are never removed.
  ///
  /// - Parameters:
  ///   - bytes: how large the cache may be; nil for what the environment says.
  ///   - queries: how many answers that nobody listens to may be kept.
  /// - Returns: what listeners of this session are to be told.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  public func pruneCache(
    toBytes bytes: Int? = nil, queries: Int = Replica.inactiveQueriesMax
  ) throws -> [Delivery] {
    let cacheBytesMax = environment.cacheBytesMax
    return try step { (engine, storage, _) in
      try engine.prune(toBytes: bytes ?? cacheBytesMax, queries: queries, &storage)
    }
  }
}

// MARK: Carrying out

extension DatabaseSession {
  /// One input to a replica's engine.
  typealias ReplicaStep = (
    inout ReplicaEngine, inout StoreTransaction, _ now: Int64
  ) throws -> ReplicaOutcome

  /// Storage, then events, then the origin: the one way by which a replica changes.
  func step(_ body: ReplicaStep) throws -> [Delivery] {
    let now = environment.now()
    newestEntryID = nil
    let (changed, end, entry, outcome) = try store.write { transaction in
      guard var changed = replica else {
        throw DatabaseError(.refused, "\(file) is a tree of its own, not a replica of another.")
      }
      var storage = transaction
      storage.beacon = beacon
      var outcome = try absorbOthers(into: &changed, storage)
      var end = outcome.sequence
      let own = try body(&changed, &storage, now)
      let isNoted = transaction.notesEntry
      if !own.touched.isEmpty || !own.commands.isEmpty {
        end = try transaction.appendChange(own.touched)
      }
      outcome.outcome.append(own)
      return (changed, end, isNoted ? end : nil, outcome.outcome)
    }
    newestEntryID = entry
    if end != sequence { beacon?.signal() }
    replica = changed
    sequence = end
    originOutput.commands += outcome.commands
    originOutput.completions += outcome.completions
    return takeUndelivered() + outcome.deliveries
  }

  private func takeUndelivered() -> [Delivery] {
    defer { undelivered = [] }
    return undelivered
  }

  /// What other processes did to the file since this session looked last.
  func absorbOthers(
    into engine: inout ReplicaEngine, _ transaction: StoreTransaction
  ) throws -> (outcome: ReplicaOutcome, sequence: Int64) {
    let foreign = try transaction.foreignChanges(after: sequence)
    if foreign.sequence == sequence { return (ReplicaOutcome(), sequence) }
    let outcome = try engine.absorb(
      transaction.replicaBook(), touched: foreign.touched, transaction)
    return (outcome, foreign.sequence)
  }

  /// Does a write on a replica; false if one of the same name was done before, or is pending.
  ///
  /// The origin's answer is completed under `newestWriteID`, which is nil if it was done before.
  func writeOnReplica(
    _ write: Write, undoes undone: HistoryEntry? = nil, name: WriteID? = nil
  ) throws -> (isNew: Bool, deliveries: [Delivery]) {
    try writeOnReplica(undoes: undone, name: name) { _, _ in write }
  }

  /// Does a write that is made from what the replica shows at that moment.
  func writeOnReplica(
    undoes undone: HistoryEntry? = nil, name: WriteID? = nil,
    _ make: (ShownTree, _ now: Int64) throws -> Write
  ) throws -> (isNew: Bool, deliveries: [Delivery]) {
    var id: Int64?
    var isNew = false
    let deliveries = try step { (engine, storage, now) in
      if let undone { try checkUnchanged(undone, storage) }
      if let name {
        id = engine.replica.book.pendingWrite(named: name)?.id
        if try id != nil || storage.isNameTaken(name) { return ReplicaOutcome() }
      }
      let write = try make(ShownTree(storage, engine.replica.book), now)
      let parts = try write.assignments(now: now, reader: storage)
      var outcome = ReplicaOutcome()
      try recording(parts, storage, now: now, undoes: undone?.id) {
        let written = try engine.write(write, name: name, now: now, &storage)
        (id, outcome) = (written.id, written.outcome)
      }
      isNew = true
      return outcome
    }
    newestWriteID = id
    return (isNew, deliveries)
  }

  /// Does a write on a replica that shows only when the origin has taken it.
  ///
  /// It is pending like any other until then, over restarts. The history does not list it, for nothing
  /// was changed here. The origin's answer is completed under `newestWriteID`.
  ///
  /// - Returns: what listeners of this session are to be told.
  /// - Throws: `DatabaseError`; then nothing was written. On a tree of its own: `refused`.
  public func writeHidden(_ write: Write) throws -> [Delivery] {
    var id: Int64?
    let deliveries = try step { (engine, storage, now) in
      let written = try engine.write(write, isVisible: false, now: now, &storage)
      id = written.id
      return written.outcome
    }
    newestWriteID = id
    return deliveries
  }

  func listenOnReplica(_ listener: ListenerID, _ request: ListenRequest) throws -> [Delivery] {
    try step { (engine, storage, now) in
      try engine.listen(listener, request, now: now, &storage)
    }
  }

  func unlistenOnReplica(_ listener: ListenerID) {
    do {
      let told = try step { (engine, storage, now) in
        try engine.unlisten(listener, now: now, &storage)
      }
      // What others wrote meanwhile is told with what is told next.
      undelivered = told.filter { $0.listener != listener }
    } catch {
      // The listener must be gone whatever the storage says; the query is asked a little longer.
      replica?.forget(listener)
    }
  }

  func extendOnReplica(_ listener: ListenerID, by count: Int) throws -> [Delivery] {
    try step { (engine, storage, now) in
      try engine.extend(listener, by: count, now: now, &storage)
    }
  }

  func catchUpReplica() throws -> [Delivery] {
    guard var changed = replica else { return [] }
    let result = try store.read { try absorbOthers(into: &changed, $0) }
    replica = changed
    sequence = result.sequence
    originOutput.commands += result.outcome.commands
    originOutput.completions += result.outcome.completions
    undelivered += result.outcome.deliveries
    let told = try takeBackLostWrites()
    return takeUndelivered() + told
  }

  static func isReplica(_ file: String) -> DatabaseError {
    DatabaseError(
      .refused,
      "\(file) is a replica: what is done there is done when its origin has answered, "
        + "so that this cannot return it.")
  }

  static func noImport(_ file: String) -> DatabaseError {
    DatabaseError(
      .refused,
      "\(file) is a replica: import where its origin is, or write with `runnel set`.")
  }
}
