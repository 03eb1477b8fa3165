import RunnelBase
package import RunnelTree

extension Write {
  /// True if the write adds to a number anywhere: doing it twice differs from doing it once, and
  /// its result reveals the previous value.
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
