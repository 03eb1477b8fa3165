public import RunnelBase

extension SectionedStream {
  /// The number of rows that are shown, in all sections.
  ///
  /// O(sections).
  public var count: Int { sections.reduce(0) { $0 + $1.count } }

  /// All rows that are shown, section by section.
  ///
  /// O(sections) for one section; O(n) for more.
  public var items: Rows<Item> {
    let sections = sections
    return sections.count == 1 ? sections[0].items : Rows(sections.flatMap(\.items))
  }

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
