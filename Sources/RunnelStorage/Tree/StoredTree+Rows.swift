package import RunnelTree

// The children of a split node, in each order. All functions have the results of
// `RowSlice.rows(among:)`.

/// Rows, and the cost of finding them.
package struct RowScan {
  package var rows: [TreeRow]
  package var way: ScanReport.Way
  /// The number of children that were read.
  package var scannedCount: Int
  /// The index that would have made most of these reads unnecessary.
  package var advice: IndexAdvice?
}

/// The rules for making rows of children: the order, the detail, and the filter.
private struct RowMaking {
  let slice: RowSlice
  let detail: TreeRow.Detail
  /// True if the order is read backwards.
  let isBackward: Bool

  /// The row of a child; nil if it does not pass the filter.
  func row(_ child: Child) -> TreeRow? {
    if let filter = slice.filter, !filter.holds(of: child) { return nil }
    return TreeRow(child, index: slice.index, detail: detail)
  }
}

extension StoredTree {
  func childRows(
    of split: Int64, at path: Path, _ slice: RowSlice, _ detail: TreeRow.Detail
  ) throws -> RowScan {
    // The key ascends in every stored order; other orders are read backwards.
    let reversed = slice.reversed
    let kept = reversed ?? slice
    let making = RowMaking(slice: slice, detail: detail, isBackward: reversed != nil)
    switch kept.index {
    case .key:
      return try rowsByKey(of: split, kept, making)
    case .priority:
      if try !rowStore.hasEntries(of: split, in: .priority) {
        return try rowsWithoutPriority(of: split, kept, making)
      }
    case .value, .child, .compound: break
    }
    if let index = indexes.first(where: { $0.order == kept.index && $0.covers(path.keys) }) {
      return try rows(of: split, by: index, kept, making)
    }
    // Whole orders need every child anyway.
    if slice.limit != nil || slice.start != nil || slice.end != nil, let mirror = kept.mirrored,
      let index = indexes.first(where: { $0.order == mirror.index && $0.covers(path.keys) })
    {
      return try rows(of: split, by: index, mirror, kept, making)
    }
    var scan = try rowsByScan(of: split, slice, detail)
    scan.advice = IndexAdvice(for: slice, at: path, scannedCount: scan.scannedCount)
    if let advice = scan.advice { adviceLog.note(advice) }
    return scan
  }

  // MARK: By key

  private func rowsByKey(
    of split: Int64, _ slice: RowSlice, _ making: RowMaking
  ) throws -> RowScan {
    guard let range = KeyRange(start: slice.start, end: slice.end) else { return .none }
    return try rows(of: split, in: range, slice, making)
  }

  /// Reads the rows of an order by priority if no child has a priority: they are in the order of
  /// keys.
  private func rowsWithoutPriority(
    of split: Int64, _ slice: RowSlice, _ making: RowMaking
  ) throws -> RowScan {
    guard let range = slice.keysWithoutPriority else { return .none }
    let scan = try rows(of: split, in: range, slice, making)
    let index = making.slice.index
    // Read backwards, the order compares the key too.
    let other = scan.rows.first { $0.value != index.value(of: Child(key: $0.key, node: .empty)) }
    if let row = other {
      throw Damage(
        "its entry in the order of priorities is missing",
        at: .row(RowID(parent: split, row.key)))
    }
    return scan
  }

  private func rows(
    of split: Int64, in range: KeyRange, _ slice: RowSlice, _ making: RowMaking
  ) throws -> RowScan {
    var scan = RowScan(rows: [], way: .keys, scannedCount: 0)
    var range = range
    range.wantedCount = slice.wantedCount
    let isDescending = slice.limit?.side == .last
    let count = slice.limit?.count ?? .max
    var order = KeyOrder(isDescending: isDescending)
    if count > 0 {
      try rowStore.forEachRow(of: split, in: range, isDescending: isDescending) { key, content in
        scan.scannedCount += 1
        try Damage.locating(.row(RowID(parent: split, key: Array(key)))) {
          try order.check(key)
          let found = try row(StoredTree.key(key), content, making)
          if let found { scan.rows.append(found) }
        }
        return scan.rows.count < count
      }
    }
    return try finished(scan, of: split, slice, making)
  }

