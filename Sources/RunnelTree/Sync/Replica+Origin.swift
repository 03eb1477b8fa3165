// Data from the origin. Source: tree semantics, sections 7.4, 7.5 and 15.2.

extension Replica {
  /// Data that the origin sends of a place: its whole node, or the nodes below it that changed.
  public enum Push: Hashable, Sendable {
    /// The node that is now at the place.
    case set(Node)
    /// Parts that have changed: nodes, or priorities alone; their paths are relative to the place.
    ///
    /// Nodes are set first, in path order, since an empty node takes no priority.
    case merge([Assignment])
    /// The priority that the node at the place now has; nil for none.
    case priority(Leaf?)
  }

  /// Takes data of `path` that the origin sent for all listeners there, above it or below it.
  mutating func receive(
    _ push: Push, at path: Path, by teller: Teller = .everybody,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    switch push {
    case .set(let node):
      let all = Assignment(path: path, target: .node(node))
      return try receive(all, isWhole: true, by: teller, &storage)
    case .merge(let parts):
      var touched: [Path] = []
      for part in Replica.inOrder(parts) {
        let place = Assignment(path: try path.appending(part.path), target: part.target)
        touched += try receive(place, isWhole: part.path.isRoot, by: teller, &storage)
      }
      return touched
    case .priority(let priority):
      let part = Assignment(path: path, target: .priority(priority))
      return try receive(part, isWhole: false, by: teller, &storage)
    }
  }

  /// The parts of a merge: nodes in path order, then priorities.
  private static func inOrder(_ parts: [Assignment]) -> [Assignment] {
    let sorted = parts.sorted { $0.path < $1.path }
    return sorted.filter(\.isNode) + sorted.filter { !$0.isNode }
  }

  /// Takes one part of a push.
  ///
  /// If no query keeps data at the place, the data were sent for a listener that has gone, or are a
  /// part of an answer that is not complete.
  private mutating func receive(
    _ part: Assignment, isWhole: Bool, by teller: Teller, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    let path = part.path
    let isWanted = isWhole && (isAwaited(path) || book.isCompared(path))
    if try !book.isKept(path, storage) && !isWanted {
      try noteInBases(part, by: teller, isKept: false, storage)
      return []
    }
    if teller == .everybody { book.talk.tell(path) }
    try keep(part, by: teller, &storage)
    if part.isNode {
      // A child that a query keeps, and no listener awaits, is only brought up to date.
      var isNeeded = isWanted
      if isWhole, !isNeeded { isNeeded = try !book.isToldByKey(path, storage) }
      if isWhole, isNeeded, !book.isCached(path) { try markAnswered(Query(path), &storage) }
      for record in book.records(atOrBelow: path) where record.isDefault && record.isActive {
        try markAnswered(record.query, &storage)
      }
      if teller == .everybody { noteAllTold(path) }
    }
    var known: Node?
    if case .node(let node) = part.target { known = node }
    return [try rebase(path, onto: known, &storage), path]
  }

  /// True if the data are a part of the awaited answer to an active default query above the place.
  private func isAwaited(_ path: Path) -> Bool {
    guard let parent = path.parent else { return false }
    return book.record(of: Query(parent))?.isActive == true
  }

  /// Takes a part of the answer to one query, or the answer to a query that was asked once.
  ///
  /// A child that it removes has left the answer; the child may still exist, and other queries keep
  /// it.
  mutating func receive(
    _ push: Push, at path: Path, for query: Query, isOnce: Bool = false,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard let record = book.record(of: query), let below = path.relative(to: query.path) else {
      return []
    }
    if record.isDefault {
      return try receive(push, at: path, by: isOnce ? .nobody : .everybody, &storage)
    }
    let teller = isOnce ? Teller.nobody : .query(record.query)
    let wasUnfiltered = book.unfiltered.contains(record.query)
    book.setUnfiltered(record.query, false)
    switch push {
    case .set(let node) where below.isRoot:
      let touched = try receiveAnswer(node, record, by: teller, &storage)
      if !isOnce { book.talk.update(record.query) { ($0.base, $0.isTold) = (nil, true) } }
      return touched
    case .set(let node):
      return try receiveChild(
        .node(node), at: below, record.query, by: teller, wasUnfiltered: wasUnfiltered, &storage)
    case .priority(let priority):
      return try receiveChild(
        .priority(priority), at: below, record.query, by: teller, wasUnfiltered: wasUnfiltered,
        &storage)
    case .merge(let parts):
      var touched: [Path] = []
      for part in Replica.inOrder(parts) {
        let place = try below.appending(part.path)
        touched += try receiveChild(
          part.target, at: place, record.query, by: teller, wasUnfiltered: wasUnfiltered, &storage)
      }
      return touched
    }
  }

  mutating func receiveAnswer(
    _ node: Node, _ old: TrackedQuery, by teller: Teller, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    var record = old
    try record.wake(storage)
    let before = record.keys
    let place = { (key: Key) in Path(unchecked: old.query.path.keys + [key]) }
    let all = Assignment(path: record.query.path, target: .node(node))
    // The base is saved while the rows are still those that were hashed.
    try noteInBases(all, by: teller, of: record.query, storage)
    record.keys = Set(node.children.map(\.key))
    record.isComplete = true
    try put(record, &storage)
    for child in node.children {
      let part = Assignment(path: place(child.key), target: .node(child.node))
      try keep(part, by: teller, &storage)
    }
    var forgotten: [Path] = []
    for key in before.subtracting(record.keys).sorted() {
      if try forget(place(key), &storage) { forgotten.append(place(key)) }
    }
    var touched: [Path] = []
    for child in node.children {
      touched.append(try rebase(place(child.key), onto: child.node, &storage))
    }
    return try touched + rebase(forgotten, &storage) + [record.query.path]
  }

