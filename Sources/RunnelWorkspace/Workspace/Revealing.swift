import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

// Going to a place in the tree by its path: the nodes above it are expanded one after another.

extension TreeScreen {
  /// A place that the cursor goes to once the nodes above it are loaded.
  package struct Wanted: Hashable, Sendable {
    package let path: Path
    /// The place where the user waits, and stays if the wanted place is not found; nil if they wait
    /// in the tree.
    package var origin: Place?
    /// The last node whose children were requested.
    package var asked: Path?
    /// The last place that a server was asked for by itself, as it is beyond the loaded keys.
    package var sought: Path?
  }
}

/// Goes to places in the tree, at any depth.
enum Revealing {
  /// Goes to a place in the tree.
  static func reveal(_ state: inout AppState, _ path: Path) {
    Input.change(&state, to: .tree)
    guard state.tabs.front == .tree, state.layers.isEmpty else { return }
    state.tabs.tree.wanted = TreeScreen.Wanted(path: path)
    goOnToWanted(&state)
  }

  /// Goes to a place in the tree once it is found; if it is not, the user stays where they are.
  static func seek(_ state: inout AppState, _ path: Path) {
    TreeScreen.openTree(&state)
    state.tabs.tree.wanted = TreeScreen.Wanted(path: path, origin: state.place)
    goOnToWanted(&state)
  }

  /// Expands the next node above the wanted place, or goes there if all are expanded.
  static func goOnToWanted(_ state: inout AppState) {
    guard let wanted = state.tabs.tree.wanted else { return }
    let keys = wanted.path.keys
    for depth in keys.indices {
      let parent = Path(unchecked: Array(keys[..<depth]))
      guard let children = state.tabs.tree.expanded[parent] else {
        return expandForWanted(&state, parent)
      }
      switch children.phase {
      case .idle, .loading: return
      case .failed(let failure) where depth == 1 && failure.code == "NOT_FOUND":
        // There is no such service, but there may be one whose path goes on.
        guard state.database.coding == .services, let place = ServicePlaces.joined(wanted.path, 2)
        else { break }
        state.tabs.tree.wanted = TreeScreen.Wanted(path: place, origin: wanted.origin)
        return goOnToWanted(&state)
      case .failed:
        // The place itself may be readable.
        state.tabs.tree.show(named: keys[depth], of: parent, height: state.height)
        if depth == keys.count - 1, state.tabs.tree.expanded[wanted.path] == nil {
          state.effects.append(.expand(wanted.path))
        }
      case .cached, .loaded: break
      }
      if state.tabs.tree.expanded[parent]?.child(keys[depth]) != nil { continue }
      // The replica knows a part only: the origin's answer decides.
      if children.phase == .cached { return }
      if children.paging == .exhausted {
        return giveUpWanted(&state, at: parent, "nothing stands at \(wanted.path)")
      }
      return seekBeyond(&state, parent, keys[depth], children.listing)
    }
    state.tabs.tree.wanted = nil
    if let origin = wanted.origin {
      Input.change(&state, to: .tree)
      guard state.tabs.front == .tree, state.layers.isEmpty else { return }
      Panes.focusPane(&state, .list)
      if origin.view == nil, origin.path != wanted.path || origin.isOpen {
        state.trail.places.note(origin)
      }
    }
    moveInTree(&state, to: wanted.path)
  }

  /// Has a server look up a child that is not among the loaded keys, or says why it is not shown.
  private static func seekBeyond(
    _ state: inout AppState, _ parent: Path, _ key: RunnelTree.Key, _ listing: TreeListing?
  ) {
    guard let listing else {
      return giveUpWanted(
        &state, at: parent,
        "\(key) is not among the children of \(parent) that are loaded: more are loaded at their end"
      )
    }
    let path = Path(unchecked: parent.keys + [key])
    guard state.tabs.tree.wanted?.sought == path else {
      state.tabs.tree.wanted?.sought = path
      state.effects.append(.seek(path))
      return
    }
    if case .failed(let reason)? = listing.facts[key] {
      giveUpWanted(&state, at: parent, reason)
    }
  }

  private static func expandForWanted(_ state: inout AppState, _ parent: Path) {
    if state.tabs.tree.wanted?.asked == parent { return }
    state.tabs.tree.wanted?.asked = parent
    // The root is requested when the tab is opened.
    if !parent.isRoot { state.effects.append(.expand(parent)) }
  }

  private static func giveUpWanted(_ state: inout AppState, at parent: Path, _ reason: String) {
    if state.tabs.tree.wanted?.origin == nil { moveInTree(&state, to: parent) }
    state.tabs.tree.wanted = nil
    state.say(.info, reason)
  }

  private static func moveInTree(_ state: inout AppState, to path: Path) {
    if !path.isRoot {
      state.tabs.tree.list.unfold(
        TreeScreen.section, in: state.tabs.tree.content, height: state.height)
    }
    _ = state.tabs.tree.list.moveTo(
      path.isRoot ? .header(TreeScreen.section) : .row(path.description),
      in: state.tabs.tree.content,
      height: state.height)
  }
}
