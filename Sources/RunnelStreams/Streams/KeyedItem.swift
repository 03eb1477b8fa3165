public import RunnelTree

/// Something a stream holds: known by its key, compared by its content.
///
/// Identity and content are two questions: an item with the same key and another content is the same
/// row, changed.
public protocol KeyedItem: Equatable {
  /// What the item is known by; unique in a stream.
  var key: String { get }
}

/// A row of the tree with its place: the item of streams that need no type of their own.
///
/// Its key is its path, so that a row that two queries of a union find is one item.
public struct Record: KeyedItem, Hashable, Sendable {
  /// The place of the row in the tree.
  public var path: Path
  /// What was read of it.
  public var row: TreeRow

  /// Makes a record of a row at a place.
  public init(path: Path, row: TreeRow) {
    self.path = path
    self.row = row
  }

  /// Makes a record of a row below a collection.
  public init(_ row: TreeRow, in collection: Path) {
    self.init(path: Path(unchecked: collection.keys + [row.key]), row: row)
  }

  /// The path as text.
  public var key: String { path.description }
}
