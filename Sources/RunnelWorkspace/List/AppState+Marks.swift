package import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Marked rows: commands for several records or nodes act on these.

/// A list whose rows can be marked.
package protocol MarkedList {
  var list: ListState { get }
  var content: ListContent { get }
  /// The ids of the marked rows.
  var marks: Set<String> { get set }
  /// The row where an open range begins, or nil if there is no range.
  var rangeStart: String? { get set }
  /// The rows that `mark.all` marks: those beside the row under the cursor.
  var markableRows: Set<String> { get }

  /// Returns whether a row can be marked.
  func isMarkable(_ id: String) -> Bool
}

extension AppState {
  /// The marks of the view in front.
  package var marked: any MarkedList {
    get { if let view = tabs.front.view { tabs.lists[view] } else { tabs.tree } }
    set {
      switch newValue {
      case let tree as TreeScreen: self.tabs.tree = tree
      case let list as ListScreen: tabs.changeFrontList { $0 = list }
      default: break
      }
    }
  }
}

/// Marks rows of a list.
enum Marking {
  /// Marks the row under the cursor or removes its mark, and steps down.
  static func toggleMark(_ state: inout AppState, count: Int) {
    for _ in 0..<min(count, state.marked.content.rowCount) {
      if let id = state.marked.markableRow, state.marked.marks.remove(id) == nil {
        state.marked.marks.insert(id)
      }
      state.withList { list, content, height in list.move(by: 1, in: content, height: height) }
    }
    marksChanged(&state)
  }

  /// Starts a range at the cursor, or ends an open range and marks its rows.
  static func toggleRange(_ state: inout AppState) {
    if state.marked.rangeStart != nil { return endRange(&state) }
    guard let id = state.marked.markableRow else { return }
    state.marked.rangeStart = id
    let words = state.phrase("a range begins here", .markRange, "marks it up to the cursor")
    state.say(.info, words, givesWay: true)
  }

  /// Marks the rows of the range, and ends the range.
  static func endRange(_ state: inout AppState) {
    state.marked.marks.formUnion(state.marked.rangeRows)
    state.marked.rangeStart = nil
    marksChanged(&state)
  }

  /// Marks all rows beside the row under the cursor; if all are marked, removes their marks.
  static func markSection(_ state: inout AppState) {
    let rows = state.marked.markableRows
    if rows.isSubset(of: state.marked.marks) {
      state.marked.marks.subtract(rows)
    } else {
      state.marked.marks.formUnion(rows)
      if let list = state.tabs.frontList, !list.reach.isExhausted {
        let count = rows.count == 1 ? "1 loaded row is" : "\(rows.count) loaded rows are"
        let words = "\(count) marked; others are not loaded"
        state.say(.info, state.phrase(words, .sectionMore, "loads more of them"))
      }
    }
    marksChanged(&state)
  }

  /// Removes all marks, and says how many there were: they may be out of sight.
  static func clearMarks(_ state: inout AppState) {
    let count = state.marked.marks.count
    if count > 0 { state.say(.info, count == 1 ? "1 mark removed" : "\(count) marks removed") }
    state.marked.marks = []
    state.marked.rangeStart = nil
    marksChanged(&state)
  }

  /// Updates a filter that asks for marked rows.
  private static func marksChanged(_ state: inout AppState) {
    if let view = state.tabs.front.view,
      state.tabs.lists[view].filtering.filter?.asks(for: .marked) == true
    {
      FilterScreen.applyFilter(&state, inView: view)
    }
  }

  // MARK: Disabled reasons

  /// The kind of the view's rows.
  private static func markedKind(_ state: AppState) -> String {
    switch state.tabs.front {
    case .tree: "node"
    case .view: "record"
    }
  }

  static func reasonNoMarkedRow(_ state: AppState) -> String? {
    state.marked.marks.isEmpty ? state.phrase("no row is marked", .markToggle, "marks") : nil
  }

