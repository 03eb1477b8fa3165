public import RunnelBase
import RunnelTree

extension Record {
  /// The value of the record; null if only a summary was read.
  public var value: JSONValue { row.node?.json ?? .null }

  /// The value at a relative path, such as `name/last`; null if there is none, or the path is
  /// invalid.
  public subscript(path: String) -> JSONValue {
    // Nothing can be stored at an invalid path.
    guard let node = row.node, let path = try? Path(path) else { return .null }
    return node[path].json
  }

  /// The text at a relative path; nil if there is none.
  public func string(at path: String) -> String? {
    if case .string(let text) = self[path] { text } else { nil }
  }
}
