import GRDB
import PostgresCluster
import RunnelBase
import RunnelPostgres
import RunnelStorage
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// Where the rows of a stored tree can be: every test of this suite runs on each.
enum RowPlace: CaseIterable {
  case memory, memoryUnderOverlay, sqlite, sqliteUnderOverlay
  case postgres, postgresUnderOverlay

  /// Those that every machine has.
  static let local: [RowPlace] = [.memory, .memoryUnderOverlay, .sqlite, .sqliteUnderOverlay]
  /// Those that need PostgreSQL.
  static let remote: [RowPlace] = [.postgres, .postgresUnderOverlay]

  var isOverlay: Bool {
    switch self {
    case .memory, .sqlite, .postgres: false
    case .memoryUnderOverlay, .sqliteUnderOverlay, .postgresUnderOverlay: true
    }
  }

  /// Runs `body` on a new store, within one transaction; `overlay` is what holds back writes, if any.
  func withRows(
    _ indexes: [StoredIndex],
    _ body: (_ rows: any RowStore, _ overlay: RowOverlay?) throws -> Void
  ) throws {
    func run(_ rows: any RowStore) throws {
      let overlay = isOverlay ? RowOverlay(rows) : nil
      try body(overlay ?? rows, overlay)
    }
    switch self {
    case .memory, .memoryUnderOverlay: try run(MemoryRowStore())
    case .sqlite, .sqliteUnderOverlay:
      try DatabaseQueue().write { db in
        try Schema.makeTables(db)
        try run(SQLiteRows(db, StatementCache()))
      }
    case .postgres, .postgresUnderOverlay:
      let store = try PostgresStore(PostgresPlace(PostgresCluster.shared().makeDatabase()))
      defer { store.close() }
      try store.makeTables()
      try store.connection.perform([PostgresStatement("BEGIN")])
      try run(PostgresRows(store.connection, namespace: 1, indexes: indexes, nextSplit: 1))
    }
  }
}

/// A stored tree on PostgreSQL answers as the tree in memory, too.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct PostgresStoredTreeTests {
  @Test(arguments: RowPlace.remote, Seeds.first(5))
  func itAnswersAsTheTreeInMemory(place: RowPlace, seed: UInt64) throws {
    try StoredTreeTests().itAnswersAsTheTreeInMemory(place: place, seed: seed)
  }

  @Test(arguments: Seeds.first(5))
  func aRefusedWriteLeavesNothing(seed: UInt64) throws {
    try StoredTreeTests().aRefusedWriteLeavesNothing(place: .postgresUnderOverlay, seed: seed)
  }
}

/// A stored tree answers as the tree in memory, wherever its rows are.
@Suite struct StoredTreeTests {
  private static let indexes: [StoredIndex] = {
    let paths = [["a"], ["b", "1"]].map { Path(unchecked: $0.map { Key(unchecked: $0) }) }
    let definitions =
      ["/", "/$any"].flatMap { pattern in
        ([.root] + paths).map { IndexDefinition(pattern: pattern, child: $0) }
      }
      + ["a:desc", "$priority,c:desc", "$priority"].compactMap { order in
        (try? QueryIndex(SortKey.list(order))).flatMap {
          IndexDefinition(pattern: "/$any", serving: $0)
        }
      }
    return definitions.enumerated().map { StoredIndex(id: Int64($0 + 1), definition: $1) }
  }()

  @Test(arguments: RowPlace.local, Seeds.first(5))
  func itAnswersAsTheTreeInMemory(place: RowPlace, seed: UInt64) throws {
    try place.withRows(StoredTreeTests.indexes) { rows, overlay in
      var random = RandomTree(seed: seed)
      var stored = StoredTree(rows, indexes: StoredTreeTests.indexes)
      var tree = MemoryTree()
      for step in 0..<25 {
        try write(&random, stored, &tree)
        if random.chance(30) { try overlay?.flush() }
        if random.chance(20) { stored = StoredTree(rows, indexes: StoredTreeTests.indexes) }
        for _ in 0..<8 { try compare(&random, stored, tree, "seed \(seed), step \(step)") }
      }
      try requireNoRowsAreLeft(rows, stored, overlay)
    }
  }

  private func write(
    _ random: inout RandomTree, _ stored: StoredTree, _ tree: inout MemoryTree
  ) throws {
    // Some writes are none: a priority of nothing, for instance.
    let write = try random.write()
    guard let parts = try? write.assignments(now: 0, reader: tree) else { return }
    for part in parts {
      try stored.carryOut(part)
      tree.perform(part)
    }
  }

