/// Rows to remove from an ordered list and to insert into it, at once.
struct RowEdit<Item> {
  /// A row to insert.
  struct Insertion {
    /// The number of old rows before it, including those that are removed.
    var gap: Int
    var item: Item
  }

  /// The indices to remove, ascending.
  var removing: [Int] = []
  /// The removed elements, in an edit that describes a change; otherwise empty.
  var removed: [Item] = []
  /// The rows to insert, in order: gaps ascend.
  var inserting: [Insertion] = []

  /// True if the edit changes nothing.
  var isEmpty: Bool { removing.isEmpty && inserting.isEmpty }

  /// The new index of each inserted row.
  var insertedIndices: [Int] {
    var removed = 0
    return inserting.enumerated().map { index, insertion in
      while removed < removing.count, removing[removed] < insertion.gap { removed += 1 }
      return insertion.gap - removed + index
    }
  }

  /// The same edit with each inserted element replaced by another.
  func mapItems<Other>(_ transform: (Item) -> Other) -> RowEdit<Other> {
    RowEdit<Other>(
      removing: removing,
      inserting: inserting.map { .init(gap: $0.gap, item: transform($0.item)) })
  }

  /// Removes the row at an index, which must be after those removed before.
  mutating func remove(_ item: Item, at index: Int) {
    removing.append(index)
    removed.append(item)
  }

  /// Makes gaps ascend; an inconsistent order may give gaps that do not.
  mutating func straighten() {
    var highest = 0
    for index in inserting.indices {
      highest = Swift.max(highest, inserting[index].gap)
      inserting[index].gap = highest
    }
  }
}
