// What the session with the connection does for the other ones on the same storage: it asks their queries, too,
// and writes down which of them the origin refused.

extension ReplicaEngine {
  /// True if `attendToOthers` would do something.
  package func mustAttendToOthers(_ storage: some ReplicaStorage) throws(TreeError) -> Bool {
    if isConnected {
      if hasUnnoted { return true }
      return try foreignQueries(storage) != foreign
    }
    if try !refusals(storage).isEmpty { return true }
    return try mustFollowOthers(storage)
  }

  /// Does what the other sessions need of this one, or what they found out for it.
  ///
  /// With a connection it asks the queries of the other running sessions, and no longer those that none of them
  /// needs. Without one it ends the listeners whose queries the origin refused to the session that asked for
  /// them, and moves the windows for which that session has got answers.
  ///
  /// `now` is in milliseconds since 1970.
  package mutating func attendToOthers(
    now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    if isConnected {
      outcome.append(try noteSentForOthers(&storage))
      outcome.append(try askForOthers(now: now, &storage))
      return outcome
    }
    for (query, error) in try refusals(storage) {
      outcome.append(try cancel(query, error, now: now, &storage))
    }
    outcome.append(try followOthers(now: now, &storage))
    return outcome
  }

  /// The queries that other running sessions need.
  private func foreignQueries(
    _ storage: some ReplicaStorage
  ) throws(TreeError) -> Set<Query> {
    let held = try storage.queriesHeldElsewhere()
    if held.isEmpty { return [] }
    return Set(replica.book.trackedQueries.filter { held.contains($0.id) }.map(\.query))
  }

  /// Wants what the other sessions need now.
  mutating func askForOthers(
    now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    try setForeign(try foreignQueries(storage), now: now, &storage)
  }

  /// Wants nothing for the other sessions: another one may speak for them.
  mutating func leaveOthers(
    now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    try setForeign([], now: now, &storage)
  }

  private mutating func setForeign(
    _ queries: Set<Query>, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    let (new, old) = (queries.subtracting(foreign), foreign.subtracting(queries))
    foreign = queries
    // In a fixed order, so that every run does the same.
    return try want(
      new.sorted { "\($0)" < "\($1)" }, insteadOf: old.sorted { "\($0)" < "\($1)" }, now: now,
      &storage)
  }

  /// The queries asked here that the origin refused to another session, with its reasons.
  private func refusals(
    _ storage: some ReplicaStorage
  ) throws(TreeError) -> [(query: Query, error: TreeError)] {
    let refused = try storage.refusedQueries()
    if refused.isEmpty { return [] }
    return plan.current.compactMap { ask in
      guard let id = replica.book.record(of: ask.query)?.id, let error = refused[id] else {
        return nil
      }
      return (ask.query, error)
    }
  }

  /// Writes down that the origin refuses queries that are asked for other sessions.
  mutating func noteRefusals(
    where isRefused: (Query) -> Bool, _ error: TreeError, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    for query in foreign.filter(isRefused).sorted(by: { "\($0)" < "\($1)" }) {
      foreign.remove(query)
      guard let id = replica.book.record(of: query)?.id else { continue }
      try storage.noteRefusal(ofQuery: id, error)
    }
  }

  /// Forgets that the origin once refused queries that are asked anew.
  func forgetRefusals(
    of asks: [ListenPlan.Ask], _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    for ask in asks {
      guard let id = replica.book.record(of: ask.query)?.id else { continue }
      try storage.noteRefusal(ofQuery: id, nil)
    }
  }
}
