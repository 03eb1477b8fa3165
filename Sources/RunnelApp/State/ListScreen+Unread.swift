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
struct Unread: Hashable, Sendable {
  /// When the last visit ended, in milliseconds since 1970; nil during the first one.
  var since: Int64?
  /// The ids of the unread rows.
  var rows: Set<String> = []
  /// The unread row that the line stands beside; nil if there is none.
  fileprivate var edge: String?
  /// Where it was found last.
  fileprivate var hint = IndexPath(section: 0, row: 0)
  /// True if rows may be gone that are counted: a filter hid them, or hides them.
  fileprivate var isInDoubt = false
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

  /// Takes the rows over that arrived, and forgets those that went; returns where the line stands.
  ///
  /// O(batch), and O(rows) once when the first unread row arrives or the row beside the line goes.
  mutating func updateUnread(
    _ change: ListChange, from old: ListContent, to new: ListContent, me: String
  ) -> IndexPath? {
    guard unread.since != nil else { return nil }
    let fresh = change.newRows.filter { !isOwn($0, me) }
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
  private func isOwn(_ id: String, _ me: String) -> Bool {
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
