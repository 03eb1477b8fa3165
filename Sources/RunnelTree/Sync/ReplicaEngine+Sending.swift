// The order and time of sending commands. Source: tree semantics, sections 8.4 and 13.

extension ReplicaEngine {
  /// Changes the backlog, if there is a connection.
  mutating func reviewBacklog(_ change: (inout Backlog) -> Void) {
    guard case .connected(var backlog) = link else { return }
    // Releases the other reference to the backlog, so that it is changed in place.
    link = .offline
    change(&backlog)
    link = .connected(backlog)
  }

  /// Sends a write that was just made, unless it has to wait.
  mutating func send(
    _ write: PendingWrite, _ outcome: inout ReplicaOutcome, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    if sendUnnoted(write, &outcome) { try holdBases(of: write, &storage) }
  }

  /// Sends a write that was just made, unless it has to wait; returns whether it was sent.
  @discardableResult
  mutating func sendUnnoted(_ write: PendingWrite, _ outcome: inout ReplicaOutcome) -> Bool {
    var isReady = false
    reviewBacklog { isReady = $0.admit(write.id, write.places) }
    guard isReady else { return false }
    replica.book.talk.send(write.id, write.parts.map(\.path))
    outcome.commands.append(write.command)
    return true
  }

  /// The writes that were sent for other sessions, and that do not hold their bases yet.
  private var unnoted: [PendingWrite] {
    replica.book.pending.filter {
      !$0.compared.isEmpty && !$0.holdsBases && replica.book.talk.isSent($0.id)
    }
  }

  /// Whether `noteSentForOthers` would note something.
  var hasUnnoted: Bool { !unnoted.isEmpty }

  /// Has the writes that were sent for other sessions hold their bases.
  mutating func noteSentForOthers(
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    for write in unnoted {
      try holdBases(of: write, &storage)
      // The other sessions read it again.
      outcome.touched += write.parts.map(\.path)
    }
    return outcome
  }

  /// Has a write that was sent replace nothing else, if it is sent again after a lost connection.
  private mutating func holdBases(
    of write: PendingWrite, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    if write.compared.isEmpty || write.holdsBases { return }
    var held = write
    held.holdsBases = true
    replica.book.replace(held)
    try storage.save(held)
  }

  /// Sends the writes that no longer have to wait, with conflicts resolved.
  mutating func sendReady(
    now: Int64, _ outcome: inout ReplicaOutcome, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    guard case .connected = link else { return }
    let (open, book) = (replica.book.talk.openIDs, replica.book)
    var ready: [Int64] = []
    var isLeft = false
    reviewBacklog { backlog in
      backlog.keepWaiting(for: open)
      ready = backlog.takeReady { book.places(of: $0) }
      isLeft = !backlog.held.isEmpty
    }
    if !ready.isEmpty { try send(Set(ready), now: now, &outcome, &storage) }
    try sendTransactions(&outcome, &storage)
    // While writes wait for an answer, the connection does not count as restored.
    if !isLeft { try tellInfo(&outcome) { $0.isConnected = true } }
  }

  private mutating func send(
    _ ready: Set<Int64>, now: Int64, _ outcome: inout ReplicaOutcome,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    let (touched, changed) = try replica.resolveConflicts(of: ready, by: policy, &storage)
    for (id, places) in changed {
      try rejected(id, .changed(at: places), now: now, &outcome, &storage)
    }
    for write in replica.book.pending where ready.contains(write.id) {
      replica.book.talk.send(write.id, write.parts.map(\.path))
      outcome.commands.append(write.command)
      try holdBases(of: write, &storage)
    }
    try refresh(touched, now: now, &outcome, &storage)
    try refillPages(now: now, &outcome, &storage)
  }
}
