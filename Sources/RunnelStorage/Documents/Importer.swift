import RunnelBase
package import RunnelTree

/// Reads a JSON document into the stored tree without ever holding all of it in memory.
///
/// Values up to a budget of bytes become nodes and are stored like any others; a larger object or
/// array is split at once and its members follow one by one. Memory is that of one record, time
/// O(n).
package struct Importer {
  /// Called now and then with the number of bytes read; an error stops the import.
  package typealias Progress = (_ bytes: Int) throws -> Void

  private static let stepsBetweenReports = 2000

  let tree: StoredTree
  let progress: Progress
  private var steps = 0

  package init(_ tree: StoredTree, progress: @escaping Progress) {
    self.tree = tree
    self.progress = progress
  }

  /// The outcome of importing one value.
  enum Outcome {
    /// Nothing was stored: the value is null, or contains only nulls.
    case nothing
    /// The value was stored as this node, which indexes need.
    case node(Node)
    /// The value was split.
    case split(Int64)
  }

  /// Imports the whole document to a place, in place of the node there.
  package mutating func importDocument(
    _ bytes: UnsafeBufferPointer<UInt8>, at path: Path
  ) throws {
    var scanner = JSONScanner(bytes)
    let reader = NodeReader(at: path)
    if let node = try reader.read(&scanner, maxBytes: RecordCoding.bytesMax) {
      try scanner.finish()
      try tree.carryOut(Assignment(path: path, target: .node(node)))
      return
    }
    if try tree.summary(at: path).kind != .empty {
      // The old node is removed in any case; a leaf keeps the nodes above it, and their priorities.
      try tree.carryOut(Assignment(path: path, target: .node(Node(.bool(true)))))
    }
    let outcome = try importLarge(&scanner, at: path, row: .detached)
    try scanner.finish()
    if case .nothing = outcome {
      try tree.carryOut(Assignment(path: path, target: .node(.empty)))
    } else {
      try tree.attach(.detached, at: path)
    }
  }

  /// Imports a child of a node that is being split.
  private mutating func importChild(
    _ key: Key, _ scanner: inout JSONScanner, to children: inout SplitChildren
  ) throws {
    try report(scanner)
    let row = try children.row(for: key)
    let small = try children.reader.read(&scanner, for: key, maxBytes: RecordCoding.bytesMax)
    guard let node = small else {
      let outcome = try importLarge(&scanner, at: children.path.child(key), row: row)
      return try children.add(outcome, row)
    }
    if node.isEmpty { return }
    let bytes = tree.writer.record(node)
    if bytes.count <= RecordCoding.bytesMax {
      try children.insert(bytes, row)
    } else {
      try tree.store(node, at: children.path.keys + [key], row: row)
    }
    try children.add(.node(node), row)
  }

  /// A value beyond the budget: a long string, or an object or array to split.
  mutating func importLarge(
    _ scanner: inout JSONScanner, at path: Path, row: RowID
  ) throws -> Outcome {
    switch try scanner.peekKind() {
    case .object: return try importObject(&scanner, at: path, row: row)
    case .array: return try importArray(&scanner, at: path, row: row)
    default:
      let node = try Node(json: scanner.readValue(), at: path)
      try tree.store(node, at: path.keys, row: row)
      return .node(node)
    }
  }

  private mutating func importObject(
    _ scanner: inout JSONScanner, at path: Path, row: RowID
  ) throws -> Outcome {
    var children = SplitChildren(tree, row: row, at: path)
    var priority = JSONValue.null
    var leaf = JSONValue.null
    var hasMembers = false
    try children.open()
    try scanner.enterObject()
    while let name = try scanner.nextMember() {
      switch name {
      case ReservedName.priority: priority = try scanner.readValue()
      case ReservedName.value: leaf = try scanner.readValue()
      default:
        hasMembers = true
        try importChild(try Importer.key(name, in: path), &scanner, to: &children)
      }
    }
    if leaf != .null {
      guard try children.close(priority: nil) == nil, !hasMembers else {
        throw TreeError(
          .invalidValue, "\".value\" stands beside no other children.", path: path.description)
      }
      let node = try Node(json: [".value": leaf, ".priority": priority], at: path)
      try tree.store(node, at: path.keys, row: row)
      return .node(node)
    }
    let split = try children.close(priority: Importer.priority(priority, of: path))
    return split.map { .split($0) } ?? .nothing
  }

  private mutating func importArray(
    _ scanner: inout JSONScanner, at path: Path, row: RowID
  ) throws -> Outcome {
    var children = SplitChildren(tree, row: row, at: path)
    var position = 0
    try children.open()
    try scanner.enterArray()
    while try scanner.nextElement() {
      try importChild(Key(unchecked: String(position)), &scanner, to: &children)
      position += 1
    }
    return try children.close(priority: nil).map { .split($0) } ?? .nothing
  }

  mutating func report(_ scanner: JSONScanner) throws {
    steps += 1
    guard steps.isMultiple(of: Importer.stepsBetweenReports) else { return }
    try progress(scanner.offset)
  }

  static func key(_ name: String, in path: Path) throws -> Key {
    do throws(TreeError) {
      return try Key(name)
    } catch {
      throw error.below(path)
    }
  }

  static func priority(_ json: JSONValue, of path: Path) throws -> Leaf? {
    do throws(TreeError) {
      return try Node.importedPriority(json)
    } catch {
      throw error.below(path)
    }
  }

  /// The children of a node that is being split while it is read.
  private struct SplitChildren {
    let tree: StoredTree
    let row: RowID
    let path: Path
    let reader: NodeReader
    private let kept: [StoredIndex]
    private var split: Int64 = 0
    private var count = 0
    /// The greatest key so far, in the order of the tree.
    private var greatest: [UInt8] = []

    init(_ tree: StoredTree, row: RowID, at path: Path) {
      self.tree = tree
      self.row = row
      self.path = path
      reader = NodeReader(at: path)
      kept = tree.indexes.filter { $0.covers(path.keys) }
    }

    mutating func open() throws { split = try tree.makeSplit(row: row) }

    /// Returns the row for a member.
    ///
    /// If a name occurs twice, the later member counts, so an earlier one is removed. A member that
    /// comes after all others in the order of the tree, as in an export, needs no lookup.
    mutating func row(for key: Key) throws -> RowID {
      let row = RowID(parent: split, key)
      if greatest.lexicographicallyPrecedes(row.key) {
        greatest = row.key
        return row
      }
      if let earlier = try tree.row(row) {
        let indexed = IndexedRow(row: row, kept: kept)
        try tree.moveEntries(of: indexed, from: tree.entryValues(of: indexed), to: nil)
        if case .split(let below) = earlier { try tree.deleteSplit(below) }
        try tree.rowStore.deleteRow(row)
        count -= 1
      }
      return row
    }

    /// Stores a member's record.
    func insert(_ record: [UInt8], _ row: RowID) throws {
      try tree.rowStore.put(.record(record), in: row)
    }

    /// Counts and indexes a member that was stored.
    mutating func add(_ outcome: Outcome, _ row: RowID) throws {
      switch outcome {
      case .nothing: return
      case .node(let node): try tree.addEntries(of: .node(node), row: row, kept)
      case .split(let below): try tree.addEntries(of: .stored(.split(below)), row: row, kept)
      }
      count += 1
    }

    /// Ends the node; returns nil if it is empty and was removed.
    func close(priority: Leaf?) throws -> Int64? {
      if count == 0 {
        try tree.deleteSplit(split)
        try tree.rowStore.deleteRow(row)
        return nil
      }
      try tree.rowStore.put(SplitHead(children: count, priority: priority), of: split)
      return split
    }
  }
}

