import RunnelBase

/// The rows of a list, and the items that are shown.
///
/// Each change returns the changes of the shown rows, in a list with one section, or their edit.
struct ShownRows<Item: StreamItem> {
  typealias Replacement = RowList.Replacement

  /// The rows, each a `RowBox` of an item.
  private(set) var list: RowList
  /// The items of `list.shown`.
  private(set) var items = Rows<Item>()
  private(set) var predicate: ((Item) -> Bool)?

  init(by order: RowOrder) { list = RowList(by: order) }

  private static func item(of row: RowObject) -> Item {
    RowBox<Item>.of(row).item
  }
}

// MARK: Reading

extension ShownRows {
  /// True if a row of the list is shown.
  func isShown(_ row: RowObject) -> Bool {
    row.isAccepted && (list.limit == nil || list.index(of: row) != nil)
  }

  /// The number of shown rows in a first part of the order.
  ///
  /// O(log n).
  func count(while isWanted: (RowObject) -> Bool) -> Int { list.shown.lowerBound(isWanted) }
}

// MARK: Changing

extension ShownRows {
  /// Removes rows and inserts others.
  ///
  /// O(t log n) in the t rows.
  ///
  /// - Parameters:
  ///   - replacements: the rows; an old row must be in the list and in no other replacement.
  ///   - changed: the ids of rows that are told as changed if they stay.
  /// - Returns: the changes of the shown rows.
  mutating func replace(_ replacements: [Replacement], changed: Set<String>) -> ChangeSet {
    let count = items.count
    return replace(replacements).changes(toRows: count, changed: changed)
  }

  /// Removes rows and inserts others; returns the edit of the shown rows.
  mutating func replace(_ replacements: [Replacement]) -> RowEdit<RowObject> {
    if let predicate {
      for case let row? in replacements.map(\.new) {
        row.isAccepted = predicate(ShownRows.item(of: row))
      }
    }
    return show(list.replace(replacements))
  }

  /// Inserts the first rows, which need not be in order.
  ///
  /// O(n), O(n log n) if they are not in order.
  mutating func fill(_ rows: [RowObject]) {
    list.reset(rows)
    items = Rows(list.shown.map { ShownRows.item(of: $0) })
  }

  /// Replaces all rows, which need not be in order, and their order.
  ///
  /// O(n log n), and O(n) to compute the change.
  mutating func reset(_ rows: [RowObject], by order: RowOrder) -> ChangeSet {
    let before = items
    if let predicate {
      for row in rows { row.isAccepted = predicate(ShownRows.item(of: row)) }
    }
    list.reset(rows, by: order)
    items = Rows(list.shown.map { ShownRows.item(of: $0) })
    if before.isEmpty { return items.isEmpty ? ChangeSet() : .reload }
    return SectionedDiff.changes(
      from: [StreamSection(items: before)], to: [StreamSection(items: items)])
  }

  /// Shows the rows that another predicate accepts; nil accepts all.
  ///
  /// O(n).
  mutating func filter(by predicate: ((Item) -> Bool)?) -> ChangeSet {
    self.predicate = predicate
    let count = items.count
    list.isFiltered = true
    let edit = list.filter { predicate?(ShownRows.item(of: $0)) ?? true }
    list.isFiltered = predicate != nil
    return show(edit).changes(toRows: count, changed: [])
  }

  /// Changes the limit; nil shows all accepted rows.
  ///
  /// O(log n) for each row that enters or leaves.
  mutating func limit(to limit: RowLimit?) -> ChangeSet {
    let count = items.count
    return self.limit(limit).changes(toRows: count, changed: [])
  }

  /// Changes the limit; returns the edit of the shown rows.
  mutating func limit(_ limit: RowLimit?) -> RowEdit<RowObject> { show(list.limit(to: limit)) }

  private mutating func show(_ edit: RowEdit<RowObject>) -> RowEdit<RowObject> {
    items.apply(edit.mapItems { ShownRows.item(of: $0) })
    return edit
  }
}
