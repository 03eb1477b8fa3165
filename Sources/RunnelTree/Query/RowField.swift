/// The part of a child that an order or a predicate looks at.
///
/// As text it is `$key`, `$value`, `$priority`, or a path below the child such as `author/name`.
public enum RowField: Hashable, Sendable {
  /// The child's key.
  case key
  /// The child itself, where it is a leaf.
  case value
  /// The child's priority.
  case priority
  /// The node at a path below the child; the path is not empty.
  case child(Path)

  /// Reads a field from its text.
  ///
  /// - Throws: `TreeError` (`invalidQuery` if the text is empty or an unknown word with a `$`,
  ///   `invalidKey` or `invalidPath` if it is no path).
  public init(_ text: String) throws(TreeError) {
    switch text {
    case "$key": self = .key
    case "$value": self = .value
    case "$priority": self = .priority
    case _ where text.hasPrefix("$"):
      throw TreeError(
        .invalidQuery, "There is no \(text): the words are $key, $value and $priority.")
    default:
      let path = try Path(text)
      if path.isRoot { throw TreeError(.invalidQuery, "A field is missing: name a child.") }
      self = .child(path)
    }
  }

  /// The value of a child at this field.
  ///
  /// The key is a text here; an order compares it as a key instead.
  package func value(of child: Child) -> IndexValue {
    switch self {
    case .key: .leaf(.string(child.key.text))
    case .value, .priority, .child: index.value(of: child.node)
    }
  }

  /// The order by this field alone.
  package var index: QueryIndex {
    switch self {
    case .key: .key
    case .value: .value
    case .priority: .priority
    case .child(let path): .child(path)
    }
  }
}

extension RowField: CustomStringConvertible {
  /// The text of the field.
  public var description: String {
    switch self {
    case .key: "$key"
    case .value: "$value"
    case .priority: "$priority"
    case .child(let path): path.keys.map(\.text).joined(separator: "/")
    }
  }
}
