package import RunnelBase
package import RunnelTree

/// Keys for names that may hold signs that no key may have.
package enum WritableKey {
  private static let forbidden = Set(".#$/[]".unicodeScalars)

  /// Returns a name as a key: forbidden signs are written as in addresses, `a.example` as
  /// `a%2Eexample`.
  package static func key(of name: String) -> RunnelTree.Key {
    if name.isEmpty { return RunnelTree.Key(unchecked: "%") }
    var key = ""
    for scalar in name.unicodeScalars {
      if forbidden.contains(scalar) || scalar.value < 0x20 || scalar.value == 0x7F {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        key += "%" + (digits.count == 1 ? "0" : "") + digits
      } else {
        key.unicodeScalars.append(scalar)
      }
    }
    return RunnelTree.Key(unchecked: key)
  }

  /// Returns the name that a key was made of; any other key as it is.
  package static func name(of key: String) -> String {
    guard key.contains("%") else { return key }
    var name = ""
    var rest = key[...]
    while let mark = rest.firstIndex(of: "%") {
      name += rest[..<mark]
      let digits = rest[mark...].dropFirst().prefix(2)
      // Only what a name is written as is read back: `%2e` is a name of its own.
      if digits.count == 2, digits == digits.uppercased(), let value = UInt8(digits, radix: 16),
        forbidden.contains(Unicode.Scalar(value))
      {
        name.unicodeScalars.append(Unicode.Scalar(value))
        rest = rest[digits.endIndex...]
      } else {
        name += "%"
        rest = rest[mark...].dropFirst()
      }
    }
    return name + rest
  }
  // MARK: Values

  /// Names with a meaning of their own in JSON of the tree and in lines of records.
  private static let meanings: Set<String> = ["$key", "$value", ".priority", ".value", ".sv"]

  /// Names the members of a JSON value by keys, as a file with other names is stored.
  ///
  /// The priority of a record stays what it is.
  ///
  /// - Parameters:
  ///   - json: the value.
  ///   - keepsServerValues: whether `{".sv": …}` stays a value that the write makes.
  ///   - note: takes each name that is written in another way.
  /// - Returns: The value with keys for names.
  package static func value(
    _ json: JSONValue, keepsServerValues: Bool, note: (String) -> Void
  ) -> JSONValue {
    switch json {
    case .object(let members):
      if keepsServerValues, members.count == 1, members[0].name == ".sv" { return json }
      let keepsMeanings = hasPriority(members)
      return .object(
        members.map { member in
          let below = value(member.value, keepsServerValues: keepsServerValues, note: note)
          if keepsMeanings, member.name.hasPrefix("."), meanings.contains(member.name) {
            return JSONMember(member.name, below)
          }
          let name = key(of: member.name).text
          if name != member.name { note(member.name) }
          return JSONMember(name, below)
        })
    case .array(let elements):
      return .array(
        elements.map { value($0, keepsServerValues: keepsServerValues, note: note) })
    case .null, .bool, .number, .string: return json
    }
  }

  /// Whether an object is a value with a priority, or a value alone, as exports write them.
  private static func hasPriority(_ members: [JSONMember]) -> Bool {
    switch members.first(where: { $0.name == ".priority" })?.value {
    case .number?, .string?, .null?: if members.count == 1 { return false }
    case .bool?, .object?, .array?: return false
    case nil: if members.count > 1 { return false }
    }
    guard let value = members.first(where: { $0.name == ".value" }) else {
      return members.count > 1
    }
    return members.count <= 2 && value.value.object == nil && value.value.array == nil
  }

  /// Returns the value as a file has it, of which it was read: its members have the names that the keys
  /// were made of.
  package static func named(_ json: JSONValue) -> JSONValue {
    switch json {
    case .object(let members):
      .object(members.map { JSONMember(fileName(of: $0.name), named($0.value)) })
    case .array(let elements): .array(elements.map(named))
    case .null, .bool, .number, .string: json
    }
  }

  /// Returns the name that a file has for a key; a name that would mean something else there stays
  /// written as the key is.
  package static func fileName(of key: String) -> String {
    let name = name(of: key)
    return name != key && meanings.contains(name) ? key : name
  }
}
