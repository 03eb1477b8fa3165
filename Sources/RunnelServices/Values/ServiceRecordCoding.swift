package import RunnelBase

/// The form of a record in a tree, which holds neither null nor arrays nor empty objects.
///
/// What a tree would drop or reshape is an object with the member `~`: null is `{"~": "n"}`, an
/// empty array `{"~": "a"}`, an empty object `{"~": "o"}`, and another array `{"~": "l"}` with its
/// elements by index. A name that begins with `~` gets one more; signs that a key cannot have are
/// percent-encoded; an empty name is `%`. The order of members is lost.
///
/// Source: services protocol, section 11.2.
package enum ServiceRecordCoding {
  private static let mark = "~"
  /// The most bytes of a key of a tree.
  private static let keyBytesMax = 768

  /// Returns the form of a value in a tree.
  ///
  /// - Throws: `BadRequest` if a name is too long for a tree.
  package static func encoded(_ value: JSONValue) throws(FeathersError) -> JSONValue {
    switch value {
    case .null: return marked("n")
    case .array(let elements):
      if elements.isEmpty { return marked("a") }
      var members = [JSONMember(mark, "l")]
      for (index, element) in elements.enumerated() {
        members.append(JSONMember(String(index), try encoded(element)))
      }
      return .object(members)
    case .object(let members):
      if members.isEmpty { return marked("o") }
      var result: [JSONMember] = []
      for member in members {
        result.append(JSONMember(try key(for: member.name), try encoded(member.value)))
      }
      return .object(result)
    default: return value
    }
  }

  /// Returns the value that a form stands for.
  ///
  /// A tree that others have written may have anything: what is no form of these is taken as it is.
  package static func decoded(_ value: JSONValue) -> JSONValue {
    guard case .object(let members) = value else { return value }
    switch value[mark] {
    case "n": return .null
    case "a": return .array([])
    case "o": return .object([])
    case "l":
      let elements = members.compactMap { member in
        Int(member.name).map { ($0, member.value) }
      }
      return .array(elements.sorted { $0.0 < $1.0 }.map { decoded($0.1) })
    default:
      return .object(members.map { JSONMember(name(of: $0.name), decoded($0.value)) })
    }
  }

  /// True for the key that says what a form stands for.
  package static func isMark(_ key: String) -> Bool { key == mark }

  private static func marked(_ text: String) -> JSONValue {
    .object([JSONMember(mark, .string(text))])
  }

  /// Returns the key of a tree for a name.
  ///
  /// - Throws: `BadRequest` if it is too long.
  package static func key(for name: String) throws(FeathersError) -> String {
    if name.isEmpty { return "%" }
    var key = name.hasPrefix(mark) ? mark : ""
    for scalar in name.unicodeScalars {
      if mustEncode(scalar.value) {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        key += scalar.value < 16 ? "%0" + digits : "%" + digits
      } else {
        key.unicodeScalars.append(scalar)
      }
    }
    if key.utf8.count > keyBytesMax {
      throw FeathersError(
        .badRequest, "The name \(name.prefix(40))… is too long: a tree allows \(keyBytesMax) bytes."
      )
    }
    return key
  }

  private static func mustEncode(_ scalar: UInt32) -> Bool {
    scalar < 0x20 || scalar == 0x7F || scalar < 0x80 && ".$#[]/%".utf8.contains(UInt8(scalar))
  }

  /// Returns the name that a key stands for; a key that no name has stands for itself.
  ///
  /// So two keys never stand for one name, except where one begins with a single `~`.
  package static func name(of key: String) -> String {
    if key == "%" { return "" }
    let isMarked = key.hasPrefix(mark + mark)
    if !isMarked, !key.utf8.contains(UInt8(ascii: "%")) { return key }
    let text = isMarked ? key.dropFirst() : key[...]
    guard let name = PercentEncoding.decoded(text.utf8, isPlusSpace: false),
      let canonical = try? self.key(for: name), canonical.utf8.elementsEqual(key.utf8)
    else { return isMarked ? String(text) : key }
    return name
  }
}

extension ServiceRecordCoding {
  /// Returns the record that a child of a collection stands for.
  ///
  /// A record without an id has the key as its id; a value that is no object becomes the field
  /// `value`.
  package static func record(_ key: String, _ stored: JSONValue, idField: String) -> JSONValue {
    let decoded = decoded(stored)
    let record: JSONValue = if case .object = decoded { decoded } else { ["value": decoded] }
    if record[idField].flatMap({ ServiceID(json: $0) }) != nil { return record }
    return .object([JSONMember(idField, .string(name(of: key)))] + (record.object ?? []))
  }

  /// Returns the form of a record in a tree; an id that is the key is not stored a second time.
  ///
  /// - Throws: `BadRequest` if a name is too long for a tree.
  package static func stored(
    _ record: JSONValue, key: String, idField: String
  ) throws(FeathersError) -> JSONValue {
    let name = name(of: key)
    return try encoded(
      .object(
        (record.object ?? []).filter { $0.name != idField || $0.value != .string(name) }))
  }
}
