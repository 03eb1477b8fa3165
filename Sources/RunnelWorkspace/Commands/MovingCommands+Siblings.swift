import RunnelBase
import RunnelTerminal
import RunnelTree

// Siblings: lines of the same depth; the lines of opened nodes between them are skipped.

extension MovingCommands {
  /// Moves the cursor by a number of siblings, back if negative.
  static func goToSibling(_ state: inout AppState, by count: Int) {
    guard let item = sibling(state, by: count) else { return }
    if state.pane == .views {
      state.panes.views.moveTo(
        item, in: Panes.viewsContent(state), height: state.layout.views.height)
      Panes.followSection(&state)
    } else {
      state.withListInFront { list, content, height in
        _ = list.moveTo(item, in: content, height: height)
      }
    }
  }

  /// The reason why there is no sibling in a direction (back if negative), or nil if there is one.
  static func reasonNoSibling(_ state: AppState, by step: Int) -> String? {
    if sibling(state, by: step) != nil { return nil }
    return step > 0 ? "this is the last one here" : "this is the first one here"
  }

  /// Returns the line a number of siblings away, back if negative; the last one if there are fewer,
  /// and nil if there is none.
  ///
  /// Siblings are lines as deep as the line under the cursor. In the tree and in a record they are
  /// below the same node; in other lists they may be in other sections. O(rows).
  private static func sibling(_ state: AppState, by count: Int) -> ListItem? {
    let layer = state.layers.last?.listed
    let isInViews = state.pane == .views
    let pane = isInViews ? Panes.viewsPane(state) : nil
    let (list, content) =
      pane.map { (Panes.settledViews(state, in: $0.content), $0.content) } ?? state.listInFront
    let isInTree = layer == nil && state.tabs.front == .tree && !isInViews
    func depth(_ id: String) -> Int {
      if let pane {
        if case .section? = pane.rows[id] { return 1 }
        return 0
      }
      return layer?.depth(ofRow: id) ?? (isInTree ? state.tabs.tree.lines[id]?.depth ?? 0 : 0)
    }
    let staysInside = isInTree || layer is RecordScreen
    let lines = content.sections.flatMap { section -> [(item: ListItem, depth: Int)] in
      let rows = list.folded.contains(section.id) ? [] : section.rows
      return [(.header(section.id), -1)] + rows.map { (.row($0), depth($0)) }
    }
    guard let start = lines.firstIndex(where: { $0.item == list.cursor }) else { return nil }
    var found: ListItem?
    var left = abs(count)
    var index = start + count.signum()
    while left > 0, lines.indices.contains(index) {
      if lines[index].depth == lines[start].depth {
        found = lines[index].item
        left -= 1
      } else if staysInside, lines[index].depth < lines[start].depth {
        break
      }
      index += count.signum()
    }
    return found
  }
}
