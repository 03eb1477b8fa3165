import Foundation
import GRDB
import RunnelTree

/// The stored tree, read and written within one transaction of SQLite.
///
/// Reading takes a lookup for each split node on the way, then one range scan; nothing but the rows
/// asked for is held in memory. It lives no longer than the transaction.
struct StoreTransaction {
  let db: GRDB.Database
  /// The declared indexes, in order of their ids.
  let indexes: [StoredIndex]
  /// The row of the tree that is read and written.
  let root: RowID
  /// Where reads that an index would spare are noted.
  let adviceLog: AdviceLog
  /// Why the last read failed that the engine made; see `reading`.
  private let failure = Failure()
  let writer = RecordWriter()

  private final class Failure {
    var cause: (any Error)?
  }

  init(
    db: GRDB.Database, indexes: [StoredIndex], adviceLog: AdviceLog = AdviceLog(),
    root: RowID = .root
  ) {
    self.db = db
    self.indexes = indexes
    self.adviceLog = adviceLog
    self.root = root
  }

  /// What the origin told, where the tree is a replica; no declared index keeps it.
  var server: StoreTransaction {
    StoreTransaction(db: db, indexes: [], adviceLog: adviceLog, root: .server)
  }

  // MARK: Rows

  func row(_ id: RowID) throws -> StoredRow? {
    let statement = try db.cachedStatement(
      sql: "SELECT key, json, split FROM node WHERE parent = ? AND key = ?")
    guard
      let row = try Row.fetchOne(statement, arguments: [id.parent, id.key.databaseBlob])
    else { return nil }
    return try storedRow(row)
  }

  /// What a row holds whose columns are `key`, `json` and `split`.
  func storedRow(_ row: Row) throws -> StoredRow {
    if let split = try row.integerOrNil("split") { return .split(split) }
    return .record(row.bytes("json"))
  }

  func location(of path: Path) throws -> Location {
    var id = root
    var keys = path.keys[...]
    while true {
      guard let stored = try row(id) else { return .missing }
      guard let key = keys.first else { return .row(stored) }
      switch stored {
      case .record(let bytes):
        return .inside(record: bytes, rest: Path(unchecked: Array(keys)))
      case .split(let split):
        id = RowID(parent: split, key)
        keys = keys.dropFirst()
      }
    }
  }

  // MARK: Nodes

  /// The whole subtree that a row holds; `above` are the split nodes that lead to it.
  func node(_ stored: StoredRow, above: [Int64] = []) throws -> Node {
    switch stored {
    case .record(let bytes): return try RecordCoding.node(bytes)
    case .split(let split):
      let path = try StoreTransaction.path(to: split, above)
      var children: [Child] = []
      let cursor = try Row.fetchCursor(
        db, sql: "SELECT key, json, split FROM node WHERE parent = ? ORDER BY key",
        arguments: [split])
      while let row = try cursor.next() {
        let node = try node(storedRow(row), above: path)
        children.append(Child(key: try row.key(), node: node))
      }
      return Node(children: children, priority: try splitHead(split).priority)
    }
  }

  /// The split nodes down to one, if it can be below those.
  ///
  /// - Throws: `Damage` if nodes contain each other, or are nested deeper than a tree can be.
  static func path(to split: Int64, _ above: [Int64]) throws -> [Int64] {
    if above.contains(split) { throw Damage("node \(split) is stored within itself") }
    if above.count > TreeLimits.depthMax { throw Damage("nodes are nested too deep") }
    return above + [split]
  }

  func storedNode(at path: Path) throws -> Node {
    switch try location(of: path) {
    case .row(let stored): try node(stored)
    case .inside(let record, let rest): try RecordCoding.node(record)[rest]
    case .missing: .empty
    }
  }

  func splitHead(_ split: Int64) throws -> (children: Int, priority: Leaf?) {
    let statement = try db.cachedStatement(
      sql: "SELECT children, priority FROM split WHERE id = ?")
    guard let row = try Row.fetchOne(statement, arguments: [split]) else {
      throw Damage("split node \(split) has no head")
    }
    let count = try row.integerOrNil("children") ?? -1
    if count < 0 { throw Damage("split node \(split) does not know how many children it has") }
    return (Int(count), try RecordCoding.priority(row.bytesOrNil("priority")))
  }

  func storedSummary(at path: Path) throws -> NodeSummary {
    switch try location(of: path) {
    case .row(let stored): try storedSummary(stored)
    case .inside(let record, let rest): NodeSummary(try RecordCoding.node(record)[rest])
    case .missing: NodeSummary(.empty)
    }
  }

  func storedSummary(_ stored: StoredRow) throws -> NodeSummary {
    switch stored {
    case .record(let bytes): return NodeSummary(try RecordCoding.node(bytes))
    case .split(let split):
      let head = try splitHead(split)
      return NodeSummary(kind: .children(count: head.children), priority: head.priority)
    }
  }

