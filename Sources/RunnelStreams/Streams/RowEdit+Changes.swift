import RunnelBase

extension RowEdit where Item: KeyedItem {
  /// Carries out the edit on the rows of a list's only section.
  ///
  /// O(t log n) in the t rows of the edit.
  ///
  /// - Parameters:
  ///   - items: the rows.
  ///   - changed: the keys of rows that are taken out and put in again with another content.
  /// - Returns: what happened.
  func apply(to items: inout Rows<Item>, changed: Set<String>) -> ChangeSet {
    if isEmpty { return ChangeSet() }
    let result = items.applying(self)
    let id = StreamSection<Item>().id
    let changes = SectionedDiff.changes(
      from: .init(
        sections: [id], counts: [items.count], touched: removedRows(of: items, section: 0)),
      to: .init(sections: [id], counts: [result.count], touched: insertedRows(section: 0)),
      changed: changed)
    items = result
    return changes
  }

  /// The rows that are taken out, at their old places in a section.
  func removedRows(of items: Rows<Item>, section: Int) -> [SectionedDiff.Row] {
    removing.map { index in
      SectionedDiff.Row(path: IndexPath(section: section, row: index), key: items[index].key)
    }
  }

  /// The rows that are put in, at their new places in a section.
  func insertedRows(section: Int) -> [SectionedDiff.Row] {
    zip(insertedIndices, inserting).map { index, insertion in
      SectionedDiff.Row(path: IndexPath(section: section, row: index), key: insertion.item.key)
    }
  }
}
