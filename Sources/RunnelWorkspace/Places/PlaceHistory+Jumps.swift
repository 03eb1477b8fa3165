import RunnelBase
import RunnelStreams
import RunnelTerminal

// Jumps to the next row of a kind.

/// A kind of rows to jump to.
enum RowKind {
  case marked
  case unread
  case changed
}

extension PlaceHistory {
  /// The reason why there is no row of a kind to jump to, or nil if there is.
  static func reasonNotJumped(_ state: AppState, to kind: RowKind) -> String? {
    guard let target = jumpTarget(state, kind), wantedRows(state, target).ids.isEmpty else {
      return nil
    }
    return target.none
  }

  /// The rows to jump to.
  private struct JumpTarget {
    /// The message if there are none.
    var none: String
    var isWanted: (String) -> Bool
  }

  /// Returns the target of a kind, or nil if the view has no such rows.
  private static func jumpTarget(_ state: AppState, _ kind: RowKind) -> JumpTarget? {
    if kind == .marked {
      return JumpTarget(
        none: state.phrase("no row is marked", .markToggle, "marks"),
        isWanted: state.marked.marks.contains)
    }
    guard let screen = state.tabs.frontList else { return nil }
    if kind == .unread {
      let new = screen.news.unread.rows.union(screen.list.newAbove).union(screen.list.newBelow)
      return JumpTarget(none: "no row is new", isWanted: new.contains)
    }
    let changed = screen.news.changed
    let queue = state.writes.queue
    return JumpTarget(none: "no row changed just now") {
      changed[$0] != nil
        || (screen.records[$0].map { queue.conflict(at: $0.path) != nil } ?? false)
    }
  }

  /// Jumps a number of rows of a kind forward, or back if negative; the end is followed by the
  /// beginning.
  ///
  /// O(rows).
  static func jump(_ state: inout AppState, to kind: RowKind, by count: Int) {
    guard let target = jumpTarget(state, kind) else { return }
    let (ids, before) = wantedRows(state, target)
    guard !ids.isEmpty else { return state.say(.info, target.none) }
    let isOnOne = state.marked.list.cursor == .row(ids[max(before - 1, 0)])
    let start = count > 0 ? before - 1 : isOnOne ? before - 1 : before
    let index = ((start + count) % ids.count + ids.count) % ids.count
    state.withList { list, content, height in
      list.moveTo(.row(ids[index]), in: content, height: height)
    }
  }

  /// Returns the rows of a target that are not in folded sections, and how many of them are at or
  /// before the cursor.
  private static func wantedRows(
    _ state: AppState, _ target: JumpTarget
  ) -> (ids: [String], before: Int) {
    let screen = state.marked
    let folded = screen.list.folded
    var ids: [String] = []
    var before = 0
    for section in screen.content.sections {
      // A header stands before the rows of its section.
      if screen.list.cursor == .header(section.id) { before = ids.count }
      if folded.contains(section.id) { continue }
      for id in section.rows {
        if target.isWanted(id) { ids.append(id) }
        if screen.list.cursor == .row(id) { before = ids.count }
      }
    }
    return (ids, before)
  }
}
