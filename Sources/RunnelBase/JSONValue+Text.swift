// Values as text for people, for logs and for debuggers: JSON.

extension JSONValue: CustomStringConvertible, CustomDebugStringConvertible {
  /// The value as compact JSON text.
  ///
  /// O(n).
  public var description: String { jsonText() }

  /// The value as compact JSON text.
  public var debugDescription: String { description }
}

extension JSONMember: CustomStringConvertible, CustomDebugStringConvertible {
  /// The name and the value, as in JSON: `"age":7`.
  ///
  /// O(n).
  public var description: String { "\(JSONValue.string(name)):\(value)" }

  /// The name and the value, as in JSON.
  public var debugDescription: String { description }
}

extension JSONNumber: CustomStringConvertible, CustomDebugStringConvertible {
  /// The number as JSON text.
  public var description: String { JSONValue.number(self).jsonText() }

  /// The number as JSON text.
  public var debugDescription: String { description }
}
