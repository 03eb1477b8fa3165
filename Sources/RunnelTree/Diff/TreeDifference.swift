/// A place at which two trees differ.
public struct TreeDifference: Hashable, Sendable {
  /// The difference between the trees at the place.
  public enum Change: Hashable, Sendable {
    /// The place exists only in the new tree.
    case added(Node)
    /// The place exists only in the old tree.
    case removed(Node)
    /// The place exists in both trees, at least one of them has a value there, and the two differ.
    case changed(from: Node, to: Node)
    /// Only the priorities of the nodes at the place differ; places below are not compared here.
    case priority(from: Leaf?, to: Leaf?)
  }

  /// The path below the places that are compared.
  public var path: Path
  /// The difference at the place.
  public var change: Change

  /// Makes a difference.
  public init(path: Path, change: Change) {
    self.path = path
    self.change = change
  }
}

extension Node {
  /// The differences from this node to another, in path order.
  ///
  /// O(n) in the children of places that both have.
  public func differences(to new: Node) -> [TreeDifference] {
    var differences: [TreeDifference] = []
    TreeDifference.collect(self, new, at: [], into: &differences)
    return differences
  }

  /// The node with differences applied to it, whatever their order.
  ///
  /// A place that becomes empty on the way loses its priority, so additions are made before
  /// removals.
  public func applying(_ differences: [TreeDifference]) -> Node {
    var node = self
    for difference in differences {
      switch difference.change {
      case .added(let new), .changed(_, let new):
        node = node.replacing(difference.path, with: new)
      case .removed, .priority: break
      }
    }
    for difference in differences {
      guard case .removed = difference.change else { continue }
      node = node.replacing(difference.path, with: .empty)
    }
    for difference in differences {
      guard case .priority(_, let priority) = difference.change else { continue }
      let target = Assignment.Target.priority(priority)
      node = target.applied(to: node, at: difference.path)
    }
    return node
  }
}

extension TreeDifference {
  /// The difference of two nodes at their own place, given their summaries; nil if only the nodes
  /// below them may differ.
  static func change<Failure: Error>(
    from old: NodeSummary, to new: NodeSummary, _ oldNode: () throws(Failure) -> Node,
    _ newNode: () throws(Failure) -> Node
  ) throws(Failure) -> Change? {
    let isSameValue: Bool
    switch (old.kind, new.kind) {
    case (.empty, .empty): return nil
    case (.empty, _): return .added(try newNode())
    case (_, .empty): return .removed(try oldNode())
    case (.children, .children): isSameValue = true
    case (.leaf(let old), .leaf(let new)): isSameValue = old == new
    case (.leaf, .children), (.children, .leaf): isSameValue = false
    }
    if !isSameValue { return .changed(from: try oldNode(), to: try newNode()) }
    return old.priority == new.priority ? nil : .priority(from: old.priority, to: new.priority)
  }

  fileprivate static func collect(
    _ old: Node, _ new: Node, at keys: [Key], into differences: inout [TreeDifference]
  ) {
    let change = change(from: NodeSummary(old), to: NodeSummary(new), { old }, { new })
    if let change {
      differences.append(TreeDifference(path: Path(unchecked: keys), change: change))
    }
    var (rest, added) = (old.children[...], new.children[...])
    if rest.isEmpty || added.isEmpty { return }
    while let key = [rest.first?.key, added.first?.key].compactMap({ $0 }).min() {
      let before = rest.first?.key == key ? rest.removeFirst().node : .empty
      let after = added.first?.key == key ? added.removeFirst().node : .empty
      collect(before, after, at: keys + [key], into: &differences)
    }
  }
}
