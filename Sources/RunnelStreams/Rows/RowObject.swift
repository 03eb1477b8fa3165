import RunnelTree

/// A row of a list, independent of the type of its item; the lists of streams consist of such rows.
///
/// It is a class without type parameters, so that the same compiled code serves the lists of all
/// items.
class RowObject {
  /// The identity of the row.
  final let id: String
  /// A number by which lists are ordered; the owner of the list defines its meaning.
  final var label: Int
  /// The origin of the row; the owner of the list defines its meaning.
  final let origin: Int
  /// False if a predicate hides the row.
  final var isAccepted = true

  init(id: String, label: Int, origin: Int) {
    self.id = id
    self.label = label
    self.origin = origin
  }
}

/// A row with its item.
class RowBox<Item: StreamItem>: RowObject {
  /// The item that is shown.
  final let item: Item

  init(_ item: Item, label: Int = 0, origin: Int = 0) {
    self.item = item
    super.init(id: item.id, label: label, origin: origin)
  }

  /// Casts a row of a list that holds only such rows; a debug build checks the type.
  final class func of(_ row: RowObject) -> RowBox { unsafeDowncast(row, to: RowBox.self) }
}

/// A row of a query: the record from the tree, and the item that is shown.
///
/// Its label is the order prefix of its position; its origin is the window that it came from.
final class QueryRow<Item: StreamItem>: RowBox<Item> {
  /// The record from the tree; it is the item itself if items are records.
  let record: Record

  init(_ record: Record, _ item: Item, label: Int, window: Int) {
    self.record = record
    super.init(item, label: label, origin: window)
  }

  /// Casts a row of a list that holds only such rows; a debug build checks the type.
  static func row(_ row: RowObject) -> QueryRow { unsafeDowncast(row, to: QueryRow.self) }

  /// The key of the row in the tree.
  var treeKey: Key { record.row.key }
  /// The window that the row came from last.
  var window: Int { origin }
}
