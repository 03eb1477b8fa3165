import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// What arrived in a list since the user left it last.
///
/// Rules. A visit ends when the user goes to another view or the terminal loses the focus; from then on
/// every row that arrives by itself and is not the user's own is unread, also those that arrive during
/// the next visit, until that ends. A line stands where the unread rows begin: before the first one
/// where the newest rows are at the bottom, after the last one where they are at the top. Where rows
/// come in another order than that of time there is no line, only the sign of each row.
///
/// The end of the program ends the visit too. The next time rows that are newer than the newest one that
/// was seen are unread from the start, if there are any.
package struct Unread: Hashable, Sendable {
  /// When the last visit ended, in milliseconds since 1970; nil during the first one.
  var since: Int64?
  /// The ids of the unread rows.
  package var rows: Set<String> = []
  /// How many of the unread rows the list let go of.
  var unloaded = 0
  /// How many rows the collection had when the last visit ended; nil if that is not known.
  fileprivate var total: Int?
  /// The newest row that is known to be seen; nil once a visit ended since.
  ///
  /// It was so before the program was started, or before the list let go of unread rows: rows beyond it
  /// are unread when they are loaded.
  fileprivate var seen: RunnelTree.Key?
  /// The unread row that the line stands beside; nil if there is none.
  fileprivate var edge: String?
  /// Where it was found last.
  fileprivate var hint = ListIndexPath(section: 0, row: 0)
  /// True if rows may be gone that are counted: a filter hid them, or hides them.
  fileprivate var isInDoubt = false
}

/// The newest row that was seen in a list, and when.
package struct SeenRow: Hashable, Sendable {
  package var id: String
  /// When the visit ended, in milliseconds since 1970.
  var left: Int64
}

// MARK: From one time to the next

extension ListScreen {
  /// The newest row that was seen; nil if that is not known, as where rows come in another order than
  /// that of their keys.
  ///
  /// O(rows).
  func newestSeen(since before: String?, besides unread: Set<String>) -> String? {
    guard hasKeysInOrderOfTime, phase == .loaded else { return nil }
    let unreadKeys = unread.compactMap { records[$0]?.row.key }
    let first = unreadKeys.min()
    var newest = before.flatMap(ListScreen.place)
    for record in records.values where !isTransient(record) {
      if let first, record.row.key >= first { continue }
      if let known = newest?.lastKey, record.row.key <= known { continue }
      newest = record.path
    }
    return newest?.description
  }

  private static func place(_ id: String) -> Path? { try? Path(id) }

  /// The rows of a change that came since the last time, or are newer than those seen then and were
  /// fetched only now.
  ///
  /// O(batch).
  fileprivate mutating func rowsSinceLastTime(_ change: ListChange, me: String) -> Set<String> {
    if let seen = seenBefore, unread.since == nil, hasKeysInOrderOfTime,
      let key = ListScreen.place(seen.id)?.lastKey,
      change.records.contains(where: { $1.row.key > key && !isOwn($0, me) })
    {
      unread = Unread(since: seen.left)
      unread.seen = key
    }
    if change.phase == .loaded { seenBefore = nil }
    guard let key = unread.seen else { return [] }
    return Set(change.records.keys.filter { records[$0].map { $0.row.key > key } ?? false })
  }
}

extension ListScreen {
  /// Ends the visit: what is unread is counted from now on.
  package mutating func leave(height: Int, now: Int64) {
    guard isOpen else { return }
    unread = Unread(since: now)
    unread.total = total
    guard content.divider != nil else { return }
    let old = content
    content = old.divided(at: nil)
    list.apply(BatchUpdate(), from: old, to: content, height: height)
  }

  /// How many unread rows the list has.
  ///
  /// O(1); after a filter O(unread rows).
  var unreadCount: Int {
    let loaded = unread.isInDoubt ? unread.rows.count(where: hasRow) : unread.rows.count
    return loaded + unread.unloaded + unreadArrivedUnloaded
  }

  /// How many unread rows came beyond the end of what is loaded.
  var unreadArrivedUnloaded: Int {
    guard unread.since != nil, let total, let before = unloaded?.total else { return 0 }
    return max(0, total - max(before, unread.total ?? 0))
  }

  /// The unread rows that go with a change are known when they are loaded again.
  ///
  /// O(loaded rows).
  private mutating func letGoOfUnread(_ change: ListChange, _ old: [String: Record]) {
    let gone =
      change.update.isReload
      ? unread.rows.filter { !hasRow($0) } : unread.rows.intersection(change.removed)
    guard !gone.isEmpty else { return }
    if hasKeysInOrderOfTime, unread.seen == nil,
      let first = unread.rows.compactMap({ old[$0]?.row.key }).min()
    {
      let seen = old.values.filter { !isTransient($0) && $0.row.key < first }
      unread.seen = seen.map { $0.row.key }.max()
    }
    unread.rows.subtract(gone)
  }

  /// As many rows are unread after rows were let go of, or read again, as were before.
  mutating func keepUnread(_ count: Int) {
    unread.unloaded = 0
    unread.unloaded = max(0, count - unreadCount)
  }

  /// What the line before the unread rows says.
  func unreadText(local: LocalTime, isShort: Bool) -> String {
    guard let since = unread.since, !isShort else { return "\(unreadCount) new" }
    return "\(unreadCount) new since \(local.timeText(since))"
  }

  /// True where the order of rows is that in which they come.
  private var isInOrderOfTime: Bool { definition.source.anchor == .last }

