import RunnelBase
import RunnelStreams
import RunnelTree

// Rows of others who are typing: they stand at the live end, and move nobody's cursor. A list that follows
// goes on to follow the stored rows.

extension ListScreen {
  /// What is to be known about following after a change.
  struct Following {
    /// Whether the list follows, and whether the cursor was on the last row that is stored.
    var (isOn, isAtEnd) = (false, false)
  }

  /// Turns following off for a change, if others are typing at the end that is followed.
  mutating func beginFollowing(in old: ListContent) -> Following? {
    guard list.isFollowing, passing.rows.contains(where: isTyping) || hasTyping(old) else {
      return nil
    }
    let isAtEnd = lastStored(in: old).map { list.cursor == .row($0) } ?? false
    list.isFollowing = false
    return Following(isOn: true, isAtEnd: isAtEnd)
  }

  /// Turns following on again, and follows to the last row that is stored.
  mutating func endFollowing(_ following: Following?, height: Int) {
    guard let following else { return }
    list.isFollowing = following.isOn
    if following.isAtEnd, let last = lastStored(in: content), list.cursor != .row(last) {
      list.moveTo(.row(last), in: content, height: height)
    }
  }

  private func hasTyping(_ content: ListContent) -> Bool {
    guard let section = content.sections.last, section.rows.count > 0,
      let last = content.row(
        at: ListIndexPath(section: content.sections.count - 1, row: section.rows.count - 1))
    else { return false }
    return isTyping(last)
  }

  /// The last row that is not that of another who is typing; nil if there is none.
  ///
  /// O(people who are typing).
  private func lastStored(in content: ListContent) -> String? {
    for section in content.sections.indices.reversed() {
      for row in (0..<content.sections[section].rows.count).reversed() {
        guard let id = content.row(at: ListIndexPath(section: section, row: row)) else { continue }
        if !isTyping(id) { return id }
      }
    }
    return nil
  }
}
