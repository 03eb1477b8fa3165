public import RunnelBase

extension ListUpdate {
  /// The list as `ListState` follows it, which anchors cursor and scroll position by key.
  ///
  /// O(n). For a list that is all of this adapter: its `sectionOffset` is 0.
  ///
  /// - Parameter emptyText: what is shown in a section without rows; nil shows nothing.
  /// - Returns: the ids of sections and rows.
  public func content(emptyText: String? = nil) -> ListContent {
    ListContent(
      sections: sections.map { ListSection(id: $0.id, rows: $0.keys, emptyText: emptyText) })
  }
}