  /// What an index compares of a stored child, apart from its key.
  func indexValue(of stored: StoredRow, _ index: QueryIndex) throws -> IndexValue {
    switch (stored, index) {
    case (_, .key): return .null
    case (.record(let bytes), _): return index.value(of: try RecordCoding.node(bytes))
    case (.split, .value): return .children
    case (.split(let split), .priority):
      return try splitHead(split).priority.map(IndexValue.leaf) ?? .null
    case (.split, .compound(let order)):
      return .tuple(try order.tuple { field in try indexValue(of: stored, field.index) })
    case (.split(let split), .child(let path)):
      guard let key = path.keys.first, let child = try row(RowID(parent: split, key)) else {
        return .null
      }
      let rest = Path(unchecked: Array(path.keys.dropFirst()))
      return try indexValue(of: child, rest.isRoot ? .value : .child(rest))
    }
  }
}

extension StoreTransaction: TreeReader {
  func node(at path: Path) throws(TreeError) -> Node {
    try reading { try storedNode(at: path) }
  }

  func summary(at path: Path) throws(TreeError) -> NodeSummary {
    try reading { try storedSummary(at: path) }
  }

  func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow? {
    try reading {
      switch try location(of: Path(unchecked: path.keys + [key])) {
      case .row(.record(let bytes)):
        return slice.row(Child(key: key, node: try RecordCoding.node(bytes)), detail: detail)
      case .row(let stored):
        let value = slice.index.completed(try indexValue(of: stored, slice.index), key: key)
        guard slice.contains(IndexPosition(value: value, key: .key(key))) else { return nil }
        if let filter = slice.filter, try !holds(filter, of: key, stored) { return nil }
        return try treeRow(key, stored, slice.index, detail)
      case .inside(let record, let rest):
        let node = try RecordCoding.node(record)[rest]
        return node.isEmpty ? nil : slice.row(Child(key: key, node: node), detail: detail)
      case .missing: return nil
      }
    }
  }

  func treeRow(
    _ key: Key, _ stored: StoredRow, _ index: QueryIndex, _ detail: TreeRow.Detail
  ) throws -> TreeRow {
    switch (stored, detail) {
    case (.record(let bytes), _):
      let node = try RecordCoding.node(bytes)
      return TreeRow(Child(key: key, node: node), index: index, detail: detail)
    case (.split, .full):
      let child = Child(key: key, node: try node(stored))
      return TreeRow(child, index: index, detail: detail)
    case (.split, .shallow):
      return TreeRow(
        key: key, value: index.completed(try indexValue(of: stored, index), key: key),
        content: .summary(try storedSummary(stored)))
    }
  }

  func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow] {
    try reading { try scan(of: path, in: slice, detail: detail).rows }
  }

  /// The children of a place in a slice of an order, and what finding them cost.
  func scan(of path: Path, in slice: RowSlice, detail: TreeRow.Detail) throws -> RowScan {
    let node: Node
    switch try location(of: path) {
    case .row(.split(let split)): return try childRows(of: split, at: path, slice, detail)
    case .row(.record(let bytes)): node = try RecordCoding.node(bytes)
    case .inside(let record, let rest): node = try RecordCoding.node(record)[rest]
    case .missing: node = .empty
    }
    return RowScan(
      rows: slice.rows(among: node.children, detail: detail), way: .record,
      scannedCount: node.children.count)
  }

  /// Runs a read for the engine, which knows errors of the tree only; `telling` finds the cause.
  func reading<Result>(_ body: () throws -> Result) throws(TreeError) -> Result {
    do {
      return try body()
    } catch let error as TreeError {
      throw error
    } catch {
      failure.cause = error
      throw TreeError(.storage, "The storage could not be read: \(error)")
    }
  }

  /// Runs `body`; an error that a read of the engine failed with is thrown as what it was.
  func telling<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
    do {
      return try body(self)
    } catch let error as TreeError where error.code == .storage {
      throw failure.cause ?? error
    }
  }
}

extension Row {
  /// The bytes of a column that is not null.
  func bytes(_ column: String) -> [UInt8] { bytesOrNil(column) ?? [] }

  /// The bytes of a column; nil if it is null.
  func bytesOrNil(_ column: String) -> [UInt8]? {
    // Only the closure could throw, and it does not.
    (try? withUnsafeData(named: column) { $0.map { Array($0) } }) ?? nil
  }

  /// The bytes of a column that holds bytes; nil if it holds anything else.
  func blob(_ column: String) -> [UInt8]? {
    if case .blob(let bytes) = (self[column] as DatabaseValue).storage { Array(bytes) } else { nil }
  }

  /// The integer in a column; nil if it is null.
  ///
  /// - Throws: `Damage` if it holds something else, for which GRDB would trap.
  func integerOrNil(_ column: String) throws -> Int64? {
    switch (self[column] as DatabaseValue).storage {
    case .null: return nil
    case .int64(let value): return value
    case .double, .string, .blob: throw Damage("\(column) is no integer")
    }
  }

  /// The text in a column.
  ///
  /// - Throws: `Damage` if it holds something else.
  func text(_ column: String) throws -> String {
    guard case .string(let value) = (self[column] as DatabaseValue).storage else {
      throw Damage("\(column) is no text")
    }
    return value
  }

  /// The key in the column `key`.
  func key() throws -> RunnelTree.Key {
    guard let key = OrderedBytes.key(from: bytes("key")) else { throw Damage("a key is none") }
    return key
  }
}

extension [UInt8] {
  /// The bytes as an argument of a statement.
  var databaseBlob: Data {
    withUnsafeBytes { bytes in bytes.baseAddress.map { Data(bytes: $0, count: count) } ?? Data() }
  }
}
