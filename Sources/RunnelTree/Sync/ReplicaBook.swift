/// The pending writes of a replica, and the record of what it knows of its origin.
///
/// Terms. A place is *covered* if the default query at it or above it is active and answered. A
/// place is *cached* if such a query was answered once. A place is *shadowed* if a pending write
/// replaces all of it.
///
/// Invariants:
/// - I1. `pending` ascends by id.
/// - I2. There is one record for a query as it is asked; its id is below `nextTrackedID`.
/// - I3. A dormant record is complete and not active.
/// - I4. `places` has the pending writes.
///
/// Source: tree semantics, sections 7 and 15.
package struct ReplicaBook: Sendable {
  private var writes = PendingList()
  /// The ids of the writes that end with their session.
  private var ofSessions: Set<Int64> = []
  private var places = PendingPlaces()
  private var tracked = PathTree<[Query: TrackedQuery]>()
  /// The number of tracked queries.
  package private(set) var trackedCount = 0
  private var nextTrackedID: Int64 = 0
  /// What the origin can answer.
  var reach = OriginReach.ranges
  /// The open conversation with the origin; it ends with the connection.
  var talk = OriginTalk()
  /// The windows of which no row was received since they were asked: they show everything that is
  /// kept of their place.
  private(set) var unfiltered: Set<Query> = []

  /// Makes an empty book.
  package init() {}

  /// Makes a book from the stored writes and queries.
  ///
  /// All queries are inactive at first.
  package init(pending: [PendingWrite], tracked: [TrackedQuery]) {
    for write in pending.sorted(by: { $0.id < $1.id }) { add(write) }
    for var record in tracked {
      record.isActive = false
      put(record)
    }
  }
}

// MARK: Pending writes

extension ReplicaBook {
  /// The writes that the origin has not answered, oldest first.
  package var pending: [PendingWrite] { writes.all }

  /// True if the origin has answered all writes.
  package var hasNoPending: Bool { writes.oldest == nil }

  /// True if a write is the oldest one that the origin has not answered.
  func isOldestPending(_ id: Int64) -> Bool { writes.oldest?.id == id }

  /// The pending writes that end with their session, oldest first: of transactions, and passing ones.
  var pendingOfSessions: [PendingWrite] {
    ofSessions.sorted().compactMap { pendingWrite($0)?.write }
  }

  /// True if a pending write is not shown.
  var hasHidden: Bool { !places.hidden.isEmpty }

  /// True if the origin has not answered a write.
  func isPending(_ id: Int64) -> Bool { writes.place(of: id) != nil }

  /// The places that a pending write changes, and that the origin compares for it; nil if it is not
  /// pending.
  ///
  /// O(log n) in the pending writes.
  func places(of id: Int64) -> [Path]? { writes.place(of: id).map { writes[$0].places } }

  /// The pending write with an id, and the number of writes made after it; nil if it is not pending.
  ///
  /// O(log n) in the pending writes; the number is counted in O(n / 128).
  package func pendingWrite(_ id: Int64) -> (write: PendingWrite, laterCount: Int)? {
    writes.place(of: id).map { (writes[$0], writes.count(after: $0)) }
  }

  /// True if the origin compares a place for a pending write.
  func isCompared(_ path: Path) -> Bool { places.isCompared(path) }

  /// The pending write with a name.
  package func pendingWrite(named name: WriteID) -> PendingWrite? {
    writes.first { $0.name == name }
  }

  mutating func add(_ write: PendingWrite) {
    writes.append(write)
    note(write)
  }

  mutating func remove(_ id: Int64) -> PendingWrite? {
    guard let place = writes.place(of: id) else { return nil }
    let write = writes[place]
    writes.remove(at: place)
    forget(write)
    return write
  }

  mutating func replace(_ write: PendingWrite) {
    guard let place = writes.place(of: write.id) else { return }
    forget(writes[place])
    writes[place] = write
    note(write)
  }

  private mutating func note(_ write: PendingWrite) {
    places.add(write)
    if !write.isDurable { ofSessions.insert(write.id) }
  }

  private mutating func forget(_ write: PendingWrite) {
    places.remove(write)
    ofSessions.remove(write.id)
  }

  /// The pending writes made after another one that share a place with it, oldest first.
  func later(than write: PendingWrite) -> [PendingWrite] {
    let ids = Set(write.parts.flatMap { places.ids(around: $0.path) }.filter { $0 > write.id })
    return ids.sorted().compactMap { pendingWrite($0)?.write }
  }

