// What the server tree holds, and what an answer without data confirms. Source: tree semantics, sections
// 7.5, 7.7 and 15.2.

extension Replica {
  /// Who says what stands in the server tree.
  enum Teller: Hashable {
    /// The origin, as it tells it to all who listen at the place.
    case everybody
    /// The origin, for one query.
    case query(Query)
    /// Nobody who is asked now: an acknowledgement, a question that was asked once, or what was hashed.
    case nobody
  }

  /// Changes what is kept of the origin's tree.
  ///
  /// Open asks keep their bases: what their origin told since they were asked, and nothing else.
  mutating func keep(
    _ assignment: Assignment, by teller: Teller, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    try noteInBases(assignment, by: teller, storage)
    try storage.performOnServer(assignment)
  }

  /// Brings the bases of the open asks, or of one of them, up to date with a change that is told now.
  ///
  /// `isKept` is false for what the server tree does not take before an ask above it is answered.
  mutating func noteInBases(
    _ change: Assignment, by teller: Teller, isKept: Bool = true, of one: Query? = nil,
    _ storage: some ReplicaStorage
  ) throws(TreeError) {
    for (query, ask) in book.talk.open {
      if let one, one != query { continue }
      guard isConcerned(query, by: change.path, teller) else { continue }
      let isCounted = isTold(query, ask, by: teller)
      var base = ask.base
      // Where the server tree and the base go different ways, the base has to be put down first.
      if isCounted != isKept, base == nil { base = try kept(of: query, storage) }
      if isCounted { base = base.map { change.projected(onto: $0, at: query.path) } }
      if isCounted, isKept, change.gives(query.path) { base = nil }
      book.talk.update(query) { $0.base = base }
    }
  }

  /// True if a change at a place changes what is kept of a query.
  private func isConcerned(_ query: Query, by path: Path, _ teller: Teller) -> Bool {
    if path.contains(query.path) { return true }
    guard let below = path.relative(to: query.path), let key = below.keys.first else {
      return false
    }
    return query.loadsAllData || teller == .query(query)
      || book.record(of: query)?.keys.contains(key) == true
  }

  /// True if what is told belongs to the answer of an open ask.
  private func isTold(_ query: Query, _ ask: OriginTalk.OpenAsk, by teller: Teller) -> Bool {
    switch teller {
    case .everybody: query.loadsAllData && ask.awaitedEnds.isEmpty
    case .query(let told): told == query
    case .nobody: false
    }
  }

  /// What the origin tells now is all of the answers to open asks at a place and below it.
  mutating func noteAllTold(_ path: Path) {
    for (query, ask) in book.talk.open where path.contains(query.path) {
      if isTold(query, ask, by: .everybody) { book.talk.update(query) { $0.isTold = true } }
    }
  }

  /// The hashes of what is kept of a query's answer.
  func knownHash(
    of query: Query, _ hashing: RangeHashing, _ storage: some ReplicaStorage
  ) throws(TreeError) -> KnownHash {
    hashing.hash(try kept(of: query, storage))
  }

  /// What is kept of a query's answer.
  func kept(of query: Query, _ storage: some ReplicaStorage) throws(TreeError) -> Node {
    let node = try storage.serverNode(at: query.path)
    guard let record = book.record(of: query), !record.isDefault else { return node }
    return Node(children: node.children.filter { record.keys.contains($0.key) })
  }
}

extension Assignment {
  /// True if this gives all that stands at a place.
  fileprivate func gives(_ path: Path) -> Bool {
    isNode && self.path.contains(path)
  }

  /// True if this replaces a whole node.
  var isNode: Bool { if case .node = target { true } else { false } }
}

// MARK: Answers

extension Replica {
  /// The origin has told all that a query asks for, maybe because what was hashed is right.
  mutating func receiveComplete(
    _ query: Query, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard let record = book.record(of: query) else { return [] }
    let base = book.talk.close(query)?.base
    var touched: [Path] = []
    if let base { touched = try restore(base, record, &storage) }
    try markAnswered(query, &storage)
    return touched + [query.path]
  }

  /// What was hashed is right, and not what is kept of it now.
  private mutating func restore(
    _ base: Node, _ record: TrackedQuery, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    if !record.isDefault { return try receiveAnswer(base, record, by: .nobody, &storage) }
    let path = record.query.path
    try keep(Assignment(path: path, target: .node(base)), by: .nobody, &storage)
    return try rebase([path], &storage)
  }

  /// The origin told the ranges in which the answer of a query differs from what was hashed.
  ///
  /// Source: tree semantics, section 16.3.
  mutating func receive(
    _ merges: [RangeMerge], for query: Query, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    // An answer to a query that was ended meanwhile: what it is about may have gone.
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
  /// The origin took a write.
  ///
  /// Where it tells the data by itself it has told them before, or tells them with an answer that is yet
  /// to come; elsewhere the write is what is known from now on.
  mutating func acknowledge(
    _ id: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard let write = book.remove(id) else { return [] }
    try storage.end(write, .done)
    let told = book.talk.answer(id)
    for part in write.parts where !book.isLive(part.path) {
      if told.contains(where: { $0.contains(part.path) }) { continue }
      try keep(acknowledged: part, told: told, &storage)
    }
    return try rebase(write.parts.map(\.path), &storage)
  }

  private mutating func keep(
    acknowledged part: Assignment, told: [Path], _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    if case .priority = part.target, !book.isKept(part.path) { return }
    guard case .node(var node) = part.target else {
      return try keep(part, by: .nobody, &storage)
    }
    for place in book.livePlaces(atOrBelow: part.path) + told {
      // There the origin told what it made of the write, and maybe more.
      guard let below = place.relative(to: part.path) else { continue }
      node = node.replacing(below, with: try storage.serverNode(at: place))
    }
    try keep(Assignment(path: part.path, target: .node(node)), by: .nobody, &storage)
    // A query that is open stays so: it is known for now, and its answer decides.
    if !book.isCached(part.path) { try markAnswered(Query(part.path), &storage) }
  }
}
