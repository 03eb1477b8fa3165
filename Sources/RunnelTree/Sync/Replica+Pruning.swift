// The size of the cache. Source: tree semantics, section 15.3.

extension Replica {
  /// The default limit of the bytes that are kept of the origin's tree.
  package static let cacheBytesMax = 10 << 20
  /// The most answers that are kept without a listener.
  package static let inactiveQueriesMax = 1000
  /// The share of the inactive answers that is removed in one step.
  private static let prunedShare = 0.2

  /// Removes the answers that were not used for longest, until the rest is within the limits.
  ///
  /// Data of queries that are active, here or in another session, and pending writes are never
  /// removed.
  ///
  /// A step removes at most `countMax` answers, so that it stays short.
  ///
  /// - Returns: the places where something was removed.
  mutating func prune(
    toBytes bytes: Int, queries: Int, atMost countMax: Int,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    // This is asked after each answer of the origin.
    if book.trackedCount <= queries, try !storage.isServer(largerThan: bytes) { return [] }
    var touched: [Path] = []
    var rest = countMax
    let held = try storage.queriesHeldElsewhere()
    while rest > 0 {
      let inactive = book.trackedQueries.filter { !$0.isActive && !held.contains($0.id) }
        .sorted { ($0.lastUse, $0.id) < ($1.lastUse, $1.id) }
      if inactive.isEmpty { return touched }
      if inactive.count <= queries, try !storage.isServer(largerThan: bytes) { return touched }
      let share = (Double(inactive.count) * Replica.prunedShare).rounded(.up)
      let count = min(max(Int(share), inactive.count - queries), rest)
      touched += try prune(Array(inactive.prefix(count)), &storage)
      rest -= count
    }
    return touched
  }

  /// Removes the answer of a query that is not needed, since another query holds the same.
  ///
  /// - Returns: the places where something was removed.
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
    var dropped: [TrackedQuery] = []
    for var record in records {
      try record.wake(storage)
      dropped.append(record)
    }
    for record in dropped {
      book.drop(record)
      try storage.deleteTrackedQuery(record.id)
    }
    var touched: [Path] = []
    for record in dropped {
      let path = record.query.path
      if record.isDefault {
        // Each child is looked for in these answers.
        for other in book.records(at: path) { try wake(other.query, storage) }
        touched += try showDropped(
          dropUnkept(of: path, storage.serverNode(at: path), &storage), path, &storage)
      } else {
        touched += try pruneChildren(record, &storage)
      }
    }
    return touched
  }

  /// Removes those children of a dropped answer that no other query keeps.
  ///
  /// O(rows) in the rows of the answer, however many children the place has.
  private mutating func pruneChildren(
    _ record: TrackedQuery, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    let path = record.query.path
    // All that is known of the place is kept.
    if book.record(of: Query(path)) != nil || book.isCached(path) { return [path] }
    if try book.isToldByKey(path, storage) { return [path] }
    var changed: [Path] = []
    for key in record.keys.sorted() {
      let place = Path(unchecked: path.keys + [key])
      changed += try dropUnkept(of: place, storage.serverNode(at: place), &storage)
    }
    // The place stands for its children.
    return try rebase(changed, &storage).filter { !path.contains($0) } + [path]
  }

  /// Shows what is left of a place, some of which may have been dropped; returns the place where the shown node,
  /// or the knowledge about it, may have changed.
  private mutating func showDropped(
    _ dropped: [Path], _ path: Path, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard book.hasNoPending else { return try rebase([path], &storage) }
    // Without pending writes both trees are the same, and stay so by the same change.
    for place in dropped {
      try storage.perform(
        Assignment(path: place, target: .node(try storage.serverNode(at: place))))
    }
    return [path]
  }

  /// Removes what no query keeps of a node; returns its place if something was removed.
  private mutating func dropUnkept(
    of path: Path, _ old: Node, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    let kept = try kept(old, at: path, storage)
    if kept == old { return [] }
    try keep(Assignment(path: path, target: .node(kept)), by: .nobody, &storage)
    return [path]
  }

  /// The part of a node that the remaining queries keep.
  private func kept(
    _ node: Node, at path: Path, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Node {
    if node.isEmpty || book.isCached(path) || book.record(of: Query(path)) != nil { return node }
    if try book.isToldByKey(path, storage) { return node }
    var children: [Child] = []
    for child in node.children {
      let place = Path(unchecked: path.keys + [child.key])
      children.append(Child(key: child.key, node: try kept(child.node, at: place, storage)))
    }
    return Node(children: children)
  }
}

extension ReplicaEngine {
  /// Removes data until the cache is within its limits; see `Replica.prune`.
  ///
  /// - Throws: `TreeError` (`storage`).
  package mutating func prune(
    toBytes bytes: Int, queries: Int, atMost countMax: Int = .max,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    outcome.touched = try replica.prune(
      toBytes: bytes, queries: queries, atMost: countMax, &storage)
    outcome.deliveries = try engine.apply(touched: outcome.touched, reader: reader(storage))
    return outcome
  }

  /// Removes a listener without notifying anyone.
  package mutating func forget(_ listener: ListenerID) {
    engine.unlisten(listener)
    pages[listener] = nil
    info.unlisten(listener)
  }
}
