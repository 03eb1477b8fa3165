import GRDB
import RunnelTree

// Writing. A write goes down through split nodes to the row that it changes, and on its way back
// mends counts, parents that became empty, and the entries of indexes.

/// What a write did to one stored child, for the sake of those above it.
struct RowChange {
  var existedBefore: Bool
  var existsAfter: Bool
  /// What each order asked about compared before (nil: there was no child) and compares after.
  var before: [IndexValue]?
  var after: [IndexValue]?
}

extension StoreTransaction {
  /// Carries out one part of a write.
  func carryOut(_ assignment: Assignment) throws {
    _ = try assign(assignment, depth: 0, row: root, orders: [])
  }

  /// Carries out the part of an assignment that concerns one row and what is below it.
  ///
  /// `depth` is how many keys of the path lead to the row; `orders` are those in which the parent
  /// keeps this child.
  private func assign(
    _ assignment: Assignment, depth: Int, row id: RowID, orders: [QueryIndex]
  ) throws -> RowChange {
    let rest = Path(unchecked: Array(assignment.path.keys[depth...]))
    switch try row(id) {
    case nil:
      if id == root { try checkIsEmpty() }
      return try replace(.empty, with: assignment.target.applied(to: .empty, at: rest), at: rest)
    case .record(let bytes):
      let old = try RecordCoding.node(bytes)
      return try replace(old, with: assignment.target.applied(to: old, at: rest), at: rest)
    case .split(let split) where rest.isRoot:
      return try assignToSplit(split, assignment, row: id, orders: orders)
    case .split(let split):
      let before = try orders.map { try indexValue(of: .split(split), $0) }
      let isSmaller = try assignBelow(split, assignment, depth: depth)
      let exists = try !isSmaller || !dropIfEmpty(split, row: id)
      let after = exists ? try orders.map { try indexValue(of: .split(split), $0) } : nil
      return RowChange(existedBefore: true, existsAfter: exists, before: before, after: after)
    }

    func replace(_ old: Node, with new: Node, at rest: Path) throws -> RowChange {
      let place = Array(assignment.path.keys[..<depth])
      if old != new {
        if new.isEmpty { try deleteRow(id) } else { try store(new, at: place, row: id) }
      }
      return RowChange(
        existedBefore: !old.isEmpty, existsAfter: !new.isEmpty,
        before: old.isEmpty ? nil : orders.map { $0.value(of: old) },
        after: new.isEmpty ? nil : orders.map { $0.value(of: new) })
    }
  }

  private func assignToSplit(
    _ split: Int64, _ assignment: Assignment, row id: RowID, orders: [QueryIndex]
  ) throws -> RowChange {
    let before = try orders.map { try indexValue(of: .split(split), $0) }
    switch assignment.target {
    case .priority(let priority):
      try setPriority(priority, of: split)
      let after = try orders.map { try indexValue(of: .split(split), $0) }
      return RowChange(existedBefore: true, existsAfter: true, before: before, after: after)
    case .node(let new):
      try deleteSplit(split)
      try deleteRow(id)
      if !new.isEmpty { try store(new, at: assignment.path.keys, row: id) }
      return RowChange(
        existedBefore: true, existsAfter: !new.isEmpty, before: before,
        after: new.isEmpty ? nil : orders.map { $0.value(of: new) })
    }
  }

  /// Carries out the part that concerns a child of a split node; true if the child went.
  private func assignBelow(_ split: Int64, _ assignment: Assignment, depth: Int) throws -> Bool {
    let place = Array(assignment.path.keys[..<depth])
    let key = assignment.path.keys[depth]
    let kept = indexes.filter { $0.covers(place) }
    let row = RowID(parent: split, key)
    let change = try assign(
      assignment, depth: depth + 1, row: row, orders: [.priority] + kept.map(\.order))
    try moveEntries(
      of: IndexedRow(row: row, kept: kept), from: change.before, to: change.after)
    let difference = (change.existsAfter ? 1 : 0) - (change.existedBefore ? 1 : 0)
    if difference != 0 {
      try addChildren(difference, to: split)
    }
    return difference < 0
  }

