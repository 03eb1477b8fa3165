public import Foundation
public import RunnelBase
import RunnelTree

/// A value that the database computes when it carries out the write.
///
/// It can replace any value: `setValue(ServerValue.timestamp)`, a property of a value that is
/// encoded, or a member: `updateChildValues(["seen": ServerValue.timestamp, "n": 3])`. Within a
/// `JSONValue`, and deeper in a literal, write its `json`.
///
/// Source: tree semantics, section 9.
public struct ServerValue: Hashable, Sendable {
  private enum Operation: Hashable {
    case timestamp
    case incrementInteger(Int)
    case incrementDouble(Double)
  }

  private let operation: Operation

  /// The time of the write, in milliseconds since 1970; it is the same for the whole write.
  public static let timestamp = ServerValue(operation: .timestamp)

  /// The stored number plus `delta`; `delta` if there is no number, also in place of a text.
  ///
  /// The sum is exact. Beyond the range of Int64 it is the nearest floating-point number, which may be
  /// the one that was there.
  public static func increment(_ delta: Int) -> ServerValue {
    ServerValue(operation: .incrementInteger(delta))
  }

  /// The stored number plus `delta`; `delta` if there is no number, also in place of a text.
  ///
  /// A write of a `delta` that is not finite is refused.
  public static func increment(_ delta: Double) -> ServerValue {
    ServerValue(operation: .incrementDouble(delta))
  }

  /// The value as it is written in JSON: `{".sv": …}`.
  public var json: JSONValue {
    switch operation {
    case .timestamp: [".sv": "timestamp"]
    case .incrementInteger(let delta): [".sv": ["increment": .number(JSONNumber(Int64(delta)))]]
    case .incrementDouble(let delta):
      // Null is not a number either, so the write is refused.
      [".sv": ["increment": JSONNumber(delta).map { .number($0) } ?? .null]]
    }
  }
}

extension ServerValue: Encodable {
  /// Encodes the JSON that the database replaces by the value.
  ///
  /// Encoders other than `NodeEncoder` write it as plain JSON, which only the database understands.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: NamedKey.self)
    let name = NamedKey(ReservedName.serverValue)
    let increment = NamedKey("increment")
    switch operation {
    case .timestamp: try container.encode("timestamp", forKey: name)
    case .incrementInteger(let delta):
      var nested = container.nestedContainer(keyedBy: NamedKey.self, forKey: name)
      try nested.encode(delta, forKey: increment)
    case .incrementDouble(let delta):
      var nested = container.nestedContainer(keyedBy: NamedKey.self, forKey: name)
      try nested.encode(delta, forKey: increment)
    }
  }
}

/// A date that is nil until the value is written, and then becomes the time of the write.
///
/// ```swift
/// struct Message: Codable {
///   var text: String
///   @ServerTimestamp var created: Date?
/// }
/// ```
@propertyWrapper
public struct ServerTimestamp: Hashable, Sendable {
  /// The date; nil is written as the time of the write.
  public var wrappedValue: Date?

  /// Makes the property; nil is written as the time of the write.
  public init(wrappedValue: Date?) { self.wrappedValue = wrappedValue }
}

extension ServerTimestamp: Codable {
  /// Encodes the date, or the server value in place of nil.
  public func encode(to encoder: any Encoder) throws {
    guard let wrappedValue else { return try ServerValue.timestamp.encode(to: encoder) }
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }

  /// Decodes the date; nil if there is none.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Date.self)
  }
}
