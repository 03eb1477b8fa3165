import RunnelBase
import RunnelStreams
import RunnelTerminal

// From one remarkable row to the next.

extension AppState {
  /// Jumps to a row of a kind; false if the action is none of that.
  mutating func jump(_ action: ActionID, count: Int) -> Bool {
    guard let target = jumpTarget(action) else { return false }
    jump(by: target.isForward ? count : -count, target)
    return true
  }

  /// Why there is no row to jump to; nil if there is, or the action is none of that.
  func reasonNotJumped(_ action: ActionID) -> String? {
    guard let target = jumpTarget(action), wantedRows(target).ids.isEmpty else { return nil }
    return target.none
  }

  /// A kind of rows that one goes to.
  private struct JumpTarget {
    var isForward: Bool
    /// What is said if there are none.
    var none: String
    var isWanted: (String) -> Bool
  }

  private func jumpTarget(_ action: ActionID) -> JumpTarget? {
    if action == .markNext || action == .markPrevious {
      return JumpTarget(
        isForward: action == .markNext, none: phrase("no row is marked", .markToggle, "marks"),
        isWanted: marked.marks.contains)
    }
    if isTree { return nil }
    let screen = lists[active]
    switch action {
    case .unreadNext, .unreadPrevious:
      let new = screen.unread.rows.union(screen.list.newAbove).union(screen.list.newBelow)
      return JumpTarget(
        isForward: action == .unreadNext, none: "no row is new", isWanted: new.contains)
    case .changeNext, .changePrevious:
      let changed = screen.changedUntil
      let queue = queue
      return JumpTarget(isForward: action == .changeNext, none: "no row changed just now") {
        changed[$0] != nil
          || (screen.records[$0].map { queue.conflict(at: $0.path) != nil } ?? false)
      }
    default: return nil
    }
  }

  /// Goes to the row of a kind so many further on, or back if negative; after the end from the
  /// beginning.
  ///
  /// O(rows).
  private mutating func jump(by count: Int, _ target: JumpTarget) {
    let (ids, before) = wantedRows(target)
    guard !ids.isEmpty else { return say(.info, target.none) }
    let isOnOne = marked.list.cursor == .row(ids[max(before - 1, 0)])
    let start = count > 0 ? before - 1 : isOnOne ? before - 1 : before
    let index = ((start + count) % ids.count + ids.count) % ids.count
    withList { list, content, height in
      list.moveTo(.row(ids[index]), in: content, height: height)
    }
  }

  /// The rows in sight or not, but not folded away, that are wanted, and how many of them stand up to
  /// the cursor.
  private func wantedRows(_ target: JumpTarget) -> (ids: [String], before: Int) {
    let screen = marked
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
