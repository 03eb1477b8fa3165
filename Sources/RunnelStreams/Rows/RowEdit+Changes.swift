import RunnelBase

extension RowEdit where Item == RowObject {
  /// What the edit does to a list of one section.
  ///
  /// O(t log n) in the t rows of the edit.
  ///
  /// - Parameters:
  ///   - rows: the rows before.
  ///   - changed: the keys of rows that are taken out and put in again with another content.
  /// - Returns: what happened.
  func changes(to rows: Rows<RowObject>, changed: Set<String>) -> ChangeSet {
    if isEmpty { return ChangeSet() }
    // The id of the section of a stream with one.
    let id = ""
    let newCount = rows.count - removing.count + inserting.count
    return SectionedDiff.changes(
      from: .init(
        sections: [id], counts: [rows.count], touched: removedRows(of: rows, section: 0)),
      to: .init(sections: [id], counts: [newCount], touched: insertedRows(section: 0)),
      changed: changed)
  }

  /// The rows that are taken out, at their old places in a section.
  func removedRows(of rows: Rows<RowObject>, section: Int) -> [SectionedDiff.Row] {
    removing.map { index in
      SectionedDiff.Row(path: IndexPath(section: section, row: index), key: rows[index].key)
    }
  }

  /// The rows that are put in, at their new places in a section.
  func insertedRows(section: Int) -> [SectionedDiff.Row] {
    zip(insertedIndices, inserting).map { index, insertion in
      SectionedDiff.Row(path: IndexPath(section: section, row: index), key: insertion.item.key)
    }
  }
}
