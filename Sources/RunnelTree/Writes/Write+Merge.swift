public import RunnelBase

extension Write {
  /// Replaces the leaves of an object and leaves all others below a place: a merge that goes down as
  /// far as the object does, in one write.
  ///
  /// - An object of members is gone into. One that the tree reads as a single value (with `.value` or
  ///   `.sv`), a scalar and an array replace what stands at their place.
  /// - What is empty removes: null, `{}` and `[]`. An empty object at the top names nothing, and
  ///   changes nothing.
  ///
  /// - Parameters:
  ///   - json: an object; its names may be relative paths.
  ///   - path: the place.
  /// - Returns: an update of the place.
  /// - Throws: `TreeError` (`invalidValue`) if it is no object.
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
