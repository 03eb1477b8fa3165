import RunnelBase
import RunnelTerminal
import RunnelTree

// Moving among siblings in the tree, and expanding or collapsing many nodes at once.

extension AppState {
  /// How many lines the tree may have for all nodes to be expanded at once.
  private static let expandedLinesMax = 1000

  /// Does what is done with several nodes; false if the action is none of that.
  mutating func performWithBranches(_ action: ActionID) -> Bool {
    switch action {
    case .siblingNext: moveToSibling(by: 1)
    case .siblingPrevious: moveToSibling(by: -1)
    case .foldOpenAll: expandAll()
    case .foldCloseAll: collapseAll()
    case .viewResync: readTreeAnew()
    default: return false
    }
    return true
  }

  /// Asks for the children of the node under the cursor again, or of the one that it is in.
  private mutating func readTreeAnew() {
    var path = detailPath ?? .root
    while tree.expanded[path] == nil, let parent = path.parent { path = parent }
    effects.append(.expand(path))
    // Its children go and come back; the cursor is to wait for its own.
    if let place = detailPath { tree.wanted = TreeScreen.Wanted(path: place) }
    noteChange(at: path)
    say(.info, "\(path) is read again")
  }

  /// Goes to the next line of the same depth below the same node, or the one before.
  ///
  /// O(lines between).
  private mutating func moveToSibling(by step: Int) {
    guard case .row(let id)? = tree.list.cursor, let place = tree.content.indexPath(ofRow: id),
      let depth = tree.lines[id]?.depth
    else { return say(.info, "move to a node to go to its siblings") }
    let rows = tree.content.sections[place.section].rows
    var index = place.row + step
    while rows.indices.contains(index), let other = tree.lines[rows[index]]?.depth, other >= depth {
      if other == depth {
        tree.list.moveTo(.row(rows[index]), in: tree.content, height: height)
        return
      }
      index += step
    }
    say(.info, step > 0 ? "this is the last one here" : "this is the first one here")
  }

  /// Expands the nodes that are loaded and closed, as long as the tree does not grow too long.
  private mutating func expandAll() {
    var lines = tree.content.rowCount
    var (opened, closed) = (0, 0)
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
      opened += 1
      effects.append(.expand(path))
    }
    if closed > 0 {
      return say(.info, "expanded \(opened) nodes; \(closed) more would be over 1,000 lines")
    }
    say(
      .info,
      opened == 0
        ? "everything is expanded" : phrase("expanded \(opened) nodes", .foldOpenAll, "goes deeper")
    )
  }

  /// Collapses all nodes but the root; the cursor goes to the one above it that stays.
  private mutating func collapseAll() {
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
