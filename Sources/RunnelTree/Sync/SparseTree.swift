package import RunnelBase

/// The nodes and priorities to be written at some places of a tree; it says nothing of the others.
///
/// A place is *valued* if a node is remembered for it. A priority may also be remembered alone.
///
/// Invariants:
/// - I1. Below a valued place nothing is remembered, and beside its node a valued place has no
///   priority.
///
/// Source: tree semantics, section 12.
package struct SparseTree: Hashable, Sendable {
  /// The node or priority that is remembered for a place.
  package struct Entry: Hashable, Sendable {
    /// The node or priority to write.
    package enum Target: Hashable, Sendable {
      /// The whole node.
      case node(DeferredNode)
      /// The priority alone, as it was requested; null removes it.
      case priority(JSONValue)
    }

    /// The place.
    package var path: Path
    /// The node or priority for the place.
    package var target: Target
  }

  fileprivate struct Branch: Hashable, Sendable {
    var node: DeferredNode?
    var priority: JSONValue?
    var branches: [Key: Branch] = [:]

    var isEmpty: Bool { node == nil && priority == nil && branches.isEmpty }
  }

  private var root = Branch()

  /// Makes a tree that remembers nothing.
  package init() {}

  /// True if nothing is remembered.
  package var isEmpty: Bool { root.isEmpty }

  /// The entries in path order; the priority of a place comes after the entries below it.
  package var entries: [Entry] {
    var entries: [Entry] = []
    root.collect([], into: &entries)
    return entries
  }

  /// The entries at a place and below, in the order of `entries`.
  ///
  /// O(n) in them.
  package func entries(at path: Path) -> [Entry] {
    var branch = root
    for key in path.keys {
      guard let next = branch.branches[key] else { return [] }
      branch = next
    }
    var entries: [Entry] = []
    branch.collect(path.keys, into: &entries)
    return entries
  }

  /// The valued place at or above a place; nil if there is none.
  package func valuedPlace(for path: Path) -> Path? {
    var branch = root
    for (depth, key) in path.keys.enumerated() {
      if branch.node != nil { return Path(unchecked: Array(path.keys[..<depth])) }
      guard let next = branch.branches[key] else { return nil }
      branch = next
    }
    return branch.node == nil ? nil : path
  }
}

// MARK: Remembering

extension SparseTree {
  /// Remembers a node, in place of everything remembered at the place and below.
  ///
  /// If the place lies below a valued place, the node of the latter is changed instead.
  package mutating func remember(_ path: Path, _ node: DeferredNode) {
    root.remember(path.keys[...], node)
  }

  /// Remembers a node whose values are final.
  package mutating func remember(_ path: Path, _ node: Node) {
    remember(path, DeferredNode(node))
  }

  /// Remembers the priority of a place; null means none.
  ///
  /// If the place is valued, or lies below a valued place, that node is changed instead; an empty
  /// node takes no priority.
  package mutating func remember(_ path: Path, priority: JSONValue) {
    root.remember(path.keys[...], priority: priority)
  }

  /// Forgets everything remembered at a place and below.
  ///
  /// If a place above is valued, its node is first replaced by its children, each a valued place of
  /// its own, and by its priority. A leaf has no children, so below a leaf nothing is forgotten.
  package mutating func forget(_ path: Path) {
    root.forget(path.keys[...])
  }
}

extension SparseTree.Branch {
  mutating func remember(_ keys: ArraySlice<Key>, _ new: DeferredNode) {
    if let key = keys.first, node == nil {
      branches[key, default: .init()].remember(keys.dropFirst(), new)
    } else {
      let changed = (node ?? .empty).changing(keys) { _ in new }
      self = .init(node: changed)
    }
  }

  mutating func remember(_ keys: ArraySlice<Key>, priority new: JSONValue) {
    if let node {
      self.node = node.changing(keys) { $0.with(priority: new) }
    } else if let key = keys.first {
      branches[key, default: .init()].remember(keys.dropFirst(), priority: new)
    } else {
      priority = new
    }
  }

  mutating func forget(_ keys: ArraySlice<Key>) {
    guard let key = keys.first else {
      self = .init()
      return
    }
    explode()
    branches[key]?.forget(keys.dropFirst())
    if branches[key]?.isEmpty == true { branches[key] = nil }
  }

  /// Remembers the children of the node one by one, in place of the node.
  private mutating func explode() {
    guard let node, !node.isValue else { return }
    self = .init(priority: node.priorityJSON)
    for child in node.children { branches[child.key] = .init(node: child.node) }
  }

  func collect(_ keys: [Key], into entries: inout [SparseTree.Entry]) {
    let path = Path(unchecked: keys)
    if let node { entries.append(.init(path: path, target: .node(node))) }
    for (key, branch) in branches.sorted(by: { $0.key < $1.key }) {
      branch.collect(keys + [key], into: &entries)
    }
    if let priority { entries.append(.init(path: path, target: .priority(priority))) }
  }
}
