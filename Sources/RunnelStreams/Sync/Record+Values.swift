public import RunnelBase
import RunnelTree

extension Record {
  /// What stands there; null if only a summary was read.
  public var value: JSONValue { row.node?.json ?? .null }

  /// What stands at a relative path, such as `name/last`; null if nothing does, or it is no path.
  public subscript(path: String) -> JSONValue {
    // What is no path is the place of nothing.
    guard let node = row.node, let path = try? Path(path) else { return .null }
    return node[path].json
  }

  /// The text at a relative path; nil if no text stands there.
  public func string(at path: String) -> String? {
    if case .string(let text) = self[path] { text } else { nil }
  }
}
