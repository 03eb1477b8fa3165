/// The leaves of a part of a tree; they replace those that another party holds in that part.
///
/// Source: tree semantics, section 16.3.
public struct RangeMerge: Hashable, Sendable {
  /// The position after which the range begins; nil from the first leaf on.
  public let start: LeafPosition?
  /// The last position of the range; nil up to the last leaf.
  public let end: LeafPosition?
  /// The content of the range; leaves outside of the range are ignored.
  public let node: Node

  /// Makes a merge of a range.
  public init(after start: LeafPosition?, through end: LeafPosition?, node: Node) {
    self.start = start
    self.end = end
    self.node = node
  }

  /// The merges that turn the tree with this compound hash, which another party holds, into `node`.
  ///
  /// If a range has the priority of a node but none of its children, which no node can express, a
  /// single merge of the whole tree is returned. O(n) in the tree, for each range that differs.
  public static func merges(
    updating hash: CompoundHash, to node: Node
  ) -> [RangeMerge] {
    let wanted = CompoundHash(node, posts: hash.posts)
    var merges: [RangeMerge] = []
    for index in wanted.hashes.indices where wanted.hashes[index] != hash.hashes[index] {
      let start = index == 0 ? nil : hash.posts[index - 1]
      let end = index == hash.posts.count ? nil : hash.posts[index]
      let all = RangeMerge(after: start, through: end, node: node)
      let part = RangeMerge(after: start, through: end, node: all.applied(to: .empty))
      if part.leafCount < all.leafCount {
        return [RangeMerge(after: nil, through: nil, node: node)]
      }
      merges.append(part)
    }
    return merges
  }

  /// The number of the node's leaves that lie in the range.
  private var leafCount: Int {
    var count = 0
    node.forEachLeaf { if contains($0.keys) { count += 1 } }
    return count
  }
}

// MARK: Applying

extension RangeMerge {
  /// The relation of a part of the tree to the range.
  private enum Part {
    case outside
    case inside
    case across
  }

  /// The node with the leaves of the range replaced by those of this merge.
  ///
  /// A leaf and its own priority belong together: both are in the range, or neither is. O(n) in the
  /// children on the way to the ends of the range.
  public func applied(to node: Node) -> Node { merged(node, self.node, at: []) }

  private func merged(_ old: Node, _ new: Node, at keys: [Key]) -> Node {
    switch part(below: keys) {
    case .outside: return old
    case .inside: return new
    case .across: break
    }
    let isLeafReplaced = contains(keys)
    if isLeafReplaced, new.leaf != nil { return new }
    let children = mergedChildren(old, new, at: keys)
    if children.isEmpty {
      return isLeafReplaced || old.leaf == nil ? .empty : old
    }
    let priority: Leaf?
    if contains(keys + [.priority]) {
      priority = new.leaf == nil ? new.priority : nil
    } else {
      priority = isLeafReplaced && old.leaf != nil ? nil : old.priority
    }
    return Node(sortedChildren: children, priority: priority)
  }

  private func mergedChildren(_ old: Node, _ new: Node, at keys: [Key]) -> [Child] {
    var result: [Child] = []
    var (rest, added) = (old.children[...], new.children[...])
    while let key = [rest.first?.key, added.first?.key].compactMap({ $0 }).min() {
      let before = rest.first?.key == key ? rest.removeFirst().node : .empty
      let after = added.first?.key == key ? added.removeFirst().node : .empty
      let node = merged(before, after, at: keys + [key])
      if !node.isEmpty { result.append(Child(key: key, node: node)) }
    }
    return result
  }

  /// True if a leaf at a position belongs to the range.
  private func contains(_ keys: [Key]) -> Bool {
    if let start, !start.keys.lexicographicallyPrecedes(keys) { return false }
    if let end, end.keys.lexicographicallyPrecedes(keys) { return false }
    return true
  }

  /// The relation of the leaves at and below a place to the range.
  private func part(below keys: [Key]) -> Part {
    var isInside = true
    if let start = start?.keys, !start.lexicographicallyPrecedes(keys) {
      if !start.starts(with: keys) { return .outside }
      isInside = false
    }
    if let end = end?.keys {
      if end.lexicographicallyPrecedes(keys) { return .outside }
      if end.starts(with: keys) { isInside = false }
    }
    return isInside ? .inside : .across
  }
}
