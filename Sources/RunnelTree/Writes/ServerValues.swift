import RunnelBase

/// Puts values in the place of `{".sv": …}`, as the write is carried out.
///
/// `"timestamp"` becomes the time of the write; `{"increment": d}` the number that stands there plus
/// d, or d if no number does.
///
/// Source: tree semantics, section 9.
struct ServerValues<Reader: TreeReader> {
  /// Milliseconds since 1970.
  let now: Int64
  let reader: Reader

  /// The JSON with every server value resolved.
  ///
  /// - Throws: `TreeError` (`invalidValue`) for a server value that is not known.
  func resolved(_ json: JSONValue, at path: Path) throws(TreeError) -> JSONValue {
    switch json {
    case .null, .bool, .number, .string: return json
    case .array(let elements):
      var result: [JSONValue] = []
      for (index, element) in elements.enumerated() {
        let place = try path.child(Key(unchecked: String(index)))
        result.append(try resolved(element, at: place))
      }
      return .array(result)
    case .object(let members):
      if let operation = json[ReservedName.serverValue] {
        return try value(of: operation, at: path)
      }
      var result: [JSONMember] = []
      for member in members {
        result.append(JSONMember(member.name, try resolved(member, in: path)))
      }
      return .object(result)
    }
  }

  private func resolved(_ member: JSONMember, in path: Path) throws(TreeError) -> JSONValue {
    guard case .object = member.value else {
      if case .array = member.value { return try resolved(member.value, at: place(member, path)) }
      return member.value
    }
    return try resolved(member.value, at: place(member, path))
  }

  /// The place of a member; what is no key (`.priority`, or a mistake that import names) stays here.
  private func place(_ member: JSONMember, _ path: Path) throws(TreeError) -> Path {
    guard Key.refusal(of: member.name) == nil else { return path }
    return try path.child(Key(unchecked: member.name))
  }

  private func value(of operation: JSONValue, at path: Path) throws(TreeError) -> JSONValue {
    if operation == .string("timestamp") { return .number(JSONNumber(now)) }
    if case .number(let delta)? = operation["increment"] {
      return .number(try sum(of: delta, at: path))
    }
    throw TreeError(
      .invalidValue,
      "Unknown server value \(operation): "
        + "\"timestamp\" and {\"increment\": number} are known.",
      path: path.description)
  }

  private func sum(of delta: JSONNumber, at path: Path) throws(TreeError) -> JSONNumber {
    guard case .leaf(.number(let old)) = try reader.summary(at: path).kind else { return delta }
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