  // MARK: By index

  private func rows(
    of split: Int64, by index: StoredIndex, _ slice: RowSlice, _ making: RowMaking
  ) throws -> RowScan {
    try checkEntries(of: split, index)
    var scan = RowScan(rows: [], way: .index(index.definition), scannedCount: 0)
    let count = slice.limit?.count ?? .max
    if count > 0 {
      try rowStore.forEachEntry(
        of: split, in: .index(index.id), range: EntryRange(slice),
        isDescending: slice.limit?.side == .last
      ) { entry, content in
        scan.scannedCount += 1
        try Damage.locating(.row(RowID(parent: split, key: Array(entry.key)))) {
          guard let content else {
            throw Damage("nothing is stored where something should be")
          }
          let found = try row(StoredTree.key(entry.key), content, making)
          if let found { scan.rows.append(found) }
        }
        return scan.rows.count < count
      }
    }
    scan = try finished(scan, of: split, slice, making)
    try checkOrder(scan.rows, of: split)
    return scan
  }

  /// Reads the rows of a slice along the index of the mirrored order: from the other end, and the rows of equal
  /// values together, because their keys stand in reverse.
  private func rows(
    of split: Int64, by index: StoredIndex, _ mirror: RowSlice, _ slice: RowSlice,
    _ making: RowMaking
  ) throws -> RowScan {
    try checkEntries(of: split, index)
    var scan = RowScan(rows: [], way: .index(index.definition), scannedCount: 0)
    let count = slice.limit?.count ?? .max
    var equals: (value: [UInt8], rows: [TreeRow]) = ([], [])
    if count > 0 {
      try rowStore.forEachEntry(
        of: split, in: .index(index.id), range: EntryRange(mirror),
        isDescending: slice.limit?.side != .last
      ) { entry, content in
        if !entry.value.elementsEqual(equals.value) {
          scan.rows += equals.rows.reversed()
          equals = (Array(entry.value), [])
          if scan.rows.count >= count { return false }
        }
        scan.scannedCount += 1
        try Damage.locating(.row(RowID(parent: split, key: Array(entry.key)))) {
          guard let content else {
            throw Damage("nothing is stored where something should be")
          }
          let found = try row(StoredTree.key(entry.key), content, making)
          if let found, making.slice.contains(found.position) { equals.rows.append(found) }
        }
        return true
      }
    }
    scan.rows += equals.rows.reversed()
    if scan.rows.count > count { scan.rows.removeSubrange(count...) }
    scan = try finished(scan, of: split, slice, making)
    try checkOrder(scan.rows, of: split)
    return scan
  }

  /// Checks that no row is missing from rows that were read along an order, and brings them into
  /// the requested order.
  private func finished(
    _ scan: RowScan, of split: Int64, _ slice: RowSlice, _ making: RowMaking
  ) throws -> RowScan {
    var scan = scan
    // Without bounds, and below the limit, these must be all rows.
    if slice.start == nil, slice.end == nil, scan.rows.count < slice.limit?.count ?? .max {
      try checkIsAll(scan.scannedCount, of: split)
    }
    if (slice.limit?.side == .last) != making.isBackward { scan.rows.reverse() }
    if !making.isBackward, let count = tally.note(scan.rows, in: slice, of: split) {
      try checkIsAll(count, of: split)
    }
    return scan
  }

  /// The most entries that are counted before an index is read.
  private static let countedEntriesMax = 512

  /// Checks that no entry of a small node is missing, which a read of some entries would not
  /// notice.
  private func checkEntries(of split: Int64, _ index: StoredIndex) throws {
    let told = try splitHead(split).children
    if told > StoredTree.countedEntriesMax { return }
    let found = try rowStore.entryCount(of: split, in: .index(index.id))
    if found != told {
      throw Damage(
        "it has \(told) children, and \(found) entries in the index by \(index.order)",
        at: .split(split))
    }
  }

