/// A section of a stream: what it is known by, its rows in order, and what stands around them.
public struct StreamSection<Item: KeyedItem> {
  /// What the section is known by; unique in the stream.
  public var id: String
  /// The rows that are shown, in order.
  public var items: Rows<Item>
  /// What stands above the rows; nil if the section has no title of its own.
  public var title: String?
  /// What stands below the rows; nil if nothing does.
  public var footer: String?
  /// How many rows belong to the section but are not shown: it is collapsed, or limited.
  public var hiddenCount = 0
  /// True if none of its rows is shown because somebody wished so.
  public var isCollapsed = false

  /// Makes a section; without an id it is that of a stream with one section.
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

  /// How many rows belong to the section, shown or not.
  public var totalCount: Int { items.count + hiddenCount }

  /// True if what stands around the rows is the same as in another state of the section.
  func hasSameHeading(as other: StreamSection) -> Bool {
    title == other.title && footer == other.footer && hiddenCount == other.hiddenCount
      && isCollapsed == other.isCollapsed
  }
}

extension StreamSection: Equatable {}
extension StreamSection: Sendable where Item: Sendable {}
