import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// A collection as the user sees it.
struct ListScreen: Sendable {
  /// The id of the row that stands for rows not loaded.
  static let pagingRow = "fetch-more"
  /// The key of the row being composed: after all keys that are made.
  static let composeKey = "~compose"
  /// How long a changed row is marked, in milliseconds.
  static let changeMarkMilliseconds: Int64 = 3000

  var definition: ViewDefinition
  /// True once its streams were asked for.
  var isOpen = false
  var phase = LoadPhase.loading
  var paging = PagingPhase.exhausted
  var content = ListContent()
  var list = ListState()
  /// The rows by id.
  var records: [String: Record] = [:]
  /// Until when rows are marked as changed, in milliseconds since 1970.
  var changedUntil: [String: Int64] = [:]
  /// What the user was composing when they left it.
  var draft = ""
  /// A row to go to when it arrives.
  var awaited: String?

  init(_ definition: ViewDefinition) { self.definition = definition }

  /// The record under the cursor; nil on a header or the paging row, or where nothing is saved yet.
  var cursorRecord: Record? {
    guard case .row(let id)? = list.cursor, let record = records[id], !isTransient(record) else {
      return nil
    }
    return record
  }

  /// True for the row being composed.
  func isTransient(_ record: Record) -> Bool { record.row.key.text == ListScreen.composeKey }
}

extension ListScreen {
  /// Takes a change over: content, marks, cursor and scroll position.
  mutating func apply(_ change: ListChange, height: Int, now: Int64, local: LocalTime) {
    phase = change.phase
    paging = change.paging
    remember(change, now: now)
    let old = content
    content = ListContent(
      sections: change.sections.map { section($0, now: now, local: local) })
    let wasOnPagingRow = list.cursor == .row(ListScreen.pagingRow)
    if wasOnPagingRow, !change.update.insertedRows.isEmpty { leavePagingRow(old, height: height) }
    let isFirst = old.sections.isEmpty && !content.sections.isEmpty
    list.apply(
      change.update, from: old, to: content, height: height, newRows: change.newRows)
    if wasOnPagingRow, list.cursor != .row(ListScreen.pagingRow) {
      // The row that took the paging row's place on the screen gets the cursor.
      list.move(by: -1, in: content, height: height)
    }
    if isFirst { goToLiveEnd(height: height) }
    if let awaited, list.moveTo(.row(awaited), in: content, height: height) { self.awaited = nil }
  }

  private mutating func remember(_ change: ListChange, now: Int64) {
    changedUntil = changedUntil.filter { $0.value > now }
    let isLive = !change.update.isReload
    for (id, record) in change.records {
      if isLive, records[id] != nil, !isTransient(record) {
        changedUntil[id] = now + ListScreen.changeMarkMilliseconds
      }
      records[id] = record
    }
    if records.count > 2 * (content.rowCount + change.records.count) + 1000 {
      // Rows that left are forgotten in bulk, so that a batch costs what it changes.
      let kept = Set(change.sections.flatMap(\.rows))
      records = records.filter { kept.contains($0.key) }
    }
  }

  /// The paging row goes to the new end; the cursor stays where it is on the screen.
  private mutating func leavePagingRow(_ old: ListContent, height: Int) {
    let isLast = definition.source.anchor == .first
    list.move(by: isLast ? -1 : 1, in: old, height: height)
  }

  /// A list opens at its live end: the newest message, or the first name.
  private mutating func goToLiveEnd(height: Int) {
    let isLast = (definition.source.anchor == .last) != definition.source.isDescending
    if isLast {
      list.moveToLast(in: content, height: height)
    } else {
      list.moveToRow(number: 1, in: content, height: height)
    }
  }

  private func section(
    _ rows: ListChange.SectionRows, now: Int64, local: LocalTime
  ) -> ListSection {
    let stored = rows.rows.filter { $0 != ListScreen.pagingRow }.count
    var detail = "\(stored)"
    if stored < rows.rows.count, paging != .exhausted { detail += " loaded" }
    let title = SectionID(rows.id).title(in: definition, now: now, local: local)
    return ListSection(
      id: rows.id, title: StyledLine(title, .sectionHeader), detail: StyledLine(detail, .muted),
      rows: rows.rows, emptyText: "nothing here yet · a adds")
  }
}
