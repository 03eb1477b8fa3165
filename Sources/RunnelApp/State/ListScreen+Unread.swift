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
struct Unread: Hashable, Sendable {
  /// When the last visit ended, in milliseconds since 1970; nil during the first one.
  var since: Int64?
  /// The ids of the unread rows.
  var rows: Set<String> = []
  /// The newest row that was seen before the program was started; nil once a visit ended since.
  fileprivate var seen: RunnelTree.Key?
  /// The unread row that the line stands beside; nil if there is none.
  fileprivate var edge: String?
  /// Where it was found last.
  fileprivate var hint = IndexPath(section: 0, row: 0)
  /// True if rows may be gone that are counted: a filter hid them, or hides them.
  fileprivate var isInDoubt = false
}

/// The newest row that was seen in a list, and when.
struct SeenRow: Hashable, Sendable {
  var id: String
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
  mutating func leave(height: Int, now: Int64) {
    guard isOpen else { return }
    unread = Unread(since: now)
    guard content.divider != nil else { return }
    let old = content
    content = old.divided(at: nil)
    list.apply(BatchUpdate(), from: old, to: content, height: height)
  }

  /// How many unread rows the list has.
  ///
  /// O(1); after a filter O(unread rows).
  var unreadCount: Int {
    guard unread.isInDoubt else { return unread.rows.count }
    return unread.rows.count { content.indexPath(ofRow: $0) != nil }
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
  /// O(batch), and O(rows) once when the first unread row arrives or the row beside the line goes.
  mutating func updateUnread(
    _ change: ListChange, from old: ListContent, to new: ListContent, me: String
  ) -> IndexPath? {
    let since = rowsSinceLastTime(change, me: me)
    guard unread.since != nil else { return nil }
    let fresh = change.newRows.union(since).filter { !isOwn($0, me) }
    unread.rows.formUnion(fresh)
    if unread.rows.isEmpty { return nil }
    forgetGoneUnread(change.update, from: old, to: new)
    guard isInOrderOfTime else { return nil }
    settleEdge(change.update, fresh, in: new)
    if unread.edge == nil { return nil }
    return isLiveAtBottom
      ? unread.hint : IndexPath(section: unread.hint.section, row: unread.hint.row + 1)
  }

  /// True for what the user wrote, or is writing.
  func isOwn(_ id: String, _ me: String) -> Bool {
    guard let record = records[id], !isTransient(record) else { return true }
    let node = record.row.node ?? .empty
    return definition.template.contains {
      $0.value == .string("$me") && node[$0.path].leaf == .string(me)
    }
  }

  private mutating func forgetGoneUnread(
    _ update: BatchUpdate, from old: ListContent, to new: ListContent
  ) {
    if filter != nil {
      // What goes may come back, one source after the other.
      unread.isInDoubt = true
    } else if update.isReload, !unread.isInDoubt {
      unread.rows = unread.rows.filter { new.indexPath(ofRow: $0) != nil }
    } else {
      for path in update.deletedRows {
        if let id = old.row(at: path) { unread.rows.remove(id) }
      }
      let moved = Set(update.movedRows.map(\.from))
      for section in update.deletedSections where old.sections.indices.contains(section) {
        for (row, id) in old.sections[section].rows.enumerated()
        where !moved.contains(IndexPath(section: section, row: row)) {
          unread.rows.remove(id)
        }
      }
    }
  }

  /// Finds the unread row that the line stands beside: the first one, or the last one.
  private mutating func settleEdge(
    _ update: BatchUpdate, _ fresh: Set<String>, in content: ListContent
  ) {
    guard !update.isReload, let edge = unread.edge, unread.rows.contains(edge),
      var place = content.indexPath(ofRow: edge, near: unread.hint)
    else { return findEdge(in: content) }
    // Only what came may stand further out than the row that was there.
    let candidates =
      update.insertedRows
      + update.insertedSections.filter(content.sections.indices.contains).flatMap { section in
        content.sections[section].rows.indices.map { IndexPath(section: section, row: $0) }
      }
    for path in candidates where isLiveAtBottom ? path < place : place < path {
      if let id = content.row(at: path), fresh.contains(id) { place = path }
    }
    unread.hint = place
    unread.edge = content.row(at: place)
  }

  private mutating func findEdge(in content: ListContent) {
    unread.edge = nil
    let sections = Array(content.sections.enumerated())
    for (index, section) in isLiveAtBottom ? sections : sections.reversed() {
      let row =
        isLiveAtBottom
        ? section.rows.firstIndex(where: unread.rows.contains)
        : section.rows.lastIndex(where: unread.rows.contains)
      guard let row else { continue }
      unread.edge = section.rows[row]
      unread.hint = IndexPath(section: index, row: row)
      return
    }
  }
}

extension AppState {
  /// How many unread rows each tab tells: those of the views that are not in front.
  var unreadCounts: [Int] {
    lists.enumerated().map { $0.offset == active ? 0 : $0.element.unreadCount } + [0]
  }

  /// The terminal got the focus, or lost it: then the user is away from the view in front.
  mutating func focus(_ isThere: Bool) {
    if !isThere, !isTree { lists[active].leave(height: height, now: now) }
  }
}
