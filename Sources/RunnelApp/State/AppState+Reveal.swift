import RunnelBase
import RunnelTerminal
import RunnelTree

// Going to a place in the tree by its path: nodes on the way are expanded one after another.

extension TreeScreen {
  /// A place that the cursor is to go to as soon as what is above it is loaded.
  struct Wanted: Hashable, Sendable {
    let path: Path
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

  /// Expands the next node above the place that is wanted, or goes there if all are.
  mutating func goOnToWanted() {
    guard let wanted = tree.wanted else { return }
    let keys = wanted.path.keys
    for depth in keys.indices {
      let parent = Path(unchecked: Array(keys[..<depth]))
      guard let children = tree.expanded[parent] else { return expandForWanted(parent) }
      switch children.phase {
      case .loading: return
      case .failed: return giveUpWanted(at: parent, "the children of \(parent) could not be read")
      case .loaded: break
      }
      if children.rows.contains(where: { $0.key == keys[depth] }) { continue }
      let isAll = children.paging == .exhausted
      return giveUpWanted(
        at: parent,
        isAll
          ? "nothing stands at \(wanted.path)"
          : "\(keys[depth]) is not among the children of \(parent) that are loaded")
    }
    tree.wanted = nil
    moveInTree(to: wanted.path)
  }

  private mutating func expandForWanted(_ parent: Path) {
    if tree.wanted?.asked == parent { return }
    tree.wanted?.asked = parent
    // The root is asked for when the tab is opened.
    if !parent.isRoot { effects.append(.expand(parent)) }
  }

  private mutating func giveUpWanted(at parent: Path, _ reason: String) {
    tree.wanted = nil
    moveInTree(to: parent)
    say(.info, reason)
  }

  private mutating func moveInTree(to path: Path) {
    _ = tree.list.moveTo(
      path.isRoot ? .header(TreeScreen.section) : .row(path.description), in: tree.content,
      height: height)
  }
}
