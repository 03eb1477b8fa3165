import RunnelBase

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
  /// What to put in, in order.
  var inserting: [Insertion] = []

  /// True if nothing is to be done.
  var isEmpty: Bool { removing.isEmpty && inserting.isEmpty }

  /// The new rows, and the index of each inserted one.
  ///
  /// O(n) to copy, once, however many edits there are.
  func applied(to items: [Item]) -> (items: [Item], inserted: [Int]) {
    var result: [Item] = []
    result.reserveCapacity(items.count - removing.count + inserting.count)
    var inserted: [Int] = []
    var next = 0
    var removed = removing[...]
    func copy(upTo end: Int) {
      // Gaps ascend, unless the order that they were found by contradicts itself.
      guard end > next else { return }
      while let index = removed.first, index < end {
        result.append(contentsOf: items[next..<index])
        next = index + 1
        removed.removeFirst()
      }
      result.append(contentsOf: items[next..<end])
      next = end
    }
    for insertion in inserting {
      copy(upTo: insertion.gap)
      inserted.append(result.count)
      result.append(insertion.item)
    }
    copy(upTo: items.count)
    return (result, inserted)
  }
}

extension RowEdit where Item: KeyedItem {
  /// Carries out the edit on the rows of a list's only section.
  ///
  /// - Parameters:
  ///   - items: the rows.
  ///   - changed: the keys of rows that are taken out and put in again with another content.
  /// - Returns: what happened.
  func apply(to items: inout [Item], changed: Set<String>) -> ChangeSet {
    if isEmpty { return ChangeSet() }
    let (result, inserted) = applied(to: items)
    let old = removing.map { index in
      SectionedDiff.Row(path: IndexPath(section: 0, row: index), key: items[index].key)
    }
    let new = zip(inserted, inserting).map { index, insertion in
      SectionedDiff.Row(path: IndexPath(section: 0, row: index), key: insertion.item.key)
    }
    let id = StreamSection<Item>().id
    let changes = SectionedDiff.changes(
      from: .init(sections: [id], counts: [items.count], touched: old),
      to: .init(sections: [id], counts: [result.count], touched: new), changed: changed)
    items = result
    return changes
  }
}