  /// Removes a split node if it lost its last child; true if it did.
  private func dropIfEmpty(_ split: Int64, row id: RowID) throws -> Bool {
    guard try splitHead(split).children == 0 else { return false }
    // A count that was wrong must not take with it what is still stored.
    try checkHasNoRows(split)
    try deleteSplit(split)
    try deleteRow(id)
    return true
  }

  /// Puts the entries of a child where its new values belong.
  ///
  /// `before` is what was compared of it, the order of priority first, and `after` what is compared
  /// of it now; nil if there was no child, or is none any more.
  func moveEntries(
    of indexed: IndexedRow, from before: [IndexValue]?, to after: [IndexValue]?
  ) throws {
    guard before != after else { return }
    let row = indexed.row
    try movePriorityEntry(of: row, from: before?.first, to: after?.first)
    for (offset, index) in indexed.kept.enumerated() {
      let (old, new) = (before?[offset + 1], after?[offset + 1])
      guard old != new else { continue }
      if let old {
        try statement(
          "DELETE FROM index_entry WHERE parent = ? AND definition = ? AND value = ? AND key = ?"
        ).run(
          .integer(row.parent), .integer(index.id), .bytes(OrderedBytes.value(old)),
          .bytes(row.key))
      }
      if let new { try insertEntry(row, index, new) }
    }
  }

  private func movePriorityEntry(
    of row: RowID, from before: IndexValue?, to after: IndexValue?
  ) throws {
    guard before != after else { return }
    if let before, before != .null {
      try statement("DELETE FROM priority_entry WHERE parent = ? AND value = ? AND key = ?")
        .run(.integer(row.parent), .bytes(OrderedBytes.value(before)), .bytes(row.key))
    }
    if let after, after != .null { try insertPriorityEntry(row, after) }
  }

  func insertPriorityEntry(_ row: RowID, _ value: IndexValue) throws {
    try statement("INSERT OR REPLACE INTO priority_entry (parent, value, key) VALUES (?, ?, ?)")
      .run(.integer(row.parent), .bytes(OrderedBytes.value(value)), .bytes(row.key))
  }

  func insertEntry(_ row: RowID, _ index: StoredIndex, _ value: IndexValue) throws {
    try statement(
      "INSERT OR REPLACE INTO index_entry (parent, definition, value, key) VALUES (?, ?, ?, ?)"
    ).run(
      .integer(row.parent), .integer(index.id), .bytes(OrderedBytes.value(value)), .bytes(row.key))
  }
}

// MARK: Rows

extension StoreTransaction {
  /// Stores a node that is not empty, in one row or split into its children.
  ///
  /// What stood in the row is replaced; nothing split may have stood there.
  func store(_ node: Node, at place: @autoclosure () -> [Key], row id: RowID) throws {
    let bytes = writer.record(node)
    if bytes.count <= Schema.recordBytesMax || node.children.isEmpty {
      try put(record: bytes, row: id)
      return
    }
    _ = try split(node, at: place(), row: id)
  }

  /// Stores a node as a split one, whatever its size; a leaf's place is taken by no children.
  func split(_ node: Node, at place: [Key], row id: RowID) throws -> Int64 {
    let split = try makeSplit(row: id, priority: node.priority)
    let kept = indexes.filter { $0.covers(place) }
    for child in node.children {
      let row = RowID(parent: split, child.key)
      try store(child.node, at: place + [child.key], row: row)
      try addEntries(of: .node(child.node), row: row, kept)
    }
    try setHead(of: split, children: node.children.count, priority: node.priority)
    return split
  }

  /// What indexes compare: a node at hand, or one that is stored.
  enum Indexed {
    case node(Node)
    case stored(StoredRow)
  }

  /// Adds the entries of a child that has just been stored under a split node.
  func addEntries(of indexed: Indexed, row: RowID, _ kept: [StoredIndex]) throws {
    let priority = try value(of: indexed, .priority)
    if priority != .null { try insertPriorityEntry(row, priority) }
    for index in kept { try insertEntry(row, index, try value(of: indexed, index.order)) }
  }

  func value(of indexed: Indexed, _ order: QueryIndex) throws -> IndexValue {
    switch indexed {
    case .node(let node): order.value(of: node)
    case .stored(let stored): try indexValue(of: stored, order)
    }
  }

