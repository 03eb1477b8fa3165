import RunnelTree

/// Fills a new index with the stored children.
package struct IndexFiller {
  private static let rowsBetweenReports = 5000

  private let tree: StoredTree
  /// Called now and then with the number of rows entered; an error stops the work.
  private let progress: (_ rows: Int) throws -> Void
  private var rows = 0

  package init(_ tree: StoredTree, progress: @escaping (_ rows: Int) throws -> Void) {
    self.tree = tree
    self.progress = progress
  }

  /// Enters every stored child that the index keeps.
  ///
  /// O(n) in the children it keeps.
  ///
  /// - Throws: the errors of `progress`, and of the storage.
  package mutating func fill(_ index: StoredIndex) throws {
    try fill(index, at: [], row: .root)
  }

  private mutating func fill(_ index: StoredIndex, at place: [Key], row id: RowID) throws {
    guard index.reaches(below: place), case .split(let split)? = try tree.row(id) else { return }
    if index.covers(place) {
      try enterChildren(of: split, index)
      return
    }
    for row in try tree.rowStore.splitRows(of: split) {
      guard let key = OrderedBytes.key(from: row.key) else { throw Damage("a key is none") }
      try fill(index, at: place + [key], row: row)
    }
  }

  private mutating func enterChildren(of split: Int64, _ index: StoredIndex) throws {
    _ = try tree.forEachChild(of: split) { key, content in
      let value = try tree.indexValue(of: content.stored, index.order)
      try tree.insertEntry(of: RowID(parent: split, key), in: .index(index.id), value)
      rows += 1
      if rows.isMultiple(of: IndexFiller.rowsBetweenReports) { try progress(rows) }
    }
  }
}
