package import RunnelTree

/// A tree as it would be after a write that was not carried out: a reader with the assignments of
/// the write laid over it.
///
/// Nothing is copied: parts that the write does not touch are read from the base, and the written
/// nodes are held as they were given. The summaries of places above a write are cached, so that a
/// write of many places is traversed once. This type is for callers whose storage has no such view
/// of its own.
///
/// Isolation: used by one thread at a time; the base must not change meanwhile.
package struct WrittenTree<Base: RulesReader>: RulesReader {
  private let base: Base
  private var changes = Change()
  private let known = Known()

  /// The cached summaries of places above the write.
  private final class Known {
    var summaries: [Path: NodeSummary] = [:]
  }

  /// The change that a write makes at a place and below.
  private struct Change {
    /// The node that replaces this place, before the changes below are applied.
    var node: Node?
    /// The priority that is written alone: nil for no change, a nil within it to remove the
    /// priority.
    var priority: Leaf??
    var children: [Key: Change] = [:]

    /// Adds a part of a write.
    mutating func add(_ target: Assignment.Target, _ keys: ArraySlice<Key>) {
      if let key = keys.first {
        return children[key, default: Change()].add(target, keys.dropFirst())
      }
      switch target {
      case .node(let node): self.node = node
      case .priority(let priority): self.priority = .some(priority)
      }
    }
  }

  /// Makes the tree after a write.
  ///
  /// - Parameters:
  ///   - base: the tree before the write.
  ///   - assignments: the parts of the write, of which no node lies below another, as
  ///     `Write.assignments` gives them.
  package init(_ base: Base, _ assignments: [Assignment]) {
    self.base = base
    for part in assignments { changes.add(part.target, part.path.keys[...]) }
  }

  /// The kind and size of the node at a place.
  ///
  /// A place above the write costs a read for each child that the write touches.
  package func summary(at path: Path) throws(TreeError) -> NodeSummary {
    var change = changes
    var depth = 0
    while true {
      if let node = change.node {
        let rest = Path(unchecked: Array(path.keys[depth...]))
        return prioritised(NodeSummary(node[rest]), rest.isRoot ? change.priority : nil)
      }
      if depth == path.keys.count { return try summary(at: path, change) }
      guard let next = change.children[path.keys[depth]] else {
        // A leaf above has no children here, although the write adds children elsewhere.
        return try base.summary(at: path)
      }
      change = next
      depth += 1
    }
  }

  private func prioritised(_ summary: NodeSummary, _ priority: Leaf??) -> NodeSummary {
    guard let priority, summary.kind != .empty else { return summary }
    return NodeSummary(kind: summary.kind, priority: priority)
  }

  /// The summary of a place at or above the write.
  private func summary(at path: Path, _ change: Change) throws(TreeError) -> NodeSummary {
    if let node = change.node { return prioritised(NodeSummary(node), change.priority) }
    if let summary = known.summaries[path] { return summary }
    let summary = try computedSummary(at: path, change)
    known.summaries[path] = summary
    return summary
  }

  private func computedSummary(
    at path: Path, _ change: Change
  ) throws(TreeError) -> NodeSummary {
    let before = try base.summary(at: path)
    var count = 0
    if case .children(let number) = before.kind { count = number }
    for (key, child) in change.children {
      let place = Path(unchecked: path.keys + [key])
      let existed = count > 0 ? try base.summary(at: place).kind != .empty : false
      let exists = try summary(at: place, child).kind != .empty
      count += (exists ? 1 : 0) - (existed ? 1 : 0)
    }
    if case .leaf = before.kind, count == 0 { return prioritised(before, change.priority) }
    if count <= 0 { return NodeSummary(.empty) }
    return prioritised(
      NodeSummary(kind: .children(count: count), priority: before.priority), change.priority)
  }

  /// The whole subtree at a place.
  ///
  /// Complexity: O(n) in the size of the subtree.
  package func node(at path: Path) throws(TreeError) -> Node {
    var change = changes
    for (depth, key) in path.keys.enumerated() {
      if let node = change.node { return node[Path(unchecked: Array(path.keys[depth...]))] }
      guard let next = change.children[key] else { return try base.node(at: path) }
      change = next
    }
    return applied(change, to: change.node == nil ? try base.node(at: path) : .empty)
  }

  private func applied(_ change: Change, to before: Node) -> Node {
    var node = change.node ?? before
    // Additions come before removals: a node that loses all its children loses its priority.
    let results = change.children.map { ($0.key, applied($0.value, to: node[$0.key])) }
    for (key, child) in results where !child.isEmpty {
      node = node.replacing(Path(unchecked: [key]), with: child)
    }
    for (key, child) in results where child.isEmpty {
      node = node.replacing(Path(unchecked: [key]), with: child)
    }
    if let priority = change.priority { node = node.with(priority: priority) }
    return node
  }
}
