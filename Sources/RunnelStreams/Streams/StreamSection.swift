/// A section of a stream: its id, its rows in order, its title and its footer.
public struct StreamSection<Item: StreamItem> {
  /// The id of the section; unique in the stream.
  public var id: String
  /// The rows that are shown, in order.
  public var items: Rows<Item>
  /// The text above the rows; nil if there is none.
  public var title: String?
  /// The text below the rows; nil if there is none.
  public var footer: String?
  /// The number of rows that are not shown because the section is collapsed or limited.
  public var hiddenCount = 0
  /// True if the section is collapsed, so that none of its rows is shown.
  public var isCollapsed = false

  /// Makes a section; the empty id is that of a stream with one section.
  public init(id: String = "", items: Rows<Item> = []) {
    self.id = id
    self.items = items
  }

  /// Makes a section of rows in order.
  ///
  /// O(n).
  public init(id: String = "", items: some Sequence<Item>) {
    self.init(id: id, items: Rows(items))
  }

  /// The number of rows in the section, shown or not.
  public var totalCount: Int { items.count + hiddenCount }

  /// True if title, footer and counts are the same as in another state of the section.
  func hasSameHeading(as other: StreamSection) -> Bool {
    title == other.title && footer == other.footer && hiddenCount == other.hiddenCount
      && isCollapsed == other.isCollapsed
  }
}

extension StreamSection: Equatable {}
extension StreamSection: Sendable where Item: Sendable {}
