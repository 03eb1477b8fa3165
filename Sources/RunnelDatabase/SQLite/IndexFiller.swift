import GRDB
import RunnelTree

/// Declares indexes, and enters what is stored already.
struct IndexFiller {
  private static let rowsBetweenReports = 5000

  let store: StoreTransaction
  /// Called now and then with the number of rows entered; false stops the work.
  let progress: (_ rows: Int) -> Bool
  private var rows = 0

  init(store: StoreTransaction, progress: @escaping (_ rows: Int) -> Bool) {
    self.store = store
    self.progress = progress
  }

  /// Declares an index that is not declared yet.
  ///
  /// O(n) in the children it keeps.
  mutating func declare(_ definition: IndexDefinition) throws {
    try store.db.execute(
      sql: "INSERT INTO index_definition (pattern, child) VALUES (?, ?)",
      arguments: [definition.pattern, definition.storedOrder])
    let index = StoredIndex(id: store.db.lastInsertedRowID, definition: definition)
    try fill(index, at: [], row: .root)
  }

  private mutating func fill(_ index: StoredIndex, at place: [Key], row id: RowID) throws {
    guard index.reaches(below: place), case .split(let split)? = try store.row(id) else { return }
    if index.covers(place) {
      try enterChildren(of: split, index)
      return
    }
    for row in try store.splitChildren(of: split) {
      guard let key = OrderedBytes.key(from: row.key) else { throw Damage("a key is none") }
      try fill(index, at: place + [key], row: row)
    }
  }

  private mutating func enterChildren(of split: Int64, _ index: StoredIndex) throws {
    _ = try store.forEachChild(of: split) { key, content in
      let stored: StoredRow =
        switch content {
        case .record(let json): .record(Array(json))
        case .split(let below): .split(below)
        }
      let value = try store.indexValue(of: stored, index.order)
      try store.insertEntry(RowID(parent: split, key), index, value)
      rows += 1
      if rows.isMultiple(of: IndexFiller.rowsBetweenReports), !progress(rows) {
        throw DatabaseError(.cancelled, "Indexing was stopped. Nothing was changed.")
      }
    }
  }
}
