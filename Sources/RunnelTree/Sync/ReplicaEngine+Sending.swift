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
  mutating func send(_ write: PendingWrite, _ outcome: inout ReplicaOutcome) {
    var isReady = false
    reviewBacklog { isReady = $0.admit(write.id, write.places) }
    guard isReady else { return }
    replica.book.talk.send(write.id, write.parts.map(\.path))
    outcome.commands.append(write.command)
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
    let touched = try replica.resolveConflicts(of: ready, by: policy, &storage)
    for write in replica.book.pending where ready.contains(write.id) {
      replica.book.talk.send(write.id, write.parts.map(\.path))
      outcome.commands.append(write.command)
    }
    try refresh(touched, now: now, &outcome, &storage)
    try refillPages(now: now, &outcome, &storage)
  }
}
