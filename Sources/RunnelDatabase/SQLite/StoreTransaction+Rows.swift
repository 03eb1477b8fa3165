import GRDB
import RunnelTree

// The children of a split node, in each order. Every way gives what `RowSlice.rows(among:)` gives.

extension StoreTransaction {
  func childRows(
    of split: Int64, at path: Path, _ slice: RowSlice, _ detail: TreeRow.Detail
  ) throws -> [TreeRow] {
    switch slice.index {
    case .key:
      return try rowsByKey(of: split, slice, detail)
    case .priority:
      if try !hasPriorities(split) { return try rowsWithoutPriority(of: split, slice, detail) }
    case .value, .child:
      if let index = indexes.first(where: { $0.order == slice.index && $0.covers(path.keys) }) {
        return try rows(of: split, by: index, slice, detail)
      }
    }
    return try rowsByScan(of: split, slice, detail)
  }

  // MARK: By key

  private func rowsByKey(
    of split: Int64, _ slice: RowSlice, _ detail: TreeRow.Detail
  ) throws -> [TreeRow] {
    guard let range = KeyRange(start: slice.start, end: slice.end) else { return [] }
    return try rows(of: split, in: range, slice, detail)
  }

  /// With no priority at all, all children are equal to the index and keep the order of keys.
  private func rowsWithoutPriority(
    of split: Int64, _ slice: RowSlice, _ detail: TreeRow.Detail
  ) throws -> [TreeRow] {
    let isNullIncluded =
      slice.start.map { $0.position.value == .null } ?? true
    guard isNullIncluded else { return [] }
    // An end above null lets every key pass.
    let end = slice.end.flatMap { $0.position.value == .null ? $0 : nil }
    guard let range = KeyRange(start: slice.start, end: end) else { return [] }
    return try rows(of: split, in: range, slice, detail)
  }

  private func rows(
    of split: Int64, in range: KeyRange, _ slice: RowSlice, _ detail: TreeRow.Detail
  ) throws -> [TreeRow] {
    var sql = "SELECT key, json, split FROM node WHERE parent = ?"
    var arguments: StatementArguments = [split]
    range.append(to: &sql, &arguments, column: "key")
    appendOrder(["key"], slice.limit, to: &sql, &arguments)
    return try fetch(sql, arguments, slice, detail)
  }

  // MARK: By index

  private func rows(
    of split: Int64, by index: StoredIndex, _ slice: RowSlice, _ detail: TreeRow.Detail
  ) throws -> [TreeRow] {
    var sql = """
      SELECT node.key, node.json, node.split FROM index_entry AS entry
      JOIN node ON node.parent = entry.parent AND node.key = entry.key
      WHERE entry.parent = ? AND entry.definition = ?
      """
    var arguments: StatementArguments = [split, index.id]
    let columns = (value: "entry.value", key: "entry.key")
    if let start = slice.start {
      append(start, above: true, columns, to: &sql, &arguments)
    }
    if let end = slice.end {
      append(end, above: false, columns, to: &sql, &arguments)
    }
    appendOrder([columns.value, columns.key], slice.limit, to: &sql, &arguments)
    return try fetch(sql, arguments, slice, detail)
  }

  /// Adds the condition that an entry lies above (or below) a bound.
  private func append(
    _ bound: Query.Bound, above: Bool, _ columns: (value: String, key: String),
    to sql: inout String, _ arguments: inout StatementArguments
  ) {
    let side = above ? ">" : "<"
    let value = OrderedBytes.value(bound.position.value).databaseBlob
    switch bound.position.key {
    case .key(let key):
      let inclusion = bound.isInclusive ? "=" : ""
      sql += " AND (\(columns.value), \(columns.key)) \(side)\(inclusion) (?, ?)"
      arguments += [value, OrderedBytes.key(key).databaseBlob]
    case .minimum, .maximum:
      // Before all keys or after them: the value's own rows are on one side as a whole.
      let isValueIncluded = (bound.position.key == .minimum) == above
      sql += " AND \(columns.value) \(side)\(isValueIncluded ? "=" : "") ?"
      arguments += [value]
    }
  }

  // MARK: By scan

  /// Reads every child, and keeps no more than the slice asks for and a chunk.
  ///
  /// O(n) in the children: what an order without an index costs.
  private func rowsByScan(
    of split: Int64, _ slice: RowSlice, _ detail: TreeRow.Detail
  ) throws -> [TreeRow] {
    let statement = try db.cachedStatement(
      sql: "SELECT key, json, split FROM node WHERE parent = ? ORDER BY key")
    let cursor = try Row.fetchCursor(statement, arguments: [split])
    var kept: [TreeRow] = []
    let chunk = slice.limit.map { 2 * min($0.count, 1 << 32) + 1000 } ?? Int.max
    while let row = try cursor.next() {
      let found = try treeRow(try row.key(), storedRow(row), slice.index, detail)
      guard slice.contains(found.position) else { continue }
      kept.append(found)
      if kept.count >= chunk { kept = cut(kept, slice.limit) }
    }
    return cut(kept, slice.limit)
  }

  private func cut(_ rows: [TreeRow], _ limit: Query.Limit?) -> [TreeRow] {
    let sorted = rows.sorted { $0.position < $1.position }
    guard let limit else { return sorted }
    return Array(limit.side == .first ? sorted.prefix(limit.count) : sorted.suffix(limit.count))
  }

  private func hasPriorities(_ split: Int64) throws -> Bool {
    let statement = try db.cachedStatement(
      sql: "SELECT EXISTS (SELECT 1 FROM priority_entry WHERE parent = ?)")
    return try Bool.fetchOne(statement, arguments: [split]) ?? false
  }

  // MARK: Statements

  private func appendOrder(
    _ columns: [String], _ limit: Query.Limit?, to sql: inout String,
    _ arguments: inout StatementArguments
  ) {
    let direction = limit?.side == .last ? " DESC" : ""
    sql += " ORDER BY " + columns.map { $0 + direction }.joined(separator: ", ")
    if let limit {
      sql += " LIMIT ?"
      arguments += [limit.count]
    }
  }

  private func fetch(
    _ sql: String, _ arguments: StatementArguments, _ slice: RowSlice, _ detail: TreeRow.Detail
  ) throws -> [TreeRow] {
    let cursor = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
    var rows: [TreeRow] = []
    while let row = try cursor.next() {
      rows.append(try treeRow(try row.key(), storedRow(row), slice.index, detail))
    }
    if slice.limit?.side == .last { rows.reverse() }
    return rows
  }
}

/// The keys between two bounds that have the same value.
private struct KeyRange {
  private var lower: (key: Key, isInclusive: Bool)?
  private var upper: (key: Key, isInclusive: Bool)?

  /// Nil if the bounds leave no key.
  init?(start: Query.Bound?, end: Query.Bound?) {
    switch start?.position.key {
    case .maximum: return nil
    case .key(let key): lower = (key, start?.isInclusive ?? true)
    case .minimum, nil: break
    }
    switch end?.position.key {
    case .minimum: return nil
    case .key(let key): upper = (key, end?.isInclusive ?? true)
    case .maximum, nil: break
    }
  }

  func append(
    to sql: inout String, _ arguments: inout StatementArguments, column: String
  ) {
    if let lower {
      sql += " AND \(column) >\(lower.isInclusive ? "=" : "") ?"
      arguments += [OrderedBytes.key(lower.key).databaseBlob]
    }
    if let upper {
      sql += " AND \(column) <\(upper.isInclusive ? "=" : "") ?"
      arguments += [OrderedBytes.key(upper.key).databaseBlob]
    }
  }
}