/// A stored child under a split node, with the indexes that keep it.
struct IndexedRow {
  let row: RowID
  let kept: [StoredIndex]
}

extension StoredTree {
  /// Moves a row with everything below it to a place, in place of the node there.
  package func attach(_ detached: RowID, at path: Path) throws {
    // A leaf is stored at the place first, so that everything above it is made, counted and
    // indexed.
    try carryOut(Assignment(path: path, target: .node(Node(.bool(true)))))
    let above = try splitAncestors(of: path)
    let before = try above.map { try entryValues(of: $0) }
    let row = above.last?.row ?? .root
    guard let stored = try self.row(detached) else { throw Damage("what was imported is gone") }
    try rowStore.deleteRow(row)
    try rowStore.deleteRow(detached)
    try rowStore.put(stored, in: row)
    splits.forgetAll()
    for (level, values) in zip(above, before) {
      try moveEntries(of: level, from: values, to: try entryValues(of: level))
    }
  }

  /// Splits every node above a place, whatever its size; returns the rows from the first level down
  /// to the place itself.
  ///
  /// - Precondition: something is stored at the place.
  func splitAncestors(of path: Path) throws -> [IndexedRow] {
    var rows: [IndexedRow] = []
    var id = RowID.root
    for (depth, key) in path.keys.enumerated() {
      let place = Array(path.keys[..<depth])
      let split = try forceSplit(at: place, row: id)
      id = RowID(parent: split, key)
      rows.append(IndexedRow(row: id, kept: indexes.filter { $0.covers(place) }))
    }
    return rows
  }

  private func forceSplit(at place: [Key], row id: RowID) throws -> Int64 {
    switch try row(id) {
    case .split(let split): return split
    case .record(let bytes): return try split(RecordCoding.node(bytes), at: place, row: id)
    case nil: throw Damage("a node is stored, and the one above it is not")
    }
  }

  /// The values that the orders of a row's indexes compare, the order of priority first; nil if
  /// there is no such row.
  func entryValues(of indexed: IndexedRow) throws -> [IndexValue]? {
    guard let stored = try row(indexed.row) else { return nil }
    return try ([.priority] + indexed.kept.map(\.order)).map { try indexValue(of: stored, $0) }
  }
}
