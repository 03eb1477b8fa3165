package import RunnelBase
package import RunnelStreams
import RunnelTerminal
import RunnelTree

/// A collection as the user sees it.
package struct ListScreen: Hashable, Sendable {
  /// The id of the row that stands for rows not loaded.
  package static let fetchMoreRow = "fetch-more"
  /// The key of the row being composed: after all keys that are made.
  package static let composeKey = "~compose"
  /// What the keys of rows that are being sent begin with: they stand before that being composed.
  private static let sentPrefix = "~being-sent-"
  /// The most rows that are shown while they are being sent.
  package static let sentRowsMax = 100
  /// How many rows that a filter hid are remembered.
  private static let hiddenMax = 1000
  /// How long a changed row is marked, in milliseconds.
  static let changeMarkMilliseconds: Int64 = 3000

  package var definition: ViewDefinition { didSet { rowsRevision.note() } }
  /// The source as the view has it, whatever order was chosen.
  let ownSource: SourceDefinition
  /// The order that was chosen, by `sort(by:height:)`; nil for the view's own.
  package var order: ListOrder?
  /// The orders of the collection that have an index; nil until they were asked for.
  var indexedOrders: Set<String>?
  /// The columns that are not shown, by their places in the definition.
  var hiddenColumns: Set<Int> = [] { didSet { rowsRevision.note() } }
  /// Whether columns are shown in full, however wide they are.
  var isWide = false { didSet { rowsRevision.note() } }
  /// True once its streams were asked for.
  var isOpen = false
  package var phase = LoadState.loading
  package var paging = FetchState.exhausted { didSet { rowsRevision.note() } }
  /// What the row says that stands for rows towards the end where they arrive; `exhausted` if the list
  /// reaches it.
  package var newer = FetchState.exhausted { didSet { rowsRevision.note() } }
  /// What is known of the rows there; nil if the list reaches that end.
  var unloaded: UnloadedRows?
  /// True from when rows are to be let go of until they are gone.
  var isLettingGo = false
  /// How many rows the collection had when the list asked to let go of some: what comes from then on
  /// beyond the end of what is kept is told by their number alone.
  var totalWhenAsked: Int?
  /// So many rows were loaded when some were let go of last, or were searched.
  var loadedFloor = 0
  /// True if the cursor is to go to the end where rows arrive as soon as that is loaded.
  var wantsLiveEnd = false
  package var content = ListContent()
  /// The headings of the sections, by section.
  var headings: [String: ListHeading] = [:]
  package var list = ListState()
  /// The rows of the list by id, no others; `hasRow` asks for one.
  package var records: [String: Record] = [:] { didSet { rowsRevision.note() } }
  /// Rows that the filter in force hid, to be offered where a filter is typed.
  package private(set) var hidden: [String: Record] = [:]
  /// The rows that are marked as changed.
  package var changed = TimedMarks() { didSet { rowsRevision.note() } }
  /// The condition for a row to be shown; nil shows all.
  package var filter: Filter?
  /// The row that the cursor was on when the list was filtered, and goes back to when it is shown
  /// again; nil once the user has moved.
  var wantedRow: String?
  /// How many rows are loaded, whether the filter wants them or not.
  var loadedCount = 0
  /// The rows that arrived by themselves since the list was opened.
  package var arrived: Set<String> = []
  /// What arrived since the user left the list last.
  var unread = Unread() { didSet { rowsRevision.note() } }
  /// The newest row that was seen the last time; nil once that was looked at, or if nobody knows.
  var seenBefore: SeenRow?
  /// How many rows the collection has, loaded or not; nil if that is not known.
  var total: Int?
  /// The rows that are marked.
  package var marks: Set<String> = [] { didSet { rowsRevision.note() } }
  /// Where a range of rows begins that is to be marked; nil if there is none.
  package var rangeStart: String?
  /// What became of pausing: how many rows wait to be shown; nil if the list is live.
  package var waitingCount: Int?
  /// What the user was composing when they left it.
  var draft = ""
  /// What was composed and sent.
  var sent = LineHistory()
  /// The rows that are being composed or sent.
  private(set) var transientRows: Set<String> = []
  /// Counts what may make rows look different; what the rows are is not counted.
  var rowsRevision = RowsRevision()
  /// The day on which the headers were written, counted from 1970: they say "Today".
  private var titledDay: Int?
  /// What the details of the headers were made of.
  private var counts: [String: SectionCount] = [:]

  package init(_ definition: ViewDefinition) {
    self.definition = definition
    ownSource = definition.source
  }

  /// The record under the cursor; nil on a header or the fetch-more row, or where nothing is saved yet.
  var cursorRecord: Record? {
    guard case .row(let id)? = list.cursor, let record = records[id], !isTransient(record) else {
      return nil
    }
    return record
  }

  /// What was sent and is not stored yet, if the cursor is on that.
  var sentRecord: Record? {
    guard case .row(let id)? = list.cursor, let record = records[id], isTransient(record),
      id != composeRow
    else { return nil }
    return record
  }

  /// True for the row being composed.
  func isTransient(_ record: Record) -> Bool { ListScreen.isTransient(record.row.key.text) }

  /// True for the key of a row being composed or sent.
  static func isTransient(_ key: String) -> Bool {
    key == composeKey || key.hasPrefix(sentPrefix)
  }

  /// The key of a row that is being sent, by its write.
  package static func sentKey(_ id: AppRequestID) -> String {
    let digits = "\(id)"
    return sentPrefix + String(repeating: "0", count: max(12 - digits.count, 0)) + digits
  }

  /// The id of a row that is being sent.
  func sentRow(_ id: AppRequestID) -> String {
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
  ///
  /// O(sections + t log n) in the t rows of the change; O(n) if it is a reload.
  ///
  /// - Returns: false if the change does not fit the list, as in a recording that was edited; nothing
  ///   is changed then.
  @discardableResult
  package mutating func apply(
    _ change: ListChange, height: Int, now: Int64, local: LocalTime, me: String
  ) -> Bool {
    guard let sections = change.sections(after: content.sections) else { return false }
    phase = change.phase
    let (unreadBefore, arrivedBefore) = (unreadCount, unreadArrivedUnloaded)
    let fetched = [
      paging == .fetching && change.paging != .fetching ? ListScreen.fetchMoreRow : nil,
      newer == .fetching && change.newer != .fetching ? ListScreen.newerRow : nil,
    ].compactMap(\.self)
    noteReach(change)
    paging = change.paging
    loadedCount = change.loadedCount
    arrived.formUnion(change.newRows)
    let transientBefore = transientRows
    // What is stored while it is being sent here is no news; the same user may write elsewhere, too.
    let isSending = transientBefore.contains { $0 != composeRow }
    let forgotten = change.isLettingGo ? records : [:]
    remember(change, now: now)
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
    let isFirst = old.sections.isEmpty && !content.sections.isEmpty
    list.apply(
      change.update, from: old, to: content, height: height,
      newRows: change.newRows.filter { !(isSending && isOwn($0, me)) },
      isLettingGo: change.isLettingGo)
    forgetUnloaded()
    if let placeholder { stepBack(to: placeholder, height: height) }
    for row in fetched where !change.isLettingGo { noteFetched(from: row) }
    if isFirst { goToLiveEnd(height: height) }
    forgetGoneMarks(change)
    goToWanted(height: height)
    if wantsLiveEnd, !isAway {
      wantsLiveEnd = false
      goToLiveEnd(height: height)
      list.clearNewRows()
    }
    showTransientRow(of: change, known: transientBefore, height: height)
    return true
  }

  /// Up to so many records of the list, with those that a filter hid.
  func someRecords(_ count: Int) -> [Record] {
    Array(records.values.prefix(count)) + hidden.values.prefix(max(0, count - records.count))
  }

  /// True if the list has a row for a record; the fetch-more row is none.
  ///
  /// O(1).
  func hasRow(_ id: String) -> Bool { records[id] != nil }

  private mutating func goToWanted(height: Int) {
    guard let wantedRow, hasRow(wantedRow), list.cursor != .row(wantedRow) else { return }
    list.moveTo(.row(wantedRow), in: content, height: height)
  }

  /// What a section without rows says.
  private var emptyText: String {
    filter == nil ? "nothing here yet" : "no loaded row fits the filter"
  }

  /// A record that is gone is not marked; one that a filter hides is.
  private mutating func forgetGoneMarks(_ change: ListChange) {
    // Rows that the list lets go of come back.
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
      // What a filter hides comes back.
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
      // A row that another query found before, as a pinned one, is the same row, unchanged.
      let known = records.updateValue(record, forKey: id)
      if isTransient(record) { transientRows.insert(id) }
      if let known, known.row.content != record.row.content, !isTransient(record) {
        changed.mark(id, until: now + ListScreen.changeMarkMilliseconds)
      }
    }
  }

  /// A fetch-more row goes to the new end, and the cursor is not to go along: it waits on the row beside
  /// it, which stays where it is on the screen.
  ///
  /// - Returns: the fetch-more row that it was on; nil if it was on another one.
  private mutating func stepOffPlaceholder(in old: ListContent, height: Int) -> String? {
    guard case .row(let id)? = list.cursor, ListScreen.isPlaceholder(id) else { return nil }
    list.move(by: inwardStep(from: id), in: old, height: height)
    return id
  }

  /// What took the fetch-more row's place on the screen gets the cursor: the row of the page that comes
  /// next to those that were there, or the fetch-more row itself if it did not move.
  private mutating func stepBack(to placeholder: String, height: Int) {
    guard list.cursor != .row(placeholder) else { return }
    list.move(by: -inwardStep(from: placeholder), in: content, height: height)
  }

  /// What is being typed is in sight from its first character on, and what is sent until it is stored.
  private mutating func showTransientRow(
    of change: ListChange, known: Set<String>, height: Int
  ) {
    guard let last = transientRows.filter({ change.records[$0] != nil }).max(),
      !known.contains(last)
    else { return }
    list.moveTo(.row(last), in: content, height: height)
  }

  /// From a fetch-more row one step towards the rows beside it.
  private func inwardStep(from placeholder: String) -> Int {
    (placeholder == ListScreen.fetchMoreRow) == isLiveAtBottom ? 1 : -1
  }

  /// Goes to the end at which the list is live: the newest message, or the first name.
  package mutating func goToLiveEnd(height: Int) {
    if isLiveAtBottom {
      list.moveToLast(in: content, height: height)
    } else {
      list.moveToFirst(in: content, height: height)
    }
  }

  /// Goes to the new row that is nearest to the live end; without one to that end, and forgets what is
  /// new.
  mutating func goToNewest(height: Int) {
    let new = list.newAbove.union(list.newBelow)
      .compactMap { id in content.indexPath(ofRow: id).map { (id, $0) } }
    let nearest =
      isLiveAtBottom ? new.max { $0.1 < $1.1 } : new.min { $0.1 < $1.1 }
    if let nearest {
      // Those that do not come into sight stay new.
      list.moveTo(.row(nearest.0), in: content, height: height)
      return
    }
    goToLiveEnd(height: height)
    list.clearNewRows()
  }
}

