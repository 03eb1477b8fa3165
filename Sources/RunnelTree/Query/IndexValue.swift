/// The value of a node that an index compares.
///
/// Order: nothing, booleans, numbers, strings, children. Two nodes with children are equal here,
/// and their keys decide.
///
/// Source: tree semantics, section 4.2.
public enum IndexValue: Hashable, Sendable {
  /// The value of an empty node.
  case null
  /// The value of a leaf.
  case leaf(Leaf)
  /// The value of a node with children.
  case children
  /// The tuple of an order of several components, or of a descending one.
  ///
  /// It is compared only with tuples of the same order.
  case tuple(IndexTuple)

  /// Makes the value of a node.
  public init(_ node: Node) {
    switch node.content {
    case .empty: self = .null
    case .leaf(let leaf): self = .leaf(leaf)
    case .children: self = .children
    }
  }
}

extension IndexValue: Comparable {
  /// Orders as in section 4.2.
  public static func < (left: IndexValue, right: IndexValue) -> Bool {
    switch (left, right) {
    case (.leaf(let a), .leaf(let b)): a < b
    case (.tuple(let a), .tuple(let b)): a < b
    default: left.rank < right.rank
    }
  }

  private var rank: Int {
    switch self {
    case .null: 0
    case .leaf: 1
    case .children: 2
    case .tuple: 3
    }
  }
}
