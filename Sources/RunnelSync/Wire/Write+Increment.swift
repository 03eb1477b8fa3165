import RunnelBase
package import RunnelTree

extension Write {
  /// True if it adds to a number somewhere: to do it twice is another thing than to do it once, and what
  /// comes of it tells what stood there.
  package var holdsIncrement: Bool {
    switch self {
    case .set(_, let json): json.holdsIncrement
    case .update(_, let members): members.contains { $0.value.holdsIncrement }
    case .copy, .move: false
    }
  }
}

extension JSONValue {
  fileprivate var holdsIncrement: Bool {
    switch self {
    case .null, .bool, .number, .string: false
    case .array(let elements): elements.contains(where: \.holdsIncrement)
    case .object(let members):
      self[".sv"]?["increment"] != nil || members.contains { $0.value.holdsIncrement }
    }
  }
}
