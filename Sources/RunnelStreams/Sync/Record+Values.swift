public import RunnelBase
import RunnelTree

extension Record {
  /// The value of the record; null if only a summary was read.
  public var value: JSONValue { row.node?.json ?? .null }

  /// The value at a relative path, such as `name/last`; null if there is none, or the path is
  /// invalid.
  ///
  /// `record["age"].int` is nil for a value of another kind.
  public subscript(path: String) -> JSONValue {
    // Nothing can be stored at an invalid path.
    guard let node = row.node, let path = try? Path(path) else { return .null }
    return node[path].json
  }
}
