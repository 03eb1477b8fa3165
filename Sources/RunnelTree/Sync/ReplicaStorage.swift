import RunnelBase

/// Where a replica keeps its trees and its book: in a file, or in memory.
///
/// Reading through `TreeReader` gives the *shown* tree. Every method throws `TreeError` (`storage`) if it
/// fails; the caller then undoes all that was done since the last commit.
public protocol ReplicaStorage: TreeReader {
  /// The subtree that the origin told last; empty where it told nothing.
  func serverNode(at path: Path) throws(TreeError) -> Node

  /// The kind of the node that the origin told last, read in O(depth log n).
  func serverSummary(at path: Path) throws(TreeError) -> NodeSummary

  /// Changes the shown tree.
  mutating func perform(_ assignment: Assignment) throws(TreeError)

  /// Changes what is kept of the origin's tree.
  mutating func performOnServer(_ assignment: Assignment) throws(TreeError)

  /// The next id of a write or of a command: one that was never taken before.
  mutating func takeWriteID() throws(TreeError) -> Int64

  /// Keeps a pending write, in place of an earlier form of it.
  mutating func save(_ write: PendingWrite) throws(TreeError)

  /// Forgets a pending write; its name is taken from now on if it was done, and free otherwise.
  mutating func end(_ write: PendingWrite, _ ending: PendingWrite.Ending) throws(TreeError)

  /// Why a write is pending no more that another session ended; nil if the origin did it, or nobody
  /// knows any more.
  func refusal(of id: Int64) throws(TreeError) -> TreeError?

  /// The records of queries that other sessions, which run, are asking their origin.
  func queriesHeldElsewhere() throws(TreeError) -> Set<Int64>

  /// True if a session other than this one, which a transaction names as its maker, still runs.
  func isRunning(session: Int64) -> Bool

  /// Keeps the record of a query, in place of an earlier form of it.
  mutating func save(_ record: TrackedQuery) throws(TreeError)

  /// Forgets the record of a query.
  mutating func deleteTrackedQuery(_ id: Int64) throws(TreeError)

  /// The bytes that are kept of the origin's tree, as they are counted for the size of the cache.
  func serverBytes() throws(TreeError) -> Int
}

/// A replica's storage in memory: for tests, simulations, and data that need not outlive the process.
public struct MemoryReplicaStorage: ReplicaStorage, Sendable {
  /// The tree that is shown.
  public private(set) var shown = MemoryTree()
  /// What the origin told.
  public private(set) var server = MemoryTree()
  private var writes: [Int64: PendingWrite] = [:]
  private var records: [Int64: TrackedQuery] = [:]
  private var nextWriteID: Int64 = 0

  /// Makes an empty storage.
  public init() {}

  /// The book as it is kept here: what a restart finds.
  public var savedBook: ReplicaBook {
    ReplicaBook(pending: Array(writes.values), tracked: Array(records.values))
  }

  /// The whole subtree that is shown at a place.
  public func node(at path: Path) throws(TreeError) -> Node { try shown.node(at: path) }

  /// The kind and size of the node that is shown at a place.
  public func summary(at path: Path) throws(TreeError) -> NodeSummary {
    try shown.summary(at: path)
  }

  /// One shown child of a place.
  public func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow? {
    try shown.row(key, of: path, in: slice, detail: detail)
  }

  /// The shown children of a place in a slice of an order.
  public func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow] {
    try shown.rows(of: path, in: slice, detail: detail)
  }

  /// The subtree that the origin told last.
  public func serverNode(at path: Path) throws(TreeError) -> Node { server.root[path] }

  /// The kind of the node that the origin told last.
  public func serverSummary(at path: Path) throws(TreeError) -> NodeSummary {
    NodeSummary(server.root[path])
  }

  /// Changes the shown tree.
  public mutating func perform(_ assignment: Assignment) throws(TreeError) {
    shown.perform(assignment)
  }

  /// Changes what is kept of the origin's tree.
  public mutating func performOnServer(_ assignment: Assignment) throws(TreeError) {
    server.perform(assignment)
  }

  /// The next id.
  public mutating func takeWriteID() throws(TreeError) -> Int64 {
    defer { nextWriteID += 1 }
    return nextWriteID
  }

  /// Keeps a pending write.
  public mutating func save(_ write: PendingWrite) throws(TreeError) { writes[write.id] = write }

  /// Forgets a pending write.
  public mutating func end(
    _ write: PendingWrite, _ ending: PendingWrite.Ending
  ) throws(TreeError) {
    writes[write.id] = nil
  }

  /// Nil: nobody else ends writes in memory.
  public func refusal(of id: Int64) throws(TreeError) -> TreeError? { nil }

  /// None: nobody else is there.
  public func queriesHeldElsewhere() throws(TreeError) -> Set<Int64> { [] }

  /// False: nobody else is there.
  public func isRunning(session: Int64) -> Bool { false }

  /// Keeps the record of a query.
  public mutating func save(_ record: TrackedQuery) throws(TreeError) {
    records[record.id] = record
  }

  /// Forgets the record of a query.
  public mutating func deleteTrackedQuery(_ id: Int64) throws(TreeError) { records[id] = nil }

  /// The bytes of the origin's tree as JSON.
  ///
  /// O(n).
  public func serverBytes() throws(TreeError) -> Int {
    server.root.exportJSON.jsonText().utf8.count
  }
}
