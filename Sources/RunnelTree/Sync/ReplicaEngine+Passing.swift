// Passing writes: a status, such as who is here, that is true no longer than the connection over which it was told.

extension ReplicaEngine {
  /// Refuses a passing write if nobody has a connection that sends it; returns its id then.
  mutating func refusePassing(
    _ outcome: inout ReplicaOutcome, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> Int64? {
    if isConnected { return nil }
    if try storage.isSpokenFor() { return nil }
    let id = try storage.takeWriteID()
    outcome.completions.append(.rejected(id: id, ReplicaEngine.unconnected))
    return id
  }

  private static let unconnected = TreeError(
    .disconnected, "There is no connection, and the write would last no longer than one.")

  /// False for a passing write of another session: nobody here waits for its end.
  func isAnsweredHere(_ write: PendingWrite) -> Bool {
    if case .passing(let maker) = write.maker { maker == session } else { true }
  }

  /// Ends all passing writes of all sessions: their connection has ended.
  ///
  /// - Returns: the places touched.
  mutating func endPassing(
    now: Int64, _ outcome: inout ReplicaOutcome, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    var touched: [Path] = []
    for write in replica.book.pendingOfSessions where write.isPassing {
      touched += try replica.reject(write.id, .refused(ReplicaEngine.lost), &storage)
      if isAnsweredHere(write) {
        outcome.completions.append(.rejected(id: write.id, ReplicaEngine.lost))
      }
    }
    if touched.isEmpty { return [] }
    return touched + (try recompute(after: touched, now: now, &outcome, &storage))
  }
}
