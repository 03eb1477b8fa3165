/// A JSON value, held exactly.
///
/// Objects keep the order in which their members were given. Two objects are equal if they have
/// equal members in the same order; order does not matter in the tree, which sorts its children.
/// Strings and names are equal if their UTF-8 is: Unicode's canonical equivalence, by which
/// `String` compares, would lose the change from one form of an accented letter to the other.
public enum JSONValue: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number; `JSONNumber` describes which numbers are exact.
  case number(JSONNumber)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object: members in the given order, no name twice.
  case object([JSONMember])
}

/// A member of a JSON object.
public struct JSONMember: Hashable, Sendable {
  /// The name.
  public var name: String
  /// The value.
  public var value: JSONValue

  /// Makes a member.
  public init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }
}

extension JSONValue {
  /// The value of the member called `name`, or nil if this is no object or has no such member.
  ///
  /// The name must be the same in UTF-8. O(n) in the members.
  ///
  /// Setting it replaces the first such member in its place, or adds one at the end; nil removes it.
  /// A value that is no object becomes an object of this one member.
  public subscript(name: String) -> JSONValue? {
    get {
      guard case .object(let members) = self else { return nil }
      return members.first { $0.name.hasSameBytes(as: name) }?.value
    }
    set {
      var members = object ?? []
      let index = members.firstIndex { $0.name.hasSameBytes(as: name) }
      if let newValue {
        if let index {
          members[index].value = newValue
        } else {
          members.append(JSONMember(name, newValue))
        }
      } else {
        guard let index else { return }
        members.remove(at: index)
      }
      self = .object(members)
    }
  }
}

extension JSONValue {
  /// True if the two are of one kind and have equal content.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }
}

extension JSONMember {
  /// True if the names and the values are the same.
  public static func == (left: JSONMember, right: JSONMember) -> Bool {
    left.name.hasSameBytes(as: right.name) && left.value == right.value
  }
}

extension String {
  /// True if the two are the same in UTF-8, which is stricter than `==`.
  package func hasSameBytes(as other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
  }
}

// Values of variables. A literal needs none of these: `let json: JSONValue = ["age": 7]`.

extension JSONValue {
  /// Makes a string.
  public init(_ string: String) { self = .string(string) }

  /// Makes `true` or `false`.
  public init(_ bool: Bool) { self = .bool(bool) }

  /// Makes an exact integer.
  public init(_ integer: Int) { self = .number(JSONNumber(Int64(integer))) }

  /// Makes an exact integer.
  public init(_ integer: Int64) { self = .number(JSONNumber(integer)) }

  /// Makes an array.
  public init(_ elements: [JSONValue]) { self = .array(elements) }

  /// Makes an object whose members are in the order of their names.
  ///
  /// O(n log n).
  public init(_ members: [String: JSONValue]) {
    self = .object(
      members.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) })
  }

  /// Makes a number.
  ///
  /// It throws and is not nil, since a member that is nil is removed by a write.
  ///
  /// - Throws: `JSONNumberError` if the double is NaN or infinite, which JSON does not have.
  public init(_ double: Double) throws(JSONNumberError) {
    guard let number = JSONNumber(double) else { throw JSONNumberError(double) }
    self = .number(number)
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Makes `null`.
  public init(nilLiteral: ()) { self = .null }

  /// Makes `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Makes an exact integer.
  public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }

  /// Makes a number; the literal must be finite.
  public init(floatLiteral value: Double) {
    guard let number = JSONNumber(value) else {
      preconditionFailure("A JSON number is finite; \(value) is not.")
    }
    self = .number(number)
  }

  /// Makes a string.
  public init(stringLiteral value: String) { self = .string(value) }

  /// Makes an array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// Makes an object with the members in the order of the literal.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { JSONMember($0.0, $0.1) })
  }
}
