import RunnelStorage
package import RunnelTree

// Sessions on a replica, a tree that belongs to an origin elsewhere. Writes made here show at once,
// and are pending until the origin has answered, over restarts.

/// The output of a replica: commands for its origin, and results of earlier requests.
package struct OriginOutput: Hashable, Sendable {
  /// The commands for the origin, in order.
  package var commands: [OriginCommand] = []
  /// The results of writes and transactions, in order; their events were delivered before.
  package var completions: [ReplicaCompletion] = []

  /// Makes an empty output.
  package init() {}
}

extension DatabaseSession {
  /// The name of the origin that the tree is a replica of; nil if it is a tree of its own.
  ///
  /// - Throws: `DatabaseError` if the file cannot be read.
  package func originName() throws -> String? { try store.read { try $0.originName() } }

  /// Makes an empty database the replica of an origin, for good.
  ///
  /// - Parameter name: the name of the origin; it must be the same every time the database is
  ///   opened.
  /// - Throws: `DatabaseError` (`refused`) if the database holds data, or is a replica of another
  ///   origin.
  package func becomeReplica(ofOrigin name: String) throws {
    // Nothing is written, and the disk is not waited for, each time that a replica is opened.
    if replica != nil, try originName() == name { return }
    try store.write { transaction in
      switch try transaction.originName() {
      case name: return
      case let other?:
        throw DatabaseError(.refused, "\(file) is a replica of \(other), not of \(name).")
      case nil: break
      }
      if try !transaction.tree.storedNode(at: .root).isEmpty {
        throw DatabaseError(
          .refused,
          "\(file) holds data of its own: export them, and import them where the origin is.")
      }
      try transaction.setOriginName(name)
    }
    if replica == nil { try becomeReplica() }
  }

  /// Begins a new name for the writes made from now on, and returns the names of all that wait.
  ///
  /// - Throws: `DatabaseError`; then nothing changed.
  func beginWriter() throws -> WriterNames {
    // The first write under the name is sent when it is on disk, and then the name is, too.
    try store.write(isDurable: false) { try $0.beginWriter() }
  }

  /// The core of a replica; nil on a tree of its own.
  var replica: ReplicaCore? { core as? ReplicaCore }

  /// The core of a replica, for calls that a tree of its own refuses.
  ///
  /// - Throws: `DatabaseError` (`refused`) on a tree of its own.
  func requireReplica() throws -> ReplicaCore {
    if let replica { return replica }
    throw DatabaseError(.refused, "\(file) is a tree of its own, not a replica of another.")
  }

  /// Carries out one input to the engine of a replica.
  private func step(_ body: ReplicaStep) throws -> [Delivery] { try requireReplica().step(body) }

  /// Removes and returns the output for the origin and for waiting callers.
  package func takeOriginOutput() -> OriginOutput { replica?.takeOutput() ?? OriginOutput() }

  /// The writes that the origin has not answered, oldest first.
  package var pendingWrites: [PendingWrite] { replica?.pendingWrites ?? [] }

  /// The known nodes upon which a write that the origin has not answered was made, by their places.
  package func bases(ofWrite id: Int64) -> [Path: RunnelTree.Node] {
    replica?.bases(ofWrite: id) ?? [:]
  }

  /// The number of places of a pending write that the origin has done already: they are no part of it any more.
  package func doneCount(ofWrite id: Int64) -> Int { replica?.doneCount(ofWrite: id) ?? 0 }

  /// True if the origin may have something at a place that is not known here.
  ///
  /// - Throws: `DatabaseError` if that cannot be read.
  package func mayHoldMore(at path: Path) throws -> Bool {
    try store.read { try !core.shown($0).knowledge(of: Query(path)).isAnswer }
  }

  /// The places changed by writes that the origin has not answered, except those of hidden
  /// transactions.
  var pendingPlaces: [Path] {
    pendingWrites.filter(\.isVisible).flatMap { $0.parts.map(\.path) }
  }

  /// The record of each query that the origin was asked.
  package var trackedQueries: [TrackedQuery] { replica?.trackedQueries ?? [] }

  /// True if a write that the origin has not answered changes a place, or something below it, or
  /// replaces a place above it.
  package func hasPendingWrites(at path: Path) -> Bool {
    pendingWrites.contains { write in
      write.parts.contains { $0.path.contains(path) || path.contains($0.path) }
    }
  }
}

// MARK: The origin

extension DatabaseSession {
  /// Connects the origin: only one session of a file may be connected at a time, for all of them.
  ///
  /// - Parameter originTime: the time on the origin's clock, in milliseconds since 1970, if it
  ///   tells.
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own, and while there is a reason
  ///   to stay offline (`goOffline`): `refused`.
  package func connectOrigin(originTime: Int64? = nil) throws -> [Delivery] {
    try requireReplica().connect(originTime: originTime)
  }

  /// Disconnects the origin.
  ///
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  package func disconnectOrigin() throws -> [Delivery] {
    try requireReplica().disconnect()
  }

  /// Takes one message of the origin.
  ///
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  package func receive(_ message: OriginMessage) throws -> [Delivery] {
    try requireReplica().receive([message])
  }

  /// Takes messages of the origin, in order, in one transaction.
  ///
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  package func receive(_ messages: [OriginMessage]) throws -> [Delivery] {
    let deliveries = try requireReplica().receive(messages)
    let hasRefusals = messages.contains { if case .rejected = $0 { true } else { false } }
    return hasRefusals ? deliveries + (try followRefusals()) : deliveries
  }

