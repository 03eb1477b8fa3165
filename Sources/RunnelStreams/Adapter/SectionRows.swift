public import RunnelBase

/// The rows of a section of a list, read where the streams keep them.
struct SectionRows<Item: KeyedItem & Sendable>: ListRowSource {
  let section: AdapterSection<Item>
  let count: Int

  init(_ section: AdapterSection<Item>) {
    self.section = section
    count = section.count
  }

  /// What the row at an index below `count` is known by in the list.
  ///
  /// O(log n).
  func id(at index: Int) -> String { section.key(at: index) }

  /// True if the other has the same rows in the same state of the stream.
  ///
  /// O(1).
  func isCopy(of other: any ListRowSource) -> Bool {
    guard let other = (other as? SectionRows)?.section else { return false }
    return section.content.items.isCopy(of: other.content.items)
      && section.keyPrefix == other.keyPrefix
      && section.leading.map(\.key) == other.leading.map(\.key)
      && section.trailing.map(\.key) == other.trailing.map(\.key)
  }
}

extension ListUpdate where Item: Sendable {
  /// The sections as a list shows them, which reads the rows where the streams keep them.
  ///
  /// O(sections). For a list that is all of this adapter: its `sectionOffset` is 0.
  ///
  /// - Parameter emptyText: what is shown in a section without rows; nil shows nothing.
  /// - Returns: the sections in order.
  public func listSections(emptyText: String? = nil) -> [ListSection] {
    sections.map { ListSection(id: $0.id, rows: ListRows(SectionRows($0)), emptyText: emptyText) }
  }

  /// The list as `ListState` follows it, which anchors cursor and scroll position by key.
  ///
  /// O(sections). For a list that is all of this adapter: its `sectionOffset` is 0.
  ///
  /// - Parameter emptyText: what is shown in a section without rows; nil shows nothing.
  /// - Returns: the ids of sections and rows.
  public func content(emptyText: String? = nil) -> ListContent {
    ListContent(sections: listSections(emptyText: emptyText))
  }
}
