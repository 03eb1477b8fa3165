package import RunnelTree

// Writing. A write goes down through split nodes to the row that it changes. On its way back it
// updates counts, parents that became empty, and the entries of indexes.

/// The change of one stored child, for the levels above it.
struct RowChange {
  var existedBefore: Bool
  var existsAfter: Bool
  /// The values that the requested orders compared before (nil: there was no child) and compare
  /// afterwards.
  var before: [IndexValue]?
  var after: [IndexValue]?
}

extension StoredTree {
  /// Carries out one part of a write.
  package func carryOut(_ assignment: Assignment) throws {
    tally.forgetAll()
    _ = try assign(assignment, depth: 0, row: root, orders: [])
  }

  /// Carries out the part of an assignment that concerns one row and everything below it.
  ///
  /// `depth` is the number of keys of the path that lead to the row; `orders` are those in which
  /// the parent keeps this child.
  private func assign(
    _ assignment: Assignment, depth: Int, row id: RowID, orders: [QueryIndex]
  ) throws -> RowChange {
    let rest = Path(unchecked: Array(assignment.path.keys[depth...]))
    switch try row(id) {
    case nil:
      if id == root { try checkIsEmpty() } else if !isMending { try rowStore.checkPlace(of: id) }
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
        if new.isEmpty { try rowStore.deleteRow(id) } else { try store(new, at: place, row: id) }
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
      try rowStore.deleteRow(id)
      if !new.isEmpty { try store(new, at: assignment.path.keys, row: id) }
      return RowChange(
        existedBefore: true, existsAfter: !new.isEmpty, before: before,
        after: new.isEmpty ? nil : orders.map { $0.value(of: new) })
    }
  }

  /// Carries out the part that concerns a child of a split node; returns true if the child was
  /// removed.
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
      try rowStore.addChildren(difference, to: split)
    }
    return difference < 0
  }

  /// Removes a split node if it lost its last child; returns true if it did.
  private func dropIfEmpty(_ split: Int64, row id: RowID) throws -> Bool {
    guard try splitHead(split).children == 0 else { return false }
    // If the count was wrong, stored children must not be removed with the node.
    try checkHasNoRows(split)
    try deleteSplit(split)
    try rowStore.deleteRow(id)
    return true
  }

  /// Moves the entries of a child to its new values.
  ///
  /// `before` holds the old values, the order of priority first, and `after` the new ones; nil if
  /// there was no child, or is none any more.
  func moveEntries(
    of indexed: IndexedRow, from before: [IndexValue]?, to after: [IndexValue]?
  ) throws {
    guard before != after else { return }
    try moveEntry(of: indexed.row, in: .priority, from: before?.first, to: after?.first)
    for (offset, index) in indexed.kept.enumerated() {
      try moveEntry(
        of: indexed.row, in: .index(index.id), from: before?[offset + 1], to: after?[offset + 1])
    }
  }

  private func moveEntry(
    of row: RowID, in order: EntryOrder, from before: IndexValue?, to after: IndexValue?
  ) throws {
    guard before != after else { return }
    if let before, order.keeps(before) {
      try rowStore.deleteEntry(RowEntry(before, row), of: row.parent, in: order)
    }
    if let after { try insertEntry(of: row, in: order, after) }
  }

  /// Adds the entry of a row, if the order keeps one for this value.
  package func insertEntry(of row: RowID, in order: EntryOrder, _ value: IndexValue) throws {
    guard order.keeps(value) else { return }
    try rowStore.insertEntry(RowEntry(value, row), of: row.parent, in: order)
  }
}

extension EntryOrder {
  /// True if the order keeps an entry for this value.
  fileprivate func keeps(_ value: IndexValue) -> Bool { self != .priority || value != .null }
}

extension RowEntry {
  package init(_ value: IndexValue, _ row: RowID) {
    self.init(value: OrderedBytes.value(value), key: row.key)
  }
}

// MARK: Rows

extension StoredTree {
  /// Stores a node that is not empty, in one row or split into its children.
  ///
  /// The old content of the row is replaced; it must not be a split node.
  func store(_ node: Node, at place: @autoclosure () -> [Key], row id: RowID) throws {
    if node.children.isEmpty || !node.isSurelyLarger(than: RecordCoding.bytesMax) {
      let bytes = writer.record(node)
      if bytes.count <= RecordCoding.bytesMax || node.children.isEmpty {
        try rowStore.put(.record(bytes), in: id)
        return
      }
    }
    _ = try split(node, at: place(), row: id)
  }

  /// Stores a node as a split node, whatever its size; a leaf becomes a split node without
  /// children.
  func split(_ node: Node, at place: [Key], row id: RowID) throws -> Int64 {
    let split = try makeSplit(row: id)
    let kept = indexes.filter { $0.covers(place) }
    for child in node.children {
      let row = RowID(parent: split, child.key)
      try store(child.node, at: place + [child.key], row: row)
      try addEntries(of: .node(child.node), row: row, kept)
    }
    let head = SplitHead(children: node.children.count, priority: node.priority)
    try rowStore.put(head, of: split)
    return split
  }

  /// A node whose index values are needed: in memory or stored.
  package enum Indexed {
    case node(Node)
    case stored(StoredRow)
  }

  /// Adds the entries of a child that has just been stored under a split node.
  func addEntries(of indexed: Indexed, row: RowID, _ kept: [StoredIndex]) throws {
    try insertEntry(of: row, in: .priority, value(of: indexed, .priority))
    for index in kept {
      try insertEntry(of: row, in: .index(index.id), value(of: indexed, index.order))
    }
  }

  package func value(of indexed: Indexed, _ order: QueryIndex) throws -> IndexValue {
    switch indexed {
    case .node(let node): order.value(of: node)
    case .stored(let stored): try indexValue(of: stored, order)
    }
  }

  /// Makes a split node in a row; the caller adds its children and writes its head.
  func makeSplit(row id: RowID) throws -> Int64 {
    let split = try rowStore.newSplit()
    try rowStore.put(.split(split), in: id)
    return split
  }

  private func setPriority(_ priority: Leaf?, of split: Int64) throws {
    var head = try splitHead(split)
    head.priority = priority
    try rowStore.put(head, of: split)
  }

  /// Deletes a split node and everything below it; the caller deletes its own row.
  func deleteSplit(_ split: Int64, above: [Int64] = []) throws {
    splits.forgetAll()
    let path = try StoredTree.path(to: split, above)
    for row in try rowStore.splitRows(of: split) {
      if case .split(let below)? = try self.row(row) { try deleteSplit(below, above: path) }
    }
    try rowStore.deleteSplit(split)
  }

  private func checkHasNoRows(_ split: Int64) throws {
    let rest = try rowStore.rowCount(of: split)
    if rest > 0 { throw Damage.count(0, rest, of: split) }
  }
}
