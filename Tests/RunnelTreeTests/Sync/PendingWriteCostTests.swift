import RunnelBase
import Testing

@testable import RunnelTree

/// What a write on a replica without a connection reads, beside those that wait: it must not be more
/// because many wait.
@Suite struct PendingWriteCostTests {
  /// A listener of a place, and whether the origin has answered its query before the connection ended.
  struct Watch: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var isAnswered: Bool
    var request: @Sendable (Path) throws -> ListenRequest

    init(
      _ name: String, isAnswered: Bool,
      _ request: @escaping @Sendable (Path) throws -> ListenRequest
    ) {
      (testDescription, self.isAnswered, self.request) = (name, isAnswered, request)
    }
  }

  private static let events: EventKinds = [.children, .pending, .answered]

  static let watches = [
    Watch("all, never answered", isAnswered: false) {
      ListenRequest(query: Query($0), events: events)
    },
    Watch("a range, never answered", isAnswered: false) {
      let query = try Query($0).ordered(by: .child(Path("n")))
      return ListenRequest(query: query, events: events)
    },
    Watch("all, answered once", isAnswered: true) {
      ListenRequest(query: Query($0), events: events)
    },
    Watch("the last rows, answered once", isAnswered: true) {
      let query = try Query($0).ordered(by: .key).limited(to: 10, from: .last)
      return ListenRequest(query: query, events: events)
    },
    Watch("pages, answered once", isAnswered: true) {
      let query = try Query($0).ordered(by: .child(Path("n")))
      return ListenRequest(
        query: query, paging: Paging(anchor: .last, count: 10), events: events)
    },
  ]

  @Test(arguments: watches)
  func aWriteReadsNoMoreBecauseManyWait(watch: Watch) throws {
    let place = try Path("l")
    var storage = CountingStorage()
    var known = TrackedQuery(id: 0, query: Query(place))
    known.isComplete = true
    var engine = ReplicaEngine(
      book: ReplicaBook(pending: [], tracked: watch.isAnswered ? [known] : []))
    _ = try engine.listen(ListenerID(1), watch.request(place), now: 0, &storage)
    var read: [Int] = []
    for number in 1...300 {
      let before = storage.count.nodes
      let path = try place.child("k\(number + 10_000)")
      let (_, outcome) = try engine.write(
        .set(path, ["n": .number(JSONNumber(Int64(number)))]), now: 0, &storage)
      #expect(outcome.deliveries.contains { $0.event.row?.key == path.lastKey })
      read.append(storage.count.nodes - before)
    }
    #expect(engine.replica.book.pending.count == 300)
    let (few, many) = (read[20..<30].max() ?? 0, read.suffix(10).max() ?? 0)
    #expect(few > 0 && many <= few, "\(few) nodes are read beside 20 writes, \(many) beside 290")
  }
}

/// A storage in memory that counts the nodes that are read from it.
private struct CountingStorage: ReplicaStorage {
  final class Count: @unchecked Sendable {
    var nodes = 0
  }

  let count = Count()
  private var storage = MemoryReplicaStorage()

  func node(at path: Path) throws(TreeError) -> Node {
    let node = try storage.node(at: path)
    count.nodes += 1 + node.children.count
    return node
  }

  func summary(at path: Path) throws(TreeError) -> NodeSummary { try storage.summary(at: path) }

  func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow? {
    count.nodes += 1
    return try storage.row(key, of: path, in: slice, detail: detail)
  }

  func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow] {
    let rows = try storage.rows(of: path, in: slice, detail: detail)
    count.nodes += rows.count
    return rows
  }

  func serverNode(at path: Path) throws(TreeError) -> Node {
    let node = try storage.serverNode(at: path)
    count.nodes += 1 + node.children.count
    return node
  }

  func serverSummary(at path: Path) throws(TreeError) -> NodeSummary {
    try storage.serverSummary(at: path)
  }

  mutating func perform(_ assignment: Assignment) throws(TreeError) {
    try storage.perform(assignment)
  }

  mutating func performOnServer(_ assignment: Assignment) throws(TreeError) {
    try storage.performOnServer(assignment)
  }

  mutating func takeWriteID() throws(TreeError) -> Int64 { try storage.takeWriteID() }

  mutating func save(_ write: PendingWrite) throws(TreeError) { try storage.save(write) }

  mutating func end(_ write: PendingWrite, _ ending: PendingWrite.Ending) throws(TreeError) {
    try storage.end(write, ending)
  }

  func refusal(of id: Int64) throws(TreeError) -> TreeError? { try storage.refusal(of: id) }

  func queriesHeldElsewhere() throws(TreeError) -> Set<Int64> { try storage.queriesHeldElsewhere() }

  mutating func noteRefusal(ofQuery id: Int64, _ error: TreeError?) throws(TreeError) {
    try storage.noteRefusal(ofQuery: id, error)
  }

  func refusedQueries() throws(TreeError) -> [Int64: TreeError] { try storage.refusedQueries() }

  func isRunning(session: Int64) -> Bool { storage.isRunning(session: session) }

  mutating func save(_ record: TrackedQuery) throws(TreeError) { try storage.save(record) }

  mutating func deleteTrackedQuery(_ id: Int64) throws(TreeError) {
    try storage.deleteTrackedQuery(id)
  }

  func serverBytes() throws(TreeError) -> Int { try storage.serverBytes() }
}
