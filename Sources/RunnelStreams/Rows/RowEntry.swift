/// A row of a list that orders its rows: where it belongs and what is shown of it.
final class RowEntry<Place, Item: KeyedItem> {
  /// By what the row is ordered.
  var place: Place
  /// What is shown.
  let item: Item
  /// True unless a predicate keeps it from being shown.
  var isAccepted = true

  init(_ place: Place, _ item: Item) {
    self.place = place
    self.item = item
  }
}
