/// What an index compares of a node.
///
/// Order: nothing, booleans, numbers, strings, children; two nodes with children are equal here, and
/// the tie goes to their keys.
///
/// Source: tree semantics, section 4.2.
public enum IndexValue: Hashable, Sendable {
  /// There is no node.
  case null
  /// The node is a leaf.
  case leaf(Leaf)
  /// The node has children.
  case children
  /// What an order of several components, or a descending one, compares.
  ///
  /// It is compared with others of the same order only.
  case tuple(IndexTuple)

  /// What is compared of a node.
  public init(_ node: Node) {
    switch node.content {
    case .empty: self = .null
    case .leaf(let leaf): self = .leaf(leaf)
    case .children: self = .children
    }
  }
}

extension IndexValue: Comparable {
  /// The order of section 4.2.
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
