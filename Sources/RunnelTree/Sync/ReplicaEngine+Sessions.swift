// Several sessions on one storage, and the writes that a session leaves behind when it ends.

extension ReplicaEngine {
  /// Takes over the changes of another session to the same storage: its current book, and the
  /// places that were touched.
  ///
  /// If this session has the connection to the origin, it sends the writes of the other one. Writes
  /// whose answers the other session received are completed here, too.
  package mutating func absorb(
    _ stored: ReplicaBook, touched: [Path], _ storage: some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    let before = replica.book.pending
    let known = Set(before.map(\.id))
    let active = Set(plan.current.map(\.query))
    replica.book.absorb(stored, active: active)
    for query in active { try replica.wake(query, storage) }
    var outcome = ReplicaOutcome()
    outcome.deliveries = try engine.apply(touched: touched, reader: reader(storage))
    tellPending(&outcome)
    let left = Set(replica.book.pending.map(\.id))
    for write in before where write.isDurable && !left.contains(write.id) {
      let refusal = try storage.refusal(of: write.id)
      outcome.completions.append(
        refusal.map { .rejected(id: write.id, $0) } ?? .acknowledged(id: write.id))
    }
    for write in replica.book.pending where write.isDurable && !known.contains(write.id) {
      send(write, &outcome)
    }
    if before.contains(where: { !left.contains($0.id) }) { reviewBacklog { $0.review() } }
    return outcome
  }

  /// The writes of transactions whose session has ended, or that this session no longer has.
  ///
  /// O(n) in the pending writes of transactions.
  private func lostWrites(isRunning: (_ session: Int64) -> Bool) -> [Int64] {
    let running = Set(transactions.compactMap(\.write?.id))
    return replica.book.pendingOfTransactions.filter { write in
      guard case .transaction(let maker) = write.maker, !running.contains(write.id) else {
        return false
      }
      return maker == session || !isRunning(maker)
    }.map(\.id)
  }

  /// True if `takeBackLost` would take something back.
  ///
  /// `isRunning` tells whether another session still runs.
  package func hasLostWrites(isRunning: (_ session: Int64) -> Bool) -> Bool {
    !lostWrites(isRunning: isRunning).isEmpty
  }

  /// True if a transaction of this session has not ended.
  package var hasTransactions: Bool { !transactions.isEmpty }

  /// Takes back the writes of transactions whose session has ended, because no transaction outlives
  /// its session.
  ///
  /// `now` is in milliseconds since 1970.
  ///
  /// Source: tree semantics, sections 11 (step 9) and 15.1.
  package mutating func takeBackLost(
    now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    var touched: [Path] = []
    for id in lostWrites(isRunning: storage.isRunning) {
      touched += try replica.reject(id, .takenBack, &storage)
    }
    touched += try recompute(after: touched, now: now, &outcome, &storage)
    try refresh(touched, now: now, &outcome, &storage)
    try refillPages(now: now, &outcome, &storage)
    return outcome
  }

  /// Takes back the writes of this session's transactions, since it ends; listeners are not told.
  ///
  /// - Returns: the places that show other data now.
  package mutating func abandonTransactions(
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    transactions = []
    var touched: [Path] = []
    for id in lostWrites(isRunning: storage.isRunning) {
      touched += try replica.reject(id, .takenBack, &storage)
    }
    return touched
  }
}
