import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Going to a place in the tree by its path: nodes on the way are expanded one after another.

extension TreeScreen {
  /// A place that the cursor is to go to as soon as what is above it is loaded.
  struct Wanted: Hashable, Sendable {
    let path: Path
    /// Where the user is until it is found, and stays if it is not; nil if they wait in the tree.
    var origin: Place?
    /// The last node that was asked for its children.
    var asked: Path?
  }
}

extension AppState {
  /// Goes to a place in the tree.
  mutating func reveal(_ path: Path) {
    change(to: treeTab)
    guard isTree, layers.isEmpty else { return }
    tree.wanted = TreeScreen.Wanted(path: path)
    goOnToWanted()
  }

  /// Goes to a place in the tree as soon as it is found; the user stays where they are if it is not.
  mutating func seek(_ path: Path) {
    openTree()
    tree.wanted = TreeScreen.Wanted(path: path, origin: place)
    goOnToWanted()
  }

  /// Expands the next node above the place that is wanted, or goes there if all are.
  mutating func goOnToWanted() {
    guard let wanted = tree.wanted else { return }
    let keys = wanted.path.keys
    for depth in keys.indices {
      let parent = Path(unchecked: Array(keys[..<depth]))
      guard let children = tree.expanded[parent] else { return expandForWanted(parent) }
      switch children.phase {
      case .idle, .loading: return
      case .failed: return giveUpWanted(at: parent, "the children of \(parent) could not be read")
      case .loaded: break
      }
      if children.child(keys[depth]) != nil { continue }
      let isAll = children.paging == .exhausted
      return giveUpWanted(
        at: parent,
        isAll
          ? "nothing stands at \(wanted.path)"
          : "\(keys[depth]) is not among the children of \(parent) that are loaded")
    }
    tree.wanted = nil
    if let origin = wanted.origin {
      change(to: treeTab)
      guard isTree, layers.isEmpty else { return }
      focusPane(.list)
      if origin.view == nil, origin.path != wanted.path || origin.isOpen { places.note(origin) }
    }
    moveInTree(to: wanted.path)
  }

  private mutating func expandForWanted(_ parent: Path) {
    if tree.wanted?.asked == parent { return }
    tree.wanted?.asked = parent
    // The root is asked for when the tab is opened.
    if !parent.isRoot { effects.append(.expand(parent)) }
  }

  private mutating func giveUpWanted(at parent: Path, _ reason: String) {
    if tree.wanted?.origin == nil { moveInTree(to: parent) }
    tree.wanted = nil
    say(.info, reason)
  }

  private mutating func moveInTree(to path: Path) {
    _ = tree.list.moveTo(
      path.isRoot ? .header(TreeScreen.section) : .row(path.description), in: tree.content,
      height: height)
  }
}