  /// The node shown at a place, if the origin holds `node` there.
  ///
  /// O(n log n) in the children there and in the parts of writes that concern the place, however many others
  /// their writes have.
  package func layered(onto node: Node, at path: Path, includingHidden: Bool = false) -> Node {
    layered(
      onto: node, at: path,
      places.parts(around: path) { id in
        includingHidden || !places.hidden.contains(id)
      })
  }

  /// The node at a place with only those pending writes that `isCounted` accepts.
  func layered(
    onto node: Node, at path: Path, where isCounted: (PendingWrite) -> Bool
  ) -> Node {
    var known: [Int64: Bool] = [:]
    let parts = places.parts(around: path).filter { id, _ in
      if let isKnown = known[id] { return isKnown }
      let isPart = writes.place(of: id).map { isCounted(writes[$0]) } ?? false
      known[id] = isPart
      return isPart
    }
    return layered(onto: node, at: path, parts)
  }

  /// The node at a place with some parts of pending writes, in this order.
  private func layered(
    onto node: Node, at path: Path, _ parts: [(id: Int64, index: Int)]
  ) -> Node {
    var node = node
    var write: PendingWrite?
    // Children that follow one another are put there together.
    var children: [Child] = []
    for (id, index) in parts {
      if write?.id != id { write = writes.place(of: id).map { writes[$0] } }
      guard let part = write?.parts[index] else { continue }
      if let child = part.child(of: path), node.leaf == nil {
        children.append(child)
        continue
      }
      node = node.replacing(children)
      children = []
      node = part.projected(onto: node, at: path)
    }
    return node.replacing(children)
  }

  /// True if a pending write that is shown changes something at a place or below it.
  func isWritten(atOrBelow path: Path) -> Bool { places.isWritten(atOrBelow: path) }

  /// True if a pending write that is shown replaces the node at a place, or its priority.
  func isWritten(at path: Path) -> Bool { places.isWritten(at: path) }

  /// True if a pending write replaces all of a place.
  func isShadowed(_ path: Path) -> Bool { places.isShadowed(path) }

  /// The children of a place that pending writes change in any way; nil if one changes the place itself.
  func changedChildren(of path: Path) -> Set<Key>? {
    places.isWritten(atOrAbove: path) ? nil : places.changedChildren(of: path)
  }

  /// A number that grows when the places of the pending writes change.
  var pendingRevision: Int { places.revision }

  /// The pending changes at a place.
  package func pendingState(at path: Path) -> PendingState {
    PendingState(
      // The priority of a place above does not belong to this place.
      isWhole: isWritten(at: path) || isShadowed(path),
      children: places.changedChildren(of: path))
  }

  /// The children of a place that pending writes replace as a whole, or also those they change in
  /// part.
  private func writtenChildren(of path: Path, orInPart isPartCounted: Bool = false) -> Set<Key> {
    places.writtenChildren(of: path, orInPart: isPartCounted)
  }
}

// MARK: Tracked queries

extension ReplicaBook {
  /// Every record, in the order in which they were made.
  package var trackedQueries: [TrackedQuery] {
    tracked.paths(at: .root).flatMap { (tracked[$0] ?? [:]).values }.sorted { $0.id < $1.id }
  }

  /// The record of a query; all queries that show every child of a place share one, whatever their
  /// order.
  package func record(of query: Query) -> TrackedQuery? {
    tracked[query.path]?[query.asked(reach)]
  }

  /// The record of a query, which is made if there is none.
  mutating func recordOrNew(of query: Query) -> TrackedQuery {
    if let record = record(of: query) { return record }
    let record = TrackedQuery(id: nextTrackedID, query: query.asked(reach))
    put(record)
    return record
  }

  mutating func put(_ record: TrackedQuery) {
    var records = tracked[record.query.path] ?? [:]
    if records.updateValue(record, forKey: record.query) == nil { trackedCount += 1 }
    tracked[record.query.path] = records
    nextTrackedID = max(nextTrackedID, record.id + 1)
  }

  /// Takes over the records that another process wrote; queries asked from here stay active.
  mutating func absorb(_ stored: ReplicaBook, active: Set<Query>) {
    let asked = trackedQueries.filter { active.contains($0.query) }
    let own = (talk, unfiltered, reach)
    let revision = places.revision
    self = stored
    (talk, unfiltered, reach) = own
    places.revision += revision + 1
    for var record in asked where self.record(of: record.query) == nil {
      // The other process removed the record, but this one still needs it.
      record.id = nextTrackedID
      put(record)
    }
    for var record in trackedQueries where active.contains(record.query) {
      record.isActive = true
      put(record)
    }
  }

