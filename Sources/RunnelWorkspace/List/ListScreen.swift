package import RunnelBase
package import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// A collection as the user sees it: its rows, sections and columns, with cursor, marks and filter.
package struct ListScreen: Hashable, Sendable {
  /// The id of the fetch-more row.
  package static let fetchMoreRow = "fetch-more"
  /// The key of the row being composed, which comes after all generated keys.
  package static let composeKey = "~compose"
  /// The prefix of the keys of rows that are being sent; they come before the row being composed.
  private static let sentPrefix = "~being-sent-"
  /// The prefix of the keys of rows of others who are typing; they come after all others.
  private static let typingPrefix = "~typing-"
  /// The greatest number of rows shown while they are being sent.
  package static let sentRowsMax = 100
  /// The time in milliseconds for which a changed row is marked.
  static let changeMarkMilliseconds: Int64 = 3000

  @Boxed package var definition: ViewDefinition { didSet { rowsRevision.note() } }
  /// The row that the list was opened for, or nil for a list with a tab of its own.
  @Boxed package var drillDown: DrillDown?
  /// The order and the sections: the view's own, and those that the user chose.
  @Boxed package var arrangement: ListArrangement
  /// How the user wants to see the rows.
  package var look = ListLook() { didSet { rowsRevision.note() } }
  /// How far the rows reach.
  package var reach = ListReach() { didSet { rowsRevision.note() } }
  /// What is remembered of unloading rows.
  var unloading = ListUnloading()
  /// Where the cursor is to go when rows come.
  var goal = CursorGoal()
  package var content = ListContent()
  /// The headings of the sections.
  @Boxed package var headings = SectionHeadings()
  package var list = ListState()
  /// The records of the list by row id; `hasRow` tells whether there is one.
  package var records: [String: Record] = [:] { didSet { rowsRevision.note() } }
  /// The filter, and what it hides and has searched.
  package var filtering = ListFiltering() { didSet { rowsRevision.note() } }
  /// What is new in the list.
  package var news = ListNews() { didSet { rowsRevision.note() } }
  /// The rows that are not stored, or not under the id that they will have.
  @Boxed var passing = PassingRows()
  /// The ids of the marked rows.
  package var marks: Set<String> = [] { didSet { rowsRevision.note() } }
  /// The row where an open range begins, or nil if there is no range.
  package var rangeStart: String?
  /// The line in which records are composed.
  @Boxed package var line = ComposeLine()
  /// Counts changes of how rows look; changes of the set of rows are not counted.
  var rowsRevision = RowsRevision()

  package init(_ definition: ViewDefinition) {
    self.definition = definition
    arrangement = ListArrangement(of: definition)
  }

  /// The record under the cursor; nil on a header, on a fetch-more row, or on a row that is not
  /// stored yet.
  var cursorRecord: Record? {
    guard case .row(let id)? = list.cursor, let record = records[id], !isTransient(record) else {
      return nil
    }
    return record
  }

  /// The record under the cursor if it was sent and is not stored yet, otherwise nil.
  var sentRecord: Record? {
    guard case .row(let id)? = list.cursor, let record = records[id], isTransient(record),
      id != composeRow, !isTyping(id)
    else { return nil }
    return record
  }

  /// Whether the record is being composed or sent.
  func isTransient(_ record: Record) -> Bool { ListScreen.isTransient(record.row.key.text) }

  /// Whether the key is that of a row being composed or sent, here or by others.
  static func isTransient(_ key: String) -> Bool {
    key == composeKey || key.hasPrefix(sentPrefix) || key.hasPrefix(typingPrefix)
  }

  /// Returns the key of the row of another who is typing, made from the key of the workspace's entry.
  package static func typingKey(_ id: String) -> String { typingPrefix + id }

  /// Whether the key is that of the row of another who is typing.
  package static func isTyping(_ key: RunnelTree.Key) -> Bool { key.text.hasPrefix(typingPrefix) }

  /// Whether the row is that of another who is typing.
  package func isTyping(_ id: String) -> Bool {
    guard let slash = id.lastIndex(of: "/") else { return false }
    return id[id.index(after: slash)...].hasPrefix(ListScreen.typingPrefix)
  }

  /// Returns the key of a row that is being sent, made from the id of its write.
  package static func sentKey(_ id: AppRequestID) -> String {
    let digits = "\(id)"
    return sentPrefix + String(repeating: "0", count: max(12 - digits.count, 0)) + digits
  }

  /// Returns the id of a row that is being sent.
  func sentRow(_ id: AppRequestID) -> String {
    Path(unchecked: definition.source.path.keys + [Key(unchecked: ListScreen.sentKey(id))])
      .description
  }

  /// The id of the row being composed.
  var composeRow: String {
    Path(unchecked: definition.source.path.keys + [Key(unchecked: ListScreen.composeKey)])
      .description
  }

  /// Whether the live end is the bottom: the newest rows, or the first rows of a descending order,
  /// are there.
  var isLiveAtBottom: Bool {
    (definition.source.anchor == .last) != definition.source.isDescending
  }
}

