/// Rows to take out of an ordered list and to put into it, all at once.
struct RowEdit<Item> {
  /// A row to put in.
  struct Insertion {
    /// How many of the old rows stand before it, those that are taken out included.
    var gap: Int
    var item: Item
  }

  /// The indices to take out, ascending.
  var removing: [Int] = []
  /// What stands at these indices, in an edit that tells what was done; else empty.
  var removed: [Item] = []
  /// What to put in, in order: gaps ascend.
  var inserting: [Insertion] = []

  /// True if nothing is to be done.
  var isEmpty: Bool { removing.isEmpty && inserting.isEmpty }

  /// The new index of each inserted row.
  var insertedIndices: [Int] {
    var removed = 0
    return inserting.enumerated().map { index, insertion in
      while removed < removing.count, removing[removed] < insertion.gap { removed += 1 }
      return insertion.gap - removed + index
    }
  }

  /// The same edit with other things put in, each made of the one it replaces.
  func mapItems<Other>(_ transform: (Item) -> Other) -> RowEdit<Other> {
    RowEdit<Other>(
      removing: removing,
      inserting: inserting.map { .init(gap: $0.gap, item: transform($0.item)) })
  }

  /// Takes out the row at an index, which is after those before.
  mutating func remove(_ item: Item, at index: Int) {
    removing.append(index)
    removed.append(item)
  }

  /// Lets gaps ascend: an order that contradicts itself finds some that do not.
  mutating func straighten() {
    var highest = 0
    for index in inserting.indices {
      highest = Swift.max(highest, inserting[index].gap)
      inserting[index].gap = highest
    }
  }
}
