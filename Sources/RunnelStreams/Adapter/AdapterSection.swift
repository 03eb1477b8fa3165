/// A row of a list.
public enum AdapterRow<Item: StreamItem> {
  /// A row of a stream.
  case item(Item)
  /// A placeholder, which stands for no item.
  case placeholder(PlaceholderRow)
}

extension AdapterRow: Equatable {}
extension AdapterRow: Sendable where Item: Sendable {}

/// The header and footer of a section.
public struct SectionLabels: Hashable, Sendable {
  /// The text above the rows; nil if there is none.
  public var header: String?
  /// The text below the rows; nil if there is none.
  public var footer: String?

  /// Makes labels.
  public init(header: String? = nil, footer: String? = nil) {
    self.header = header
    self.footer = footer
  }

  /// The labels that a section of a stream brings along.
  public init<Item>(of section: StreamSection<Item>) {
    self.init(header: section.title, footer: section.footer)
  }
}

/// A section of a list: the rows of a stream's section, with placeholders around them.
public struct AdapterSection<Item: StreamItem> {
  /// The id of the section; unique in the list.
  public var id: String
  /// The header and footer.
  public var labels = SectionLabels()
  /// The placeholders before the items.
  public var leading: [PlaceholderRow] = []
  /// The section of the stream; empty if there are only placeholders.
  public var content = StreamSection<Item>()
  /// The placeholders after the items.
  public var trailing: [PlaceholderRow] = []
  /// The prefix of the ids of items in the list.
  var idPrefix = ""

  init(id: String) { self.id = id }
}

extension AdapterSection: Equatable {}
extension AdapterSection: Sendable where Item: Sendable {}

extension AdapterSection {
  /// The number of rows, placeholders included.
  public var count: Int { leading.count + content.items.count + trailing.count }

  /// The row at an index below `count`.
  public subscript(row: Int) -> AdapterRow<Item> {
    if row < leading.count { return .placeholder(leading[row]) }
    let index = row - leading.count
    if index < content.items.count { return .item(content.items[index]) }
    return .placeholder(trailing[index - content.items.count])
  }

  /// The id in the list of the row at an index below `count`.
  public func id(at row: Int) -> String {
    switch self[row] {
    case .item(let item): idPrefix.isEmpty ? item.id : idPrefix + item.id
    case .placeholder(let placeholder): placeholder.id
    }
  }

  /// The ids of all rows.
  ///
  /// O(n).
  public var rowIDs: [String] { rowIDs(in: 0..<count) }

  /// The ids of the rows at some indices.
  ///
  /// O(log n) and O(1) for each row.
  @specialized(where Item == Record)
  func rowIDs(in range: Range<Int>) -> [String] {
    let end = leading.count + content.items.count
    let items = content.items.elements(
      in: (range.clamped(to: leading.count..<end)).shifted(by: -leading.count))
    let (before, after) = (
      range.clamped(to: 0..<leading.count),
      range.clamped(to: end..<end + trailing.count).shifted(by: -end)
    )
    return leading[before].map(\.id)
      + items.map { idPrefix.isEmpty ? $0.id : idPrefix + $0.id }
      + trailing[after].map(\.id)
  }

  /// The section by the ids of its rows.
  ///
  /// O(n).
  public var sectionIDs: SectionIDs { SectionIDs(id: id, rowIDs: rowIDs) }
}

extension Range<Int> {
  /// The range moved up by a distance.
  fileprivate func shifted(by distance: Int) -> Range<Int> {
    (lowerBound + distance)..<(upperBound + distance)
  }
}