// MARK: Changes

extension ListScreen {
  /// Applies a change to content, marks, cursor and scroll position.
  ///
  /// O(sections + t log n) in the t rows of the change; O(n) if it is a reload.
  ///
  /// - Returns: False if the change does not fit the list, for example in an edited recording; then
  ///   nothing is changed.
  @discardableResult
  package mutating func apply(
    _ change: ListChange, height: Int, now: Int64, local: LocalTime, me: String
  ) -> Bool {
    guard let sections = change.sections(after: content.sections) else { return false }
    let (wasLoading, wasLoaded) = (reach.phase == .loading, reach.phase == .loaded)
    let (unreadBefore, arrivedBefore) = (unreadCount, unreadArrivedUnloaded)
    let fetched = [
      reach.paging == .fetching && change.paging != .fetching ? ListScreen.fetchMoreRow : nil,
      reach.newer == .fetching && change.newer != .fetching ? ListScreen.newerRow : nil,
    ].compactMap(\.self)
    noteReach(change, wasLoaded: wasLoaded)
    reach.take(change)
    filtering.take(change)
    news.arrived.formUnion(change.newRows)
    let transientBefore = passing.rows
    // A row stored while a record is being sent from here is not counted as new, though the same
    // user may also write elsewhere.
    let isSending = transientBefore.contains { $0 != composeRow && !isTyping($0) }
    let forgotten = change.isLettingGo ? records : [:]
    remember(change, now: now)
    followMovedRows()
    let old = content
    let emptyText = emptyText
    content = ListContent(
      sections: sections.map { section in
        var section = section
        section.emptyText = emptyText
        return section
      })
    content = content.divided(
      at: updateUnread(change, from: old, to: content, forgotten: forgotten, me: me))
    if change.isLettingGo {
      keepUnread(unreadBefore + max(0, unreadArrivedUnloaded - arrivedBefore))
    }
    updateHeadings(now: now, local: local)
    let brings = !change.update.insertedRows.isEmpty || !change.update.insertedSections.isEmpty
    let placeholder = brings ? stepOffPlaceholder(in: old, height: height) : nil
    let isFirst =
      old.storedRowCount == 0 && isOnNoRow(of: old)
      || wasLoading && goal.first != nil && list.cursor == goal.first
    let newRows = change.newRows.filter { !(isSending && isOwn($0, me)) }
    let following = beginFollowing(in: old)
    follow(change, from: old, newRows: newRows, isPage: !fetched.isEmpty, height: height)
    endFollowing(following, height: height)
    forgetUnloaded()
    if let placeholder { stepBack(to: placeholder, height: height) }
    for row in fetched where !change.isLettingGo { noteFetched(from: row) }
    if isFirst { goToLiveRow(height: height) }
    goal.first = isFirst && reach.phase == .loading ? list.cursor : nil
    forgetGoneMarks(change)
    goToWanted(height: height)
    finishJump(after: change, fetched: fetched, height: height)
    if goal.wantsLiveEnd, !reach.isAway {
      goal.endReading()
      goToLiveEnd(height: height)
      list.clearNewRows()
    }
    showTransientRow(of: change, known: transientBefore, height: height)
    return true
  }

