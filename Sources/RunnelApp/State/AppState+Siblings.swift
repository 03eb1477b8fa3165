import RunnelBase
import RunnelTerminal
import RunnelTree

// From one line to the next that stands as deep, over what is open between.

extension AppState {
  /// Goes to a sibling; false if the action is none of that.
  mutating func performOnSiblings(_ action: ActionID, count: Int) -> Bool {
    guard action == .siblingNext || action == .siblingPrevious else { return false }
    guard let item = sibling(by: action == .siblingNext ? count : -count) else { return true }
    if pane == .views {
      viewsList.moveTo(item, in: viewsContent, height: layout.views.height)
    } else {
      withListInFront { list, content, height in
        _ = list.moveTo(item, in: content, height: height)
      }
    }
    return true
  }

  /// Why one cannot go to a sibling; nil if one can, or the action is none of that.
  func reasonNoSibling(_ action: ActionID) -> String? {
    if case .record(let screen)? = layers.last, screen.reading != nil {
      return phrase("this is one text", .rowDown, "scrolls it")
    }
    switch action {
    case .siblingNext: return sibling(by: 1) == nil ? "this is the last one here" : nil
    case .siblingPrevious: return sibling(by: -1) == nil ? "this is the first one here" : nil
    default: return nil
    }
  }

  /// The line so many further on, or back if negative, among those that stand as deep as that under the
  /// cursor; the last one if there are fewer, and nil if there is none.
  ///
  /// In the tree and in a record it is below the same node; in other lists sections are passed over.
  /// O(rows).
  private func sibling(by count: Int) -> ListItem? {
    let layer = layers.last?.listed
    let (list, content) = pane == .views ? (viewsList, viewsContent) : listInFront
    let isInTree = layer == nil && isTree && pane != .views
    func depth(_ id: String) -> Int {
      layer?.depth(ofRow: id) ?? (isInTree ? tree.lines[id]?.depth ?? 0 : 0)
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
