import RunnelTree

// The sessions on the file of one replica: which of them run, and what is left by one that ended.

extension DatabaseSession {
  /// A number that no other session on the file has, under which this one is marked as running.
  func markedNumber() -> Int64 {
    if beacon == nil { return PendingWrite.noSession }
    var number: Int64
    var rest = DatabaseSession.markTriesMax
    repeat {
      number = .random(in: PendingWrite.noSession + 1..<(.max), using: &environment.random)
      rest -= 1
    } while beacon?.mark(session: number) == false && rest > 0
    return number
  }

  /// How often a number is chosen anew that another session has; then locks are not to be had.
  private static let markTriesMax = 100

  /// Takes back what sessions left that ended without taking it back.
  func tidyUpAfterOthers() throws {
    try takeBackLostWrites()
    guard replica != nil, let beacon else { return }
    let ended = try store.read { transaction in
      try transaction.sessionsWithQueries().filter {
        $0 != beacon.session && !beacon.isMarked(session: $0)
      }
    }
    if ended.isEmpty { return }
    try store.write { transaction in
      for session in ended { try transaction.deleteQueries(heldBy: session) }
    }
  }

  /// Takes back what transactions show whose session ended.
  @discardableResult
  func takeBackLostWrites() throws -> [Delivery] {
    guard let beacon, let replica, replica.hasLostWrites(isRunning: beacon.isMarked) else {
      return []
    }
    return try step { (engine, storage, now) in try engine.takeBackLost(now: now, &storage) }
  }

  /// This session ends: what its transactions show is taken back, and its queries are nobody's.
  func leaveReplica() throws {
    guard var changed = replica, let session = beacon?.session else { return }
    let hasQueries = try store.read { try !$0.queries(heldBy: session).isEmpty }
    guard changed.hasTransactions || hasQueries else { return }
    try store.write { transaction in
      var storage = transaction
      storage.beacon = beacon
      _ = try absorbOthers(into: &changed, storage)
      try transaction.deleteQueries(heldBy: session)
      let touched = try changed.abandonTransactions(&storage)
      if !touched.isEmpty { _ = try transaction.appendChange(touched) }
    }
    beacon?.signal()
  }
}
