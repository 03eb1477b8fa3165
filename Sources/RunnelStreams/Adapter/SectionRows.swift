public import RunnelBase

/// The rows of a section of a list, read where the streams keep them.
struct SectionRows<Item: StreamItem & Sendable>: ListRowSource {
  let section: AdapterSection<Item>
  let count: Int

  init(_ section: AdapterSection<Item>) {
    self.section = section
    count = section.count
  }

  /// The ids in the list of the rows at some indices.
  ///
  /// O(log n) and O(1) for each row.
  func ids(in range: Range<Int>) -> [String] { section.rowIDs(in: range) }

  /// True if the other has the same rows in the same state of the stream.
  ///
  /// O(1).
  func isCopy(of other: any ListRowSource) -> Bool {
    guard let other = (other as? SectionRows)?.section else { return false }
    return section.content.items.isCopy(of: other.content.items)
      && section.idPrefix == other.idPrefix
      && section.leading.map(\.id) == other.leading.map(\.id)
      && section.trailing.map(\.id) == other.trailing.map(\.id)
  }
}

extension ListUpdate where Item: Sendable {
  /// The sections in the form of a list, which reads the rows where the streams keep them.
  ///
  /// O(sections). It is for a list that has only this adapter: its `sectionOffset` is 0.
  ///
  /// - Parameter emptyText: the text in a section without rows; nil for none.
  /// - Returns: the sections in order.
  public func listSections(emptyText: String? = nil) -> [ListSection] {
    sections.map { ListSection(id: $0.id, rows: ListRows(SectionRows($0)), emptyText: emptyText) }
  }

  /// The list in the form that `ListState` follows, which anchors cursor and scroll position by
  /// key.
  ///
  /// O(sections). It is for a list that has only this adapter: its `sectionOffset` is 0.
  ///
  /// - Parameter emptyText: the text in a section without rows; nil for none.
  /// - Returns: the ids of sections and rows.
  public func content(emptyText: String? = nil) -> ListContent {
    ListContent(sections: listSections(emptyText: emptyText))
  }
}
