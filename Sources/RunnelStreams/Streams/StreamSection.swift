/// A section of a stream: what it is known by and its rows in order.
public struct StreamSection<Item: KeyedItem> {
  /// What the section is known by; unique in the stream.
  public var id: String
  /// The rows in order.
  public var items: [Item]

  /// Makes a section; without an id it is that of a stream with one section.
  public init(id: String = "", items: [Item] = []) {
    self.id = id
    self.items = items
  }
}

extension StreamSection: Equatable {}
extension StreamSection: Sendable where Item: Sendable {}