  private mutating func receiveChild(
    _ target: Assignment.Target, at below: Path, _ query: Query, by teller: Teller,
    wasUnfiltered: Bool, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    // A window has neither a node nor a priority of its own.
    guard var record = book.record(of: query), let key = below.keys.first else { return [] }
    try record.wake(storage)
    let path = Path(unchecked: query.path.keys + below.keys)
    let part = Assignment(path: path, target: target)
    if below.keys.count == 1, target == .node(.empty) {
      return try receiveLeaving(key, part, record, by: teller, &storage)
    }
    // A part of a child is of no use if the child itself is not known.
    let isPart = below.keys.count > 1 || !part.isNode
    if isPart, !record.keys.contains(key) { return [] }
    if teller != .nobody { book.talk.tell(path, for: query) }
    record.keys.insert(key)
    try keep(part, by: teller, &storage)
    try put(record, changing: key, &storage)
    // Views find out by themselves which other children have become known.
    return try rebase([path], &storage) + (wasUnfiltered ? [query.path] : [])
  }

  /// Removes a child from the answer of a query.
  private mutating func receiveLeaving(
    _ key: Key, _ part: Assignment, _ old: TrackedQuery, by teller: Teller,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    var record = old
    try noteInBases(part, by: teller, of: record.query, storage)
    record.keys.remove(key)
    try put(record, changing: key, &storage)
    book.talk.fallSilent(part.path, for: record.query)
    // Also if it still exists, it may not be known any more.
    return try forget(part.path, &storage) ? rebase([part.path], &storage) : [part.path]
  }

  /// Removes the origin's data of a place, unless a query keeps them; returns true if they were
  /// removed.
  private mutating func forget(
    _ path: Path, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> Bool {
    if try book.isKept(path, storage) { return false }
    try keep(Assignment(path: path, target: .node(.empty)), by: .nobody, &storage)
    return true
  }
}

// MARK: Listening

extension Replica {
  /// Prepares for asking the origin a query.
  ///
  /// `now` is in seconds since 1970.
  mutating func activate(
    _ query: Query, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    let (isTold, isCached) = (book.isTold(query.path), book.isCached(query.path))
    var record = book.recordOrNew(of: query)
    try record.wake(storage)
    // Only the rows of an earlier answer are kept.
    var isUnfiltered = !record.isComplete
    if record.isDefault {
      record.isComplete = record.isComplete || isTold
    } else if record.isComplete, !isTold,
      try storage.queriesHeldElsewhere().contains(record.id)
    {
      // Data that another session received for the answer are newer than the cached data of the
      // place.
    } else if isTold || isCached {
      // The keys of an earlier answer may be older than the data received for the place since.
      record.keys = try rowKeys(of: query, storage)
      record.isComplete = isTold && !isCached
      isUnfiltered = true
    } else if query.limit == nil, !record.isComplete {
      // Rows that were received already need not be sent again.
      record.keys.formUnion(try toldKeys(of: query, storage))
    }
    record.isActive = true
    record.lastUse = now
    book.setUnfiltered(record.query, isUnfiltered && !record.isDefault)
    try put(record, &storage)
  }

  /// The children in the range of this query of which other queries of the place receive changes.
  private func toldKeys(
    of query: Query, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Set<Key> {
    let reader = ReplicaReader(storage: storage, book: book, writes: .none)
    let told = book.records(at: query.path).filter(\.isActive).reduce(into: Set<Key>()) {
      $0.formUnion($1.keys)
    }
    var keys: Set<Key> = []
    for key in told {
      let row = try reader.row(key, of: query.path, in: RowSlice(query), detail: .shallow)
      if row != nil { keys.insert(key) }
    }
    return keys
  }

  /// The children that a query shows of the origin's data.
  ///
  /// The shown tree, which has the indexes, gives them where no pending write has changed it (I1):
  /// O(rows) instead of O(children), if the order has an index.
  private func rowKeys(
    of query: Query, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Set<Key> {
    let (path, asked) = (query.path, RowSlice(query))
    guard let changed = book.changedChildren(of: path) else {
      let children = try storage.serverNode(at: path).children
      return Set(asked.rows(among: children, detail: .shallow).map(\.key))
    }
    // A changed child may take the place of one that the origin's data have in the slice.
    var slice = asked
    slice.limit = asked.limit.map {
      Query.Limit(count: $0.count.addingClamped(changed.count), side: $0.side)
    }
    var rows = try storage.rows(of: path, in: slice, detail: .shallow)
      .filter { !changed.contains($0.key) }
    let reader = ReplicaReader(storage: storage, book: book, writes: .none)
    for key in changed {
      let row = try reader.row(key, of: path, in: slice, detail: .shallow)
      if let row { rows.append(row) }
    }
    return Set(asked.rows(among: rows).map(\.key))
  }

  /// Notes that the origin is no longer asked a query; its answer stays and becomes outdated.
  mutating func deactivate(
    _ query: Query, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    guard var record = book.record(of: query) else { return }
    record.isActive = false
    record.lastUse = now
    book.setUnfiltered(record.query, false)
    try put(record, &storage)
  }
}
