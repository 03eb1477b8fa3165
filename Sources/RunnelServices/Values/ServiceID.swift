public import RunnelBase

/// The id of a record: a text or a number.
///
/// Two ids are equal if their texts are: over REST each id arrives as text. The id keeps the type
/// that it was received with, and is sent back with it.
public struct ServiceID: Hashable, Sendable, CustomStringConvertible {
  /// The id as JSON: a string or a number.
  public let json: JSONValue
  /// The id as text.
  public let text: String

  /// Makes an id of a text.
  public init(_ text: String) { (json, self.text) = (.string(text), text) }

  /// Makes an id of a number.
  public init(_ number: Int64) {
    (json, text) = (.number(JSONNumber(number)), String(number))
  }

  /// Makes an id of a JSON string or number; nil for another value.
  public init?(json: JSONValue) {
    switch json {
    case .string(let text): self.text = text
    case .number: text = json.jsonText()
    default: return nil
    }
    self.json = json
  }

  /// True if the texts are the same.
  public static func == (left: ServiceID, right: ServiceID) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }

  /// The text.
  public var description: String { text }
}

extension ServiceID: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  /// Makes an id of a text.
  public init(stringLiteral value: String) { self.init(value) }

  /// Makes an id of a number.
  public init(integerLiteral value: Int64) { self.init(value) }
}

extension JSONValue {
  /// The JSON text on one line, in UTF-8.
  var compactBytes: [UInt8] {
    var writer = JSONWriter()
    writer.writeValue(self)
    return writer.takeBytes()
  }

  /// Returns the object with a member set: in its place, or at the end.
  package func setting(_ name: String, to value: JSONValue) -> JSONValue {
    var members = object ?? []
    if let index = members.firstIndex(where: { $0.name.hasSameBytes(as: name) }) {
      members[index].value = value
    } else {
      members.append(JSONMember(name, value))
    }
    return .object(members)
  }
}