// MARK: Headers

extension ListScreen {
  /// What the detail of a header is made of.
  package struct SectionCount: Hashable {
    /// How many records are in the section.
    package var stored: Int
    /// Whether rows of it may not be loaded.
    var isOpen: Bool
    var isFiltered: Bool

    package var text: String { "\(stored)" + (isFiltered ? " match" : isOpen ? " loaded" : "") }
  }

  /// Writes the headers of sections whose rows came to be others in number, and all of them on
  /// another day.
  ///
  /// O(sections).
  private mutating func updateHeadings(now: Int64, local: LocalTime) {
    let day = local.civil(now).dayNumber
    let isSameDay = titledDay == day
    titledDay = day
    let (known, written) = (counts, headings)
    (counts, headings) = ([:], [:])
    let transient = transientCounts(local)
    for section in content.sections {
      let count = self.count(of: section, transient: transient[section.id] ?? 0)
      counts[section.id] = count
      if isSameDay, known[section.id] == count, let heading = written[section.id] {
        headings[section.id] = heading
      } else {
        headings[section.id] = ListHeading(
          title: title(of: section.id, now: now, local: local),
          detail: StyledLine(count.text, .muted))
      }
    }
  }

  private func count(of section: ListSection, transient: Int) -> SectionCount {
    SectionCount(
      stored: section.rows.storedCount - transient, isOpen: isOpen(section),
      isFiltered: filter != nil)
  }

