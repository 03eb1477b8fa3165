/// A copy of an origin's tree; writes made here are laid over it until the origin answers them.
///
/// Responsibilities:
/// - It keeps three things consistent: the *server* tree (the origin's data), the pending writes,
///   and the *shown* tree, which listeners see.
/// - Each method takes one input and returns the places whose views must be refreshed.
///
/// Invariants:
/// - I1. The shown tree is the server tree after the visible pending writes, in order.
/// - I2. The server tree holds what tracked queries keep, and nothing else.
///
/// Queries share one server tree. Each query has its own set of children that belong to its answer.
///
/// Differences from the semantics, where each query has data of its own:
/// - Data sent for one tag are seen at once by all queries that track the same child.
/// - A query without an answer shows what the answers of other queries at its place hold.
/// - While a window's answer is complete, children outside of it are shown only from its own
///   answer, from active listens below it and from pending writes; data cached earlier do not fill
///   it.
/// - If a part of an unknown child is sent to all listeners before their query is answered, it is
///   kept for the answer: it continues the hashed data.
/// - Data sent for a query that was ended do not count for the answer of the next one.
/// - A rejected write gives the parent its priority back, since I1 always holds for the shown tree.
///
/// Source: tree semantics, sections 7, 8 and 15.
public struct Replica: Sendable {
  /// The pending writes and the tracked queries.
  package internal(set) var book: ReplicaBook

  /// Makes a new replica, or one from the book that its storage kept.
  package init(book: ReplicaBook = ReplicaBook()) { self.book = book }
}

// MARK: Writes made here