  /// Moves cursor and scroll position with a change.
  ///
  /// If a page comes while the cursor is on a heading, the row below the heading keeps its line on
  /// the screen, as far as the heading stays visible.
  private mutating func follow(
    _ change: ListChange, from old: ListContent, newRows: Set<String>, isPage: Bool, height: Int
  ) {
    let resting = list
    let heading = isPage ? stepOffHeading(in: old, height: height) : nil
    list.apply(
      change.update, from: old, to: content, height: height, newRows: newRows,
      isLettingGo: change.isLettingGo)
    moveToRowsThatMovedUp(from: resting.cursor, in: old, height: height)
    guard let heading else { return }
    let isVisible = list.lines(in: content, height: height).contains {
      $0.kind == .header && content.sections[$0.section].id == heading
    }
    if isVisible {
      list.moveTo(.header(heading), in: content, height: height)
    } else {
      list = resting
      list.apply(
        change.update, from: old, to: content, height: height, newRows: newRows,
        isLettingGo: change.isLettingGo)
    }
  }

  /// Moves the cursor to the first row if all rows have gone and the next page has come in their place: it would
  /// be on the fetch-more row, which alone has stayed.
  private mutating func moveToRowsThatMovedUp(
    from cursor: ListItem?, in old: ListContent, height: Int
  ) {
    guard case .row(let id)? = cursor, !ListScreen.isPlaceholder(id),
      case .row(let landed)? = list.cursor, ListScreen.isPlaceholder(landed)
    else { return }
    let rows = content.sections.lazy.flatMap(\.rows).filter { !ListScreen.isPlaceholder($0) }
    let oldRows = Set(old.sections.lazy.flatMap(\.rows))
    guard let first = rows.first, rows.allSatisfy({ !oldRows.contains($0) }) else { return }
    list.moveTo(.row(first), in: content, height: height)
  }

  /// Moves the cursor from a heading to the row below it, if that row is visible.
  ///
  /// - Returns: The section of the heading, or nil if the cursor was not moved.
  private mutating func stepOffHeading(in old: ListContent, height: Int) -> String? {
    guard case .header(let section)? = list.cursor, let index = old.index(ofSection: section),
      let row = old.sections[index].rows.prefix(2).first(where: { !ListScreen.isPlaceholder($0) }),
      list.lines(in: old, height: height).contains(where: { $0.kind == .row(row) }),
      list.moveTo(.row(row), in: old, height: height)
    else { return nil }
    return section
  }

  /// Whether the cursor is where it is before there are rows: nowhere, on the header of the first
  /// section, or on a fetch-more row.
  private func isOnNoRow(of content: ListContent) -> Bool {
    switch list.cursor {
    case nil: true
    case .header(let section)?: content.sections.first?.id == section
    case .row(let id)?: ListScreen.isPlaceholder(id)
    }
  }

  /// Returns whether the list has a row for a record; the fetch-more row is none.
  ///
  /// O(1).
  func hasRow(_ id: String) -> Bool { records[id] != nil }

  private mutating func goToWanted(height: Int) {
    guard let wantedRow = goal.wantedRow, hasRow(wantedRow), list.cursor != .row(wantedRow) else {
      return
    }
    list.moveTo(.row(wantedRow), in: content, height: height)
  }

  /// The text of a section without rows.
  private var emptyText: String {
    if filtering.filter == nil {
      return isComplete ? "nothing here yet" : "none of the loaded rows"
    }
    return reach.isExhausted ? "no row fits the filter" : "no loaded row fits the filter"
  }

  /// Removes the marks of deleted records; records hidden by a filter keep theirs.
  private mutating func forgetGoneMarks(_ change: ListChange) {
    guard filtering.filter == nil else { return }
    if let start = rangeStart, !hasRow(start) { rangeStart = nil }
    // Unloaded rows come back.
    if change.isLettingGo { return }
    if change.update.isReload {
      marks = marks.filter(hasRow)
    } else if !marks.isEmpty {
      marks.subtract(change.removed)
    }
  }

