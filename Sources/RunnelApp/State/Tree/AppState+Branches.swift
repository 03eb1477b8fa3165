import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Expanding or collapsing many nodes of the tree at once, and reading them again.

extension AppState {
  /// How many lines the tree may have for all nodes to be expanded at once.
  private static let expandedLinesMax = 1000

  /// Asks for the children of the node under the cursor again, or of the one that it is in.
  mutating func readTreeAnew() {
    var path = detailPath ?? .root
    while tree.expanded[path] == nil, let parent = path.parent { path = parent }
    effects.append(.expand(path))
    // Its children go and come back; the cursor is to wait for its own.
    if let place = detailPath { tree.wanted = TreeScreen.Wanted(path: place) }
    noteChange(at: path)
    say(.info, "\(path) is read again")
  }

  /// The nodes that are loaded and closed, as many as can be expanded without the tree growing too
  /// long, and how many are left.
  var expansion: (opened: [Path], closedCount: Int) {
    var lines = tree.content.rowCount
    var opened: [Path] = []
    var closed = 0
    for id in tree.content.sections.lazy.flatMap(\.rows) {
      guard case .node(let path, let row, _)? = tree.lines[id], tree.expanded[path] == nil,
        case .children(let count) = row.summary.kind
      else { continue }
      let added = min(count, pageSize)
      guard lines + added <= AppState.expandedLinesMax else {
        closed += 1
        continue
      }
      lines += added
      opened.append(path)
    }
    return (opened, closed)
  }

  mutating func expandAll() {
    let plan = expansion
    effects += plan.opened.map { .expand($0) }
    let count = plan.opened.count
    let words = count == 1 ? "expanded 1 node" : "expanded \(count) nodes"
    if plan.closedCount > 0 {
      return say(.info, "\(words); \(plan.closedCount) more would be over 1,000 lines")
    }
    say(.info, phrase(words, .foldOpenAll, "goes deeper"))
  }

  /// Collapses all nodes but the root; the cursor goes to the one above it that stays.
  mutating func collapseAll() {
    let top = detailPath.flatMap(\.keys.first).map { Path(unchecked: [$0]) }
    for place in tree.expanded.keys.filter({ !$0.isRoot }).sorted() {
      tree.expanded[place] = nil
      effects.append(.collapse(place))
    }
    tree.rebuild(height: height)
    if let top { tree.list.moveTo(.row(top.description), in: tree.content, height: height) }
  }
}

extension TreeScreen.Line {
  /// How many levels below the root it stands.
  var depth: Int {
    switch self {
    case .node(_, _, let depth), .paging(_, _, let depth), .failed(_, _, let depth): depth
    }
  }
}
