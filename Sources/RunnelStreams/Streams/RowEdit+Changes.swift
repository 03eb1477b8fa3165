import RunnelBase

extension RowEdit where Item: KeyedItem {
  /// What the edit does to a list of one section.
  ///
  /// O(t log n) in the t rows of the edit.
  ///
  /// - Parameters:
  ///   - items: the rows before.
  ///   - changed: the keys of rows that are taken out and put in again with another content.
  /// - Returns: what happened.
  func changes(to items: Rows<Item>, changed: Set<String>) -> ChangeSet {
    if isEmpty { return ChangeSet() }
    let id = StreamSection<Item>().id
    let newCount = items.count - removing.count + inserting.count
    return SectionedDiff.changes(
      from: .init(
        sections: [id], counts: [items.count], touched: removedRows(of: items, section: 0)),
      to: .init(sections: [id], counts: [newCount], touched: insertedRows(section: 0)),
      changed: changed)
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
