import RunnelBase

/// Replaces `{".sv": …}` by a value when the write is carried out.
///
/// `"timestamp"` becomes the time of the write. `{"increment": d}` becomes the number at the place
/// plus d, or d if there is no number: the value of the node, or its priority if the server value
/// is given for that.
///
/// Source: tree semantics, section 9.
struct ServerValues<Reader: TreeReader> {
  /// Milliseconds since 1970.
  let now: Int64
  let reader: Reader

  /// The number that an increment adds to.
  private enum Base {
    case value
    case priority
  }

  /// The JSON with every server value resolved.
  ///
  /// - Throws: `TreeError` (`invalidValue`) for a server value that is not known.
  func resolved(_ json: JSONValue, at path: Path) throws(TreeError) -> JSONValue {
    switch json {
    case .null, .bool, .number, .string: return json
    case .array(let elements):
      var result: [JSONValue] = []
      for (index, element) in elements.enumerated() {
        result.append(try resolved(element, named: String(index), in: path))
      }
      return .array(result)
    case .object(let members):
      var result: [JSONMember] = []
      for member in members {
        result.append(
          JSONMember(member.name, try resolved(member.value, named: member.name, in: path)))
      }
      guard let operation = json[ReservedName.serverValue] else { return .object(result) }
      // The server value becomes the leaf; a priority beside it stays.
      try checkNothingIsLost(members, but: [ReservedName.serverValue, ReservedName.priority], path)
      result.removeAll { $0.name != ReservedName.priority }
      let value = try value(of: operation, at: path, .value)
      return result.isEmpty
        ? value : .object([JSONMember(ReservedName.value, value)] + result)
    }
  }

  /// Checks that a server value, which replaces its object, has only some members beside it.
  private func checkNothingIsLost(
    _ members: [JSONMember], but names: [String], _ path: Path
  ) throws(TreeError) {
    guard let lost = members.first(where: { $0.value != .null && !names.contains($0.name) })
    else { return }
    throw ServerValues.loss(of: lost.name, at: path)
  }

  static func loss(of name: String, at path: Path) -> TreeError {
    TreeError(
      .invalidValue,
      "\"\(name)\" stands beside \".sv\", whose value replaces the whole object: it would be lost. Give "
        + "\".sv\" an object of its own.", path: path.description)
  }

  /// The JSON of a priority with a server value resolved.
  ///
  /// - Throws: `TreeError` (`invalidValue`) for a server value that is not known.
  func resolvedPriority(_ json: JSONValue, at path: Path) throws(TreeError) -> JSONValue {
    guard let operation = json[ReservedName.serverValue] else { return json }
    try checkNothingIsLost(json.object ?? [], but: [ReservedName.serverValue], path)
    return try value(of: operation, at: path, .priority)
  }

  private func resolved(
    _ json: JSONValue, named name: String, in path: Path
  ) throws(TreeError) -> JSONValue {
    switch (json, name) {
    case (.null, _), (.bool, _), (.number, _), (.string, _), (_, ReservedName.serverValue):
      return json
    case (_, ReservedName.priority): return try resolvedPriority(json, at: path)
    case (_, ReservedName.value): return try resolved(json, at: path)
    default:
      // The import reports a name that is not a key.
      guard Key.refusal(of: name) == nil else { return json }
      return try resolved(json, at: path.child(Key(unchecked: name)))
    }
  }

  private func value(
    of operation: JSONValue, at path: Path, _ base: Base
  ) throws(TreeError) -> JSONValue {
    if operation == .string("timestamp") { return .number(JSONNumber(now)) }
    if case .number(let delta)? = operation["increment"] {
      let others = operation.object ?? []
      if let lost = others.first(where: { $0.value != .null && $0.name != "increment" }) {
        throw TreeError(
          .invalidValue,
          "\"\(lost.name)\" stands beside \"increment\", and \".sv\" is one operation: it would be "
            + "lost. Remove one of them.", path: path.description)
      }
      return .number(try sum(of: delta, at: path, base))
    }
    throw TreeError(
      .invalidValue,
      "Unknown server value \(operation.jsonText()): "
        + "\"timestamp\" and {\"increment\": number} are known.",
      path: path.description)
  }

  private func sum(
    of delta: JSONNumber, at path: Path, _ base: Base
  ) throws(TreeError) -> JSONNumber {
    let summary = try reader.summary(at: path)
    let leaf: Leaf? =
      switch (base, summary.kind) {
      case (.priority, _): summary.priority
      case (.value, .leaf(let leaf)): leaf
      case (.value, _): nil
      }
    guard case .number(let old)? = leaf else { return delta }
    if let a = old.integer, let b = delta.integer {
      let (sum, overflows) = a.addingReportingOverflow(b)
      if !overflows { return JSONNumber(sum) }
    }
    guard let sum = JSONNumber(old.double + delta.double) else {
      throw TreeError(.invalidValue, "The sum is too large for a number.", path: path.description)
    }
    return sum
  }
}
