/// The value that an order of several components, or a descending one, compares.
///
/// Each element carries its direction, so two tuples of one order compare without the order, and a
/// position has the same form in every order: a value and a key.
public struct IndexTuple: Hashable, Sendable {
  /// The content of an element: the value that one component compares.
  public enum Content: Hashable, Sendable {
    /// A value before all others in both directions: the end of a bound with fewer components.
    case lowest
    /// The value of the component's field.
    case value(IndexValue)
    /// The child's key, in the order of keys.
    case key(Key)
    /// A value after all others in both directions.
    case highest
  }

  /// An element of a tuple: one component with its direction.
  public struct Element: Hashable, Sendable {
    /// The value that is compared.
    public var content: Content
    /// True if greater values come first.
    public var isDescending: Bool

    /// Makes an element.
    public init(_ content: Content, isDescending: Bool) {
      self.content = content
      self.isDescending = isDescending
    }
  }

  /// The components in the order in which they are compared.
  public let elements: [Element]

  /// Makes a tuple.
  public init(_ elements: [Element]) { self.elements = elements }
}

extension IndexTuple: Comparable {
  /// Orders by the first components that differ; a tuple comes before longer ones that begin with
  /// it.
  ///
  /// - Precondition: both are of one order.
  public static func < (left: IndexTuple, right: IndexTuple) -> Bool {
    for (a, b) in zip(left.elements, right.elements) where a != b { return a < b }
    return left.elements.count < right.elements.count
  }
}

extension IndexTuple.Element: Comparable {
  /// Orders by the contents, in reverse if the component descends.
  public static func < (left: IndexTuple.Element, right: IndexTuple.Element) -> Bool {
    switch (left.content, right.content) {
    case (.lowest, .lowest), (.highest, .highest): false
    case (.lowest, _), (_, .highest): true
    case (_, .lowest), (.highest, _): false
    case (.value(let a), .value(let b)): left.isDescending ? b < a : a < b
    case (.key(let a), .key(let b)): left.isDescending ? b < a : a < b
    // A component has one kind in all tuples of an order, so this never occurs.
    case (.value, .key): true
    case (.key, .value): false
    }
  }
}
