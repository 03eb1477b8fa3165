/// A row of a list, whatever it shows: what the lists of streams are made of.
///
/// It is a class of no type parameters so that one compiled code serves the lists of all items.
class RowObject {
  /// The identity of the row.
  final let key: String
  /// True unless a predicate keeps it from being shown.
  final var isAccepted = true
  /// A number to order rows by; what it counts is the business of who keeps the list.
  final var label: Int

  init(key: String, label: Int) {
    self.key = key
    self.label = label
  }
}

/// A row with what is shown of it.
class RowBox<Item: KeyedItem>: RowObject {
  /// What is shown.
  final let item: Item

  init(_ item: Item, label: Int = 0) {
    self.item = item
    super.init(key: item.key, label: label)
  }

  /// A row of a list that holds only such rows; a debug build checks it.
  final class func of(_ row: RowObject) -> RowBox { unsafeDowncast(row, to: RowBox.self) }
}

/// A row of a list that orders its rows: where it belongs and what is shown of it.
final class RowEntry<Place, Item: KeyedItem>: RowBox<Item> {
  /// By what the row is ordered.
  let place: Place

  init(_ place: Place, _ item: Item) {
    self.place = place
    super.init(item)
  }

  /// A row of a list that holds only rows of this kind; a debug build checks it.
  static func entry(_ row: RowObject) -> RowEntry { unsafeDowncast(row, to: RowEntry.self) }
}