  private mutating func remember(_ change: ListChange, now: Int64) {
    news.changed.end(at: now)
    if change.update.isReload {
      records = change.records
      passing.rows = Set(
        change.records.filter { ListScreen.isTransient($0.value.row.key.text) }.keys)
      // Rows hidden by a filter come back.
      if filtering.filter == nil { news.arrived = news.arrived.filter(hasRow) }
      return
    }
    for id in change.removed {
      let gone = records.removeValue(forKey: id)
      passing.rows.remove(id)
      if filtering.filter == nil {
        news.arrived.remove(id)
      } else {
        filtering.hide(id, gone)
      }
    }
    for (id, record) in change.records {
      if !filtering.hidden.isEmpty { filtering.unhide(id) }
      // Another query, such as that of pinned rows, may have had the same row before: then it is
      // unchanged.
      let known = records.updateValue(record, forKey: id)
      if isTransient(record) { passing.rows.insert(id) }
      if let known, known.row.content != record.row.content, !isTransient(record) {
        news.changed.mark(id, until: now + ListScreen.changeMarkMilliseconds)
      }
    }
  }

  /// Moves the cursor from a fetch-more row to the row beside it, which stays in place on the
  /// screen.
  ///
  /// The fetch-more row goes to the new end, and the cursor is not to go with it.
  ///
  /// - Returns: The fetch-more row that the cursor was on, or nil if it was on another row.
  private mutating func stepOffPlaceholder(in old: ListContent, height: Int) -> String? {
    guard case .row(let id)? = list.cursor, ListScreen.isPlaceholder(id) else { return nil }
    list.move(by: inwardStep(from: id), in: old, height: height)
    return id
  }

  /// Moves the cursor to the row that took the place of the fetch-more row on the screen: the
  /// nearest row of the new page, or the fetch-more row itself if it did not move.
  private mutating func stepBack(to placeholder: String, height: Int) {
    guard list.cursor != .row(placeholder) else { return }
    list.move(by: -inwardStep(from: placeholder), in: content, height: height)
  }

  /// Moves the cursor to a new row that is being composed or sent, so that it is visible from the
  /// first character on.
  private mutating func showTransientRow(
    of change: ListChange, known: Set<String>, height: Int
  ) {
    // A row of another who is typing moves nobody's cursor.
    let own = passing.rows.filter { change.records[$0] != nil && !isTyping($0) }
    guard let last = own.max(),
      !known.contains(last)
    else { return }
    list.moveTo(.row(last), in: content, height: height)
  }

  /// The step from a fetch-more row to the row beside it: 1 or -1.
  private func inwardStep(from placeholder: String) -> Int {
    (placeholder == ListScreen.fetchMoreRow) == isLiveAtBottom ? 1 : -1
  }

  /// Moves the cursor to the live end of the list: the newest message, or the first name.
  package mutating func goToLiveEnd(height: Int) {
    if isLiveAtBottom {
      list.moveToLast(in: content, height: height)
    } else {
      list.moveToFirst(in: content, height: height)
    }
  }

  /// Moves the cursor to the new row nearest to the live end.
  ///
  /// If there is none, it goes to the live end, and no row counts as new any more.
  mutating func goToNewest(height: Int) {
    let new = list.newAbove.union(list.newBelow)
      .compactMap { id in content.indexPath(ofRow: id).map { (id, $0) } }
    let nearest =
      isLiveAtBottom ? new.max { $0.1 < $1.1 } : new.min { $0.1 < $1.1 }
    if let nearest {
      // New rows that are not visible then stay new.
      list.moveTo(.row(nearest.0), in: content, height: height)
      return
    }
    goToLiveRow(height: height)
    list.clearNewRows()
  }

  /// Moves the cursor to the row at the end where rows arrive.
  mutating func goToLiveRow(height: Int) {
    goToLiveEnd(height: height)
    // The header of the first section is no row.
    if !isLiveAtBottom, case .header(let section)? = list.cursor,
      let first = content.firstRow(ofSection: section), !list.folded.contains(section)
    {
      list.moveTo(.row(first), in: content, height: height)
    }
  }
}
