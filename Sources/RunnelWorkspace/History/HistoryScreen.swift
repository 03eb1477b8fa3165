package import RunnelBase
package import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// The history of a place: the writes that concern the place, the newest first.
package struct HistoryScreen: Hashable, Sendable {
  /// The number of entries read at once.
  package static let pageSize = 50

  /// The meaning of a row.
  package enum Line: Hashable, Sendable {
    /// A write.
    case entry(HistoryEntry)
    /// A place written by a write that is shown in full.
    case place(HistoryEntry.Part)
    /// An old value that the write removed from the place, or a new value that it put there.
    case change(EntryText.Change, isOld: Bool)
    /// A remark about the write.
    case note(String)
  }

  /// The entries to read.
  package enum Reading: Hashable, Sendable {
    /// The newest entries; the known ones are kept.
    case newest
    /// The entries older than the oldest known one.
    case older
  }

  /// The place whose history is shown.
  package let path: Path
  /// The place of the action log, or nil if nothing is logged.
  package let log: Path?
  /// The entries that were read, the newest first.
  package private(set) var entries: [HistoryEntry] = []
  package private(set) var phase = LoadState.loading
  package private(set) var paging = FetchState.exhausted
  /// The number of writes that the database keeps, or nil until the first answer.
  package private(set) var limit: Int?
  /// The ids of the entries shown in full.
  package private(set) var opened: Set<Int64> = []
  /// The id of the open request for entries, or nil if there is none.
  package private(set) var request: AppRequestID?
  /// Whether there were newer writes after the open request.
  var isOutdated = false

  // What follows from the entries is kept: it takes all of them, and the values of those that are shown
  // in full, and a key is to cost no more than the rows on the screen.

  /// The ids of entries that undo an undo.
  private var redoes: Set<Int64> = []
  /// The meanings of the rows.
  private(set) var lines: [String: Line] = [:]
  /// The writes of the rows, by the ids of those.
  private var entriesOfRows: [String: HistoryEntry] = [:]
  package private(set) var content = ListContent()
  /// The headings of the sections, by section: as many as there are days.
  private(set) var headings: [String: ListHeading] = [:]
  package var list = ListState()

  /// Whether the database is a replica, which has only the history of what was written on it.
  private let isReplica: Bool

  init(path: Path, log: Path?, isReplica: Bool) {
    self.path = path
    self.log = log
    self.isReplica = isReplica
  }

  /// The formatter of the entries.
  package func text(ellipsis: String) -> EntryText {
    EntryText(ellipsis: ellipsis, place: path, log: log, redoes: redoes)
  }

  /// The write under the cursor, whose row or detail row the cursor is on; nil on a header or the
  /// fetch-more row.
  var cursorEntry: HistoryEntry? {
    if case .row(let id)? = list.cursor { entriesOfRows[id] } else { nil }
  }

  /// True if the cursor is on the row that fetches older entries.
  var isOnFetchMoreRow: Bool { list.cursor == .row(ListScreen.fetchMoreRow) }

  /// Text that says why there are no entries, or no older ones.
  var endText: String {
    guard let limit else { return "" }
    if limit == 0 { return "the history is off: `runnel history --keep 1000` turns it on" }
    if isReplica {
      return entries.isEmpty
        ? "nothing was written here from this replica: it knows no writes of others"
        : "only what was written from this replica is known here"
    }
    return entries.isEmpty
      ? "nothing was written here in the newest \(limit) writes that are kept"
      : "the newest \(limit) writes of the database are kept"
  }
}

// MARK: Changes

extension HistoryScreen {
  /// Takes a page that was requested.
  package mutating func take(
    _ page: HistoryPage, _ reading: Reading, height: Int, now: Int64, local: LocalTime
  ) {
    request = nil
    phase = .loaded
    limit = page.limit
    switch reading {
    case .older:
      entries += page.entries
      paging = page.hasOlder ? .more : .exhausted
    case .newest:
      let oldest = page.entries.last?.id ?? .max
      let known = entries.filter { $0.id < oldest }
      // If the new page does not reach the known entries, there may be others between them.
      let isGap = page.hasOlder && !entries.contains { $0.id >= oldest }
      entries = page.entries + (isGap || !page.hasOlder ? [] : known)
      if isGap || known.isEmpty {
        paging = page.hasOlder ? .more : .exhausted
      }
    }
    rebuild(height: height, now: now, local: local)
  }