  private func compare(
    _ random: inout RandomTree, _ stored: StoredTree, _ tree: MemoryTree, _ place: String
  ) throws {
    let path = try random.path(depth: 0..<5)
    try #require(try stored.node(at: path) == tree.root[path], "\(place), \(path)")
    try #require(try stored.summary(at: path) == tree.summary(at: path), "\(place), \(path)")
    let slice = RowSlice(try random.query(path))
    let detail: TreeRow.Detail = random.chance(50) ? .full : .shallow
    let expected = try tree.rows(of: path, in: slice, detail: detail)
    try #require(
      try stored.rows(of: path, in: slice, detail: detail) == expected, "\(place), \(slice)")
    let key = try random.key()
    try #require(
      try stored.row(key, of: path, in: slice, detail: detail)
        == tree.row(key, of: path, in: slice, detail: detail), "\(place), \(key) in \(slice)")
  }

  /// Without its root a tree leaves nothing behind.
  private func requireNoRowsAreLeft(
    _ rows: any RowStore, _ stored: StoredTree, _ overlay: RowOverlay?
  ) throws {
    try stored.carryOut(Assignment(path: .root, target: .node(.empty)))
    try overlay?.flush()
    #expect(try !rows.hasTraces(ofTree: .root))
    #expect(try rows.row(.root) == nil)
    #expect(try stored.node(at: .root) == .empty)
  }

  @Test(arguments: [RowPlace.memoryUnderOverlay, .sqliteUnderOverlay], Seeds.first(6))
  func aRefusedWriteLeavesNothing(place: RowPlace, seed: UInt64) throws {
    struct Refused: Error {}
    try place.withRows(StoredTreeTests.indexes) { rows, overlay in
      let overlay = try #require(overlay)
      var random = RandomTree(seed: seed)
      let stored = StoredTree(rows, indexes: StoredTreeTests.indexes)
      var tree = MemoryTree()
      for step in 0..<30 {
        let isRefused = random.chance(50)
        let before = tree
        do {
          try overlay.attempt {
            try write(&random, stored, &tree)
            if isRefused { throw Refused() }
          }
        } catch is Refused {
          stored.forgetRows()
          tree = before
        }
        if random.chance(20) { try overlay.flush() }
        for _ in 0..<6 { try compare(&random, stored, tree, "seed \(seed), step \(step)") }
      }
      try requireNoRowsAreLeft(rows, stored, overlay)
    }
  }

  @Test func countingManyChildrenWritesTheHeadOnce() throws {
    let memory = CountingRows()
    let overlay = RowOverlay(memory)
    let stored = StoredTree(overlay, indexes: [])
    let large = Node(.string(String(repeating: "x", count: RecordCoding.bytesMax)))
    for number in 0..<64 {
      let path = Path(unchecked: [Key(unchecked: "l"), Key(unchecked: "k\(number)")])
      try stored.carryOut(Assignment(path: path, target: .node(large)))
    }
    #expect(memory.headCount == 0)
    try overlay.flush()
    #expect(memory.headCount == 2)
    #expect(try stored.summary(at: Path("l")).kind == .children(count: 64))
  }

  @Test func moreThanIsHeldBackIsWrittenInBetween() throws {
    let memory = CountingRows()
    let stored = StoredTree(RowOverlay(memory), indexes: [])
    let children = (0..<12_000).map {
      Child(key: Key(unchecked: String($0)), node: Node(.number(JSONNumber(Int64($0)))))
    }
    try stored.carryOut(
      Assignment(path: Path("l"), target: .node(Node(children: children))))
    #expect(memory.rows.count > 9_000)
    #expect(try stored.summary(at: Path("l")).kind == .children(count: 12_000))
  }
}

/// Rows in memory that count how often heads are written.
private final class CountingRows: RowStore {
  let rows = MemoryRowStore()
  private(set) var headCount = 0

  func put(_ head: SplitHead, of split: Int64) throws {
    headCount += 1
    try rows.put(head, of: split)
  }

  func addChildren(_ difference: Int, to split: Int64) throws {
    headCount += 1
    try rows.addChildren(difference, to: split)
  }

  func row(_ id: RowID) throws -> StoredRow? { try rows.row(id) }
  func forEachRow(
    of split: Int64, in range: KeyRange, isDescending: Bool,
    _ body: (UnsafeRawBufferPointer, RowContent) throws -> Bool
  ) throws {
    try rows.forEachRow(of: split, in: range, isDescending: isDescending, body)
  }
  func splitRows(of split: Int64) throws -> [RowID] { try rows.splitRows(of: split) }
  func rowCount(of split: Int64) throws -> Int { try rows.rowCount(of: split) }
  func put(_ stored: StoredRow, in row: RowID) throws { try rows.put(stored, in: row) }
  func deleteRow(_ id: RowID) throws { try rows.deleteRow(id) }
  func head(of split: Int64) throws -> SplitHead? { try rows.head(of: split) }
  func newSplit() throws -> Int64 { try rows.newSplit() }
  func deleteSplit(_ split: Int64) throws { try rows.deleteSplit(split) }
  func hasEntries(of split: Int64, in order: EntryOrder) throws -> Bool {
    try rows.hasEntries(of: split, in: order)
  }
  func entryCount(of split: Int64, in order: EntryOrder) throws -> Int {
    try rows.entryCount(of: split, in: order)
  }
  func insertEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws {
    try rows.insertEntry(entry, of: split, in: order)
  }
  func deleteEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws {
    try rows.deleteEntry(entry, of: split, in: order)
  }
  func forEachEntry(
    of split: Int64, in order: EntryOrder, range: EntryRange, isDescending: Bool,
    _ body: (EntryBytes, RowContent?) throws -> Bool
  ) throws {
    try rows.forEachEntry(of: split, in: order, range: range, isDescending: isDescending, body)
  }
  func checkNeighbors(of id: RowID) throws { try rows.checkNeighbors(of: id) }
  func hasTraces(ofTree root: RowID) throws -> Bool { try rows.hasTraces(ofTree: root) }
  func name(of split: Int64) throws -> RowID? { try rows.name(of: split) }
}