extension Replica {
  /// Does a write here; it is pending from now on.
  ///
  /// Increments add to the value here, including all pending writes. `now` is in milliseconds since
  /// 1970 by the origin's clock. The origin compares what stands around the places in `comparing`; if it
  /// `holdsBases`, with what is known now, however long the write waits.
  ///
  /// - Throws: `TreeError` that names the refused place; nothing is written then.
  mutating func write(
    _ write: Write, isVisible: Bool = true, upon seen: SeenNode? = nil, comparing: [Path] = [],
    holdsBases: Bool = false, by maker: PendingWrite.Maker, now: Int64,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> (write: PendingWrite, touched: [Path]) {
    let reader = ReplicaReader(storage: storage, book: book, writes: .all)
    let parts = try write.assignments(now: now, reader: reader)
    var bases: [Node?] = []
    let id = try storage.takeWriteID()
    // Where the origin refuses changes by others, there is nothing to merge with.
    for part in parts { bases.append(seen == nil ? try mergeBase(of: part, storage) : nil) }
    var pending = PendingWrite(
      id: id, write: write.asked(parts), parts: parts, bases: bases, seen: seen,
      isVisible: isVisible, maker: maker, madeAt: now)
    pending.compared = compared(parts, bases, around: comparing, of: pending.write)
    pending.holdsBases = holdsBases && !pending.compared.isEmpty
    try storage.save(pending)
    book.add(pending)
    guard isVisible else { return (pending, []) }
    for part in parts { try storage.perform(part) }
    return (pending, parts.map(\.path))
  }

  /// The node that a write is merged upon; nil for what is removed where nothing was known to be.
  ///
  /// Who removes such a place has seen it elsewhere, as in a listing of names: what was known is old.
  private func mergeBase(
    of part: Assignment, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Node? {
    let base = try base(of: part, storage)
    let removesNothing = base?.isEmpty == true && part.target == .node(.empty)
    return removesNothing && !book.reach.comparesBases ? nil : base
  }

  /// The node that a write changes, if it is known and small: the origin's, after the pending writes.
  private func base(
    of part: Assignment, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Node? {
    guard part.isNode else { return nil }
    let reader = ReplicaReader(storage: storage, book: book, writes: .all)
    // Records are small, and come in the answers of windows, too.
    var isKnown = book.isCached(part.path)
    if !isKnown { isKnown = try book.isToldByKey(part.path, storage) }
    if !isKnown { return nil }
    if book.reach.comparesBases, part.path.keys.count > 1 {
      return try reader.node(at: part.path)
    }
    if case .children(let count) = try reader.summary(at: part.path).kind,
      count > Replica.baseChildrenMax
    {
      return nil
    }
    return try reader.node(at: part.path)
  }

  /// The most children of a node that is kept for finding conflicts.
  static let baseChildrenMax = 100

  /// Ends a write that the origin refused or that is given up: the data that it covered shows
  /// again.
  mutating func reject(
    _ id: Int64, _ ending: PendingWrite.Ending, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard let write = book.remove(id) else { return [] }
    _ = book.talk.answer(id)
    // What is known without the write is known once it is gone.
    let touched = write.isVisible ? try rebase(write.parts.map(\.path), &storage) : []
    try storage.end(try based(write, ending, storage), ending)
    try forgetBases(upon: write, &storage)
    return touched
  }
}

extension Replica {
  /// A write that has ended; a refused one, of which little was known when it was made, with the nodes that are
  /// known at its places now.
  ///
  /// Whoever sends it again does not replace what others write there from now on.
  private func based(
    _ write: PendingWrite, _ ending: PendingWrite.Ending, _ storage: some ReplicaStorage
  ) throws(TreeError) -> PendingWrite {
    guard case .refused = ending, write.seen == nil, write.bases.contains(where: { $0 == nil })
    else { return write }
    var known = write
    for (index, part) in write.parts.enumerated() where write.bases.indices.contains(index) {
      if write.bases[index] == nil { known.bases[index] = try base(of: part, storage) }
    }
    return known
  }

  /// Takes the places that the origin has done, and all below them, out of a write; the rest stays pending.
  ///
  /// - Returns: the places that the write does not change any more.
  mutating func narrow(
    _ id: Int64, done: Set<Path>, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard let write = book.pendingWrite(id)?.write else { return [] }
    let rest = write.narrowed(without: done)
    // A write of which nothing is left is acknowledged.
    if rest.parts.isEmpty || rest.parts.count == write.parts.count { return [] }
    book.replace(rest)
    try storage.save(rest)
    let left = Set(rest.parts.map(\.path))
    return try rebase(write.parts.map(\.path).filter { !left.contains($0) }, &storage)
  }
}

extension ReplicaEngine {
  /// Notes how many places of a pending write the origin has done before, as a part of an earlier one.
  package mutating func noteDone(
    _ count: Int, of id: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    guard var write = replica.book.pendingWrite(id)?.write else { return }
    write.doneCount = count
    replica.book.replace(write)
    try storage.save(write)
  }

  /// Has a pending write of services, which stands for a refused one, be compared with what that one was made upon.
  ///
  /// That holds for the records that were not tried. Of the refused one, the first, its author knows what stands
  /// there now.
  package mutating func keepBases(
    of refused: PendingWrite, in id: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    guard var write = replica.book.pendingWrite(id)?.write, let first = refused.firstRecord?.record
    else { return }
    let (known, fresh) = (refused.knownBases, write.bases)
    for (index, part) in write.parts.enumerated() where write.bases.indices.contains(index) {
      if first.contains(part.path) { continue }
      if let base = known[part.path] { write.bases[index] = base }
    }
    if write.bases == fresh { return }
    replica.book.replace(write)
    try storage.save(write)
  }
}

extension Replica {
  /// Forgets the bases of later writes that were made upon a write which was not done.
  ///
  /// Whether such a write has changed a field cannot be told any more, so it is sent as it is; one that holds its
  /// bases is refused in its turn. For an origin that compares bases, they become what they were without that
  /// write.
  private mutating func forgetBases(
    upon lost: PendingWrite, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    var changes = lost.changes
    for var write in book.later(than: lost) {
      let before = write.bases
      for (index, part) in write.parts.enumerated() where write.bases.indices.contains(index) {
        guard lost.concerns(part.path) else { continue }
        if write.holdsBases, write.compared.contains(part.path) { continue }
        write.bases[index] =
          book.reach.comparesBases
          ? write.bases[index].map { base in
            changes.reduce(base) { $1.takenBack(from: $0, at: part.path) }
          } : nil
      }
      changes.removeAll { write.covers($0.path) }
      if write.bases == before { continue }
      book.replace(write)
      try storage.save(write)
    }
  }
}

// MARK: Showing

extension Replica {
  /// Computes the shown nodes at some places; returns the places where the node, or the knowledge
  /// about it, may have changed.
  func rebase(
    _ paths: [Path], _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    var touched: [Path] = []
    for path in paths { touched.append(try rebase(path, onto: nil, &storage)) }
    return touched
  }

  /// Computes the shown node at a place; returns the place where it may have changed.
  ///
  /// `known` is the origin's node at the path if it was just stored: it is not read again.
  func rebase(
    _ path: Path, onto known: Node?, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> Path {
    let place = try rebasePlace(of: path, storage)
    let server: Node
    if let known, place == path {
      server = known
    } else {
      server = try storage.serverNode(at: place)
    }
    let new = book.layered(onto: server, at: place)
    if try storage.node(at: place) != new {
      try storage.perform(Assignment(path: place, target: .node(new)))
    }
    return place
  }

  /// The highest place at or above `path` where a change at `path` can be seen.
  ///
  /// A parent that is a leaf or empty in one of the trees and not in the other may appear, vanish
  /// or change its kind with the child, and so may its priority; also while the pending writes are
  /// applied one after the other.
  private func rebasePlace(
    of path: Path, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Path {
    for depth in path.keys.indices {
      let above = Path(unchecked: Array(path.keys[..<depth]))
      let (server, shown) = (
        try storage.serverSummary(at: above), try storage.summary(at: above)
      )
      if server.priority != shown.priority { return above }
      // Pending writes may have emptied the place for a moment, and so removed its priority.
      if book.isWritten(at: above) { return above }
      // Without a value, a priority and a write of their own, here and above, both are but what their
      // children are: these are independent, however many writes have filled or emptied the place.
      let isMadeOfChildren = server.priority == nil && !server.kind.isLeaf && !shown.kind.isLeaf
      if server.kind.rank != shown.kind.rank, !isMadeOfChildren { return above }
      if server.priority != nil, book.isWritten(atOrBelow: above) { return above }
    }
    return path
  }
}

extension NodeSummary.Kind {
  fileprivate var isLeaf: Bool { if case .leaf = self { true } else { false } }

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

  /// Reads the keys of a query's record if it is dormant.
  mutating func wake(_ query: Query, _ storage: some ReplicaStorage) throws(TreeError) {
    guard var record = book.record(of: query), record.isDormant else { return }
    try record.wake(storage)
    book.put(record)
  }

  /// Takes the record of a query of which at most one key has changed.
  mutating func put(
    _ record: TrackedQuery, changing key: Key, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    if book.record(of: record.query) == record { return }
    book.put(record)
    try storage.save(record, changing: key)
  }

  /// Notes that the whole answer to a query was received.
  mutating func markAnswered(
    _ query: Query, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    var record = book.recordOrNew(of: query)
    record.isComplete = true
    try put(record, &storage)
  }
}