  func put(record bytes: [UInt8], row id: RowID) throws {
    try statement(
      "INSERT OR REPLACE INTO node (parent, key, json, split, checksum) VALUES (?, ?, ?, NULL, ?)"
    ).run(.integer(id.parent), .bytes(id.key), .bytes(bytes), .integer(id.checksum(record: bytes)))
  }

  /// Has a row name a split node.
  func put(split: Int64, row id: RowID) throws {
    try statement(
      "INSERT OR REPLACE INTO node (parent, key, json, split, checksum) VALUES (?, ?, NULL, ?, ?)"
    ).run(.integer(id.parent), .bytes(id.key), .integer(split), .integer(id.checksum(split: split)))
  }

  /// Makes a split node without children in a row; the caller adds them and sets its head.
  func makeSplit(row id: RowID, priority: Leaf?) throws -> Int64 {
    try statement("INSERT INTO split (children, priority) VALUES (0, ?)")
      .run(StoreTransaction.value(priority))
    let split = db.lastInsertedRowID
    try put(split: split, row: id)
    return split
  }

  private static func value(_ priority: Leaf?) -> FastStatement.Value {
    RecordCoding.bytes(priority).map { .bytes($0) } ?? .null
  }

  func setPriority(_ priority: Leaf?, of split: Int64) throws {
    try setHead(of: split, children: try splitHead(split).children, priority: priority)
  }

  /// Writes what a split node says of itself.
  func setHead(of split: Int64, children: Int, priority: Leaf?) throws {
    let bytes = RecordCoding.bytes(priority)
    let checksum = Checksum.head(split, children: Int64(children), priority: bytes)
    try statement("UPDATE split SET children = ?, priority = ?, checksum = ? WHERE id = ?")
      .run(
        .integer(Int64(children)), bytes.map { .bytes($0) } ?? .null, .integer(checksum),
        .integer(split))
  }

  /// Counts children that came, or went.
  ///
  /// The checksum changes with the count: if it did not match, it does not match afterwards either.
  private func addChildren(_ difference: Int, to split: Int64) throws {
    try statement("UPDATE split SET children = children + ?, checksum = checksum + ? WHERE id = ?")
      .run(
        .integer(Int64(difference)), .integer(Int64(difference) * Checksum.ofChild),
        .integer(split))
  }

  func deleteRow(_ id: RowID) throws {
    try statement("DELETE FROM node WHERE parent = ? AND key = ?")
      .run(.integer(id.parent), .bytes(id.key))
  }

  /// Deletes a split node and all below it; its own row is the caller's.
  func deleteSplit(_ split: Int64, above: [Int64] = []) throws {
    splits.forgetAll()
    let path = try StoreTransaction.path(to: split, above)
    for row in try splitChildren(of: split) {
      if case .split(let below)? = try self.row(row) { try deleteSplit(below, above: path) }
    }
    for table in ["node", "priority_entry", "index_entry"] {
      try db.cachedStatement(sql: "DELETE FROM \(table) WHERE parent = ?")
        .execute(arguments: [split])
    }
    try db.cachedStatement(sql: "DELETE FROM split WHERE id = ?").execute(arguments: [split])
  }

  private func checkHasNoRows(_ split: Int64) throws {
    let rest = try statement("SELECT count(*) FROM node WHERE parent = ?")
      .first(.integer(split)) { try $0.integer(0, "a count") ?? 0 }
    if let rest, rest > 0 { throw Damage.count(0, Int(rest), of: split) }
  }

  /// The rows of a split node's children that are split nodes themselves.
  func splitChildren(of split: Int64) throws -> [RowID] {
    var rows: [RowID] = []
    try FastStatement(db, "SELECT key FROM node WHERE parent = ? AND split IS NOT NULL")
      .forEach([.integer(split)]) { row in
        rows.append(RowID(parent: split, key: row.bytes(0) ?? []))
        return true
      }
    return rows
  }
}

extension RowID {
  /// The checksum of the row with a record in it.
  func checksum(record: [UInt8]) -> Int64 {
    key.withUnsafeBytes { key in
      record.withUnsafeBytes { Checksum.record($0, parent: parent, key: key) }
    }
  }

  /// The checksum of the row with a split node in it.
  func checksum(split: Int64) -> Int64 {
    key.withUnsafeBytes { Checksum.name(split, parent: parent, key: $0) }
  }
}
