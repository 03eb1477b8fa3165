import RunnelBase
import RunnelTerminal
import RunnelTree

// From one line to the next that stands as deep, over what is open between.

extension AppState {
  /// Goes to the sibling so many further on, or back if negative.
  mutating func goToSibling(by count: Int) {
    guard let item = sibling(by: count) else { return }
    if pane == .views {
      viewsList.moveTo(item, in: viewsContent, height: layout.views.height)
    } else {
      withListInFront { list, content, height in
        _ = list.moveTo(item, in: content, height: height)
      }
    }
  }

  /// The reason why one cannot go to a sibling, on or back if negative; nil if one can.
  func reasonNoSibling(by step: Int) -> String? {
    if sibling(by: step) != nil { return nil }
    return step > 0 ? "this is the last one here" : "this is the first one here"
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
