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

  /// Makes the field of a name with signs that no key may have, as tables have them; nil if there is
  /// none.
  ///
  /// Such a name is stored as in addresses: `Art.-Nr.` as `Art%2E-Nr%2E`. A `/` separates the keys of a
  /// path here too.
  package init?(named name: String) {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    if parts.contains(where: { $0.isEmpty || $0.hasPrefix("$") }) { return nil }
    self = .path(Path(unchecked: parts.map { WritableKey.key(of: String($0)) }))
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
