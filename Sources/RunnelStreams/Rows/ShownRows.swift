/// Rows in an order, of which those are shown that a predicate accepts, up to a limit.
///
/// Invariants:
/// - I1. `all` is strictly ordered by `order`.
/// - I2. `accepted` holds the accepted rows of `all`; without a predicate it is `all` itself.
/// - I3. `items` holds the items of `accepted` in `shownRange`.
///
/// Each change returns what became of the rows that are shown, in the list's only section.
struct ShownRows<Place, Item: KeyedItem> {
  typealias Entry = RowEntry<Place, Item>

  /// A row before and after a change; nil where there is none.
  struct Replacement {
    var old: Entry?
    var new: Entry?
  }

  private(set) var all = Rows<Entry>()
  private(set) var accepted = Rows<Entry>()
  private(set) var items = Rows<Item>()
  private(set) var predicate: ((Item) -> Bool)?
  private(set) var limit: RowLimit?
  private var order: (Place, Place) -> Bool

  init(by order: @escaping (Place, Place) -> Bool) { self.order = order }
}

// MARK: Reading

extension ShownRows {
  /// Which of the accepted rows are shown.
  var shownRange: Range<Int> { shownRange(of: accepted.count) }

  private func shownRange(of count: Int) -> Range<Int> { limit?.range(of: count) ?? 0..<count }

  /// True if a row that is here is shown.
  func isShown(_ entry: Entry) -> Bool {
    entry.isAccepted && (limit == nil || index(of: entry) != nil)
  }

  /// The index of a row among those shown; nil if it is not one of them.
  ///
  /// O(log n).
  func index(of entry: Entry) -> Int? {
    guard entry.isAccepted else { return nil }
    let index = index(of: entry, in: accepted)
    return shownRange.contains(index) ? index - shownRange.lowerBound : nil
  }

  /// How many of the rows shown are of a first part of the order.
  ///
  /// O(log n).
  func count(while isWanted: (Place) -> Bool) -> Int {
    let count = accepted.lowerBound { isWanted($0.place) }
    return min(max(count, shownRange.lowerBound), shownRange.upperBound) - shownRange.lowerBound
  }

  private func index(of entry: Entry, in rows: Rows<Entry>) -> Int {
    let index = rows.lowerBound { order($0.place, entry.place) }
    if index < rows.count, rows[index] === entry { return index }
    // An order that contradicts itself finds no row by halves; it must not lose one.
    guard let found = rows.firstIndex(where: { $0 === entry }) else {
      preconditionFailure("I1: the row is here.")
    }
    return found
  }
}

// MARK: Changing

extension ShownRows {
  /// Takes rows out and puts others in.
  ///
  /// O(t log n) in the t rows.
  ///
  /// - Parameters:
  ///   - replacements: the rows; an old one is here and in no other replacement.
  ///   - changed: the keys of rows that are to be told as changed if they stay.
  /// - Returns: what became of the rows that are shown.
  mutating func replace(_ replacements: [Replacement], changed: Set<String>) -> ChangeSet {
    let before = items
    return replace(replacements).changes(to: before, changed: changed)
  }

  /// Takes rows out and puts others in.
  ///
  /// O(t log n) in the t rows.
  ///
  /// - Parameter replacements: the rows; an old one is here and in no other replacement.
  /// - Returns: the edit that was made to the rows that are shown.
  mutating func replace(_ replacements: [Replacement]) -> RowEdit<Item> {
    for replacement in replacements {
      guard let entry = replacement.new, let predicate else { continue }
      entry.isAccepted = predicate(entry.item)
    }
    let edit = edit(of: all, replacements)
    if predicate == nil {
      return carryOut(all: edit, accepted: edit)
    }
    let seen = replacements.map { replacement in
      Replacement(
        old: replacement.old.flatMap { $0.isAccepted ? $0 : nil },
        new: replacement.new.flatMap { $0.isAccepted ? $0 : nil })
    }
    return carryOut(all: edit, accepted: self.edit(of: accepted, seen))
  }

  /// Replaces all rows, and their order.
  ///
  /// O(n log n).
  mutating func reset(_ entries: [Entry], by order: @escaping (Place, Place) -> Bool) -> ChangeSet {
    let before = items
    self.order = order
    all = Rows(entries.sorted { order($0.place, $1.place) })
    for entry in entries { entry.isAccepted = predicate?(entry.item) ?? true }
    accepted = predicate == nil ? all : Rows(all.filter(\.isAccepted))
    items = Rows(limit == nil ? accepted.map(\.item) : accepted[shownRange].map(\.item))
    return SectionedDiff.changes(
      from: [StreamSection(items: before)], to: [StreamSection(items: items)])
  }

  /// Puts the first rows in, which are in order.
  ///
  /// O(n).
  mutating func fill(_ entries: [Entry]) {
    all = Rows(entries)
    accepted = all
    items = Rows(limit == nil ? all.map(\.item) : all[shownRange].map(\.item))
  }

  /// Shows the rows that another predicate accepts; nil accepts all.
  ///
  /// O(n).
  mutating func filter(by predicate: ((Item) -> Bool)?) -> ChangeSet {
    self.predicate = predicate
    var edit = RowEdit<Entry>()
    var passed = 0
    for entry in all {
      let wasAccepted = entry.isAccepted
      entry.isAccepted = predicate?(entry.item) ?? true
      if wasAccepted && !entry.isAccepted { edit.removing.append(passed) }
      if wasAccepted { passed += 1 }
      if !wasAccepted && entry.isAccepted {
        edit.inserting.append(.init(gap: passed, item: entry))
      }
    }
    let before = items
    return carryOut(all: RowEdit(), accepted: edit).changes(to: before, changed: [])
  }

  /// Shows up to another number of rows; nil shows all.
  ///
  /// O(log n) for each row that comes or leaves.
  mutating func limit(to limit: RowLimit?) -> ChangeSet {
    let before = items
    return self.limit(limit).changes(to: before, changed: [])
  }

  /// Shows up to another number of rows; returns the edit that was made to those shown.
  mutating func limit(_ limit: RowLimit?) -> RowEdit<Item> {
    let old = shownRange
    self.limit = limit
    return show(RowEdit<Entry>().seen(of: accepted, from: old, to: shownRange))
  }

  private func edit(of rows: Rows<Entry>, _ replacements: [Replacement]) -> RowEdit<Entry> {
    var edit = RowEdit<Entry>()
    edit.removing = replacements.compactMap { $0.old.map { index(of: $0, in: rows) } }
    edit.removing.sort()
    let added = replacements.compactMap(\.new).sorted { order($0.place, $1.place) }
    edit.inserting = added.map { entry in
      .init(gap: rows.lowerBound { order($0.place, entry.place) }, item: entry)
    }
    edit.straighten()
    return edit
  }

  private mutating func carryOut(
    all edit: RowEdit<Entry>, accepted seen: RowEdit<Entry>
  ) -> RowEdit<Item> {
    let (before, old) = (accepted, shownRange)
    all.apply(edit)
    if predicate == nil { accepted = all } else { accepted.apply(seen) }
    return show(seen.seen(of: before, from: old, to: shownRange))
  }

  private mutating func show(_ edit: RowEdit<Entry>) -> RowEdit<Item> {
    let edit = edit.mapItems(\.item)
    items.apply(edit)
    return edit
  }
}