  /// True if rows of a section may not be loaded.
  private func isOpen(_ section: ListSection) -> Bool {
    if paging == .exhausted, !isAway { return false }
    // Where the sections follow each other in the order of the rows, only those at the ends may lack some.
    guard SectionID(section.id).isPieceOfOrder(of: definition) else { return true }
    return (section.rows.hasFetchMoreRow && paging != .exhausted)
      || section.rows.ends.contains(ListScreen.newerRow)
  }

  /// How many rows of each section are being composed or sent.
  private func transientCounts(_ local: LocalTime) -> [String: Int] {
    var counts: [String: Int] = [:]
    for record in transientRows.compactMap({ records[$0] }) {
      let section = SectionID(
        of: record.row.node ?? .empty, key: record.row.key, in: definition, local: local)
      counts[section.text, default: 0] += 1
    }
    return counts
  }

  private func title(of id: String, now: Int64, local: LocalTime) -> StyledLine {
    // A fetch-more row without a row to stand beside has a section of its own.
    if ListScreen.isPlaceholder(id) { return StyledLine(definition.name, .sectionHeader) }
    return StyledLine(
      SectionID(id).title(in: definition, now: now, local: local), .sectionHeader)
  }

  /// When a row in sight or a header comes to read differently by itself: later than `now`; nil if
  /// none does.
  func nextChange(height: Int, now: Int64, local: LocalTime) -> Int64? {
    var times = [changed.nextEnd].compactMap(\.self).filter { $0 > now }
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
