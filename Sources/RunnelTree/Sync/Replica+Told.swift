// The content of the server tree, and the data that an answer without data confirms. Source: tree
// semantics, sections 7.5, 7.7 and 15.2.

extension Replica {
  /// The source of a change of the server tree.
  enum Teller: Hashable {
    /// A message for all listeners at the place.
    case everybody
    /// A message for one query.
    case query(Query)
    /// No message for listeners: an acknowledgement, the answer to a question that was asked once,
    /// or the data that was hashed.
    case nobody
  }

  /// Changes the server tree.
  ///
  /// Open asks keep their bases: the data that was hashed, and what the origin has sent for them
  /// since.
  mutating func keep(
    _ assignment: Assignment, by teller: Teller, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    try noteInBases(assignment, by: teller, storage)
    try storage.performOnServer(assignment)
  }

  /// Applies a change that was just received to the bases of the open asks, or of one of them.
  ///
  /// `isKept` is false for a change that the server tree does not take before an ask above it is
  /// answered.
  mutating func noteInBases(
    _ change: Assignment, by teller: Teller, isKept: Bool = true, of one: Query? = nil,
    _ storage: some ReplicaStorage
  ) throws(TreeError) {
    for (query, ask) in book.talk.open {
      if let one, one != query { continue }
      guard isConcerned(query, by: change.path, teller) else { continue }
      let isCounted = isTold(query, ask, by: teller)
      var base = ask.base
      // The server tree and the base would differ from here on, so the base must be saved first.
      if isCounted != isKept, base == nil { base = try kept(of: query, storage) }
      if isCounted { base = base.map { change.projected(onto: $0, at: query.path) } }
      if isCounted, isKept, change.gives(query.path) { base = nil }
      book.talk.update(query) { $0.base = base }
    }
  }

  /// True if a change at a place changes the kept answer of a query.
  private func isConcerned(_ query: Query, by path: Path, _ teller: Teller) -> Bool {
    if path.contains(query.path) { return true }
    guard let below = path.relative(to: query.path), let key = below.keys.first else {
      return false
    }
    return query.loadsAllData || teller == .query(query)
      || book.record(of: query)?.keys.contains(key) == true
  }

  /// True if a change belongs to the answer of an open ask.
  private func isTold(_ query: Query, _ ask: OriginTalk.OpenAsk, by teller: Teller) -> Bool {
    switch teller {
    case .everybody: query.loadsAllData && ask.awaitedEnds.isEmpty
    case .query(let told): told == query
    case .nobody: false
    }
  }

  /// Notes that the origin has now sent the whole answers to the open asks at a place and below it.
  mutating func noteAllTold(_ path: Path) {
    for (query, ask) in book.talk.open where path.contains(query.path) {
      if isTold(query, ask, by: .everybody) { book.talk.update(query) { $0.isTold = true } }
    }
  }

  /// The hashes of the kept answer of a query.
  func knownHash(
    of query: Query, _ hashing: RangeHashing, _ storage: some ReplicaStorage
  ) throws(TreeError) -> KnownHash {
    hashing.hash(try kept(of: query, storage))
  }

  /// The kept answer of a query.
  ///
  /// O(rows) in the rows of the answer, however many children the place has.
  func kept(of query: Query, _ storage: some ReplicaStorage) throws(TreeError) -> Node {
    let path = query.path
    guard let record = book.record(of: query), !record.isDefault else {
      return try storage.serverNode(at: path)
    }
    let keys = try storage.allKeys(of: record)
    if case .children(let count) = try storage.serverSummary(at: path).kind,
      count > Replica.singleReadShare * keys.count
    {
      var children: [Child] = []
      for key in keys.sorted() {
        let node = try storage.serverNode(at: Path(unchecked: path.keys + [key]))
        if !node.isEmpty { children.append(Child(key: key, node: node)) }
      }
      return Node(sortedChildren: children)
    }
    let node = try storage.serverNode(at: path)
    return Node(children: node.children.filter { keys.contains($0.key) })
  }

