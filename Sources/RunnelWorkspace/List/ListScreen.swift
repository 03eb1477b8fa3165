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
  /// The greatest number of rows hidden by a filter that are remembered.
  private static let hiddenMax = 1000
  /// The time in milliseconds for which a changed row is marked.
  static let changeMarkMilliseconds: Int64 = 3000

  @Boxed package var definition: ViewDefinition { didSet { rowsRevision.note() } }
  /// The row that the list was opened for, or nil for a list with a tab of its own.
  @Boxed package var drillDown: DrillDown?
  /// The source of the view itself, without the order that the user chose.
  @Boxed var ownSource: SourceDefinition
  /// The rules for the sections, which the order may suspend.
  var ownSections: [SectionRule]
  /// The sections that the user chose, or nil for those of the view.
  package var grouping: Grouping?
  /// The order that the user chose by `sort(by:height:)`, or nil for the view's own.
  @Boxed package var order: ListOrder?
  /// The orders of the collection that have an index, or nil until the database has told them.
  var indexedOrders: Set<String>?
  /// The hidden columns, by their indices in the definition.
  var hiddenColumns: Set<Int> = [] { didSet { rowsRevision.note() } }
  /// The fields of columns that the user chose, which are shown on any screen.
  var chosenFields: Set<FieldPath> = [] { didSet { rowsRevision.note() } }
  /// The column with the column cursor, by its index in the definition; nil if there is none.
  var cell: Int? { didSet { rowsRevision.note() } }
  /// Whether columns are shown in full, regardless of their width.
  var isWide = false { didSet { rowsRevision.note() } }
  /// How many lines a row takes.
  var rowLines = RowLines.one { didSet { rowsRevision.note() } }
  /// Whether the streams of the view were opened.
  var isOpen = false
  package var phase = LoadState.loading
  package var paging = FetchState.exhausted { didSet { rowsRevision.note() } }
  /// The fetch state of the row for more rows at the end where rows arrive; `exhausted` if the list
  /// reaches that end.
  package var newer = FetchState.exhausted { didSet { rowsRevision.note() } }
  /// Facts about the rows beyond that end, or nil if the list reaches it.
  @Boxed var unloaded: UnloadedRows?
  /// Whether the list has asked to unload rows that are not gone yet.
  var isLettingGo = false
  /// The number of rows of the collection when the list asked to unload rows.
  ///
  /// Rows that arrive from then on beyond the kept ones are known only by their number.
  var totalWhenAsked: Int?
  /// The number of loaded rows after the last unloading or search; rows are not unloaded below it.
  var loadedFloor = 0
  /// The number of rows that came since the last unloading and are neither new nor fetched.
  var returnedCount = 0
  /// The number of rows that were loaded before a filter searched further ones; nil if none did.
  var loadedBeforeSearch: Int?
  /// The number of rows to read when the list is opened; nil for a page.
  package var firstCount: Int?
  /// When Enter fetched a page last, as the number of commands until then; nil for never.
  var fetchedAt: Int?
  /// The jump whose rows are being read, or nil.
  @Boxed var jump: Jump?
  /// Where the cursor was put before the first page came, and stays until the user moves it; nil if
  /// the first page is there.
  private var firstCursor: ListItem?
  /// Whether the cursor is to go to the end where rows arrive once that end is loaded.
  var wantsLiveEnd = false
  package var content = ListContent()
  /// The headings of the sections, by section.
  var headings: [String: ListHeading] = [:]
  package var list = ListState()
  /// The records of the list by row id; `hasRow` tells whether there is one.
  package var records: [String: Record] = [:] { didSet { rowsRevision.note() } }
  /// Records that the filter hides, as sources of completions in the filter bar.
  package private(set) var hidden: [String: Record] = [:]
  /// The rows marked as changed, each until a time.
  package var changed = TimedMarks() { didSet { rowsRevision.note() } }
  /// The filter of the rows, or nil to show all.
  @Boxed package var filter: Filter? { didSet { rowsRevision.note() } }
  /// What a reference shows here, or showed last; nil if none was opened.
  @Boxed var reference: ReferenceFilter?
  /// Whether the rows that are not loaded are searched for the filter as soon as the list is loaded.
  var searchesWhenLoaded = false
  /// The row of the cursor before the list was filtered or read again.
  ///
  /// The cursor returns to it when it is shown again; nil once the user has moved.
  var wantedRow: String?
  /// The record under the cursor before the list was read in another order; nil once it was gone to.
  @Boxed var keptRecord: Record?
  /// The rows whose records have got another id, which comes with a later change.
  var rowMoves = RowMoves()
  /// The new records whose rows come with the server's answer.
  @Boxed var awaited: [AwaitedRow] = []
  /// The number of loaded rows, whether they match the filter or not.
  var loadedCount = 0
  /// The number of rows beyond the loaded ones that were looked through for the filter.
  var searchedCount = 0
  /// Where the filter runs, on a server's services; nil elsewhere.
  var filterPlace: FilterPlace?
  /// Whether the filter was looked for among other rows than the loaded ones.
  var isSearchedBeyond: Bool { searchedCount > 0 || filterPlace == .server || filterPlace == .both }
  /// The rows that arrived while the list was open.
  package var arrived: Set<String> = []
  /// The rows that arrived since the last visit.
  @Boxed var unread = Unread() { didSet { rowsRevision.note() } }
  /// The newest row seen in the last session; nil after it was used, or if it is not known.
  @Boxed var seenBefore: SeenRow?
  /// The number of rows of the collection, loaded or not; nil if it is not known.
  var total: Int?
  /// The ids of the marked rows.
  package var marks: Set<String> = [] { didSet { rowsRevision.note() } }
  /// The row where an open range begins, or nil if there is no range.
  package var rangeStart: String?
  /// The number of rows that wait while the list is paused; nil if the list is live.
  package var waitingCount: Int?
  /// The others who are typing in the view.
  var typing: [TypingPerson] = []
  /// The text being composed when the user left the line.
  var draft = ""
  /// When the draft was last typed, in milliseconds since 1970; nil if that is not known.
  var draftTime: Int64?
  /// What was sent from the line before the draft.
  @Boxed var sentBefore = SentBefore()
  /// Whether the draft is as the last session kept it: it may have been stored since then.
  var isDraftRestored = false
  /// The texts that were composed and sent.
  @Boxed var sent = LineHistory()
  /// The ids of the rows that are being composed or sent.
  private(set) var transientRows: Set<String> = []
  /// Counts changes of how rows look; changes of the set of rows are not counted.
  var rowsRevision = RowsRevision()
  /// The day of the last headings, counted from 1970; the headings say "Today".
  var titledDay: Int?
  /// The values that the details of the headings were made from.
  var counts: [String: SectionCount] = [:]

  package init(_ definition: ViewDefinition) {
    self.definition = definition
    ownSource = definition.source
    ownSections = definition.sections
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
    let (wasLoading, wasLoaded) = (phase == .loading, phase == .loaded)
    phase = change.phase
    let (unreadBefore, arrivedBefore) = (unreadCount, unreadArrivedUnloaded)
    let fetched = [
      paging == .fetching && change.paging != .fetching ? ListScreen.fetchMoreRow : nil,
      newer == .fetching && change.newer != .fetching ? ListScreen.newerRow : nil,
    ].compactMap(\.self)
    noteReach(change, wasLoaded: wasLoaded)
    paging = change.paging
    loadedCount = change.loadedCount
    searchedCount = change.searchedCount
    filterPlace = change.filterPlace
    arrived.formUnion(change.newRows)
    let transientBefore = transientRows
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
      || wasLoading && firstCursor != nil && list.cursor == firstCursor
    let newRows = change.newRows.filter { !(isSending && isOwn($0, me)) }
    let following = beginFollowing(in: old)
    follow(change, from: old, newRows: newRows, isPage: !fetched.isEmpty, height: height)
    endFollowing(following, height: height)
    forgetUnloaded()
    if let placeholder { stepBack(to: placeholder, height: height) }
    for row in fetched where !change.isLettingGo { noteFetched(from: row) }
    if isFirst { goToLiveRow(height: height) }
    firstCursor = isFirst && phase == .loading ? list.cursor : nil
    forgetGoneMarks(change)
    goToWanted(height: height)
    finishJump(after: change, fetched: fetched, height: height)
    if wantsLiveEnd, !isAway {
      wantsLiveEnd = false
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
    guard let wantedRow, hasRow(wantedRow), list.cursor != .row(wantedRow) else { return }
    list.moveTo(.row(wantedRow), in: content, height: height)
  }

  /// The text of a section without rows.
  private var emptyText: String {
    if filter == nil { return isComplete ? "nothing here yet" : "none of the loaded rows" }
    return isExhausted ? "no row fits the filter" : "no loaded row fits the filter"
  }

  /// Removes the marks of deleted records; records hidden by a filter keep theirs.
  private mutating func forgetGoneMarks(_ change: ListChange) {
    // Unloaded rows come back.
    guard filter == nil, !change.isLettingGo else { return }
    if change.update.isReload {
      marks = marks.filter(hasRow)
    } else if !marks.isEmpty {
      marks.subtract(change.removed)
    }
    if let start = rangeStart, !hasRow(start) { rangeStart = nil }
  }

  private mutating func remember(_ change: ListChange, now: Int64) {
    changed.end(at: now)
    if filter == nil { hidden = [:] }
    if change.update.isReload {
      records = change.records
      transientRows = Set(
        change.records.filter { ListScreen.isTransient($0.value.row.key.text) }.keys)
      // Rows hidden by a filter come back.
      if filter == nil { arrived = arrived.filter(hasRow) }
      return
    }
    for id in change.removed {
      let gone = records.removeValue(forKey: id)
      transientRows.remove(id)
      if filter == nil {
        arrived.remove(id)
      } else if hidden.count < ListScreen.hiddenMax {
        hidden[id] = gone
      }
    }
    for (id, record) in change.records {
      hidden[id] = nil
      // Another query, such as that of pinned rows, may have had the same row before: then it is
      // unchanged.
      let known = records.updateValue(record, forKey: id)
      if isTransient(record) { transientRows.insert(id) }
      if let known, known.row.content != record.row.content, !isTransient(record) {
        changed.mark(id, until: now + ListScreen.changeMarkMilliseconds)
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
    let own = transientRows.filter { change.records[$0] != nil && !isTyping($0) }
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
  private mutating func goToLiveRow(height: Int) {
    goToLiveEnd(height: height)
    // The header of the first section is no row.
    if !isLiveAtBottom, case .header(let section)? = list.cursor,
      let first = content.firstRow(ofSection: section), !list.folded.contains(section)
    {
      list.moveTo(.row(first), in: content, height: height)
    }
  }
}
