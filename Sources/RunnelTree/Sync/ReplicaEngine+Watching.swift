// What stands at the places of waiting writes, so that what others wrote there is found. Source: tree
// semantics, section 13.

extension ReplicaEngine {
  /// The most places that are asked for; of writes to others only what is shown is compared.
  private static let watchedMax = 100

  /// Connects the origin, as `connect(now:originTime:_:)`; it is asked also for the places of waiting writes
  /// whose old values are known.
  ///
  /// A list shows a row no more that another client has moved out of it, and a program without a screen shows
  /// none. So the places are asked for by themselves, until the writes are answered.
  package mutating func connectWatching(
    now: Int64, originTime: Int64? = nil, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = try watch(placesToWatch, now: now, &storage)
    outcome.append(try connect(now: now, originTime: originTime, &storage))
    return outcome
  }

  /// Asks no longer for the places of writes that have ended.
  package mutating func watchLess(
    now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    if watched.isEmpty { return ReplicaOutcome() }
    let needed = Set(placesToWatch)
    return try watch(watched.filter { isConnected && needed.contains($0) }, now: now, &storage)
  }

  /// The places of waiting writes, the oldest first.
  private var placesToWatch: [Query] {
    if reach.comparesBases || replica.book.hasNoPending { return [] }
    var queries: [Query] = []
    for write in replica.book.pending
    where write.isDurable && write.isVisible && write.seen == nil && !write.write.hasServerValues {
      for (part, base) in zip(write.parts, write.bases) where part.isNode && base != nil {
        let query = Query(part.path)
        if !queries.contains(query) { queries.append(query) }
        if queries.count >= ReplicaEngine.watchedMax { return queries }
      }
    }
    return queries
  }

  private mutating func watch(
    _ queries: [Query], now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    let old = watched
    watched = queries
    return try want(
      queries.filter { !old.contains($0) }, insteadOf: old.filter { !queries.contains($0) },
      now: now, &storage)
  }
}
