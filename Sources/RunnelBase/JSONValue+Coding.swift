/// An encoder that takes JSON as it is.
package protocol JSONValueEncoder: Encoder {
  /// Makes `json` the value that is encoded.
  func encode(json: JSONValue)
}

/// A decoder that has the value as JSON.
package protocol JSONValueDecoder: Decoder {
  /// The whole value.
  var json: JSONValue { get }
}

extension JSONValue: Codable {
  /// Encodes the value: exactly in a tree, in the natural form of every other encoder.
  ///
  /// - Throws: the errors of the encoder.
  public func encode(to encoder: any Encoder) throws {
    if let encoder = encoder as? any JSONValueEncoder { return encoder.encode(json: self) }
    switch self {
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .bool(let bool):
      var container = encoder.singleValueContainer()
      try container.encode(bool)
    case .string(let string):
      var container = encoder.singleValueContainer()
      try container.encode(string)
    case .number(let number): try number.encode(to: encoder)
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .object(let members):
      var container = encoder.container(keyedBy: MemberName.self)
      for member in members {
        try container.encode(member.value, forKey: MemberName(stringValue: member.name))
      }
    }
  }

  /// Decodes any value.
  ///
  /// From a tree, it is in the export format, with priorities; nothing there is null. From other
  /// decoders, the members of an object are in the order of their names.
  ///
  /// - Throws: the errors of the decoder.
  public init(from decoder: any Decoder) throws {
    if let decoder = decoder as? any JSONValueDecoder {
      self = decoder.json
    } else if let scalar = JSONValue.scalar(decoder) {
      self = scalar
    } else if var container = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
      self = .array(elements)
    } else {
      let container = try decoder.container(keyedBy: MemberName.self)
      let names = container.allKeys.sorted { $0.stringValue < $1.stringValue }
      var members: [JSONMember] = []
      for name in names {
        let value = try container.decode(JSONValue.self, forKey: name)
        members.append(JSONMember(name.stringValue, value))
      }
      self = .object(members)
    }
  }

  /// A value without parts; nil if it is another one.
  private static func scalar(_ decoder: any Decoder) -> JSONValue? {
    guard let container = try? decoder.singleValueContainer() else { return Optional.none }
    if container.decodeNil() { return .some(.null) }
    if let bool = try? container.decode(Bool.self) { return .bool(bool) }
    if let string = try? container.decode(String.self) { return .string(string) }
    if let number = try? JSONNumber(from: decoder) { return .number(number) }
    return Optional.none
  }
}

extension JSONNumber: Codable {
  /// Encodes the number, as an integer if it is one in the range of Int64.
  ///
  /// - Throws: the errors of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let integer { try container.encode(integer) } else { try container.encode(double) }
  }

  /// Decodes a number.
  ///
  /// - Throws: the errors of the decoder; `DecodingError` (`dataCorrupted`) for a number that is not
  ///   finite.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let integer = try? container.decode(Int64.self) {
      self.init(integer)
      return
    }
    guard let number = JSONNumber(try container.decode(Double.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a JSON number is finite")
    }
    self = number
  }
}

/// The name of a member as a coding key.
private struct MemberName: CodingKey {
  let stringValue: String

  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { stringValue = String(intValue) }
}