  /// True where the order of keys is that in which rows come.
  private var hasKeysInOrderOfTime: Bool {
    isInOrderOfTime && definition.source.order == .key
  }

  /// Takes the rows over that arrived, and forgets those that went; returns where the line stands.
  ///
  /// O(batch), and O(rows) after a reload.
  mutating func updateUnread(
    _ change: ListChange, from old: ListContent, to new: ListContent,
    forgotten: [String: Record], me: String
  ) -> ListIndexPath? {
    let since = rowsSinceLastTime(change, me: me)
    guard unread.since != nil else { return nil }
    let fresh = change.newRows.union(since).filter { !isOwn($0, me) }
    if change.isLettingGo {
      letGoOfUnread(change, records.merging(forgotten) { known, _ in known })
    } else if unread.unloaded > 0 {
      let again = fresh.subtracting(change.newRows).subtracting(unread.rows)
      unread.unloaded = max(0, unread.unloaded - again.count)
    }
    unread.rows.formUnion(fresh)
    if unread.rows.isEmpty {
      unread.edge = nil
      return nil
    }
    forgetGoneUnread(change)
    guard isInOrderOfTime else { return nil }
    settleEdge(change.update, fresh, from: old, to: new)
    if unread.edge == nil { return nil }
    return isLiveAtBottom
      ? unread.hint : ListIndexPath(section: unread.hint.section, row: unread.hint.row + 1)
  }

  /// True for what the user wrote, or is writing.
  func isOwn(_ id: String, _ me: String) -> Bool {
    guard let record = records[id], !isTransient(record) else { return true }
    let node = record.row.node ?? .empty
    return definition.template.contains {
      $0.value == .string("$me") && node[$0.path].leaf == .string(me)
    }
  }

  private mutating func forgetGoneUnread(_ change: ListChange) {
    if filter != nil {
      // What goes may come back, one source after the other.
      unread.isInDoubt = true
    } else if !change.update.isReload {
      unread.rows.subtract(change.removed)
    } else if !unread.isInDoubt {
      unread.rows = unread.rows.filter(hasRow)
    }
  }

  /// Finds the unread row that the line stands beside: the first one, or the last one.
  ///
  /// O(batch); O(rows) if nothing is known of it. Beyond the one of before only rows can be unread that
  /// came.
  private mutating func settleEdge(
    _ update: BatchUpdate, _ fresh: Set<String>, from old: ListContent, to new: ListContent
  ) {
    let isFirst = unread.edge == nil && unread.rows.count == fresh.count
    var place: ListIndexPath?
    if update.isReload || (unread.edge == nil && !isFirst) {
      place = nextUnread(in: new, from: nil)
    } else if unread.edge != nil {
      guard old.row(at: unread.hint) == unread.edge,
        let passage = old.passage(of: unread.hint, through: update, to: new)
      else { return setEdge(nextUnread(in: new, from: nil), in: new) }
      let isThere = passage.isSameRow && unread.edge.map(unread.rows.contains) == true
      place = isThere ? passage.path : nextUnread(in: new, from: passage.path)
    }
    let candidates =
      update.insertedRows + update.movedRows.map(\.to)
      + update.insertedSections.filter(new.sections.indices.contains).flatMap { section in
        new.sections[section].rows.indices.map { ListIndexPath(section: section, row: $0) }
      }
    for path in candidates where isFurtherOut(path, than: place) {
      if let id = new.row(at: path), unread.rows.contains(id) { place = path }
    }
    setEdge(place, in: new)
  }

  private mutating func setEdge(_ place: ListIndexPath?, in content: ListContent) {
    unread.edge = place.flatMap { content.row(at: $0) }
    if let place { unread.hint = place }
  }

  private func isFurtherOut(_ path: ListIndexPath, than place: ListIndexPath?) -> Bool {
    guard let place else { return true }
    return isLiveAtBottom ? path < place : place < path
  }

  /// The first unread row from a place on, in the direction of the newest rows; nil to begin at the
  /// other end.
  ///
  /// O(rows that are read up to it).
  private func nextUnread(in content: ListContent, from start: ListIndexPath?) -> ListIndexPath? {
    let sections = content.sections
    let first = start?.section ?? (isLiveAtBottom ? 0 : sections.count - 1)
    for section in isLiveAtBottom
      ? Array(sections.indices.dropFirst(first)) : sections.indices.prefix(first + 1).reversed()
    {
      let rows = sections[section].rows
      let from = section == first ? start?.row : nil
      let row =
        isLiveAtBottom
        ? rows.indices.dropFirst(from ?? 0).first { unread.rows.contains(rows[$0]) }
        : rows.indices.prefix((from ?? rows.count) + 1).last { unread.rows.contains(rows[$0]) }
      if let row { return ListIndexPath(section: section, row: row) }
    }
    return nil
  }
}

extension ListScreen {
  /// How many unread rows each tab tells: those of the views that are not in front.
  static func unreadCounts(_ state: AppState) -> [Int] {
    state.tabs.lists.enumerated().map { $0.offset == state.tabs.index ? 0 : $0.element.unreadCount }
      + [0]
  }

  /// The terminal got the focus, or lost it: then the user is away from the view in front.
  static func focus(_ state: inout AppState, _ isThere: Bool) {
    if !isThere, !state.tabs.isTree { state.tabs.front.leave(height: state.height, now: state.now) }
  }
}
