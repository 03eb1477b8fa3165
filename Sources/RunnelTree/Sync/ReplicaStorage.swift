import RunnelBase

/// The storage of a replica's trees and book: a file, or memory.
///
/// Reading through `TreeReader` gives the *shown* tree. Every method throws `TreeError` (`storage`)
/// if it fails; the caller then undoes everything since the last commit.
package protocol ReplicaStorage: TreeReader {
  /// The origin's subtree as received last; empty if none was received.
  func serverNode(at path: Path) throws(TreeError) -> Node

  /// The kind of the origin's node as received last, read in O(depth log n).
  func serverSummary(at path: Path) throws(TreeError) -> NodeSummary

  /// Changes the shown tree.
  mutating func perform(_ assignment: Assignment) throws(TreeError)

  /// Changes the copy of the origin's tree.
  mutating func performOnServer(_ assignment: Assignment) throws(TreeError)

  /// A new id for a write or a command; no id is taken twice.
  mutating func takeWriteID() throws(TreeError) -> Int64

  /// Stores a pending write, in place of an earlier form of it.
  mutating func save(_ write: PendingWrite) throws(TreeError)

  /// Takes note that a write is sent upon other nodes than it was made upon, as others wrote there meanwhile.
  mutating func noteMerged(_ write: PendingWrite, before old: PendingWrite) throws(TreeError)

  /// Removes a pending write; its name is used up if the write was done, and free otherwise.
  mutating func end(_ write: PendingWrite, _ ending: PendingWrite.Ending) throws(TreeError)

  /// The reason why a write that another session ended was refused; nil if the origin did it, or if
  /// the reason is not known any more.
  func refusal(of id: Int64) throws(TreeError) -> TreeError?

  /// The records of the queries that other running sessions ask their origin.
  func queriesHeldElsewhere() throws(TreeError) -> Set<Int64>

  /// The records of the queries that another running session asks its origin over the connection that it has;
  /// empty if no other session is connected.
  func queriesSpokenFor() throws(TreeError) -> Set<Int64>

  /// True if another running session has a connection to the origin, and sends the writes of this one too.
  func isSpokenFor() throws(TreeError) -> Bool

  /// Writes down that this session has the connection to the origin, or has it no more.
  mutating func noteSpeaking(_ isSpeaking: Bool) throws(TreeError)

  /// Writes down why the origin does not answer the query of a record, for the other sessions that ask it; nil
  /// forgets it.
  mutating func noteRefusal(ofQuery id: Int64, _ error: TreeError?) throws(TreeError)

  /// Why the origin does not answer queries that were asked for other sessions, by the ids of their records.
  func refusedQueries() throws(TreeError) -> [Int64: TreeError]

  /// True if another session, named by a transaction as its maker, still runs.
  func isRunning(session: Int64) -> Bool

  /// Stores the record of a query, in place of an earlier form of it; the keys of a dormant one stay as they
  /// are.
  mutating func save(_ record: TrackedQuery) throws(TreeError)

  /// Stores the record of a query of which only one key was added or removed since.
  mutating func save(_ record: TrackedQuery, changing key: Key) throws(TreeError)

  /// The children that belong to the answer of a record, also of a dormant one.
  func keys(ofQuery id: Int64) throws(TreeError) -> Set<Key>

  /// True if a child belongs to the answer of a record, also of a dormant one.
  func hasKey(_ key: Key, ofQuery id: Int64) throws(TreeError) -> Bool

  /// Removes the record of a query, and its keys.
  mutating func deleteTrackedQuery(_ id: Int64) throws(TreeError)

  /// True if the origin's tree takes more bytes than so many, as the cache limit counts them.
  func isServer(largerThan bytes: Int) throws(TreeError) -> Bool
}

extension ReplicaStorage {
  /// False: there is no other session.
  package func isSpokenFor() throws(TreeError) -> Bool { false }

  /// Only a storage with a history has something to note.
  package mutating func noteMerged(
    _ write: PendingWrite, before old: PendingWrite
  ) throws(TreeError) {}

  /// The keys of a record, also of a dormant one.
  func allKeys(of record: TrackedQuery) throws(TreeError) -> Set<Key> {
    try record.isDormant ? keys(ofQuery: record.id) : record.keys
  }
}

extension TrackedQuery {
  /// Reads the keys of a dormant record.
  mutating func wake(_ storage: some ReplicaStorage) throws(TreeError) {
    (keys, isDormant) = (try storage.allKeys(of: self), false)
  }
}

