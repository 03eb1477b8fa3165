import RunnelBase
import RunnelStreams
import RunnelTerminal

// Marked rows: what is done to several records at once is done to these.

extension AppState {
  /// Marks the row under the cursor or takes its mark away, and steps down.
  mutating func toggleMark(count: Int) {
    for _ in 0..<min(count, lists[active].content.rowCount) {
      if let record = lists[active].cursorRecord {
        if lists[active].marks.remove(record.key) == nil { lists[active].marks.insert(record.key) }
      } else if count == 1, !isOnHeader {
        return say(.info, "only records are marked")
      }
      withList { list, content, height in list.move(by: 1, in: content, height: height) }
    }
    marksChanged()
  }

  private var isOnHeader: Bool {
    if case .header? = lists[active].list.cursor { true } else { false }
  }

  /// Starts a range at the cursor, or marks the one that was started.
  mutating func toggleRange() {
    if lists[active].rangeStart != nil {
      lists[active].marks.formUnion(lists[active].rangeRows)
      lists[active].rangeStart = nil
      return marksChanged()
    }
    guard let record = lists[active].cursorRecord else {
      return say(.info, "move to a record to start a range")
    }
    lists[active].rangeStart = record.key
    say(.info, "a range begins here: move, and v marks it")
  }

  /// Marks the rows of the section under the cursor; if all are marked, takes their marks away.
  mutating func markSection() {
    let screen = lists[active]
    guard let id = screen.list.cursorSection(in: screen.content),
      let section = screen.content.index(ofSection: id)
    else { return }
    let rows = Set(screen.content.sections[section].rows.filter { screen.isMarkable($0) })
    if rows.isSubset(of: screen.marks) {
      lists[active].marks.subtract(rows)
    } else {
      lists[active].marks.formUnion(rows)
    }
    marksChanged()
  }

  mutating func clearMarks() {
    lists[active].marks = []
    lists[active].rangeStart = nil
    marksChanged()
  }

  /// A filter may ask which rows are marked.
  private mutating func marksChanged() {
    if lists[active].filter?.asks(for: .marked) == true { applyFilter(inView: active) }
  }
}

extension ListScreen {
  /// True for a row that stands for a record which is stored.
  func isMarkable(_ id: String) -> Bool { records[id].map { !isTransient($0) } ?? false }

  /// True if a row is marked, or would be if the range ended at the cursor.
  ///
  /// O(1); for a range O(rows) the first time after the list changed.
  func isMarked(_ id: String) -> Bool {
    if marks.contains(id) { return true }
    guard let ends = rangeEnds, let path = content.indexPath(ofRow: id) else { return false }
    return ends.contains(path) && isMarkable(id)
  }

  /// The rows from the start of the range to the cursor, both included.
  ///
  /// O(rows of the range).
  var rangeRows: Set<String> {
    guard let ends = rangeEnds else { return [] }
    var rows: Set<String> = []
    for section in ends.lowerBound.section...ends.upperBound.section {
      let ids = content.sections[section].rows
      let first = section == ends.lowerBound.section ? ends.lowerBound.row : 0
      let last = section == ends.upperBound.section ? ends.upperBound.row : ids.count - 1
      guard first <= last else { continue }
      rows.formUnion(ids[first...last].filter(isMarkable))
    }
    return rows
  }

  /// Where the range begins and ends; nil if there is none, or where it began is gone.
  private var rangeEnds: ClosedRange<IndexPath>? {
    guard let rangeStart, let start = content.indexPath(ofRow: rangeStart) else { return nil }
    let end: IndexPath
    switch list.cursor {
    case .row(let id): end = content.indexPath(ofRow: id) ?? start
    case .header(let id):
      let section = content.index(ofSection: id) ?? start.section
      // A header ends what comes before its rows.
      end =
        section <= start.section
        ? IndexPath(section: section, row: 0)
        : IndexPath(
          section: section - 1, row: max(content.sections[section - 1].rows.count - 1, 0))
    case nil: end = start
    }
    return min(start, end)...max(start, end)
  }

  /// How many rows are marked, those of an open range included.
  var markCount: Int { rangeStart == nil ? marks.count : marks.union(rangeRows).count }
}

extension Filter {
  /// True if the filter asks for a state of rows.
  func asks(for condition: RowCondition) -> Bool {
    terms.contains { $0.test == .state(condition) }
  }
}