  static func reasonNoMarks(_ state: AppState) -> String? {
    state.marked.rangeStart == nil ? reasonNoMarkedRow(state) : nil
  }

  static func reasonNoRowToMark(_ state: AppState) -> String? {
    let marked = state.marked
    if marked.markableRow != nil { return nil }
    // On a header, the key steps to the rows.
    var next = marked.list
    next.move(by: 1, in: marked.content, height: state.tabs.frontHeight(in: state.height))
    let steps = if case .header? = marked.list.cursor { next != marked.list } else { false }
    return steps ? nil : "only \(markedKind(state))s are marked"
  }

  static func reasonNoRange(_ state: AppState) -> String? {
    let marked = state.marked
    return marked.markableRow == nil && marked.rangeStart == nil
      ? "move to a \(markedKind(state)) to start a range" : nil
  }

  static func reasonNothingToMark(_ state: AppState) -> String? {
    state.marked.markableRows.isEmpty ? "there are no \(markedKind(state))s to mark here" : nil
  }
}

extension ListScreen: MarkedList {
  /// Whether the row is a stored record.
  package func isMarkable(_ id: String) -> Bool { records[id].map { !isTransient($0) } ?? false }

  /// The rows that can be marked in the section under the cursor.
  package var markableRows: Set<String> {
    guard let id = list.cursorSection(in: content), let section = content.index(ofSection: id)
    else { return [] }
    return Set(content.sections[section].rows.filter(isMarkable))
  }
}

extension TreeScreen: MarkedList {
  package func isMarkable(_ id: String) -> Bool {
    if case .node? = lines[id] { true } else { false }
  }

  /// The siblings of the node under the cursor.
  package var markableRows: Set<String> {
    let parent: Path
    switch cursorLine {
    case .node(let path, _, _)?: parent = path.parent ?? .root
    case .paging(let path, _, _)?, .failed(let path, _, _)?: parent = path
    case nil: parent = .root
    }
    let keys = expanded[parent]?.rows.map(\.row.key) ?? []
    return Set(keys.map { Path(unchecked: parent.keys + [$0]).description })
  }

  /// The marked nodes in the order of the tree, without those below another marked node.
  ///
  /// O(lines) if any is marked.
  var markedNodes: [(path: Path, row: TreeRow)] {
    if markCount == 0 { return [] }
    var nodes: [(path: Path, row: TreeRow)] = []
    for id in content.sections.lazy.flatMap(\.rows) where isMarked(id) {
      guard case .node(let path, let row, _)? = lines[id] else { continue }
      if let last = nodes.last, last.path.contains(path) { continue }
      nodes.append((path, row))
    }
    return nodes
  }
}

extension MarkedList {
  /// The row under the cursor, or nil if it cannot be marked.
  var markableRow: String? {
    guard case .row(let id)? = list.cursor, isMarkable(id) else { return nil }
    return id
  }

  /// Returns whether a row is marked, or is in the open range up to the cursor.
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

  /// The ends of the open range; nil if there is none, or if its first row is gone.
  private var rangeEnds: ClosedRange<ListIndexPath>? {
    guard let rangeStart, let start = content.indexPath(ofRow: rangeStart) else { return nil }
    let end: ListIndexPath
    switch list.cursor {
    case .row(let id): end = content.indexPath(ofRow: id) ?? start
    case .header(let id):
      let section = content.index(ofSection: id) ?? start.section
      // On a header, the range ends with the row before the header.
      end =
        section <= start.section
        ? ListIndexPath(section: section, row: 0)
        : ListIndexPath(
          section: section - 1, row: max(content.sections[section - 1].rows.count - 1, 0))
    case nil: end = start
    }
    return min(start, end)...max(start, end)
  }

  /// The number of marked rows, including the rows of an open range.
  var markCount: Int { rangeStart == nil ? marks.count : marks.union(rangeRows).count }
}

extension Filter {
  /// Whether the filter tests a state of rows.
  func asks(for condition: RowCondition) -> Bool {
    terms.contains { $0.test == .state(condition) }
  }
}
