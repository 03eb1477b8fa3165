import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// A collection as the user sees it.
struct ListScreen: Hashable, Sendable {
  /// The id of the row that stands for rows not loaded.
  static let pagingRow = "fetch-more"
  /// The key of the row being composed: after all keys that are made.
  static let composeKey = "~compose"
  /// What the keys of rows that are being sent begin with: they stand before that being composed.
  private static let sentPrefix = "~being-sent-"
  /// The most rows that are shown while they are being sent.
  static let sentRowsMax = 100
  /// How long a changed row is marked, in milliseconds.
  static let changeMarkMilliseconds: Int64 = 3000

  var definition: ViewDefinition
  /// The source as the view has it, whatever order was chosen.
  let ownSource: SourceDefinition
  /// The order that was chosen, by `sort(by:height:)`; nil for the view's own.
  var order: ListOrder?
  /// The orders of the collection that have an index; nil until they were asked for.
  var indexedOrders: Set<String>?
  /// The columns that are not shown, by their places in the definition.
  var hiddenColumns: Set<Int> = []
  /// Whether columns are shown in full, however wide they are.
  var isWide = false
  /// True once its streams were asked for.
  var isOpen = false
  var phase = LoadPhase.loading
  var paging = PagingPhase.exhausted
  var content = ListContent()
  /// What the headers of the sections say.
  var headings: [String: ListHeading] = [:]
  var list = ListState()
  /// The rows by id.
  var records: [String: Record] = [:]
  /// Until when rows are marked as changed, in milliseconds since 1970.
  var changedUntil: [String: Int64] = [:]
  /// Which rows are shown; nil for all.
  var filter: Filter?
  /// The row that the cursor was on when the list was filtered, and goes back to when it is shown
  /// again; nil once the user has moved.
  var wantedRow: String?
  /// How many rows are loaded, whether the filter wants them or not.
  var loadedCount = 0
  /// The rows that arrived by themselves since the list was opened.
  var arrived: Set<String> = []
  /// What arrived since the user left the list last.
  var unread = Unread()
  /// The newest row that was seen the last time; nil once that was looked at, or if nobody knows.
  var seenBefore: SeenRow?
  /// How many rows the collection has, loaded or not; nil if that is not known.
  var total: Int?
  /// The rows that are marked.
  var marks: Set<String> = []
  /// Where a range of rows begins that is to be marked; nil if there is none.
  var rangeStart: String?
  /// What became of pausing: how many rows wait to be shown; nil if the list is live.
  var waitingCount: Int?
  /// What the user was composing when they left it.
  var draft = ""
  /// What was composed and sent.
  var sent = LineHistory()
  /// The day on which the headers were written, counted from 1970: they say "Today".
  private var titledDay: Int?

  init(_ definition: ViewDefinition) {
    self.definition = definition
    ownSource = definition.source
  }

  /// The record under the cursor; nil on a header or the paging row, or where nothing is saved yet.
  var cursorRecord: Record? {
    guard case .row(let id)? = list.cursor, let record = records[id], !isTransient(record) else {
      return nil
    }
    return record
  }

  /// True for the row being composed.
  func isTransient(_ record: Record) -> Bool { ListScreen.isTransient(record.row.key.text) }

  /// True for the key of a row being composed or sent.
  static func isTransient(_ key: String) -> Bool {
    key == composeKey || key.hasPrefix(sentPrefix)
  }

  /// The key of a row that is being sent, by its write.
  static func sentKey(_ id: RequestID) -> String {
    let digits = "\(id)"
    return sentPrefix + String(repeating: "0", count: max(12 - digits.count, 0)) + digits
  }

  /// The id of a row that is being sent.
  func sentRow(_ id: RequestID) -> String {
    Path(unchecked: definition.source.path.keys + [Key(unchecked: ListScreen.sentKey(id))])
      .description
  }

  /// The id of the row being composed.
  var composeRow: String {
    Path(unchecked: definition.source.path.keys + [Key(unchecked: ListScreen.composeKey)])
      .description
  }

  /// True if the newest rows, or the first names, are at the bottom.
  var isLiveAtBottom: Bool {
    (definition.source.anchor == .last) != definition.source.isDescending
  }
}

