import RunnelTree

/// Rows in memory, which are sorted when they are read in an order.
///
/// The store serves small trees, and is the oracle of the tests: O(n log n) in the children for
/// each read.
package final class MemoryRowStore: RowStore {
  private struct Split {
    var head: SplitHead?
    var entries: [EntryOrder: Set<RowEntry>] = [:]
  }

  private var rows: [RowID: StoredRow] = [:]
  private var splits: [Int64: Split] = [:]
  private var newest: Int64 = 0

  package init() {}

  /// The number of rows.
  package var count: Int { rows.count }

  package func row(_ id: RowID) throws -> StoredRow? { rows[id] }

  package func forEachRow(
    of split: Int64, in range: KeyRange, isDescending: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ content: RowContent) throws -> Bool
  ) throws {
    for id in sortedRows(of: split, isDescending) where range.contains(id.key) {
      let isWanted = try id.key.withUnsafeBytes { key in
        try rows[id]?.withContent { try body(key, $0) } ?? true
      }
      if !isWanted { return }
    }
  }

  private func sortedRows(of split: Int64, _ isDescending: Bool = false) -> [RowID] {
    rows.keys.filter { $0.parent == split }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) != isDescending }
  }

  package func splitRows(of split: Int64) throws -> [RowID] {
    sortedRows(of: split).filter { if case .split? = rows[$0] { true } else { false } }
  }

  package func rowCount(of split: Int64) throws -> Int { rows.keys.count { $0.parent == split } }

  package func put(_ stored: StoredRow, in row: RowID) throws { rows[row] = stored }
  package func deleteRow(_ id: RowID) throws { rows[id] = nil }

  package func head(of split: Int64) throws -> SplitHead? { splits[split]?.head }

  package func newSplit() throws -> Int64 {
    newest += 1
    return newest
  }

  package func put(_ head: SplitHead, of split: Int64) throws {
    splits[split, default: Split()].head = head
  }

  package func addChildren(_ difference: Int, to split: Int64) throws {
    splits[split]?.head?.children += difference
  }

  package func deleteSplit(_ split: Int64) throws {
    splits[split] = nil
    for id in sortedRows(of: split) { rows[id] = nil }
  }

  package func hasEntries(of split: Int64, in order: EntryOrder) throws -> Bool {
    splits[split]?.entries[order]?.isEmpty == false
  }

  package func entryCount(of split: Int64, in order: EntryOrder) throws -> Int {
    splits[split]?.entries[order]?.count ?? 0
  }

  package func insertEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws {
    splits[split, default: Split()].entries[order, default: []].insert(entry)
  }

  package func deleteEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws {
    splits[split]?.entries[order]?.remove(entry)
  }

  package func forEachEntry(
    of split: Int64, in order: EntryOrder, range: EntryRange, isDescending: Bool,
    _ body: (_ entry: EntryBytes, _ content: RowContent?) throws -> Bool
  ) throws {
    let entries = (splits[split]?.entries[order] ?? [])
      .filter(range.contains).sorted { $0.precedes($1) != isDescending }
    for entry in entries {
      let row = rows[RowID(parent: split, key: entry.key)]
      let isWanted = try entry.withBytes { bytes in
        try row?.withContent { try body(bytes, $0) } ?? body(bytes, nil)
      }
      if !isWanted { return }
    }
  }

  package func checkNeighbors(of id: RowID) throws {}

  package func hasTraces(ofTree root: RowID) throws -> Bool {
    rows.keys.contains { $0.parent > 0 }
  }

  package func name(of split: Int64) throws -> RowID? {
    rows.first { $0.value == .split(split) }?.key
  }
}
