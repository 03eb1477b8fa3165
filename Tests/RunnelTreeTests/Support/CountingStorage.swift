@testable import RunnelTree

/// A replica's storage in memory that counts the children that are read of the places with many.
struct CountingStorage: ReplicaStorage {
  /// A number of children.
  final class Reads {
    var count = 0
  }

  let reads = Reads()
  /// The number of children that were written.
  let written = Reads()
  private var memory = MemoryReplicaStorage()

  /// The book as a restart finds it.
  var savedBook: ReplicaBook { memory.savedBook }

  private func counted(_ node: Node) -> Node {
    reads.count += max(node.children.count, 1)
    return node
  }

  func node(at path: Path) throws(TreeError) -> Node { counted(try memory.node(at: path)) }

  func summary(at path: Path) throws(TreeError) -> NodeSummary { try memory.summary(at: path) }

  func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow? {
    reads.count += 1
    return try memory.row(key, of: path, in: slice, detail: detail)
  }

  func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow] {
    let rows = try memory.rows(of: path, in: slice, detail: detail)
    reads.count += rows.count
    return rows
  }

  func serverNode(at path: Path) throws(TreeError) -> Node {
    counted(try memory.serverNode(at: path))
  }

  func serverSummary(at path: Path) throws(TreeError) -> NodeSummary {
    try memory.serverSummary(at: path)
  }

  mutating func perform(_ assignment: Assignment) throws(TreeError) {
    if case .node(let node) = assignment.target { written.count += max(node.children.count, 1) }
    try memory.perform(assignment)
  }

  mutating func performOnServer(_ assignment: Assignment) throws(TreeError) {
    try memory.performOnServer(assignment)
  }

  mutating func takeWriteID() throws(TreeError) -> Int64 { try memory.takeWriteID() }

  mutating func save(_ write: PendingWrite) throws(TreeError) { try memory.save(write) }

  mutating func end(_ write: PendingWrite, _ ending: PendingWrite.Ending) throws(TreeError) {
    try memory.end(write, ending)
  }

  func refusal(of id: Int64) throws(TreeError) -> TreeError? { nil }

  func queriesHeldElsewhere() throws(TreeError) -> Set<Int64> { [] }

  func queriesSpokenFor() throws(TreeError) -> Set<Int64> { [] }

  mutating func noteSpeaking(_ isSpeaking: Bool) throws(TreeError) {}

  mutating func noteRefusal(ofQuery id: Int64, _ error: TreeError?) throws(TreeError) {}

  func refusedQueries() throws(TreeError) -> [Int64: TreeError] { [:] }

  func isRunning(session: Int64) -> Bool { false }

  mutating func save(_ record: TrackedQuery) throws(TreeError) { try memory.save(record) }

  mutating func save(_ record: TrackedQuery, changing key: Key) throws(TreeError) {
    try memory.save(record, changing: key)
  }

  func keys(ofQuery id: Int64) throws(TreeError) -> Set<Key> {
    let keys = try memory.keys(ofQuery: id)
    reads.count += keys.count
    return keys
  }

  func hasKey(_ key: Key, ofQuery id: Int64) throws(TreeError) -> Bool {
    try memory.hasKey(key, ofQuery: id)
  }

  mutating func deleteTrackedQuery(_ id: Int64) throws(TreeError) {
    try memory.deleteTrackedQuery(id)
  }

  func isServer(largerThan bytes: Int) throws(TreeError) -> Bool {
    try memory.isServer(largerThan: bytes)
  }
}