  /// Keeps a query answered although it has no listener, or stops keeping it.
  ///
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  package func keepSynced(_ query: Query, _ isKept: Bool) throws -> [Delivery] {
    try step { (engine, storage, now) in
      try engine.keepSynced(query, isKept, now: now, &storage)
    }
  }

  /// Gives up every pending write, and every transaction of this session; the origin's data show
  /// again.
  ///
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  package func purgePendingWrites() throws -> [Delivery] {
    try step { (engine, storage, now) in
      try engine.purgePendingWrites(now: now, &storage)
    }
  }

  /// Gives up one pending write, as if the origin had refused it; the others stay, in their order.
  ///
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; then nothing changed. If it is not pending any more: `changed`; on a tree of
  ///   its own: `refused`.
  package func dropPendingWrite(_ id: Int64) throws -> [Delivery] {
    try step { (engine, storage, now) in
      guard let outcome = try engine.dropPendingWrite(id, now: now, &storage) else {
        throw DatabaseError(
          .changed,
          "Write \(id) is not pending any more: the origin answered it, or it was dropped.")
      }
      return outcome
    }
  }

  /// The pending writes, if they have changed since the last call.
  package func takePendingNews() -> DatabaseMessage? { replica?.takePendingNews() }

  /// Starts a transaction on a replica; its end is among the completions, under the id returned.
  ///
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  package func startTransaction(
    _ request: TransactionRequest
  ) throws -> (id: Int64, deliveries: [Delivery]) {
    try requireReplica().start(request)
  }

  /// Gives up a transaction whose caller waits no more; one that has ended is ignored.
  ///
  /// One that was not sent is taken back. One that was sent may still be done: it is shown until the
  /// origin answers, and is not computed again.
  ///
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; then it goes on. On a tree of its own: `refused`.
  package func cancel(transaction id: Int64) throws -> [Delivery] {
    try requireReplica().cancel(transaction: id)
  }

  /// Asks once for the result of a query; the answer is among the completions, under the id
  /// returned.
  ///
  /// - Throws: `DatabaseError`; then nothing was asked. On a tree of its own: `refused`.
  package func get(_ query: Query) throws -> (id: Int64, deliveries: [Delivery]) {
    try requireReplica().ask(query)
  }

  /// Drops a question: its answer completes nothing.
  package func cancel(get id: Int64) { replica?.cancel(get: id) }

  /// The milliseconds until `giveUpGets` must be called; nil if no question waits for a connection.
  package var millisecondsToDeadline: Int? { replica?.millisecondsToDeadline }

  /// Answers the questions that have waited long enough for a connection with the kept data.
  ///
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; call it again then. On a tree of its own: `refused`.
  package func giveUpGets() throws -> [Delivery] {
    try step { (engine, storage, now) in try engine.giveUpGets(now: now, storage) }
  }

  /// Registers or cancels writes that are done when this session ends; on a replica the origin does
  /// them when this client disconnects.
  ///
  /// On a tree of its own they are stored in the file. `close` does them. If the process ends
  /// without it, another session that has the file open for writing does them, or the next that
  /// opens it.
  ///
  /// - Returns: on a replica the id under which the origin's answer is completed, otherwise nil;
  ///   and the deliveries for listeners of this session.
  /// - Throws: `DatabaseError` (`refused` if such a write would be refused); then nothing was
  ///   registered.
  package func ask(
    _ request: DisconnectRequest
  ) throws -> (id: Int64?, deliveries: [Delivery]) {
    switch try core.ask(request) {
    case .made(let deliveries): (nil, deliveries)
    case .awaited(let id, let deliveries): (id, deliveries)
    }
  }

  /// Removes the least recently used answers from the cache, until the copy of the origin's tree
  /// has at most `bytes` bytes.
  ///
  /// Pending writes, and data with listeners, are never removed.
  ///
  /// - Parameters:
  ///   - bytes: the largest size of the cache; nil for the environment's.
  ///   - queries: the most answers without listeners that are kept.
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  package func pruneCache(
    toBytes bytes: Int? = nil, queries: Int = Replica.inactiveQueriesMax
  ) throws -> [Delivery] {
    let cacheBytesMax = environment.cacheBytesMax
    return try step { (engine, storage, _) in
      try engine.prune(toBytes: bytes ?? cacheBytesMax, queries: queries, &storage)
    }
  }

  /// Does a write of a status that is true no longer than the connection.
  ///
  /// It shows at once, and is sent by the session with the connection. It never waits: it ends with the
  /// connection or with this session, and without a connection the answer under `newestWriteID` is that there is
  /// none. The history does not list it. On a tree of its own it is a write like others.
  ///
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; then nothing was written.
  package func writePassing(_ write: Write) throws -> [Delivery] {
    guard let replica else { return try self.write(write) }
    let (id, deliveries) = try replica.numberedStep { (engine, storage, now) in
      try engine.write(write, isPassing: true, now: now, &storage)
    }
    context.newestWriteID = id
    return deliveries
  }

  /// Does a write on a replica that shows only when the origin has taken it.
  ///
  /// It is pending like any other write until then, over restarts. The history does not list it,
  /// since nothing was changed here. The origin's answer is completed under `newestWriteID`.
  ///
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; then nothing was written. On a tree of its own: `refused`.
  package func writeHidden(_ write: Write) throws -> [Delivery] {
    let (id, deliveries) = try requireReplica().numberedStep { (engine, storage, now) in
      try engine.write(write, isVisible: false, now: now, &storage)
    }
    context.newestWriteID = id
    return deliveries
  }
}