  /// From so many children of a place on for each wanted one, the wanted ones are read one by one.
  private static let singleReadShare = 4
}

extension Assignment {
  /// True if the part replaces everything at a place.
  fileprivate func gives(_ path: Path) -> Bool {
    isNode && self.path.contains(path)
  }

  /// True if this replaces a whole node.
  var isNode: Bool { if case .node = target { true } else { false } }
}

// MARK: Answers

extension Replica {
  /// Notes that the answer to a query is complete; no data came, so the data that was hashed is
  /// right.
  ///
  /// Returns the places that changed: none, unless data was restored.
  mutating func receiveComplete(
    _ query: Query, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard let record = book.record(of: query) else { return [] }
    let base = book.talk.close(query)?.base
    var touched: [Path] = []
    if let base { touched = try restore(base, record, &storage) }
    try markAnswered(query, &storage)
    return touched
  }

  /// Restores the data that was hashed, which is right, in place of the data that is kept now.
  private mutating func restore(
    _ base: Node, _ record: TrackedQuery, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    if !record.isDefault { return try receiveAnswer(base, record, by: .nobody, &storage) }
    let path = record.query.path
    try keep(Assignment(path: path, target: .node(base)), by: .nobody, &storage)
    return try rebase([path], &storage)
  }

  /// Takes the ranges in which the answer of a query differs from the data that was hashed.
  ///
  /// Source: tree semantics, section 16.3.
  mutating func receive(
    _ merges: [RangeMerge], for query: Query, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    // If the query was ended meanwhile, the data it refers to may have been removed.
    guard book.record(of: query)?.isActive == true, !book.talk.awaitsEnds(query) else { return [] }
    var node: Node
    if let base = book.talk.open[query]?.base {
      node = base
    } else {
      node = try kept(of: query, storage)
    }
    for merge in merges { node = merge.applied(to: node) }
    return try receive(.set(node), at: query.path, for: query, &storage)
  }
}

// MARK: Acknowledgements

extension Replica {
  /// Notes that the origin took a write.
  ///
  /// Where the origin sends data by itself, it has sent the result before, or sends it with an
  /// answer that is still to come. Elsewhere the written values are the known data from now on.
  mutating func acknowledge(
    _ id: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    // Then the writes behind it are laid over the same tree as before, if all of it is kept.
    var isShownAlready = book.isOldestPending(id)
    guard let write = book.remove(id) else { return [] }
    try storage.end(write, .done)
    let told = book.talk.answer(id)
    isShownAlready = isShownAlready && write.isVisible && told.isEmpty
    for part in write.parts {
      if book.isLive(part.path) || told.contains(where: { $0.contains(part.path) }) {
        isShownAlready = false
        continue
      }
      let isAllKept = try keep(acknowledged: part, told: told, &storage)
      isShownAlready = isShownAlready && isAllKept
    }
    let places = write.parts.map(\.path)
    return isShownAlready ? places : try rebase(places, &storage)
  }

  /// Keeps what an acknowledged write has made of a place, but for what is known better.
  ///
  /// - Returns: true if all of it was kept as it was written.
  private mutating func keep(
    acknowledged part: Assignment, told: [Path], _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> Bool {
    if case .priority = part.target, try !book.isKept(part.path, storage) { return false }
    guard case .node(let written) = part.target else {
      try keep(part, by: .nobody, &storage)
      return false
    }
    var node = written
    for place in book.livePlaces(atOrBelow: part.path) + told {
      // The origin has sent the result of the write for this place, and maybe more.
      guard let below = place.relative(to: part.path) else { continue }
      node = node.replacing(below, with: try storage.serverNode(at: place))
    }
    try keep(Assignment(path: part.path, target: .node(node)), by: .nobody, &storage)
    // An open query stays open: the place is known for now, and the answer decides.
    if !book.isCached(part.path) { try markAnswered(Query(part.path), &storage) }
    return node == written
  }
}
