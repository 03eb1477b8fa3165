package import RunnelTree

/// A tree that is stored in rows, read and written within one transaction.
///
/// Reading takes a lookup for each split node on the way, then one range scan; only the requested
/// rows are held in memory. The value must not be used after the transaction.
package struct StoredTree {
  /// The store of the rows.
  package let rowStore: any RowStore
  /// The declared indexes, in order of their numbers.
  package let indexes: [StoredIndex]
  /// The row of the tree that is read and written.
  package let root: RowID
  /// The log of reads that an index would make faster.
  let adviceLog: AdviceLog
  /// True while a repair puts rows in a tree whose own row may be missing.
  package var isMending = false
  package let writer = RecordWriter()
  /// The split nodes met so far, which are on the way to almost every row.
  let splits = SplitMemo()
  /// The counts of nodes that are being read page by page.
  let tally = PageTally()
  /// The record that was read last, in this tree or the origin's, which are often equal.
  private(set) var records = RecordMemo()
  /// The cause of the last failed read by the engine; see `reading`.
  private var failure = Failure()

  private final class Failure {
    var cause: (any Error)?
  }

  package init(
    _ rowStore: any RowStore, indexes: [StoredIndex], adviceLog: AdviceLog = AdviceLog(),
    root: RowID = .root
  ) {
    self.rowStore = rowStore
    self.indexes = indexes
    self.adviceLog = adviceLog
    self.root = root
  }

  /// The origin's tree, on a replica; no declared index keeps it.
  package var server: StoredTree {
    var server = StoredTree(rowStore, indexes: [], adviceLog: adviceLog, root: .server)
    server.failure = failure
    server.records = records
    return server
  }

  /// The same tree in another store's rows.
  package func stored(in rowStore: any RowStore) -> StoredTree {
    var tree = StoredTree(rowStore, indexes: indexes, adviceLog: adviceLog, root: root)
    tree.isMending = isMending
    tree.failure = failure
    return tree
  }

  // MARK: Rows

  package func row(_ id: RowID) throws -> StoredRow? {
    if let split = splits[id] { return .split(split) }
    let stored = try rowStore.row(id)
    if case .split(let split)? = stored { splits.note(split, in: id) }
    return stored
  }

  /// Forgets the known split nodes, after rows were changed other than through this tree.
  package func forgetRows() { splits.forgetAll() }

  /// The location of a path.
  ///
  /// With `isMissingChecked`, a missing row is double-checked; a write, which replaces the row in
  /// any case, does not need this.
  ///
  /// - Throws: `Damage` if the content of a row on the way is not what was written, or if a row is
  ///   missing.
  package func location(of path: Path, isMissingChecked: Bool = true) throws -> Location {
    var id = root
    var keys = path.keys[...]
    while true {
      guard let stored = try row(id) else {
        if id == root { try checkIsEmpty() } else if isMissingChecked { try checkIsMissing(id) }
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

  /// The whole subtree in a row; `above` are the split nodes that lead to it.
  package func node(_ stored: StoredRow, above: [Int64] = []) throws -> Node {
    switch stored {
    case .record(let bytes): return try RecordCoding.node(bytes)
    case .split(let split):
      let path = try StoredTree.path(to: split, above)
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

  /// The split nodes down to one, if it can be below `above`.
  ///
  /// - Throws: `Damage` if nodes contain each other, or are nested deeper than a tree can be.
  package static func path(to split: Int64, _ above: [Int64]) throws -> [Int64] {
    if above.contains(split) { throw Damage("it is stored within itself", at: .split(split)) }
    if above.count > TreeLimits.depthMax {
      throw Damage("nodes are nested deeper than a tree can be", at: .split(split))
    }
    return above + [split]
  }

  package func storedNode(at path: Path) throws -> Node {
    try Damage.locating(.words(path.description)) {
      switch try location(of: path) {
      case .row(let stored): try node(stored)
      case .inside(let record, let rest): try records.node(record)[rest]
      case .missing: .empty
      }
    }
  }

  package func splitHead(_ split: Int64) throws -> SplitHead {
    guard let head = try rowStore.head(of: split) else {
      throw Damage("the row that says how many children it has is missing", at: .split(split))
    }
    return head
  }

  package func storedSummary(at path: Path) throws -> NodeSummary {
    try Damage.locating(.words(path.description)) {
      switch try location(of: path) {
      case .row(let stored): try storedSummary(stored)
      case .inside(let record, let rest): NodeSummary(try records.node(record)[rest])
      case .missing: NodeSummary(.empty)
      }
    }
  }

  package func storedSummary(_ stored: StoredRow) throws -> NodeSummary {
    switch stored {
    case .record(let bytes): return NodeSummary(try RecordCoding.node(bytes))
    case .split(let split):
      let head = try splitHead(split)
      return NodeSummary(kind: .children(count: head.children), priority: head.priority)
    }
  }

  /// The value that an index compares for a stored child, apart from its key.
  package func indexValue(of stored: StoredRow, _ index: QueryIndex) throws -> IndexValue {
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

extension StoredTree: TreeReader {
  package func node(at path: Path) throws(TreeError) -> Node {
    try reading { try storedNode(at: path) }
  }

  package func summary(at path: Path) throws(TreeError) -> NodeSummary {
    try reading { try storedSummary(at: path) }
  }

  package func row(
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
        let node = try records.node(record)[rest]
        return node.isEmpty ? nil : slice.row(Child(key: key, node: node), detail: detail)
      case .missing: return nil
      }
    }
  }

  package func treeRow(
    _ key: Key, _ stored: StoredRow, _ index: QueryIndex, _ detail: TreeRow.Detail
  ) throws -> TreeRow {
    switch (stored, detail) {
    case (.record(let bytes), _):
      let node = try RecordCoding.node(bytes)
      return TreeRow(Child(key: key, node: node), index: index, detail: detail)
    case (.split, .full):
      let child = Child(key: key, node: try node(stored))
      return TreeRow(child, index: index, detail: detail)
    case (.split, .shallow), (.split, .stored):
      return TreeRow(
        key: key, value: index.completed(try indexValue(of: stored, index), key: key),
        content: .summary(try storedSummary(stored)))
    }
  }

  package func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow] {
    try reading(path) { try scan(of: path, in: slice, detail: detail).rows }
  }

  /// The children of a place in a slice of an order, and the cost of finding them.
  package func scan(of path: Path, in slice: RowSlice, detail: TreeRow.Detail) throws -> RowScan {
    let node: Node
    switch try location(of: path) {
    case .row(.split(let split)): return try childRows(of: split, at: path, slice, detail)
    case .row(.record(let bytes)): node = try RecordCoding.node(bytes)
    case .inside(let record, let rest): node = try records.node(record)[rest]
    case .missing: node = .empty
    }
    return RowScan(
      rows: slice.rows(among: node.children, detail: detail), way: .record,
      scannedCount: node.children.count)
  }

  /// Runs a read for the engine, which knows only errors of the tree; `telling` restores the cause.
  ///
  /// Damage without a known place is reported at `path`.
  package func reading<Result>(
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

  /// Runs `body`; if a read of the engine failed, throws the original error.
  package func telling<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let damage as Damage {
      throw inWords(damage)
    } catch let error as TreeError where error.code == .storage {
      guard let damage = failure.cause as? Damage else { throw failure.cause ?? error }
      throw inWords(damage)
    }
  }
}
