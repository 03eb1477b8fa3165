/// A change of a node, which can be exchanged for another in what was read later.
package struct NodeChange: Hashable, Sendable {
  /// The place of the node.
  package var path: Path
  /// The node before the change.
  package var before: Node
  /// The node after it.
  package var after: Node

  /// Makes a change.
  package init(path: Path, before: Node, after: Node) {
    (self.path, self.before, self.after) = (path, before, after)
  }

  /// Returns a node that was read after the change as it were without it.
  ///
  /// What others have changed since stays.
  package func takenBack(from node: Node, at place: Path) -> Node {
    NodeChange(path: path, before: after, after: before).carried(into: node, at: place)
  }

  /// Returns a node that was read before the change as it is after it, but for what differs already.
  package func carried(into node: Node, at place: Path) -> Node {
    if let below = place.relative(to: path) {
      return carried(into: node, before[below], after[below])
    }
    guard let inside = path.relative(to: place) else { return node }
    return node.replacing(inside, with: carried(into: node[inside], before, after))
  }

  private func carried(into node: Node, _ before: Node, _ after: Node) -> Node {
    ConflictPolicy.fieldWise.resolve(
      Conflict(path: path, base: before, mine: node, theirs: after))
  }
}
