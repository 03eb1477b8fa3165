package import RunnelBase
package import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// The writes that concern a place, the newest first, as the database's history has them.
package struct HistoryScreen: Hashable, Sendable {
  /// How many entries are read at once.
  package static let pageSize = 50

  /// What a row stands for.
  package enum Line: Hashable, Sendable {
    /// A write.
    case entry(HistoryEntry)
    /// A place that an open write wrote.
    case place(HistoryEntry.Part)
    /// What it took away there, or put there.
    case change(EntryText.Change, isOld: Bool)
    /// Something that is to be said of it.
    case note(String)
  }

  /// What is being read.
  package enum Reading: Hashable, Sendable {
    /// The newest entries; those that are known are kept.
    case newest
    /// Those after the last one that is known.
    case older
  }

  /// The place.
  package let path: Path
  /// Where entries of the action log stand; nil if nothing is logged.
  package let log: Path?
  /// The entries that were read, the newest first.
  package private(set) var entries: [HistoryEntry] = []
  package private(set) var phase = LoadState.loading
  package private(set) var paging = FetchState.exhausted
  /// How many entries the database keeps; nil until it told.
  package private(set) var limit: Int?
  /// The entries that are shown in full.
  package private(set) var opened: Set<Int64> = []
  /// The request for entries that is not answered.
  package private(set) var request: AppRequestID?
  /// True if there is something newer than what is being read.
  var isOutdated = false
  private(set) var lines: [String: Line] = [:]
  package private(set) var content = ListContent()
  /// The headings of the sections, by section.
  private(set) var headings: [String: ListHeading] = [:]
  package var list = ListState()

  init(path: Path, log: Path?) {
    self.path = path
    self.log = log
  }

  /// How its entries are written.
  package func text(ellipsis: String) -> EntryText {
    EntryText(ellipsis: ellipsis, place: path, log: log)
  }

  /// The write that the cursor is on, or in; nil on a header or the fetch-more row.
  var cursorEntry: HistoryEntry? {
    guard case .row(let id)? = list.cursor,
      let number = id.split(separator: ".").first.flatMap({ Int64($0) })
    else { return nil }
    return entries.first { $0.id == number }
  }

  /// True if the cursor is on the row that fetches older entries.
  var isOnFetchMoreRow: Bool { list.cursor == .row(ListScreen.fetchMoreRow) }

  /// The reason why there are no entries, or none that are older.
  var endText: String {
    guard let limit else { return "" }
    if limit == 0 { return "the history is off: `runnel history --keep 1000` turns it on" }
    return entries.isEmpty
      ? "nothing was written here in the newest \(limit) writes that are kept"
      : "the newest \(limit) writes of the database are kept"
  }
}

// MARK: Changes

extension HistoryScreen {
  /// Takes a page over that was asked for.
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
      // Where the new page does not reach what is known, there may be some between them.
      let isGap = page.hasOlder && !entries.contains { $0.id >= oldest }
      entries = page.entries + (isGap || !page.hasOlder ? [] : known)
      if isGap || known.isEmpty {
        paging = page.hasOlder ? .more : .exhausted
      }
    }
    rebuild(height: height, now: now, local: local)
  }

  /// The entries could not be read.
  package mutating func fail(
    _ message: String, _ reading: Reading, height: Int, now: Int64, local: LocalTime
  ) {
    request = nil
    if reading == .older { paging = .failed(message) }
    if entries.isEmpty { phase = .failed(message) }
    rebuild(height: height, now: now, local: local)
  }

  /// Entries were asked for.
  package mutating func wait(for request: AppRequestID) {
    self.request = request
    if case .failed = phase { phase = .loading }
  }

  /// Waits no longer for what was asked for.
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

  /// Shows the write under the cursor in full, or no longer.
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
    lines = [:]
    headings = [:]
    var days: [SectionIDs] = []
    let today = local.civil(now).dayNumber
    for entry in entries {
      let day = local.civil(entry.at).dayNumber
      // A clock that was put back does not part a day: entries stand in the order of their writes.
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
      headings["none"] = ListHeading(title: StyledLine("\(path)", .sectionHeader))
    } else {
      days[days.count - 1].rowIDs.append(ListScreen.fetchMoreRow)
      sections = days.map { ListSection(id: $0.id, rows: $0.rowIDs) }
    }
    let old = content
    content = ListContent(sections: sections)
    list.apply(
      SectionedDiff.update(
        from: old.sections.map { SectionIDs($0) },
        to: content.sections.map { SectionIDs($0) }),
      from: old, to: content, height: height)
    let isFirst = old.rowCount == 0
    if isFirst, let first = sections.first?.rows.first {
      _ = list.moveTo(.row(first), in: content, height: height)
    }
  }

  private mutating func rows(of entry: HistoryEntry) -> [String] {
    let id = "\(entry.id)"
    lines[id] = .entry(entry)
    var ids = [id]
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
        add(
          .note(
            part.before == nil
              ? "the values were too large to keep"
              : "too large to show; what stood there before is kept"))
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
