public import RunnelBase
public import RunnelTree

/// A row of a stream: its identity is the id, its content is what `==` compares.
///
/// Two values with one id are two states of the same row. Ids are unique in a stream. The id of a
/// row from the tree is made of its whole place, so it is not what a user knows it by: that is its
/// key, or its path.
public protocol StreamItem: Equatable, Identifiable where ID == String {
  /// The identity of the row; it never changes while the row lives.
  var id: String { get }
}

/// A row of a stream that stands at a place in the tree.
public protocol PlacedItem: StreamItem {
  /// The place; `Record.id(of: path)` is the id of the row.
  var path: Path { get }
}

extension PlacedItem {
  /// The key of the row in the tree; empty for the root.
  public var key: String { path.lastKey?.text ?? "" }
}

extension SectionedStream where Item: PlacedItem {
  /// The row of a place in the tree; nil if there is none.
  ///
  /// As `item(forID:)`.
  public func item(at path: Path) -> Item? { item(forID: Record.id(of: path)) }

  /// The place in the list of the row of a place in the tree; nil if there is none.
  ///
  /// As `indexPath(forID:)`.
  public func indexPath(of path: Path) -> ListIndexPath? { indexPath(forID: Record.id(of: path)) }
}
