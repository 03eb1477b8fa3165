public import RunnelBase

extension Write {
  /// A merge: it replaces the leaves that an object names, at any depth, and keeps all others below
  /// a place, in one write.
  ///
  /// - The members of an object are merged in turn. An object that the tree reads as one value
  ///   (with `.value` or `.sv`), a scalar, and an array replace the node at their place.
  /// - Null, `{}` and `[]` remove the node at their place. An empty object at the top names nothing
  ///   and changes nothing.
  ///
  /// - Parameters:
  ///   - json: an object; its names may be relative paths.
  ///   - path: the place.
  /// - Returns: an update of the place.
  /// - Throws: `TreeError` (`invalidValue`) if it is not an object.
  public static func merge(_ json: JSONValue, at path: Path) throws(TreeError) -> Write {
    guard case .object(let members) = json, !json.isOneValue else {
      throw TreeError(
        .invalidValue, "A merge names the children to change: give it an object.",
        path: path.description)
    }
    var leaves: [JSONMember] = []
    for member in members { member.value.collectLeaves(named: member.name, into: &leaves) }
    return .update(path, leaves)
  }
}

extension JSONValue {
  /// True for an object that the tree reads as one value.
  fileprivate var isOneValue: Bool {
    self[ReservedName.value] != nil || self[ReservedName.serverValue] != nil
  }

  fileprivate func collectLeaves(named name: String, into leaves: inout [JSONMember]) {
    guard case .object(let members) = self, !members.isEmpty, !isOneValue else {
      return leaves.append(JSONMember(name, self))
    }
    for member in members {
      member.value.collectLeaves(named: name + "/" + member.name, into: &leaves)
    }
  }
}
