import RunnelBase
public import RunnelTree

/// A field of a record, by its path below it; `$key` and `$value` stand for the record's own.
public enum FieldPath: Hashable, Sendable {
  /// The record's key.
  case key
  /// The record itself, where it is a leaf.
  case value
  /// What stands at a path below the record.
  case path(Path)

  /// Reads a field from its text.
  ///
  /// - Throws: `TreeError` if it is no path.
  public init(_ text: String) throws {
    switch text {
    case "$key": self = .key
    case "$value": self = .value
    default: self = .path(try Path(text))
    }
  }

  /// What the field holds in a record.
  package func node(key: Key, _ record: RunnelTree.Node) -> RunnelTree.Node {
    switch self {
    case .key: RunnelTree.Node(.string(key.text))
    case .value: record
    case .path(let path): record[path]
    }
  }
}
