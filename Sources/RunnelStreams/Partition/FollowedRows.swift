import RunnelBase

/// The rows of a stream that is followed, in its order and by id.
///
/// Each row has a label that ascends with the order, so that lists of some of the rows can have the
/// same order.
struct FollowedRows<Item: StreamItem> {
  typealias Replacement = RowList.Replacement

  /// The rows in the order of the stream.
  private(set) var order = SourceOrder()
  /// The rows by the ids of their items.
  private(set) var table = RowTable<ByID>()
  /// The number of rows in each section of the stream.
  private var counts: [Int] = []
}

extension FollowedRows {
  /// Follows a change.
  ///
  /// O(t log n) in the t rows that it touches; O(n) if it is a reload.
  ///
  /// - Parameters:
  ///   - change: the change.
  ///   - make: makes the row object for a row.
  /// - Returns: pairs of the replaced row and its replacement; after a reload all rows, each in two
  ///   pairs.
  mutating func follow(
    _ change: StreamChange<Item>, make: (Item) -> RowBox<Item>
  ) -> [Replacement] {
    defer { counts = change.sections.map(\.items.count) }
    if change.changes.batch.isReload {
      let old = Array(order.rows)
      reset(change.sections, make: make)
      return old.map { Replacement(old: $0) } + order.rows.map { Replacement(new: $0) }
    }
    if change.changes.isEmpty { return [] }
    return take(SourceEdit(change, oldCounts: counts), make: make)
  }

  /// Forgets all rows and takes others.
  ///
  /// O(n).
  mutating func reset(_ sections: [StreamSection<Item>], make: (Item) -> RowBox<Item>) {
    counts = sections.map(\.items.count)
    table = RowTable(minimumCapacity: counts.reduce(0, +))
    var rows: [RowObject] = []
    rows.reserveCapacity(counts.reduce(0, +))
    for section in sections {
      for item in section.items {
        let row = make(item)
        rows.append(row)
        table.insert(row)
      }
    }
    order = SourceOrder(rows)
  }

  /// Puts rows in the place of others that have the same items.
  ///
  /// O(t log n) in the t rows.
  mutating func renew(_ rows: [(old: RowObject, new: RowObject)]) -> [Replacement] {
    let renewed = rows.map { RowEdit.Insertion(gap: order.index(of: $0.old), item: $0.new) }
    order.apply(removing: [], inserting: [], replacing: renewed.sorted { $0.gap < $1.gap })
    let replacements = rows.map { Replacement(old: $0.old, new: $0.new) }
    table.replace(replacements)
    return replacements
  }

  private mutating func take(
    _ edit: SourceEdit<Item>, make: (Item) -> RowBox<Item>
  ) -> [Replacement] {
    let removed = order.rows.elements(at: edit.removing)
    let stale = order.rows.elements(at: edit.replacing.map(\.number))
    var pairs = removed.map { Replacement(old: $0) }
    var (arriving, renewed): ([RowEdit<RowObject>.Insertion], [RowEdit<RowObject>.Insertion]) = (
      [], []
    )
    for insertion in edit.inserting {
      let new = make(insertion.item)
      pairs.append(Replacement(new: new))
      arriving.append(.init(gap: insertion.gap, item: new))
    }
    for (old, place) in zip(stale, edit.replacing) {
      let new = make(place.item)
      pairs.append(Replacement(old: old, new: new))
      renewed.append(.init(gap: place.number, item: new))
    }
    order.apply(removing: edit.removing, inserting: arriving, replacing: renewed)
    table.replace(pairs)
    return pairs
  }
}
