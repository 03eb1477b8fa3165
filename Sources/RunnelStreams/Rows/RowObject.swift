import RunnelTree

/// A row of a list, whatever it shows: what the lists of streams are made of.
///
/// It is a class of no type parameters so that one compiled code serves the lists of all items.
class RowObject {
  /// The identity of the row.
  final let key: String
  /// A number that lists are ordered by; what it counts is the business of who keeps the list.
  final var label: Int
  /// Where the row came from: a number of who keeps the list.
  final let origin: Int
  /// True unless a predicate keeps it from being shown.
  final var isAccepted = true

  init(key: String, label: Int, origin: Int) {
    self.key = key
    self.label = label
    self.origin = origin
  }
}

/// A row with what is shown of it.
class RowBox<Item: KeyedItem>: RowObject {
  /// What is shown.
  final let item: Item

  init(_ item: Item, label: Int = 0, origin: Int = 0) {
    self.item = item
    super.init(key: item.key, label: label, origin: origin)
  }

  /// A row of a list that holds only such rows; a debug build checks it.
  final class func of(_ row: RowObject) -> RowBox { unsafeDowncast(row, to: RowBox.self) }
}

/// A row of a query: what the tree told of it and what is shown.
///
/// Its label is what its place begins with, its origin the window that told it.
final class QueryRow<Item: KeyedItem>: RowBox<Item> {
  /// What the tree told; it is the item itself where that is what was told.
  let record: Record

  init(_ record: Record, _ item: Item, label: Int, window: Int) {
    self.record = record
    super.init(item, label: label, origin: window)
  }

  /// A row of a list that holds only rows of this kind; a debug build checks it.
  static func row(_ row: RowObject) -> QueryRow { unsafeDowncast(row, to: QueryRow.self) }

  /// The key by which the tree knows the row.
  var treeKey: Key { record.row.key }
  /// The window that told the row last.
  var window: Int { origin }
}
