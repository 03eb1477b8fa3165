import RunnelBase
import RunnelTree

// Several requests as one write.

extension WriteRequest {
  /// Returns one request for this one and another, or nil if they cannot be one write.
  func joined(with other: WriteRequest) -> WriteRequest? {
    switch (self, other) {
    case (.push(let path, let first), .push(let other, let second)) where path == other:
      return .pushAll(path, [first, second])
    case (.pushAll(let path, let values), .push(let other, let value)) where path == other:
      return .pushAll(path, values + [value])
    case (.set(let first, let value), .set(let second, let otherValue)):
      guard let parent = first.parent, parent == second.parent, first != second else { return nil }
      return .update(parent, [first.member(value), second.member(otherValue)])
    case (.update(let parent, let members), .set(let path, let value)):
      let member = path.member(value)
      guard path.parent == parent, !members.contains(where: { $0.name == member.name }) else {
        return nil
      }
      return .update(parent, members + [member])
    default: return nil
    }
  }
}

extension Path {
  /// The member of the parent's object for a value at the path.
  fileprivate func member(_ value: JSONValue) -> JSONMember {
    JSONMember(lastKey?.text ?? "", value)
  }
}
