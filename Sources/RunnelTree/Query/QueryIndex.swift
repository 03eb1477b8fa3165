/// The order in which a query has the children; where values are equal, the keys decide.
///
/// Source: tree semantics, section 4.3.
public enum QueryIndex: Hashable, Sendable {
  /// The order by priority: the default.
  case priority
  /// The order by key.
  case key
  /// The order by the value of the child itself.
  case value
  /// The order by the value at a path below the child; the path is not empty.
  case child(Path)
  /// An order by several components, or by a descending one; made by `init(_:)`.
  case compound(CompoundOrder)

  /// The value of a child that this index compares, without its key; `null` for the key index.
  public func value(of node: Node) -> IndexValue {
    switch self {
    case .priority: node.priority.map(IndexValue.leaf) ?? .null
    case .key: .null
    case .value: IndexValue(node)
    case .child(let path): IndexValue(node[path])
    case .compound(let order): .tuple(order.tuple(of: node))
    }
  }

  /// The value of a child that this index compares; a descending key is part of it.
  public func value(of child: Child) -> IndexValue {
    completed(value(of: child.node), key: child.key)
  }

  /// The full value of a child, made of the value without its key.
  package func completed(_ value: IndexValue, key: Key) -> IndexValue {
    guard case .compound(let order) = self, case .tuple(let tuple) = value else { return value }
    return .tuple(order.completed(tuple, key: key))
  }
}

/// A position in the order of an index: the value that the index compares, then the key.
///
/// A missing key stands before (`KeyBound.minimum`) or after (`KeyBound.maximum`) all keys.
public struct IndexPosition: Hashable, Sendable, Comparable {
  /// A key, or one of the two places around all keys.
  public enum KeyBound: Hashable, Sendable, Comparable {
    /// The place before every key.
    case minimum
    /// A key.
    case key(Key)
    /// The place after every key.
    case maximum
  }

  /// The value that the index compares.
  public var value: IndexValue
  /// The key among equal values.
  public var key: KeyBound

  /// Makes a place from a value and a key.
  public init(value: IndexValue, key: KeyBound) {
    self.value = value
    self.key = key
  }

  /// Orders by value, then by key.
  public static func < (left: IndexPosition, right: IndexPosition) -> Bool {
    left.value == right.value ? left.key < right.key : left.value < right.value
  }
}