// MARK: Changes

extension ListScreen {
  /// Takes a change over: content, marks, cursor and scroll position.
  mutating func apply(
    _ change: ListChange, height: Int, now: Int64, local: LocalTime, me: String
  ) {
    phase = change.phase
    paging = change.paging
    loadedCount = change.loadedCount
    arrived.formUnion(change.newRows)
    remember(change, now: now)
    let old = content
    titledDay = local.civil(now).dayNumber
    content = ListContent(
      sections: change.sections.map {
        ListSection(id: $0.id, rows: $0.rows, emptyText: emptyText)
      })
    content = content.divided(at: updateUnread(change, from: old, to: content, me: me))
    headings = [:]
    for section in content.sections {
      headings[section.id] = heading(of: section, now: now, local: local)
    }
    let isOnPagingRow = list.cursor == .row(ListScreen.pagingRow)
    let brings = !change.update.insertedRows.isEmpty || !change.update.insertedSections.isEmpty
    if isOnPagingRow, brings { stepOffPagingRow(in: old, height: height) }
    let isFirst = old.sections.isEmpty && !content.sections.isEmpty
    // What is stored while it is being sent here is no news; the same user may write elsewhere, too.
    let newRows =
      !change.newRows.isEmpty && isSending(in: old)
      ? change.newRows.filter { !isOwn($0, me) } : change.newRows
    list.apply(
      change.update, from: old, to: content, height: height,
      newRows: newRows)
    if isOnPagingRow, brings { stepBackFromBoundary(height: height) }
    if isFirst { goToLiveEnd(height: height) }
    forgetGoneMarks(change)
    if let wantedRow, content.indexPath(ofRow: wantedRow) != nil {
      list.moveTo(.row(wantedRow), in: content, height: height)
    }
    showTransientRow(of: change, in: old, height: height)
  }

  /// True if rows are being sent: they stand at an end of their sections.
  private func isSending(in content: ListContent) -> Bool {
    let sentRows = sentRow(RequestID(0)).dropLast(12)
    let count = ListScreen.sentRowsMax + 2
    return content.sections.contains { section in
      section.rows.suffix(count).contains { $0.hasPrefix(sentRows) }
        || section.rows.prefix(count).contains { $0.hasPrefix(sentRows) }
    }
  }

  /// What a section without rows says.
  private var emptyText: String {
    filter == nil ? "nothing here yet" : "no loaded row fits the filter"
  }

  /// A record that is gone is not marked; one that a filter hides is.
  private mutating func forgetGoneMarks(_ change: ListChange) {
    guard !marks.isEmpty, filter == nil else { return }
    if change.update.isReload || !change.update.deletedRows.isEmpty
      || !change.update.deletedSections.isEmpty
    {
      marks = marks.filter { content.indexPath(ofRow: $0) != nil }
    }
    if let start = rangeStart, content.indexPath(ofRow: start) == nil { rangeStart = nil }
  }

  private mutating func remember(_ change: ListChange, now: Int64) {
    changedUntil = changedUntil.filter { $0.value > now }
    let isLive = !change.update.isReload
    for (id, record) in change.records {
      // A row that another query found before, as a pinned one, is the same row, unchanged.
      if isLive, let known = records[id], known.row.content != record.row.content,
        !isTransient(record)
      {
        changedUntil[id] = now + ListScreen.changeMarkMilliseconds
      }
      records[id] = record
    }
    if records.count > 2 * (content.rowCount + change.records.count) + 1000 {
      // Rows that left are forgotten in bulk, so that a batch costs what it changes.
      let kept = Set(change.sections.flatMap(\.rows))
      records = records.filter { kept.contains($0.key) }
      if filter == nil { arrived.formIntersection(kept) }
    }
  }

  /// The paging row goes to the new end, and the cursor is not to go along: it waits on the row
  /// beside it, which stays where it is on the screen.
  private mutating func stepOffPagingRow(in old: ListContent, height: Int) {
    list.move(by: isLiveAtBottom ? 1 : -1, in: old, height: height)
  }