  /// Notes whether no row of a window was received since it was asked.
  mutating func setUnfiltered(_ query: Query, _ isUnfiltered: Bool) {
    if isUnfiltered { unfiltered.insert(query) } else { unfiltered.remove(query) }
  }

  mutating func drop(_ record: TrackedQuery) {
    var records = tracked[record.query.path] ?? [:]
    if records.removeValue(forKey: record.query) != nil { trackedCount -= 1 }
    tracked[record.query.path] = records.isEmpty ? nil : records
  }

  /// The records at a place.
  func records(at path: Path) -> [TrackedQuery] {
    (tracked[path] ?? [:]).values.sorted { $0.id < $1.id }
  }

  /// The records at a place and below it.
  func records(atOrBelow path: Path) -> [TrackedQuery] {
    tracked.paths(at: path).flatMap { records(at: $0) }
  }

  /// True if an answered default query, at a place or above it, is counted.
  private func answered(_ path: Path, where isCounted: (TrackedQuery) -> Bool) -> Bool {
    (0...path.keys.count).contains { depth in
      let above = Path(unchecked: Array(path.keys[..<depth]))
      guard let record = tracked[above]?[Query(above)] else { return false }
      return record.isComplete && isCounted(record)
    }
  }

  /// True if the origin has sent everything at a place, and sends its changes.
  func isCovered(_ path: Path) -> Bool { answered(path) { $0.isActive } }

  /// True if the origin has once sent everything at a place.
  func isCached(_ path: Path) -> Bool { answered(path) { _ in true } }

  /// True if the origin is asked for everything at a place, or at one above it.
  func isActive(atOrAbove path: Path) -> Bool {
    (0...path.keys.count).contains { depth in
      let above = Path(unchecked: Array(path.keys[..<depth]))
      return tracked[above]?[Query(above)]?.isActive == true
    }
  }

  /// True if the origin sends changes at a place: the place is covered, or it lies at or below a
  /// child that belongs to the answer of an active query.
  func isTold(_ path: Path) -> Bool {
    if isCovered(path) { return true }
    return path.keys.indices.contains { depth in
      let above = Path(unchecked: Array(path.keys[..<depth]))
      return (tracked[above] ?? [:]).values.contains { record in
        record.isActive && !record.isDefault && record.keys.contains(path.keys[depth])
      }
    }
  }

  /// True if the origin has sent, on this connection, the node at a place, and sends its changes.
  ///
  /// Source: tree semantics, section 15.2.
  func isLive(_ path: Path) -> Bool {
    if answered(path, where: isLive) { return true }
    return path.keys.indices.contains { depth in
      let above = Path(unchecked: Array(path.keys[..<depth]))
      return (tracked[above] ?? [:]).values.contains { record in
        isLive(record) && !record.isDefault && record.keys.contains(path.keys[depth])
      }
    }
  }

  private func isLive(_ record: TrackedQuery) -> Bool {
    record.isActive && !talk.isUntold(record.query)
  }

  /// The places at or below a path that are live.
  func livePlaces(atOrBelow path: Path) -> [Path] {
    records(atOrBelow: path).filter(isLive).flatMap { record in
      if record.isDefault { return record.isComplete ? [record.query.path] : [] }
      return record.keys.sorted().map { Path(unchecked: record.query.path.keys + [$0]) }
    }
  }

  /// True if a query at a place, above it or below it, keeps data there.
  func isKept(_ path: Path, _ storage: some ReplicaStorage) throws(TreeError) -> Bool {
    if isCached(path) || !tracked.paths(at: path).isEmpty { return true }
    return try isToldByKey(path, storage)
  }

  /// True if a place lies at or below a child that belongs to a query's answer.
  func isToldByKey(_ path: Path, _ storage: some ReplicaStorage) throws(TreeError) -> Bool {
    for depth in path.keys.indices {
      let above = Path(unchecked: Array(path.keys[..<depth]))
      let records = (tracked[above] ?? [:]).values
      if try ReplicaBook.isAnswered(path.keys[depth], by: records, storage) { return true }
    }
    return false
  }

