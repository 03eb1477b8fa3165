import RunnelBase
public import RunnelTree

/// A field of a record, by its path below the record; `$key` and `$value` stand for the record's
/// own.
public enum FieldPath: Hashable, Sendable {
  /// The key of the record.
  case key
  /// The record itself, if it is a leaf.
  case value
  /// The node at a path below the record.
  case path(Path)

  /// Parses a field from its text.
  ///
  /// - Throws: `TreeError` if the text is not a valid path.
  public init(_ text: String) throws {
    switch text {
    case "$key": self = .key
    case "$value": self = .value
    default: self = .path(try Path(text))
    }
  }

  /// Returns the node of the field in a record.
  package func node(key: Key, _ record: RunnelTree.Node) -> RunnelTree.Node {
    switch self {
    case .key: RunnelTree.Node(.string(key.text))
    case .value: record
    case .path(let path): record[path]
    }
  }
}
