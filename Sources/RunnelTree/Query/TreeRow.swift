/// A child as a query shows it.
public struct TreeRow: Hashable, Sendable {
  /// The amount of a child that is read.
  public enum Detail: Hashable, Sendable {
    /// The whole subtree.
    case full
    /// The kind of node and the number of its children: never more than one stored row is read.
    case shallow
    /// The whole subtree if one stored row holds it, else as `shallow`: never more than one stored row is
    /// read.
    case stored
  }

  /// The content of a row: the part of the child that was read.
  public enum Content: Hashable, Sendable {
    /// The whole subtree.
    case node(Node)
    /// Its kind and size.
    case summary(NodeSummary)
  }

  /// The child's key.
  public var key: Key
  /// The value that the query's index compares.
  public var value: IndexValue
  /// The part of the child that was read.
  public var content: Content

  /// Makes a row.
  public init(key: Key, value: IndexValue, content: Content) {
    self.key = key
    self.value = value
    self.content = content
  }

  /// Makes the row of a child in the order of an index.
  public init(_ child: Child, index: QueryIndex, detail: Detail) {
    key = child.key
    value = index.value(of: child)
    content =
      switch detail {
      case .full, .stored: .node(child.node)
      case .shallow: .summary(NodeSummary(child.node))
      }
  }

  /// The row's place in the order.
  public var position: IndexPosition { IndexPosition(value: value, key: .key(key)) }

  /// The subtree; nil if only a summary was read.
  public var node: Node? {
    if case .node(let node) = content { node } else { nil }
  }

  /// The child with its key; nil if only a summary was read.
  var child: Child? { node.map { Child(key: key, node: $0) } }

  /// The child's kind and size, whatever was read.
  public var summary: NodeSummary {
    switch content {
    case .node(let node): NodeSummary(node)
    case .summary(let summary): summary
    }
  }
}

/// The kind and size of a node.
public struct NodeSummary: Hashable, Sendable {
  /// The kinds of node.
  public enum Kind: Hashable, Sendable {
    /// The kind of a place where nothing is stored.
    case empty
    /// A value.
    case leaf(Leaf)
    /// A node with this number of children: at least 1.
    case children(count: Int)
  }

  /// The kind of the node.
  public var kind: Kind
  /// Its priority.
  public var priority: Leaf?

  /// Makes a summary.
  public init(kind: Kind, priority: Leaf?) {
    self.kind = kind
    self.priority = priority
  }

  /// The summary of a node.
  public init(_ node: Node) {
    priority = node.priority
    kind =
      switch node.content {
      case .empty: .empty
      case .leaf(let leaf): .leaf(leaf)
      case .children(let children): .children(count: children.count)
      }
  }
}
