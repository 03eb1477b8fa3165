import RunnelBase
import RunnelStreams
import RunnelTerminal

// From one remarkable row to the next.

extension AppState {
  /// Jumps to a row of a kind; false if the action is none of that.
  mutating func jump(_ action: ActionID, count: Int) -> Bool {
    let screen = lists[active]
    switch action {
    case .unreadNext, .unreadPrevious:
      let new = screen.unread.rows.union(screen.list.newAbove).union(screen.list.newBelow)
      jump(by: action == .unreadNext ? count : -count, "no new row") { new.contains($0) }
    case .changeNext, .changePrevious:
      let changed = screen.changedUntil
      let queue = queue
      jump(by: action == .changeNext ? count : -count, "no row changed just now") {
        changed[$0] != nil
          || (screen.records[$0].map { queue.conflict(at: $0.path) != nil } ?? false)
      }
    case .markNext, .markPrevious:
      let marks = screen.marks
      jump(
        by: action == .markNext ? count : -count, phrase("no row is marked", .markToggle, "marks")
      ) {
        marks.contains($0)
      }
    default: return false
    }
    return true
  }

  /// Goes to the row of a kind so many further on, or back if negative; after the end from the
  /// beginning.
  ///
  /// O(rows).
  private mutating func jump(by count: Int, _ none: String, where isWanted: (String) -> Bool) {
    let screen = lists[active]
    let folded = screen.list.folded
    var ids: [String] = []
    var before = 0
    for section in screen.content.sections {
      // A header stands before the rows of its section.
      if screen.list.cursor == .header(section.id) { before = ids.count }
      if folded.contains(section.id) { continue }
      for id in section.rows {
        if isWanted(id) { ids.append(id) }
        if screen.list.cursor == .row(id) { before = ids.count }
      }
    }
    guard !ids.isEmpty else { return say(.info, none) }
    let isOnOne = screen.list.cursor == .row(ids[max(before - 1, 0)])
    let start = count > 0 ? before - 1 : isOnOne ? before - 1 : before
    let index = ((start + count) % ids.count + ids.count) % ids.count
    withList { list, content, height in
      list.moveTo(.row(ids[index]), in: content, height: height)
    }
  }
}
