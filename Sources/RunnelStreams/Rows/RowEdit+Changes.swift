import RunnelBase

extension RowEdit where Item == RowObject {
  /// The changes that the edit makes to a list with one section.
  ///
  /// O(t log n) in the t rows of the edit.
  ///
  /// - Parameters:
  ///   - oldCount: the number of rows before.
  ///   - changed: the ids of rows that are removed and inserted again with new content.
  /// - Returns: the changes.
  func changes(toRows oldCount: Int, changed: Set<String>) -> ChangeSet {
    if isEmpty { return ChangeSet() }
    // The id of the section of a stream with one.
    let id = ""
    let newCount = oldCount - removing.count + inserting.count
    return SectionedDiff.changes(
      from: .init(
        sections: [id], counts: [oldCount], touched: removedRows(section: 0)),
      to: .init(sections: [id], counts: [newCount], touched: insertedRows(section: 0)),
      changed: changed)
  }

  /// The removed rows, at their old places in a section.
  func removedRows(section: Int) -> [SectionedDiff.Row] {
    zip(removing, removed).map { index, row in
      SectionedDiff.Row(path: ListIndexPath(section: section, row: index), id: row.id)
    }
  }

  /// The inserted rows, at their new places in a section.
  func insertedRows(section: Int) -> [SectionedDiff.Row] {
    zip(insertedIndices, inserting).map { index, insertion in
      SectionedDiff.Row(path: ListIndexPath(section: section, row: index), id: insertion.item.id)
    }
  }
}