  /// Checks that rows found by the entries of an index are in its order.
  private func checkOrder(_ rows: [TreeRow], of split: Int64) throws {
    for (row, next) in zip(rows, rows.dropFirst()) where !(row.position < next.position) {
      throw Damage(
        "its entry in an index is out of order", at: .row(RowID(parent: split, next.key)))
    }
  }

  // MARK: By scan

  /// Reads every child, and keeps only the rows of the slice and a chunk.
  ///
  /// O(n) in the children: the cost of an order without an index.
  private func rowsByScan(
    of split: Int64, _ slice: RowSlice, _ detail: TreeRow.Detail
  ) throws -> RowScan {
    // A split child is read in full only if it is in the result.
    let making = RowMaking(slice: slice, detail: detail, isBackward: false)
    var scan = RowScan(rows: [], way: .scan, scannedCount: 0)
    let chunk = slice.limit.map { 2 * min($0.count, 1 << 32) + 1000 } ?? Int.max
    _ = try forEachChild(of: split) { key, content in
      scan.scannedCount += 1
      let found = try self.row(key, content, making, isFullDeferred: true)
      guard let found, slice.contains(found.position) else { return }
      scan.rows.append(found)
      if scan.rows.count >= chunk { scan.rows = cut(scan.rows, slice.limit) }
    }
    scan.rows = cut(scan.rows, slice.limit)
    guard detail == .full else { return scan }
    scan.rows = try scan.rows.map { found in
      guard found.node == nil else { return found }
      guard let stored = try self.row(RowID(parent: split, found.key)) else {
        throw Damage("a child that was read is gone", at: .split(split))
      }
      return try treeRow(found.key, stored, slice.index, .full)
    }
    return scan
  }

  private func cut(_ rows: [TreeRow], _ limit: Query.Limit?) -> [TreeRow] {
    let sorted = rows.sorted { $0.position < $1.position }
    guard let limit else { return sorted }
    return Array(limit.side == .first ? sorted.prefix(limit.count) : sorted.suffix(limit.count))
  }

  /// The row of a stored child; nil if it does not pass the filter.
  ///
  /// With `isFullDeferred`, a split child has its summary only.
  private func row(
    _ key: Key, _ content: RowContent, _ making: RowMaking, isFullDeferred: Bool = false
  ) throws -> TreeRow? {
    switch content {
    case .record(let json):
      // The record is read in the store's memory, because a copy for each child would be wasteful.
      return making.row(Child(key: key, node: try RecordCoding.node(json)))
    case .split(let below):
      let stored = StoredRow.split(below)
      if let filter = making.slice.filter, try !holds(filter, of: key, stored) { return nil }
      let detail = isFullDeferred ? .shallow : making.detail
      return try treeRow(key, stored, making.slice.index, detail)
    }
  }
}

extension StoredTree {
  /// The key with these stored bytes.
  ///
  /// - Throws: `Damage` if they are no key's.
  package static func key(_ bytes: UnsafeRawBufferPointer) throws -> Key {
    guard let key = bytes.withMemoryRebound(to: UInt8.self, OrderedBytes.key(from:)) else {
      throw Damage("a key is none")
    }
    return key
  }

  /// True if a predicate holds for a stored child; only the needed fields are read.
  func holds(_ predicate: ChildPredicate, of key: Key, _ stored: StoredRow) throws -> Bool {
    switch stored {
    case .record(let bytes):
      return predicate.holds(of: Child(key: key, node: try RecordCoding.node(bytes)))
    case .split:
      return try predicate.holds(of: key) { field in try indexValue(of: stored, field.index) }
    }
  }
}

extension RowScan {
  /// The result for an empty range.
  fileprivate static let none = RowScan(rows: [], way: .keys, scannedCount: 0)
}