  /// Shows that the entries could not be read.
  package mutating func fail(
    _ message: String, _ reading: Reading, height: Int, now: Int64, local: LocalTime
  ) {
    request = nil
    if reading == .older { paging = .failed(StreamFailure(message)) }
    if entries.isEmpty { phase = .failed(StreamFailure(message)) }
    rebuild(height: height, now: now, local: local)
  }

  /// Notes that entries were requested.
  package mutating func wait(for request: AppRequestID) {
    self.request = request
    if case .failed = phase { phase = .loading }
  }

  /// Stops waiting for the requested entries.
  package mutating func stop(_ reading: Reading, height: Int, now: Int64, local: LocalTime) {
    request = nil
    isOutdated = false
    if reading == .older { paging = .more }
    if entries.isEmpty { phase = .failed("the history was not read") }
    rebuild(height: height, now: now, local: local)
  }

  /// Shows that older entries are being fetched.
  mutating func fetchOlder(height: Int, now: Int64, local: LocalTime) {
    paging = .fetching
    rebuild(height: height, now: now, local: local)
  }

  /// Shows the write under the cursor in full, or closes it again.
  package mutating func toggle(height: Int, now: Int64, local: LocalTime) {
    guard let entry = cursorEntry else { return }
    if opened.remove(entry.id) == nil {
      opened.insert(entry.id)
    } else {
      _ = list.moveTo(.row("\(entry.id)"), in: content, height: height)
    }
    rebuild(height: height, now: now, local: local)
  }

  private mutating func rebuild(height: Int, now: Int64, local: LocalTime) {
    (lines, entriesOfRows, headings) = ([:], [:], [:])
    redoes = HistoryScreen.redoes(among: entries)
    var days: [SectionIDs] = []
    let today = local.civil(now).dayNumber
    for entry in entries {
      let day = local.civil(entry.at).dayNumber
      // Entries stand in the order of their writes: a clock that was set back does not split a day.
      if days.last?.id.hasPrefix("\(day).") != true {
        let id = "\(day).\(days.count)"
        days.append(SectionIDs(id: id, rowIDs: []))
        headings[id] = ListHeading(
          title: StyledLine(SectionID.dayTitle(day, today: today), .sectionHeader))
      }
      days[days.count - 1].rowIDs += rows(of: entry)
    }
    let sections: [ListSection]
    if days.isEmpty {
      sections = [ListSection(id: "none", rows: [], emptyText: endText)]
      headings["none"] = ListHeading(title: StyledLine(path.shownPath, .sectionHeader))
    } else {
      days[days.count - 1].rowIDs.append(ListScreen.fetchMoreRow)
      sections = days.map { ListSection(id: $0.id, rows: $0.rowIDs) }
    }
    list.show(
      ListContent(sections: sections), inPlaceOf: &content, height: height,
      first: sections.first?.rows.first)
  }

  /// The ids of the entries that undo an undo, among entries from the newest to the oldest.
  private static func redoes(among entries: [HistoryEntry]) -> Set<Int64> {
    var undoes: Set<Int64> = []
    var redoes: Set<Int64> = []
    for entry in entries.reversed() {
      guard let undone = entry.undoes else { continue }
      if undoes.contains(undone) { redoes.insert(entry.id) } else { undoes.insert(entry.id) }
    }
    return redoes
  }

  private mutating func rows(of entry: HistoryEntry) -> [String] {
    let id = "\(entry.id)"
    lines[id] = .entry(entry)
    var ids = [id]
    defer { for id in ids { entriesOfRows[id] = entry } }
    guard opened.contains(entry.id) else { return ids }
    func add(_ line: Line) {
      let row = "\(id).\(ids.count)"
      lines[row] = line
      ids.append(row)
    }
    if let undone = entry.undoes { add(.note("takes write \(undone) back")) }
    for part in text(ellipsis: "").ordered(entry.parts) {
      add(.place(part))
      guard let values = part.values else {
        add(.note(EntryText.words(onLarge: part)))
        continue
      }
      let changes = EntryText.changes(from: values.old, to: values.new)
      for change in changes {
        if change.old != .null { add(.change(change, isOld: true)) }
        if change.new != .null { add(.change(change, isOld: false)) }
      }
      if changes.isEmpty { add(.note("the same as before")) }
    }
    return ids
  }
}
