// What the origin tells. Source: tree semantics, sections 7.4, 7.5 and 15.2.

extension Replica {
  /// What the origin told of a place: the whole node there, or those below it that changed.
  public enum Push: Hashable, Sendable {
    /// The node at the place is now this.
    case set(Node)
    /// The nodes at these places below it are now these.
    case merge([Path: Node])
    /// The priority of the node at the place is now this; nil if it has none.
    case priority(Leaf?)
  }

  /// The origin told what stands at `path`, for everybody who listens there, above it or below it.
  mutating func receive(
    _ push: Push, at path: Path, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    switch push {
    case .set(let node):
      return try receive(node, at: path, isWhole: true, &storage)
    case .merge(let nodes):
      var touched: [Path] = []
      for (below, node) in nodes.sorted(by: { $0.key < $1.key }) {
        let place = try path.appending(below)
        touched += try receive(node, at: place, isWhole: below.isRoot, &storage)
      }
      return touched
    case .priority(let priority):
      let node = try storage.serverNode(at: path).with(priority: priority)
      return try receive(node, at: path, isWhole: false, &storage)
    }
  }

  /// Data of a place that nobody keeps anything of are for a listener that has gone.
  private mutating func receive(
    _ node: Node, at path: Path, isWhole: Bool, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    let isKept = book.isKept(path)
    if !isKept && !(isWhole && isAwaited(path)) { return [] }
    try storage.performOnServer(Assignment(path: path, target: .node(node)))
    if isWhole, !book.isCached(path) { try markAnswered(Query(path), &storage) }
    for record in book.records(atOrBelow: path) where record.isDefault && record.isActive {
      try markAnswered(record.query, &storage)
    }
    return try rebase([path], &storage) + [path]
  }

  /// True if an active default query above a place waits for its answer, of which this is a part.
  private func isAwaited(_ path: Path) -> Bool {
    guard let parent = path.parent else { return false }
    return book.record(of: Query(parent))?.isActive == true
  }

  /// The origin told a part of the answer of one query.
  ///
  /// A child that it takes away has left the answer; it may well exist, and other queries keep it.
  mutating func receive(
    _ push: Push, at path: Path, for query: Query, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard let record = book.record(of: query), let below = path.relative(to: query.path) else {
      return []
    }
    if record.isDefault { return try receive(push, at: path, &storage) }
    switch push {
    case .set(let node) where below.isRoot:
      return try receiveAnswer(node, record, &storage)
    case .set(let node):
      return try receiveChild(node, at: below, query, &storage)
    case .priority(let priority):
      // A window has no priority of its own.
      let node = try storage.serverNode(at: path).with(priority: priority)
      return below.isRoot || node.isEmpty
        ? [] : try receiveChild(node, at: below, query, &storage)
    case .merge(let nodes):
      var touched: [Path] = []
      for (rest, node) in nodes.sorted(by: { $0.key < $1.key }) {
        touched += try receiveChild(node, at: below.appending(rest), query, &storage)
      }
      return touched
    }
  }

  private mutating func receiveAnswer(
    _ node: Node, _ old: TrackedQuery, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    var record = old
    record.keys = Set(node.children.map(\.key))
    record.isComplete = true
    try put(record, &storage)
    var places: [Path] = []
    for child in node.children {
      let place = Path(unchecked: record.query.path.keys + [child.key])
      try storage.performOnServer(Assignment(path: place, target: .node(child.node)))
      places.append(place)
    }
    for key in old.keys.subtracting(record.keys).sorted() {
      let place = Path(unchecked: record.query.path.keys + [key])
      if try forget(place, &storage) { places.append(place) }
    }
    return try rebase(places, &storage) + [record.query.path]
  }

  private mutating func receiveChild(
    _ node: Node, at below: Path, _ query: Query, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard var record = book.record(of: query), let key = below.keys.first else { return [] }
    let path = Path(unchecked: query.path.keys + below.keys)
    if below.keys.count == 1, node.isEmpty {
      record.keys.remove(key)
      try put(record, &storage)
      let isForgotten = try forget(path, &storage)
      return (isForgotten ? try rebase([path], &storage) : []) + [query.path]
    }
    // Of a child that is not known a part is no use.
    if below.keys.count > 1, !record.keys.contains(key) { return [] }
    if !node.isEmpty || below.keys.count > 1 { record.keys.insert(key) }
    try put(record, &storage)
    try storage.performOnServer(Assignment(path: path, target: .node(node)))
    return try rebase([path], &storage) + [query.path]
  }

  /// Forgets what the origin told of a place, unless a query keeps it; true if it did.
  private mutating func forget(
    _ path: Path, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> Bool {
    if book.isKept(path) { return false }
    try storage.performOnServer(Assignment(path: path, target: .node(.empty)))
    return true
  }

  /// The origin has told all that a query asks for, maybe because what is kept here is right already.
  mutating func receiveComplete(
    _ query: Query, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard book.record(of: query) != nil else { return [] }
    try markAnswered(query, &storage)
    return [query.path]
  }
}

// MARK: Listening

extension Replica {
  /// The origin is about to be asked a query.
  ///
  /// `now` is in seconds since 1970.
  mutating func activate(
    _ query: Query, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    let (isTold, isCached) = (book.isTold(query.path), book.isCached(query.path))
    var record = book.recordOrNew(of: query)
    if record.isDefault {
      record.isComplete = record.isComplete || isTold
    } else if record.isComplete, !isTold,
      try storage.queriesHeldElsewhere().contains(record.id)
    {
      // What another session was told of the answer is newer than what was cached of the place.
    } else if isTold || isCached {
      // The keys of an earlier answer may be older than what was told of the place since.
      record.keys = try rowKeys(of: query, storage)
      record.isComplete = isTold && !isCached
    } else if query.limit == nil, !record.isComplete {
      // What is told of its rows already need not be told again.
      record.keys.formUnion(try toldKeys(of: query, storage))
    }
    record.isActive = true
    record.lastUse = now
    try put(record, &storage)
  }

  /// The children that other queries of the place are told of, and that lie in the range of this one.
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

  /// The children that a query shows of what the origin told.
  private func rowKeys(
    of query: Query, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Set<Key> {
    let children = try storage.serverNode(at: query.path).children
    return Set(RowSlice(query).rows(among: children, detail: .shallow).map(\.key))
  }

  /// The origin is not asked a query any more; its answer stays, and grows old.
  mutating func deactivate(
    _ query: Query, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    guard var record = book.record(of: query) else { return }
    record.isActive = false
    record.lastUse = now
    try put(record, &storage)
  }
}