/// A replica's storage in memory: for tests, simulations, and data that need not outlive the process.
package struct MemoryReplicaStorage: ReplicaStorage, DelegatingReader, Sendable {
  /// The tree that is shown.
  package private(set) var shown = MemoryTree()
  /// The origin's data.
  package private(set) var server = MemoryTree()
  private var writes: [Int64: PendingWrite] = [:]
  private var records: [Int64: TrackedQuery] = [:]
  private var nextWriteID: Int64 = 0
  private let awakeKeysMax: Int

  /// Makes an empty storage; answers of more children than `awakeKeysMax` are dormant after a restart.
  package init(awakeKeysMax: Int = TrackedQuery.awakeKeysMax) { self.awakeKeysMax = awakeKeysMax }

  /// The book as a restart finds it.
  package var savedBook: ReplicaBook {
    let tracked = records.values.map { record in
      guard record.isComplete, record.keys.count > awakeKeysMax else { return record }
      var dormant = record
      (dormant.isDormant, dormant.keys) = (true, [])
      return dormant
    }
    return ReplicaBook(pending: Array(writes.values), tracked: tracked)
  }

  /// The tree that is shown.
  package var reader: some TreeReader { shown }

  /// The origin's subtree as received last.
  package func serverNode(at path: Path) throws(TreeError) -> Node { server.root[path] }

  /// The kind of the origin's node as received last.
  package func serverSummary(at path: Path) throws(TreeError) -> NodeSummary {
    NodeSummary(server.root[path])
  }

  /// Changes the shown tree.
  package mutating func perform(_ assignment: Assignment) throws(TreeError) {
    shown.perform(assignment)
  }

  /// Changes the copy of the origin's tree.
  package mutating func performOnServer(_ assignment: Assignment) throws(TreeError) {
    server.perform(assignment)
  }

  /// The next id.
  package mutating func takeWriteID() throws(TreeError) -> Int64 {
    defer { nextWriteID += 1 }
    return nextWriteID
  }

  /// Stores a pending write.
  package mutating func save(_ write: PendingWrite) throws(TreeError) { writes[write.id] = write }

  /// Removes a pending write.
  package mutating func end(
    _ write: PendingWrite, _ ending: PendingWrite.Ending
  ) throws(TreeError) {
    writes[write.id] = nil
  }

  /// Nil: no other session ends writes in memory.
  package func refusal(of id: Int64) throws(TreeError) -> TreeError? { nil }

  /// Empty: there is no other session.
  package func queriesHeldElsewhere() throws(TreeError) -> Set<Int64> { [] }

  /// Empty: there is no other session.
  package func queriesSpokenFor() throws(TreeError) -> Set<Int64> { [] }

  /// Does nothing: there is no other session.
  package mutating func noteSpeaking(_ isSpeaking: Bool) throws(TreeError) {}

  /// Does nothing: there is no other session.
  package mutating func noteRefusal(ofQuery id: Int64, _ error: TreeError?) throws(TreeError) {}

  /// None: there is no other session.
  package func refusedQueries() throws(TreeError) -> [Int64: TreeError] { [:] }

  /// False: there is no other session.
  package func isRunning(session: Int64) -> Bool { false }

  /// Stores the record of a query.
  package mutating func save(_ record: TrackedQuery) throws(TreeError) {
    var stored = record
    if record.isDormant { (stored.isDormant, stored.keys) = (false, try keys(ofQuery: record.id)) }
    records[record.id] = stored
  }

  /// The children that belong to the answer of a record.
  package func keys(ofQuery id: Int64) throws(TreeError) -> Set<Key> { records[id]?.keys ?? [] }

  /// True if a child belongs to the answer of a record.
  package func hasKey(_ key: Key, ofQuery id: Int64) throws(TreeError) -> Bool {
    records[id]?.keys.contains(key) == true
  }

  /// Removes the record of a query.
  package mutating func deleteTrackedQuery(_ id: Int64) throws(TreeError) { records[id] = nil }

  /// Stores the record of a query of which one key has changed.
  package mutating func save(_ record: TrackedQuery, changing key: Key) throws(TreeError) {
    try save(record)
  }

  /// True if the origin's tree takes more bytes as JSON.
  ///
  /// O(n).
  package func isServer(largerThan bytes: Int) throws(TreeError) -> Bool {
    server.root.exportJSON.jsonText().utf8.count > bytes
  }
}
