package import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The tree as it was left: its expanded nodes, and the node under the cursor.
///
/// While it is restored, what is still to be done: a node is expanded once it is loaded, if it has
/// children.
package struct KeptTree: Hashable, Sendable {
  /// The greatest number of expanded nodes that are kept.
  private static let expandedMax = 100

  /// The expanded nodes below the root, each after those above it.
  var expanded: [Path] = []
  /// The node under the cursor; nil for the header.
  var cursor: Path?
  /// Whether the whole tree was folded.
  var isFolded = false
  /// The nodes that were asked for while the tree is restored.
  private(set) var asked: Set<Path> = []

  /// Makes what is kept of a tree; nil if it was not loaded.
  init?(_ screen: TreeScreen) {
    guard let root = screen.expanded[.root], root.phase != .loading else { return nil }
    // What was not expanded yet when the user left is expanded the next time.
    let nodes = Set(screen.expanded.keys.filter { !$0.isRoot } + (screen.kept?.expanded ?? []))
    expanded = Array(nodes.sorted().prefix(KeptTree.expandedMax))
    isFolded = screen.list.folded.contains(TreeScreen.section)
    switch screen.cursorLine {
    case .node(let path, _, _)?, .paging(let path, _, _)?, .failed(let path, _, _)?: cursor = path
    case nil: cursor = screen.kept?.cursor
    }
  }

  package var json: JSONValue {
    var members = [JSONMember("expanded", .strings(expanded.map(\.description)))]
    if let cursor { members.append(JSONMember("cursor", .string(cursor.description))) }
    if isFolded { members.append(JSONMember("folded", true)) }
    return .object(members)
  }

  /// Reads what is kept; places that are none are passed over.
  package init(_ json: JSONValue) {
    let paths = (json["expanded"]?.array ?? []).compactMap(\.string).compactMap { try? Path($0) }
    expanded = Array(Set(paths).sorted().prefix(KeptTree.expandedMax))
    // A place that is none is where the cursor is not.
    cursor = json["cursor"]?.string.flatMap { try? Path($0) }
    isFolded = json["folded"] == true
  }

  // MARK: Restoring

  /// Where the cursor goes.
  private enum Goal {
    case row(String)
    case nowhere
  }

  /// Restores the tree as it was left, as far as it is loaded; the rest follows as it is loaded.
  static func restore(_ state: inout AppState, _ kept: KeptTree) {
    state.tabs.tree.kept = kept
    if kept.isFolded { state.tabs.tree.list.folded = [TreeScreen.section] }
    goOn(&state)
  }

  /// Expands the nodes that are loaded now, and moves the cursor once its node is loaded, unless it is
  /// elsewhere already.
  static func goOn(_ state: inout AppState) {
    guard var kept = state.tabs.tree.kept else { return }
    for path in kept.expandable(in: state.tabs.tree) { state.effects.append(.expand(path)) }
    if let cursor = kept.cursor, let goal = kept.goal(of: cursor, in: state.tabs.tree) {
      kept.cursor = nil
      if case .row(let row) = goal {
        _ = state.tabs.tree.list.moveTo(
          .row(row), in: state.tabs.tree.content, height: state.height)
      }
    }
    let isDone = kept.expanded.isEmpty && kept.cursor == nil
    state.tabs.tree.kept = isDone ? nil : kept
  }

  /// Returns the nodes to be expanded now, and forgets them and those that are no more.
  private mutating func expandable(in screen: TreeScreen) -> [Path] {
    var (now, later): ([Path], [Path]) = ([], [])
    for path in expanded {
      guard let parent = path.parent, let key = path.keys.last else { continue }
      guard let children = screen.expanded[parent] else {
        if parent.isRoot || asked.contains(parent) || later.contains(parent) { later.append(path) }
        continue
      }
      let row = children.child(key)
      switch children.phase {
      case .idle, .loading: later.append(path)
      case .cached where row == nil: later.append(path)
      case .failed: break
      case .cached, .loaded:
        guard case .children? = row?.summary.kind, screen.expanded[path] == nil else { continue }
        now.append(path)
        asked.insert(path)
      }
    }
    expanded = later
    return now
  }

  /// Returns where the cursor goes, or nil while that is not known.
  ///
  /// It goes to its node, or once all is loaded to the nearest one above it; nowhere if the user went
  /// elsewhere.
  private func goal(of path: Path, in screen: TreeScreen) -> Goal? {
    if screen.wanted != nil { return .nowhere }
    if case .row? = screen.list.cursor { return .nowhere }
    if screen.content.indexPath(ofRow: path.description) != nil { return .row(path.description) }
    let isLoaded = ([.root] + asked).allSatisfy { place in
      switch screen.expanded[place]?.phase {
      case .loaded, .failed: true
      case .idle, .loading, .cached, nil: false
      }
    }
    guard isLoaded, expanded.isEmpty else { return nil }
    var above = path.parent
    while let place = above, !place.isRoot {
      if screen.content.indexPath(ofRow: place.description) != nil {
        return .row(place.description)
      }
      above = place.parent
    }
    return .nowhere
  }
}