  /// True if a child belongs to the answer of one of the records of its place.
  private static func isAnswered(
    _ key: Key, by records: some Collection<TrackedQuery>, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Bool {
    if records.contains(where: { $0.keys.contains(key) }) { return true }
    for record in records where record.isDormant {
      if try storage.hasKey(key, ofQuery: record.id) { return true }
    }
    return false
  }
}

// MARK: Knowledge

extension ReplicaBook {
  /// Returns the knowledge about the children that a query asks for.
  ///
  /// An active query with an answer relies on it; until then, data that were cached earlier serve.
  ///
  /// Source: tree semantics, sections 7.2, 7.5 and 15.2.
  package func knowledge(
    of query: Query, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Knowledge {
    let path = query.path
    if isCovered(path) || isShadowed(path) { return .complete }
    let record = record(of: query)
    if let record, record.isComplete, record.isActive || !isCached(path) {
      let active = childrenAnswered(of: path) { $0.isActive }
      let written = writtenChildren(of: path, orInPart: unfiltered.contains(record.query))
      let keys = try storage.allKeys(of: record)
      return .keys(keys.union(active).union(written), isAnswer: true)
    }
    if isCached(path) { return .complete }
    return try remembered(of: query, storage)
  }

  /// What earlier answers and pending writes tell of the children that a query asks for.
  ///
  /// The server tree holds what queries keep (I2 of `Replica`), so all children that are shown are known but
  /// those of which only a part is kept, and those of answers that have not come whole. There are few of
  /// these, however many are known.
  private func remembered(
    of query: Query, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Knowledge {
    let path = query.path
    let records = (tracked[path] ?? [:]).values
    // Where everything was asked for, what other queries left is kept, too; and so are the parts of answers
    // from above.
    let isInAnswer = try isToldByKey(path, storage)
    if records.contains(where: \.isDefault) || isInOpenAnswer(path) || isInAnswer {
      return .keys(try rememberedChildren(of: query, storage), isAnswer: false)
    }
    let counted = records.filter { $0.isComplete || $0.query == query.asked(reach) }
    let whole = childrenAnswered(of: path) { _ in true }.union(writtenChildren(of: path))
    var unsure = tracked.keys(below: path).union(writtenChildren(of: path, orInPart: true))
    for other in records where !other.isComplete && other.query != query.asked(reach) {
      unsure.formUnion(other.keys)
    }
    unsure.subtract(whole)
    for key in unsure where try ReplicaBook.isAnswered(key, by: counted, storage) {
      unsure.remove(key)
    }
    return .allBut(unsure)
  }

  /// True if everything was asked for at a place above, and has not come whole.
  private func isInOpenAnswer(_ path: Path) -> Bool {
    path.keys.indices.contains { depth in
      let above = Path(unchecked: Array(path.keys[..<depth]))
      return tracked[above]?[Query(above)]?.isComplete == false
    }
  }

  /// The children of a place that earlier answers and pending writes tell of as a whole: what `remembered`
  /// stands for.
  ///
  /// O(n) in these children.
  package func rememberedChildren(
    of query: Query, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Set<Key> {
    let path = query.path
    var keys = childrenAnswered(of: path) { _ in true }.union(writtenChildren(of: path))
    for other in (tracked[path] ?? [:]).values
    where other.isComplete || other.query == query.asked(reach) {
      keys.formUnion(try storage.allKeys(of: other))
    }
    return keys
  }

  /// The children of a place with an answered default query of their own.
  private func childrenAnswered(
    of path: Path, where isCounted: (TrackedQuery) -> Bool
  ) -> Set<Key> {
    Set(
      tracked.children(of: path).compactMap { key, records in
        let child = Path(unchecked: path.keys + [key])
        guard let record = records[Query(child)], record.isComplete, isCounted(record) else {
          return nil
        }
        return key
      })
  }
}

extension ReplicaBook {
  /// Traps if an invariant does not hold.
  ///
  /// For tests.
  package func checkInvariants() {
    let writes = pending
    for (left, right) in zip(writes, writes.dropFirst()) {
      precondition(left.id < right.id, "I1: ids ascend.")
    }
    for write in writes {
      precondition(places.hidden.contains(write.id) != write.isVisible, "I4: it is hidden or not.")
      for part in write.parts {
        precondition(places.ids(around: part.path).contains(write.id), "I4: it is found.")
      }
    }
    var ids: Set<Int64> = []
    precondition(trackedQueries.count == trackedCount, "I2: they are counted.")
    tracked.forEach { records in
      for record in records.values {
        precondition(ids.insert(record.id).inserted, "I2: ids differ.")
        checkInvariants(of: record)
      }
    }
  }

  private func checkInvariants(of record: TrackedQuery) {
    precondition(record.query == record.query.asked(reach), "I2: a query is kept as it is asked.")
    precondition(record.id < nextTrackedID, "I2: the next id is the greatest.")
    precondition(!record.isDefault || record.keys.isEmpty, "I2: a default query has no keys.")
    precondition(
      !record.isDormant || record.isComplete && !record.isActive && record.keys.isEmpty,
      "I3: a dormant record is complete and not active.")
  }
}