  /// What took the paging row's place on the screen gets the cursor: the row of the page that comes
  /// next to those that were there, or the paging row itself if it did not move.
  private mutating func stepBackFromBoundary(height: Int) {
    guard list.cursor != .row(ListScreen.pagingRow) else { return }
    list.move(by: isLiveAtBottom ? -1 : 1, in: content, height: height)
  }

  /// What is being typed is in sight from its first character on, and what is sent until it is stored.
  private mutating func showTransientRow(of change: ListChange, in old: ListContent, height: Int) {
    let rows = change.records.filter { isTransient($0.value) }.map(\.key).sorted()
    guard let last = rows.last, old.indexPath(ofRow: last) == nil else { return }
    list.moveTo(.row(last), in: content, height: height)
  }

  /// Goes to the end at which the list is live: the newest message, or the first name.
  mutating func goToLiveEnd(height: Int) {
    if isLiveAtBottom {
      list.moveToLast(in: content, height: height)
    } else {
      list.moveToFirst(in: content, height: height)
    }
  }

  /// Goes to the new row that is nearest to the live end, or to that end; forgets what is new.
  mutating func goToNewest(height: Int) {
    let new = list.newAbove.union(list.newBelow)
      .compactMap { id in content.indexPath(ofRow: id).map { (id, $0) } }
    let nearest =
      isLiveAtBottom ? new.max { $0.1 < $1.1 } : new.min { $0.1 < $1.1 }
    if let nearest {
      list.moveTo(.row(nearest.0), in: content, height: height)
    } else {
      goToLiveEnd(height: height)
    }
    list.clearNewRows()
  }
}

// MARK: Headers

extension ListScreen {
  private func heading(of section: ListSection, now: Int64, local: LocalTime) -> ListHeading {
    let composeRow = composeRow
    let sentRows = sentRow(RequestID(0)).dropLast(12)
    let stored = section.rows.count { id in
      id != ListScreen.pagingRow && id != composeRow && !id.hasPrefix(sentRows)
    }
    var detail = "\(stored)"
    if filter != nil {
      detail += " match"
    } else if paging != .exhausted, section.rows.contains(ListScreen.pagingRow) {
      detail += " loaded"
    }
    return ListHeading(
      title: title(of: section.id, now: now, local: local), detail: StyledLine(detail, .muted))
  }

  private func title(of id: String, now: Int64, local: LocalTime) -> StyledLine {
    // A paging row without a row to stand beside has a section of its own.
    if id == ListScreen.pagingRow { return StyledLine(definition.name, .sectionHeader) }
    return StyledLine(
      SectionID(id).title(in: definition, now: now, local: local), .sectionHeader)
  }

  /// When a row in sight or a header comes to read differently by itself: later than `now`; nil if
  /// none does.
  func nextChange(height: Int, now: Int64, local: LocalTime) -> Int64? {
    var times = changedUntil.values.filter { $0 > now }
    if definition.columns.contains(where: { $0.format == .age }) {
      for case .row(let id) in list.lines(in: content, height: height).map(\.kind) {
        guard let record = records[id] else { continue }
        if let change = definition.nextAgeChange(of: record, now: now) { times.append(change) }
      }
    }
    if definition.sections.contains(where: { if case .day = $0 { true } else { false } }) {
      times.append(local.midnight(after: now))
    }
    return times.min()
  }

  /// Writes the headers anew if the day is another one than when they were written.
  mutating func refreshTitles(now: Int64, local: LocalTime) {
    let day = local.civil(now).dayNumber
    guard let titledDay, titledDay != day else { return }
    self.titledDay = day
    for section in content.sections {
      let title = title(of: section.id, now: now, local: local)
      headings[section.id]?.title = title
    }
  }
}

extension ViewDefinition {
  /// When an age in the row of a record comes to read differently; nil if none does.
  func nextAgeChange(of record: Record, now: Int64) -> Int64? {
    var next: Int64?
    for column in columns where column.format == .age {
      let value = column.field.node(key: record.row.key, record.row.node ?? .empty)
      guard case .leaf(.number(let number)) = value.content, let time = number.integer,
        let change = Age.nextChange(of: time, now: now)
      else { continue }
      next = min(next ?? change, change)
    }
    return next
  }
}
