public import RunnelBase

extension SectionedStream {
  /// The number of rows that are shown, in all sections.
  ///
  /// O(sections).
  public var count: Int { sections.reduce(0) { $0 + $1.count } }

  /// The section at an index; `stream[section][row]` is a row.
  ///
  /// O(sections).
  public subscript(section: Int) -> StreamSection<Item> { sections[section] }

  /// The row at a place.
  ///
  /// O(sections + log n).
  public subscript(path: ListIndexPath) -> Item { sections[path.section].items[path.row] }
}

extension StreamSection {
  /// The number of rows that are shown.
  public var count: Int { items.count }

  /// The row at an index below `count`.
  ///
  /// O(log n).
  public subscript(row: Int) -> Item { items[row] }
}
