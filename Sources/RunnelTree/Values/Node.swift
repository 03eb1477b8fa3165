import RunnelBase

/// An immutable subtree: empty, a leaf, or children by key.
///
/// Invariants:
/// - I1. Nothing empty is stored: no child of a children node is empty, and a children node has at
///   least one child.
/// - I2. An empty node has no priority; a priority is a number or a string.
/// - I3. Children are in the order of their keys, no key twice.
///
/// Equality is structural: kind, value, priority, children.
///
/// Source: tree semantics, section 1.
public struct Node: Hashable, Sendable {
  /// The content of a node.
  public enum Content: Hashable, Sendable {
    /// No content; the same as JSON null.
    case empty
    /// A value without children.
    case leaf(Leaf)
    /// The children: at least one, in key order.
    case children([Child])
  }

  /// The content of the node.
  public let content: Content
  /// The number or string by which the default query orders the node; nil if it has none.
  public let priority: Leaf?

  /// The node that holds nothing.
  public static let empty = Node(content: .empty, priority: nil)

  /// Makes a leaf.
  public init(_ leaf: Leaf, priority: Leaf? = nil) {
    self.init(content: .leaf(leaf), priority: priority)
  }

  /// Makes a node from children that are in key order and not empty; no children make it empty.
  init(sortedChildren: [Child], priority: Leaf? = nil) {
    assert(sortedChildren.allSatisfy { !$0.node.isEmpty }, "I1: an empty child is not stored.")
    if sortedChildren.isEmpty {
      self = .empty
    } else {
      self.init(content: .children(sortedChildren), priority: priority)
    }
  }

  /// Makes a node from children in any order.
  ///
  /// If two have the same key the later one counts; empty ones are left out.
  ///
  /// O(n log n).
  package init(children: [Child], priority: Leaf? = nil) {
    self.init(sortedChildren: Node.normalised(children), priority: priority)
  }

  private init(content: Content, priority: Leaf?) {
    switch priority {
    case .bool: preconditionFailure("I2: a priority is a number or a string.")
    case .number, .string, nil: break
    }
    self.content = content
    self.priority = priority
  }

  private static func normalised(_ children: [Child]) -> [Child] {
    var isSorted = true
    var hasEmpty = false
    for index in children.indices {
      if index > 0, !(children[index - 1].key < children[index].key) { isSorted = false }
      if children[index].node.isEmpty { hasEmpty = true }
    }
    if isSorted, !hasEmpty { return children }
    let ordered =
      isSorted
      ? children
      : children.enumerated().sorted { left, right in
        left.element.key == right.element.key
          ? left.offset < right.offset : left.element.key < right.element.key
      }.map(\.element)
    var result: [Child] = []
    result.reserveCapacity(ordered.count)
    for child in ordered {
      if result.last?.key == child.key { result.removeLast() }
      result.append(child)
    }
    return result.filter { !$0.node.isEmpty }
  }
}

/// A child with its key.
public struct Child: Hashable, Sendable {
  /// The child's name.
  public var key: Key
  /// The child's subtree.
  public var node: Node

  /// Makes a child.
  public init(key: Key, node: Node) {
    self.key = key
    self.node = node
  }
}

// MARK: Reading

extension Node {
  /// True if the node holds nothing.
  public var isEmpty: Bool {
    if case .empty = content { true } else { false }
  }

  /// The value of a leaf; nil for every other node.
  public var leaf: Leaf? {
    if case .leaf(let leaf) = content { leaf } else { nil }
  }

  /// The children in key order; none for a leaf.
  public var children: [Child] {
    if case .children(let children) = content { children } else { [] }
  }

  /// The child with a key; empty if there is none.
  ///
  /// O(log n) in the children.
  public subscript(key: Key) -> Node {
    let children = children
    let index = Node.position(of: key, in: children)
    guard index < children.count, children[index].key == key else { return .empty }
    return children[index].node
  }

  /// The node at a path below; empty if there is none.
  ///
  /// O(depth log n).
  public subscript(path: Path) -> Node {
    path.keys.reduce(self) { $0[$1] }
  }

  /// The first index whose key is not before `key`.
  private static func position(of key: Key, in children: [Child]) -> Int {
    children.lowerBound { $0.key < key }
  }
}

// MARK: Replacing

extension Node {
  /// The same node with another priority; an empty node takes none.
  public func with(priority: Leaf?) -> Node {
    isEmpty ? self : Node(content: content, priority: priority)
  }

  /// The node with the node at `path` replaced.
  ///
  /// A leaf on the way is replaced by children and keeps its priority, unless `node` is empty; a
  /// parent without children becomes empty. O(depth n) in the children on the way.
  ///
  /// Source: tree semantics, section 1 (update rules).
  public func replacing(_ path: Path, with node: Node) -> Node {
    replacing(path.keys[...], with: node)
  }

  private func replacing(_ keys: ArraySlice<Key>, with node: Node) -> Node {
    guard let key = keys.first else { return node }
    let rest = keys.dropFirst()
    if leaf != nil, node.isEmpty { return self }
    let child = self[key].replacing(rest, with: node)
    return replacing(key, with: child)
  }

  private func replacing(_ key: Key, with child: Node) -> Node {
    var children = children
    let index = Node.position(of: key, in: children)
    let exists = index < children.count && children[index].key == key
    switch (exists, child.isEmpty) {
    case (true, true): children.remove(at: index)
    case (true, false): children[index].node = child
    case (false, false): children.insert(Child(key: key, node: child), at: index)
    case (false, true): return self
    }
    return Node(sortedChildren: children, priority: priority)
  }
}
