import RunnelBase
import RunnelStreams
import RunnelTerminal

// From one remarkable row to the next.

/// A kind of rows that one goes to.
enum RowKind {
  case marked
  case unread
  case changed
}

extension PlaceHistory {
  /// The reason why there is no row of a kind to go to; nil if there is.
  static func reasonNotJumped(_ state: AppState, to kind: RowKind) -> String? {
    guard let target = jumpTarget(state, kind), wantedRows(state, target).ids.isEmpty else {
      return nil
    }
    return target.none
  }

  /// The rows that one goes to.
  private struct JumpTarget {
    /// What is said if there are none.
    var none: String
    var isWanted: (String) -> Bool
  }

  /// Nil for what the view does not have.
  private static func jumpTarget(_ state: AppState, _ kind: RowKind) -> JumpTarget? {
    if kind == .marked {
      return JumpTarget(
        none: state.phrase("no row is marked", .markToggle, "marks"),
        isWanted: state.marked.marks.contains)
    }
    if state.tabs.isTree { return nil }
    let screen = state.tabs.front
    if kind == .unread {
      let new = screen.unread.rows.union(screen.list.newAbove).union(screen.list.newBelow)
      return JumpTarget(none: "no row is new", isWanted: new.contains)
    }
    let changed = screen.changed
    let queue = state.writes.queue
    return JumpTarget(none: "no row changed just now") {
      changed[$0] != nil
        || (screen.records[$0].map { queue.conflict(at: $0.path) != nil } ?? false)
    }
  }

  /// Goes to the row of a kind so many further on, or back if negative; after the end from the
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

  /// The rows in sight or not, but not folded away, that are wanted, and how many of them stand up to
  /// the cursor.
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
