// The size of the cache. Source: tree semantics, section 15.3.

extension Replica {
  /// How many bytes of the origin's tree are kept, unless it is said otherwise.
  public static let cacheBytesMax = 10 << 20
  /// How many answers are kept that nobody listens to.
  public static let inactiveQueriesMax = 1000
  /// The share of the inactive answers that goes in one step.
  private static let prunedShare = 0.2

  /// Removes the answers that were not asked for longest, until the rest is within the limits.
  ///
  /// What a query keeps that is active here or in another session, and pending writes, stay.
  ///
  /// - Returns: the places where something went.
  mutating func prune(
    toBytes bytes: Int, queries: Int, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    var touched: [Path] = []
    let held = try storage.queriesHeldElsewhere()
    while true {
      let inactive = book.trackedQueries.filter { !$0.isActive && !held.contains($0.id) }
        .sorted { ($0.lastUse, $0.id) < ($1.lastUse, $1.id) }
      if inactive.isEmpty { return touched }
      if try storage.serverBytes() <= bytes, inactive.count <= queries { return touched }
      let share = (Double(inactive.count) * Replica.prunedShare).rounded(.up)
      let count = max(Int(share), inactive.count - queries)
      touched += try prune(Array(inactive.prefix(count)), &storage)
    }
  }

  /// Forgets the answer of a query that nobody wants any more, for another one holds as much.
  ///
  /// - Returns: the places where something went.
  mutating func discard(
    _ query: Query, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard let record = book.record(of: query), !record.isActive, !record.isDefault,
      try !storage.queriesHeldElsewhere().contains(record.id)
    else { return [] }
    return try prune([record], &storage)
  }

  private mutating func prune(
    _ records: [TrackedQuery], _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    for record in records {
      book.drop(record)
      try storage.deleteTrackedQuery(record.id)
    }
    var touched: [Path] = []
    for record in records {
      let path = record.query.path
      let old = try storage.serverNode(at: path)
      let kept = kept(old, at: path)
      if kept != old {
        try keep(Assignment(path: path, target: .node(kept)), by: .nobody, &storage)
      }
      touched += try rebase([path], &storage)
    }
    return touched
  }

  /// What of a node the queries that are left keep.
  private func kept(_ node: Node, at path: Path) -> Node {
    if node.isEmpty || book.isCached(path) || book.isToldByKey(path) { return node }
    if book.record(of: Query(path)) != nil { return node }
    let children = node.children.map { child in
      Child(key: child.key, node: kept(child.node, at: Path(unchecked: path.keys + [child.key])))
    }
    return Node(children: children)
  }
}

extension ReplicaEngine {
  /// Removes what the cache is too small for; see `Replica.prune`.
  ///
  /// - Throws: `TreeError` (`storage`).
  public mutating func prune(
    toBytes bytes: Int, queries: Int, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    outcome.touched = try replica.prune(toBytes: bytes, queries: queries, &storage)
    outcome.deliveries = try engine.apply(touched: outcome.touched, reader: reader(storage))
    return outcome
  }

  /// Removes a listener without telling anybody.
  package mutating func forget(_ listener: ListenerID) {
    engine.unlisten(listener)
    pages[listener] = nil
    info.unlisten(listener)
  }
}
