import RunnelStreams
import RunnelTree

// Unloading: the children of a node that grows while it is expanded are not kept without a bound.
// The first ones stay, and the fetch-more row below them reads on.

extension TreeScreen {
  /// The number of children of a node that stay loaded.
  package static let keptChildrenCount = 2000

  /// Whether a node has more than twice as many children as stay loaded, and none of those that would
  /// be unloaded is under the cursor, marked or expanded.
  ///
  /// O(marks + expanded nodes) if the node has that many children; otherwise O(1).
  private func canUnload(_ path: Path) -> Bool {
    guard let children = expanded[path], children.rows.count > 2 * TreeScreen.keptChildrenCount,
      children.phase == .loaded, children.paging != .fetching, !unloading.contains(path)
    else { return false }
    var used = expanded.keys.filter { $0 != path && path.contains($0) }
    if case .node(let place, _, _)? = cursorLine { used.append(place) }
    for id in marks {
      if case .node(let place, _, _)? = lines[id] { used.append(place) }
    }
    if let wanted { used.append(wanted.path) }
    return used.allSatisfy { place in
      guard let key = place.relative(to: path)?.keys.first else { return true }
      return children.index(of: key) < TreeScreen.keptChildrenCount
    }
  }

  /// Unloads the last children of a node that has grown, after a change of its children.
  static func unload(_ state: inout AppState, childrenOf path: Path) {
    if let count = state.tabs.tree.expanded[path]?.rows.count, count > keptChildrenCount {
      guard state.tabs.tree.canUnload(path) else { return }
      state.tabs.tree.unloading.insert(path)
      state.effects.append(.keepChildren(path, count: keptChildrenCount))
    } else {
      state.tabs.tree.unloading.remove(path)
    }
  }
}
