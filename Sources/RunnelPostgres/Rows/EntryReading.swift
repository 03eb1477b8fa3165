import RunnelStorage
import RunnelTree

/// A reading of the entries of a split node in an order, with the contents of their rows.
///
/// Source: several servers, section 2: a long value is cut before it is stored, and compared again
/// by the whole value.
struct EntryReading {
  let rows: PostgresRows
  let split: Int64
  let order: EntryOrder
  let isDescending: Bool

  /// An entry whose value was cut, with a copy of its row.
  private struct LongEntry {
    var entry: RowEntry
    var row: StoredRow?
  }

  /// Calls `body` with the entries in a range, until it returns false.
  ///
  /// Memory: a page, and all entries that have the same cut value.
  func forEach(
    in range: EntryRange, _ body: (_ entry: EntryBytes, _ content: RowContent?) throws -> Bool
  ) throws {
    var size = PageSize(range.wantedCount)
    // The last entry of the page before, as it is stored.
    var last: RowEntry?
    var alike: (cut: [UInt8], entries: [LongEntry]) = ([], [])
    while true {
      let page = try rows.read(pageStatement(range, after: last, size.next()))
      try rows.meetSplits(page, 3)
      for row in 0..<page.count {
        let bytes = EntryBytes(value: page.rawBytes(row, 0), key: page.rawBytes(row, 1))
        let content = try self.content(page, row, bytes.key)
        if !alike.entries.isEmpty, !alike.cut.elementsEqual(bytes.value) {
          if try !tell(alike.entries, range, body) { return }
          alike.entries = []
        }
        if bytes.value.count < HeldRows.valueBytesMax {
          if try !body(bytes, content) { return }
        } else {
          var entry = RowEntry(bytes)
          alike.cut = entry.value
          if let content {
            entry.value = try rows.wholeValue(entry.value, of: content, in: order)
          }
          alike.entries.append(LongEntry(entry: entry, row: content?.stored))
        }
      }
      if page.count < size.current { break }
      last = RowEntry(
        value: page.bytes(page.count - 1, 0) ?? [], key: page.bytes(page.count - 1, 1) ?? [])
    }
    _ = try tell(alike.entries, range, body)
  }

  private func content(
    _ page: PostgresResult, _ row: Int, _ key: UnsafeRawBufferPointer
  ) throws -> RowContent? {
    if try page.integer(row, 4) == 1 { return nil }
    return try Damage.locating(.row(RowID(parent: split, key: Array(key)))) {
      try page.content(row, from: 2)
    }
  }

  /// Tells entries that have the same cut value in the order of their whole values.
  private func tell(
    _ entries: [LongEntry], _ range: EntryRange,
    _ body: (_ entry: EntryBytes, _ content: RowContent?) throws -> Bool
  ) throws -> Bool {
    let sorted = entries.filter { range.contains($0.entry) }
      .sorted { $0.entry.precedes($1.entry) != isDescending }
    for long in sorted {
      let isWanted = try long.entry.withBytes { bytes in
        try long.row?.withContent { try body(bytes, $0) } ?? body(bytes, nil)
      }
      if !isWanted { return false }
    }
    return true
  }

  func pageStatement(
    _ range: EntryRange, after last: RowEntry?, _ size: Int
  ) -> PostgresStatement {
    var values: [PostgresValue] = [.integer(split), .integer(order.definition)]
    var ends = [range.lower?.condition(">", &values), range.upper?.condition("<", &values)]
    if let last {
      values += [.bytes(last.value), .bytes(last.key)]
      let side = isDescending ? "<" : ">"
      ends.append(" AND (e.value, e.key) \(side) ($\(values.count), $\(values.count + 1))")
    }
    let direction = isDescending ? " DESC" : ""
    return rows.reading(
      """
      SELECT e.value, e.key, n.json, n.split, n.key IS NULL FROM index_entry e
      LEFT JOIN LATERAL (SELECT r.key, r.json, r.split FROM node r
        WHERE r.ns = $1 AND r.parent = $2 AND r.key = e.key LIMIT 1) n ON true
      WHERE e.ns = $1 AND e.parent = $2 AND e.definition = $3\(ends.compactMap { $0 }.joined())
      ORDER BY e.value\(direction), e.key\(direction) LIMIT \(size)
      """, values)
  }
}

extension EntryRange.Bound {
  /// The condition that an entry lies on one side of the bound, and its values.
  ///
  /// Of a value that was cut, all entries with the same cut value pass: they are looked at again.
  fileprivate func condition(_ side: String, _ values: inout [PostgresValue]) -> String {
    switch self {
    case .value(let value, let isIncluded):
      values.append(.bytes(HeldRows.cut(value)))
      let isCut = value.count >= HeldRows.valueBytesMax
      return " AND e.value \(side)\(isIncluded || isCut ? "=" : "") $\(values.count + 1)"
    case .entry(let entry, let isIncluded):
      values.append(.bytes(HeldRows.cut(entry.value)))
      if entry.value.count >= HeldRows.valueBytesMax {
        return " AND e.value \(side)= $\(values.count + 1)"
      }
      values.append(.bytes(entry.key))
      let comparison = "\(side)\(isIncluded ? "=" : "")"
      return " AND (e.value, e.key) \(comparison) ($\(values.count), $\(values.count + 1))"
    }
  }
}
