import RunnelBase

/// The known rows next beyond a limited window of a place of which only some children are known.
///
/// With them, a row that leaves the window is made up for without reading all known children again.
struct SpareRows: Sendable {
  /// The rows, in the order of the query; all of them come beyond the window's rows.
  var rows: OrderedRows
  /// True if no known row lies beyond these.
  var isAll: Bool

  /// The number of rows that are read beyond a window.
  ///
  /// It grows with the window, as what a reading costs does, so that the readings cost the same for each row that
  /// leaves, however large the window is.
  static func count(for limit: Query.Limit) -> Int { 16 + limit.count / 16 }
}

// MARK: Limited windows of partly known places

extension View {
  /// Reads a limited window anew, and the rows next beyond it.
  mutating func reloadLimited(
    _ limit: Query.Limit, _ reader: some TreeReader
  ) throws(TreeError) -> Changes {
    let before = self
    var wide = slice
    wide.limit = Query.Limit(
      count: limit.count.addingClamped(SpareRows.count(for: limit)), side: limit.side)
    let all = try source(reader).rows(in: wide)
    var shown = OrderedRows(all)
    let spareCount = max(all.count - limit.count, 0)
    shown.remove(spareCount, atStart: limit.side == .last)
    var changes = replaceAll(with: shown)
    let beyond = limit.side == .first ? all.suffix(spareCount) : all.prefix(spareCount)
    spare = SpareRows(
      rows: OrderedRows(Array(beyond)), isAll: all.count < wide.limit?.count ?? .max)
    changes.undo = .all(before)
    return changes
  }

  /// Reads the rows of some children again, where rows push others out of the window; nil, and nothing
  /// changes, if a row has to be made up for by one that is not known here.
  ///
  /// `old` is the knowledge before.
  mutating func refreshLimited(
    _ keys: Set<Key>, _ limit: Query.Limit, _ old: Knowledge, _ reader: some TreeReader
  ) throws(TreeError) -> Changes? {
    var window = LimitedRows(
      shown: shown, spare: spare ?? SpareRows(rows: OrderedRows(), isAll: showsAll(old, limit)),
      limit: limit)
    let slice = slice
    var news: [(key: Key, row: TreeRow?)] = []
    var count = window.count
    for key in keys {
      var new = try row(key, in: slice, reader)
      if let position = new?.position, !window.reaches(position) { new = nil }
      let here = window[key]
      if here == new { continue }
      news.append((key, new))
      count += (new == nil ? 0 : 1) - (here == nil ? 0 : 1)
    }
    if !window.spare.isAll, count < limit.count { return nil }
    // Releases the other references to the rows, so that they are changed in place.
    shown = OrderedRows()
    spare = nil
    for new in news { window.put(new.row, for: new.key) }
    window.balance()
    (shown, spare) = (window.shown, window.spare)
    var changes = Changes()
    for old in window.before { note(old: old.row, new: shown[old.key], in: &changes) }
    // There are steps without changes too: what is known may have changed.
    changes.undo = .rows(window.before, head: head, knowledge: knowledge)
    return changes
  }

  /// True if all children that were known are shown.
  private func showsAll(_ old: Knowledge, _ limit: Query.Limit) -> Bool {
    // All rows are of known children, so that as many are all.
    if case .keys(let known, _) = old, known.count == rows.count { return true }
    return rows.count < limit.count
  }
}

/// The rows of a limited window and those next beyond it, while some of them change.
private struct LimitedRows {
  private(set) var shown: OrderedRows
  private(set) var spare: SpareRows
  let limit: Query.Limit
  /// The rows that the window showed of the keys whose rows may have changed.
  private(set) var before: [(key: Key, row: TreeRow?)] = []
  private var noted: Set<Key> = []

  init(shown: OrderedRows, spare: SpareRows, limit: Query.Limit) {
    (self.shown, self.spare, self.limit) = (shown, spare, limit)
  }

  var count: Int { shown.count + spare.rows.count }

  subscript(key: Key) -> TreeRow? { shown[key] ?? spare.rows[key] }

  /// True if all known rows up to a position are here.
  func reaches(_ position: IndexPosition) -> Bool {
    guard !spare.isAll, let last = outermost(spare.rows) ?? outermost(shown) else { return true }
    return !isBeyond(position, last.position)
  }

  /// Puts a row in the place of its key's row, or removes it.
  mutating func put(_ new: TreeRow?, for key: Key) {
    note(key)
    let isShown = new.map { !belongsToSpare($0.position) } ?? true
    shown.put(isShown ? new : nil, for: key)
    spare.rows.put(isShown ? nil : new, for: key)
  }

  /// Moves rows between the window and those beyond, so that the window is as full as it can be, and
  /// lets go of rows far beyond it.
  mutating func balance() {
    let isFirst = limit.side == .first
    while shown.count > limit.count, let row = outermost(shown) {
      note(row.key)
      shown.remove(1, atStart: !isFirst)
      spare.rows.add([row], atStart: isFirst)
    }
    while shown.count < limit.count,
      let row = isFirst ? spare.rows.rows.first : spare.rows.rows.last
    {
      note(row.key)
      spare.rows.remove(1, atStart: isFirst)
      shown.add([row], atStart: !isFirst)
    }
    let count = SpareRows.count(for: limit)
    if spare.rows.count > 2 * count {
      spare.rows.remove(spare.rows.count - count, atStart: !isFirst)
      spare.isAll = false
    }
  }

  private func belongsToSpare(_ position: IndexPosition) -> Bool {
    let rows = spare.rows.rows
    if let nearest = limit.side == .first ? rows.first : rows.last {
      return !isBeyond(nearest.position, position)
    }
    guard shown.count >= limit.count, let last = outermost(shown) else { return false }
    return isBeyond(position, last.position)
  }

  private func outermost(_ rows: OrderedRows) -> TreeRow? {
    limit.side == .first ? rows.rows.last : rows.rows.first
  }

  private func isBeyond(_ position: IndexPosition, _ other: IndexPosition) -> Bool {
    limit.side == .first ? other < position : position < other
  }

  private mutating func note(_ key: Key) {
    if noted.insert(key).inserted { before.append((key, shown[key])) }
  }
}
