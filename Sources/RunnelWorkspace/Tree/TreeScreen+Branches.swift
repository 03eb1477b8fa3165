import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Expands and collapses many nodes of the tree at once, and reads children again.

extension TreeScreen {
  /// The number of lines up to which all nodes can be expanded at once.
  private static let expandedLinesMax = 1000

  /// Reads the children of the node under the cursor again, or of the nearest expanded one above
  /// it.
  static func readTreeAnew(_ state: inout AppState) {
    var path = Panes.detailPath(state) ?? .root
    while state.tabs.tree.expanded[path] == nil, let parent = path.parent { path = parent }
    state.effects.append(.expand(path))
    // The children disappear and come back; the cursor waits for its row.
    if let place = Panes.detailPath(state) {
      state.tabs.tree.wanted = TreeScreen.Wanted(path: place)
    }
    TreePreview.noteChange(&state, at: path)
    state.say(.info, "\(path) is read again")
  }

  /// Returns the loaded nodes that can be expanded without making the tree too long, and the number
  /// of the others.
  static func expansion(_ state: AppState) -> (opened: [Path], closedCount: Int) {
    var lines = state.tabs.tree.content.rowCount
    var opened: [Path] = []
    var closed = 0
    for id in state.tabs.tree.content.sections.lazy.flatMap(\.rows) {
      guard case .node(let path, let row, _)? = state.tabs.tree.lines[id],
        state.tabs.tree.expanded[path] == nil,
        case .children(let count) = row.summary.kind, state.tabs.tree.fact(of: path) != .unknown
      else { continue }
      let added = min(count, state.settings.pageSize)
      guard lines + added <= expandedLinesMax else {
        closed += 1
        continue
      }
      lines += added
      opened.append(path)
    }
    return (opened, closed)
  }

  static func expandAll(_ state: inout AppState) {
    let plan = expansion(state)
    state.effects += plan.opened.map { .expand($0) }
    let count = plan.opened.count
    let words = count == 1 ? "expanded 1 node" : "expanded \(count) nodes"
    if plan.closedCount > 0 {
      return state.say(.info, "\(words); \(plan.closedCount) more would be over 1,000 lines")
    }
    state.say(.info, state.phrase(words, .foldOpenAll, "goes deeper"))
  }

  /// Collapses all nodes but the root; the cursor moves to the node above it that stays.
  static func collapseAll(_ state: inout AppState) {
    let top = Panes.detailPath(state).flatMap(\.keys.first).map { Path(unchecked: [$0]) }
    for place in state.tabs.tree.expanded.keys.filter({ !$0.isRoot }).sorted() {
      state.tabs.tree.expanded[place] = nil
      state.effects.append(.collapse(place))
    }
    state.tabs.tree.rebuild(height: state.height)
    if let top {
      state.tabs.tree.list.moveTo(
        .row(top.description), in: state.tabs.tree.content, height: state.height)
    }
  }
}

extension TreeScreen.Line {
  /// The number of levels below the root.
  package var depth: Int {
    switch self {
    case .node(_, _, let depth), .paging(_, _, let depth), .failed(_, _, let depth): depth
    }
  }
}
