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
  /// Changes when another connection has committed: the state is then not that of the time before.
  var stateNumber: Int64 = 0
  /// How many writes the history keeps, if it was looked up before; see `historyLimit()`.
  var knownHistoryLimit = HistoryLimit()
  /// Tells which sessions run; nil if nobody needs to know.
  var beacon: ChangeBeacon?
  /// True while a repair puts rows in a tree whose own row may be missing.
  var isMending = false
  /// What the history will say of this transaction's write.
  let notedEntry = NotedEntry()
  private let statements: StatementCache
  /// Why the last read failed that the engine made; see `reading`.
  private var failure = Failure()
  let writer = RecordWriter()
  /// The split nodes met so far, through which the way to almost every row leads.
  let splits = SplitMemo()

  private final class Failure {
    var cause: (any Error)?
  }

  init(
    db: GRDB.Database, indexes: [StoredIndex], adviceLog: AdviceLog = AdviceLog(),
    root: RowID = .root, statements: StatementCache = StatementCache()
  ) {
    self.db = db
    self.indexes = indexes
    self.adviceLog = adviceLog
    self.root = root
    self.statements = statements
  }

  /// What the origin told, where the tree is a replica; no declared index keeps it.
  var server: StoreTransaction {
    var server = StoreTransaction(
      db: db, indexes: [], adviceLog: adviceLog, root: .server, statements: statements)
    server.failure = failure
    return server
  }

  /// The statement of a text, compiled once for the connection.
  func statement(_ sql: StaticString) throws -> FastStatement { try statements.statement(sql, db) }

  /// The statement of a text that was put together, compiled once for the connection.
  func builtStatement(_ sql: String) throws -> FastStatement {
    try statements.builtStatement(sql, db)
  }

  // MARK: Rows

  func row(_ id: RowID) throws -> StoredRow? {
    if let split = splits[id] { return .split(split) }
    return try statement("SELECT json, split, checksum FROM node WHERE parent = ? AND key = ?")
      .first(.integer(id.parent), .bytes(id.key)) { row in
        try Damage.locating(.row(id)) {
          switch try id.key.withUnsafeBytes({ try row.content(id.parent, $0, from: 0) }) {
          case .record(let json): return .record(Array(json))
          case .split(let split):
            splits.note(split, in: id)
            return .split(split)
          }
        }
      }
  }

  /// Where a path leads.
  ///
  /// With `isMissingChecked`, a row that is not there is made sure of; a write, which replaces what it
  /// finds, does without.
  ///
  /// - Throws: `Damage` if a row on the way is not what was written, or is missing.
  func location(of path: Path, isMissingChecked: Bool = true) throws -> Location {
    var id = root
    var keys = path.keys[...]
    while true {
      guard let stored = try row(id) else {
        if id == root { try checkIsEmpty() } else if isMissingChecked { try checkNeighbors(of: id) }
        return .missing
      }
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
      let priority = try forEachChild(of: split) { key, content in
        let node =
          switch content {
          case .record(let json): try RecordCoding.node(json)
          case .split(let below): try node(.split(below), above: path)
          }
        children.append(Child(key: key, node: node))
      }
      return Node(children: children, priority: priority)
    }
  }

  /// The split nodes down to one, if it can be below those.
  ///
  /// - Throws: `Damage` if nodes contain each other, or are nested deeper than a tree can be.
  static func path(to split: Int64, _ above: [Int64]) throws -> [Int64] {
    if above.contains(split) { throw Damage("it is stored within itself", at: .split(split)) }
    if above.count > TreeLimits.depthMax {
      throw Damage("nodes are nested deeper than a tree can be", at: .split(split))
    }
    return above + [split]
  }

  func storedNode(at path: Path) throws -> Node {
    try Damage.locating(.words(path.description)) {
      switch try location(of: path) {
      case .row(let stored): try node(stored)
      case .inside(let record, let rest): try RecordCoding.node(record)[rest]
      case .missing: .empty
      }
    }
  }

  func splitHead(_ split: Int64) throws -> (children: Int, priority: Leaf?) {
    let head = try statement("SELECT children, priority, checksum FROM split WHERE id = ?")
      .first(.integer(split)) { row in
        try Damage.locating(.split(split)) { try row.splitHead(split) }
      }
    guard let head else {
      throw Damage("the row that says how many children it has is missing", at: .split(split))
    }
    return head
  }

  func storedSummary(at path: Path) throws -> NodeSummary {
    try Damage.locating(.words(path.description)) {
      switch try location(of: path) {
      case .row(let stored): try storedSummary(stored)
      case .inside(let record, let rest): NodeSummary(try RecordCoding.node(record)[rest])
      case .missing: NodeSummary(.empty)
      }
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
    let place = Path(unchecked: path.keys + [key])
    return try reading(place) {
      switch try location(of: place) {
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
    try reading(path) { try scan(of: path, in: slice, detail: detail).rows }
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
  ///
  /// Damage that it finds is at `path`, if nothing more exact is known.
  func reading<Result>(
    _ path: Path? = nil, _ body: () throws -> Result
  ) throws(TreeError) -> Result {
    do {
      guard let path else { return try body() }
      return try Damage.locating(.words(path.description), body)
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
    } catch let damage as Damage {
      throw inWords(damage)
    } catch let error as TreeError where error.code == .storage {
      guard let damage = failure.cause as? Damage else { throw failure.cause ?? error }
      throw inWords(damage)
    }
  }
}

extension FastStatement {
  /// What a row of `split` says, whose columns are `children`, `priority` and `checksum`.
  fileprivate func splitHead(_ split: Int64) throws -> (children: Int, priority: Leaf?) {
    let count = try integer(0, "the number of its children") ?? -1
    let priority = bytes(1)
    if let checksum = try integer(2, "its checksum"),
      checksum != Checksum.head(split, children: count, priority: priority)
    {
      throw Damage("the checksum of its number of children and its priority does not match")
    }
    if count < 0 { throw Damage("it does not say how many children it has") }
    return (Int(count), try RecordCoding.priority(priority))
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

  /// The bytes of a column, by its position; nil if it is null.
  func bytesOrNil(at index: Int) -> [UInt8]? {
    // Only the closure could throw, and it does not.
    (try? withUnsafeData(atIndex: index) { $0.map { Array($0) } }) ?? nil
  }

  /// The key in the first column.
  func key() throws -> RunnelTree.Key {
    guard let key = OrderedBytes.key(from: bytesOrNil(at: 0) ?? []) else {
      throw Damage("a key is none")
    }
    return key
  }
}

extension [UInt8] {
  /// The bytes as an argument of a statement.
  var databaseBlob: Data {
    withUnsafeBytes { bytes in bytes.baseAddress.map { Data(bytes: $0, count: count) } ?? Data() }
  }
}
