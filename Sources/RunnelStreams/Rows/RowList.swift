/// Rows in an order; the accepted ones are shown, up to a limit.
///
/// Invariants:
/// - I1. `all` is strictly ordered by `order`.
/// - I2. `accepted` holds the accepted rows of `all`; it is `all` itself unless `isFiltered`.
/// - I3. `shown` holds the rows of `accepted` in `shownRange`.
///
/// Each change returns the edit of the rows that are shown.
struct RowList {
  /// A row before and after a change; nil if it did not exist.
  struct Replacement {
    var old: RowObject?
    var new: RowObject?
  }

  private(set) var all = Rows<RowObject>()
  private(set) var limit: RowLimit?
  /// True if there may be rows that are not accepted.
  var isFiltered = false {
    didSet { if isFiltered != oldValue { acceptedApart = isFiltered ? all : [] } }
  }
  /// The accepted rows, if not all rows are.
  ///
  /// Nothing else then holds their nodes, so that these are changed in place.
  private var acceptedApart = Rows<RowObject>()
  /// The shown rows, if there is a limit.
  private var shownApart = Rows<RowObject>()
  private var order: RowOrder

  init(by order: RowOrder) { self.order = order }
}

// MARK: Reading

extension RowList {
  /// The accepted rows.
  var accepted: Rows<RowObject> { isFiltered ? acceptedApart : all }

  /// The shown rows.
  var shown: Rows<RowObject> { limit == nil ? accepted : shownApart }

  /// The range of the accepted rows that is shown.
  var shownRange: Range<Int> { limit?.range(of: accepted.count) ?? 0..<accepted.count }

  /// The index of a row among the shown rows; nil if it is not shown.
  ///
  /// O(log n).
  func index(of row: RowObject) -> Int? {
    guard row.isAccepted else { return nil }
    let index = index(of: row, in: accepted)
    return shownRange.contains(index) ? index - shownRange.lowerBound : nil
  }

  /// The index of a row among all rows.
  ///
  /// O(log n).
  func scannedIndex(of row: RowObject) -> Int { index(of: row, in: all) }

  private func index(of row: RowObject, in rows: Rows<RowObject>) -> Int {
    indices(of: [row], in: rows)[0]
  }

  /// The indices of rows that are in the list, in order.
  private func indices(of wanted: [RowObject], in rows: Rows<RowObject>) -> [Int] {
    rows.places(of: wanted, in: order) { row in
      // With an inconsistent order a binary search may miss a row, but no row must be lost.
      guard let index = rows.firstIndex(where: { $0 === row }) else {
        preconditionFailure("I1: the row is here.")
      }
      return index
    }
  }
}

// MARK: Changing

extension RowList {
  /// Removes rows and inserts others.
  ///
  /// O(t log n) in the t rows.
  ///
  /// - Parameter replacements: the rows; an old row must be in the list and in no other
  ///   replacement.
  /// - Returns: the edit of the rows that are shown.
  mutating func replace(_ replacements: [Replacement]) -> RowEdit<RowObject> {
    let edit = edit(of: all, replacements)
    if !isFiltered { return carryOut(all: edit, accepted: edit) }
    let seen = replacements.map { replacement in
      Replacement(
        old: replacement.old.flatMap { $0.isAccepted ? $0 : nil },
        new: replacement.new.flatMap { $0.isAccepted ? $0 : nil })
    }
    return carryOut(all: edit, accepted: self.edit(of: accepted, seen))
  }

  /// Replaces all rows, which need not be in order, and their order; nil to keep it.
  ///
  /// O(n log n).
  mutating func reset(_ rows: [RowObject], by order: RowOrder? = nil) {
    if let order { self.order = order }
    all = Rows(self.order.sorted(rows))
    acceptedApart = isFiltered ? Rows(all.filter(\.isAccepted)) : []
    shownApart = limit == nil ? [] : Rows(accepted[shownRange])
  }

  /// Decides again which rows are accepted.
  ///
  /// O(n).
  mutating func filter(_ accepts: (RowObject) -> Bool) -> RowEdit<RowObject> {
    var edit = RowEdit<RowObject>()
    var passed = 0
    for row in all {
      let wasAccepted = row.isAccepted
      row.isAccepted = accepts(row)
      if wasAccepted && !row.isAccepted { edit.remove(row, at: passed) }
      if wasAccepted { passed += 1 }
      if !wasAccepted && row.isAccepted { edit.inserting.append(.init(gap: passed, item: row)) }
    }
    return carryOut(all: RowEdit(), accepted: edit)
  }

  /// Changes the limit; nil shows all accepted rows.
  ///
  /// O(log n) for each row that enters or leaves.
  mutating func limit(to limit: RowLimit?) -> RowEdit<RowObject> {
    let old = shownRange
    if self.limit == nil { shownApart = accepted }
    self.limit = limit
    let edit = RowEdit<RowObject>().seen(of: accepted, from: old, to: shownRange)
    if limit == nil { shownApart = [] } else { shownApart.apply(edit) }
    return edit
  }

  private func edit(of rows: Rows<RowObject>, _ replacements: [Replacement]) -> RowEdit<RowObject> {
    var edit = RowEdit<RowObject>()
    let going = order.sorted(replacements.compactMap(\.old))
    (edit.removing, edit.removed) = (indices(of: going, in: rows), going)
    if !zip(edit.removing, edit.removing.dropFirst()).allSatisfy({ $0 < $1 }) {
      edit.removing.sort()
      edit.removed = rows.elements(at: edit.removing)
    }
    let coming = order.sorted(replacements.compactMap(\.new))
    edit.inserting = zip(coming, rows.places(of: coming, in: order)).map { row, gap in
      .init(gap: gap, item: row)
    }
    edit.straighten()
    return edit
  }

  private mutating func carryOut(
    all edit: RowEdit<RowObject>, accepted seen: RowEdit<RowObject>
  ) -> RowEdit<RowObject> {
    guard limit != nil else {
      all.apply(edit)
      if isFiltered { acceptedApart.apply(seen) }
      return seen
    }
    let (before, old) = (accepted, shownRange)
    all.apply(edit)
    if isFiltered { acceptedApart.apply(seen) }
    let visible = seen.seen(of: before, from: old, to: shownRange)
    shownApart.apply(visible)
    return visible
  }
}
