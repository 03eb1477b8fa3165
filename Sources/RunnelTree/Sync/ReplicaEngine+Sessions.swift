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
    for write in before where !left.contains(write.id) {
      guard !write.isOfTransaction, isAnsweredHere(write) else { continue }
      let refusal = try storage.refusal(of: write.id)
      outcome.completions.append(
        refusal.map { .rejected(id: write.id, $0) } ?? .acknowledged(id: write.id))
    }
    for write in replica.book.pending where !write.isOfTransaction && !known.contains(write.id) {
      // `attendToOthers` notes that it was sent.
      sendUnnoted(write, &outcome)
    }
    if before.contains(where: { !left.contains($0.id) }) { reviewBacklog { $0.review() } }
    return outcome
  }

  /// The writes that end with their session, and whose session has ended; also those of transactions that
  /// this session no longer has.
  ///
  /// O(n) in such writes.
  private func lostWrites(
    isLeaving: Bool = false, isRunning: (_ session: Int64) -> Bool
  ) -> [Int64] {
    let running = Set(transactions.compactMap(\.write?.id))
    return replica.book.pendingOfSessions.filter { write in
      switch write.maker {
      case .anyone: false
      case .transaction(let maker):
        !running.contains(write.id) && (maker == session || !isRunning(maker))
      case .passing(let maker): maker == session ? isLeaving : !isRunning(maker)
      }
    }.map(\.id)
  }

  /// True if `takeBackLost` would take something back.
  ///
  /// `isRunning` tells whether another session still runs.
  package func hasLostWrites(isRunning: (_ session: Int64) -> Bool) -> Bool {
    !lostWrites(isRunning: isRunning).isEmpty
  }

  /// True if this session has a write that ends with it.
  package var hasWritesOfSession: Bool {
    !transactions.isEmpty
      || replica.book.pendingOfSessions.contains { $0.maker == .passing(session: session) }
  }

  /// Takes back the writes that end with their session, where it has ended.
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

  /// Takes back the writes that end with this session, since it ends; listeners are not told.
  ///
  /// - Returns: the places that show other data now.
  package mutating func abandonWritesOfSession(
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    transactions = []
    var touched: [Path] = []
    for id in lostWrites(isLeaving: true, isRunning: storage.isRunning) {
      touched += try replica.reject(id, .takenBack, &storage)
    }
    return touched
  }
}
