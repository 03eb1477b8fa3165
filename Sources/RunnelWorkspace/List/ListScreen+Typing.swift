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

  /// Turns following off for a change that `ListState` cannot follow: rows arrive at the top, or the last row is
  /// a fetch-more row or that of another who is typing.
  mutating func beginFollowing(in old: ListContent) -> Following? {
    let isAtPlaceholder = lastRow(of: old).map { isTyping($0) || ListScreen.isPlaceholder($0) }
    guard list.isFollowing,
      followsAtTop || passing.rows.contains(where: isTyping) || isAtPlaceholder == true
    else { return nil }
    let isAtEnd = isAtNewest(in: old)
    list.isFollowing = false
    return Following(isOn: true, isAtEnd: isAtEnd)
  }

  /// Turns following on again, and goes to the newest row that is stored.
  mutating func endFollowing(_ following: Following?, height: Int) {
    guard let following else { return }
    list.isFollowing = following.isOn
    if following.isAtEnd, let newest = newestStored(in: content), list.cursor != .row(newest) {
      list.moveTo(.row(newest), in: content, height: height)
    }
  }

  /// Whether new rows come at the top: the list shows the newest first.
  ///
  /// In all others they come at the bottom, also where the list begins at its first row.
  var followsAtTop: Bool { definition.source.anchor == .last && definition.source.isDescending }

  /// Goes to the newest row, which the list follows from then on.
  mutating func goToFollowedRow(height: Int) {
    if followsAtTop {
      list.moveToFirst(in: content, height: height)
    } else {
      list.moveToLast(in: content, height: height)
    }
    guard let newest = newestStored(in: content) else { return }
    list.moveTo(.row(newest), in: content, height: height)
  }

  /// Whether the list follows now: it is to, and the cursor is on its newest row.
  var followsNow: Bool { list.isFollowing && isAtNewest(in: content) }

  private func isAtNewest(in content: ListContent) -> Bool {
    newestStored(in: content).map { list.cursor == .row($0) } ?? true
  }

  /// The row nearest to the end that is followed that is not that of another who is typing; nil if there is none.
  private func newestStored(in content: ListContent) -> String? {
    followsAtTop ? firstStored(in: content) : lastStored(in: content)
  }

  /// The first stored row of a section, in the section where it is nearest to the live end: sections by a
  /// value stand anywhere.
  ///
  /// O(sections).
  private func firstStored(in content: ListContent) -> String? {
    let firsts = content.sections.lazy.compactMap { section in
      section.rows.lazy.compactMap { records[$0] }.first { !isTransient($0) }
    }
    return firsts.max(by: Record.isOrdered)?.id
  }

  private func lastRow(of content: ListContent) -> String? {
    guard let section = content.sections.last, section.rows.count > 0 else { return nil }
    return content.row(
      at: ListIndexPath(section: content.sections.count - 1, row: section.rows.count - 1))
  }

  /// Whether a row says that there are no more rows beyond it.
  private func isReachedEnd(_ id: String) -> Bool {
    switch id {
    case ListScreen.fetchMoreRow: reach.paging == .exhausted
    case ListScreen.newerRow: reach.newer == .exhausted
    default: false
    }
  }

  /// The last row that is not that of another who is typing; the fetch-more row if rows beyond it are not loaded;
  /// nil if there is none.
  ///
  /// O(people who are typing).
  private func lastStored(in content: ListContent) -> String? {
    for section in content.sections.indices.reversed() {
      for row in (0..<content.sections[section].rows.count).reversed() {
        guard let id = content.row(at: ListIndexPath(section: section, row: row)) else { continue }
        if !isTyping(id), !isReachedEnd(id) { return id }
      }
    }
    return nil
  }
}
