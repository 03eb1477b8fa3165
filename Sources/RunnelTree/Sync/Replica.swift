/// A copy of an origin's tree, with the writes made here laid over it until the origin answers.
///
/// Responsibilities:
/// - It keeps three things in step: the *server* tree (what the origin told), the pending writes, and
///   the *shown* tree, which listeners see.
/// - Each method takes one input and returns the places whose views must be refreshed.
///
/// Invariants:
/// - I1. The shown tree is the server tree with the visible pending writes done in order.
/// - I2. The server tree holds what a tracked query keeps, and nothing besides.
///
/// Queries share one server tree. Which children belong to a query's answer is each query's own.
///
/// Differences from the semantics, where a query's data are its own:
/// - What is told for one tag is seen at once by all queries that track the same child.
/// - A query without an answer shows what the answers of other queries at its place hold.
/// - While a window's answer is complete, children outside of it are shown only from its own answer,
///   active listens below it and pending writes; what was cached once does not fill it.
/// - A part of a child that is not known, told for all before their query is answered, is kept for the
///   answer: it is told from what was hashed on.
/// - What is told for a query that was ended does not count for the answer of the next one.
/// - A rejected write gives the parent its priority back, for what is shown is always I1.
///
/// Source: tree semantics, sections 7, 8 and 15.
public struct Replica: Sendable {
  /// What is remembered beside the data.
  public internal(set) var book: ReplicaBook

  /// Makes a replica from what its storage kept, or a new one.
  public init(book: ReplicaBook = ReplicaBook()) { self.book = book }
}

// MARK: Writes made here

extension Replica {
  /// Does a write here; it is pending from now on.
  ///
  /// Increments add to what stands here including all pending writes; `now` is in milliseconds since
  /// 1970, as the origin's clock has it.
  ///
  /// - Throws: `TreeError` that names the place of what is refused; nothing is written then.
  mutating func write(
    _ write: Write, isVisible: Bool = true, by maker: PendingWrite.Maker, now: Int64,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> (write: PendingWrite, touched: [Path]) {
    let reader = ReplicaReader(storage: storage, book: book, writes: .all)
    let parts = try write.assignments(now: now, reader: reader)
    var bases: [Node?] = []
    let id = try storage.takeWriteID()
    for part in parts { bases.append(try base(of: part, storage)) }
    let pending = PendingWrite(
      id: id, write: write.asked(parts), parts: parts, bases: bases, isVisible: isVisible,
      maker: maker, madeAt: now)
    try storage.save(pending)
    book.add(pending)
    guard isVisible else { return (pending, []) }
    for part in parts { try storage.perform(part) }
    return (pending, parts.map(\.path))
  }

  /// What the origin holds where a write changes it, if that is known and small.
  private func base(
    of part: Assignment, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Node? {
    guard case .node = part.target, book.isCached(part.path) else { return nil }
    if case .children(let count) = try storage.serverSummary(at: part.path).kind,
      count > Replica.baseChildrenMax
    {
      return nil
    }
    return try storage.serverNode(at: part.path)
  }

  /// The most children of a node that is kept to tell conflicts by.
  static let baseChildrenMax = 100

  /// The origin refused a write, or it is given up: what was under it shows again.
  mutating func reject(
    _ id: Int64, _ ending: PendingWrite.Ending, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard let write = book.remove(id) else { return [] }
    _ = book.talk.answer(id)
    try storage.end(write, ending)
    return write.isVisible ? try rebase(write.parts.map(\.path), &storage) : []
  }
}

// MARK: Showing

extension Replica {
  /// Shows anew what stands at some places; returns those that changed or whose knowledge may have.
  func rebase(
    _ paths: [Path], _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    var touched: [Path] = []
    for path in paths {
      let place = try rebasePlace(of: path, storage)
      let new = book.layered(onto: try storage.serverNode(at: place), at: place)
      if try storage.node(at: place) != new {
        try storage.perform(Assignment(path: place, target: .node(new)))
      }
      touched.append(place)
    }
    return touched
  }

  /// The highest place at or above `path` where a change at `path` can be seen.
  ///
  /// A parent that is a leaf or empty in one of the trees and not in the other may appear, vanish or
  /// turn with the child, together with its priority; it may also do so while the pending writes are
  /// done one after the other.
  private func rebasePlace(
    of path: Path, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Path {
    for depth in path.keys.indices {
      let above = Path(unchecked: Array(path.keys[..<depth]))
      let (server, shown) = (
        try storage.serverSummary(at: above), try storage.summary(at: above)
      )
      if server.kind.rank != shown.kind.rank || server.priority != shown.priority { return above }
      // Pending writes may have emptied the place on the way, which took its priority.
      if book.isWritten(at: above) { return above }
      if server.priority != nil, book.isWritten(atOrBelow: above) { return above }
    }
    return path
  }
}

extension NodeSummary.Kind {
  fileprivate var rank: Int {
    switch self {
    case .empty: 0
    case .leaf: 1
    case .children: 2
    }
  }
}

// MARK: Records of queries

extension Replica {
  mutating func put(
    _ record: TrackedQuery, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    if book.record(of: record.query) == record { return }
    book.put(record)
    try storage.save(record)
  }

  /// The origin told the whole answer of a query.
  mutating func markAnswered(
    _ query: Query, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    var record = book.recordOrNew(of: query)
    record.isComplete = true
    try put(record, &storage)
  }
}
