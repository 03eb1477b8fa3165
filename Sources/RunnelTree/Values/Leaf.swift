public import RunnelBase

/// A value that has no children.
///
/// Order: booleans (false first), then numbers, then strings by UTF-16 code unit.
///
/// Source: tree semantics, sections 1 and 4.2.
public enum Leaf: Sendable {
  /// `true` or `false`.
  case bool(Bool)
  /// A number.
  case number(JSONNumber)
  /// A string.
  case string(String)
}

extension Leaf: Hashable {
  /// True if both are of one kind and equal; strings by code unit.
  public static func == (left: Leaf, right: Leaf) -> Bool {
    switch (left, right) {
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): a.hasSameUnits(as: b)
    default: false
    }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .bool(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value)
    case .string(let value): value.hashUnits(into: &hasher)
    }
  }
}

extension Leaf: Comparable {
  /// Orders values as in section 4.2.
  public static func < (left: Leaf, right: Leaf) -> Bool {
    switch (left, right) {
    case (.bool(let a), .bool(let b)): !a && b
    case (.number(let a), .number(let b)): a < b
    case (.string(let a), .string(let b)): a.isOrderedBefore(b)
    default: left.rank < right.rank
    }
  }

  private var rank: Int {
    switch self {
    case .bool: 0
    case .number: 1
    case .string: 2
    }
  }
}

extension Leaf: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral
{
  /// Makes `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Makes an exact integer.
  public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }

  /// Makes a number; the literal must be finite.
  public init(floatLiteral value: Double) {
    guard let number = JSONNumber(value) else {
      preconditionFailure("A number is finite; \(value) is not.")
    }
    self = .number(number)
  }

  /// Makes a string.
  public init(stringLiteral value: String) { self = .string(value) }
}

extension Leaf {
  /// The value as JSON.
  public var json: JSONValue {
    switch self {
    case .bool(let value): .bool(value)
    case .number(let value): .number(value)
    case .string(let value): .string(value)
    }
  }

  /// Makes a leaf from a JSON scalar; nil for null, an array or an object.
  public init?(_ json: JSONValue) {
    switch json {
    case .bool(let value): self = .bool(value)
    case .number(let value): self = .number(value)
    case .string(let value): self = .string(value)
    case .null, .array, .object: return nil
    }
  }

  /// Writes the value as JSON.
  func write(to writer: inout JSONWriter) {
    switch self {
    case .bool(let value): writer.writeBool(value)
    case .number(let value): writer.writeNumber(value)
    case .string(let value): writer.writeString(value)
    }
  }

  /// The reason why `text` is not a value, or nil if it is one.
  static func refusal(of text: String) -> String? {
    let count = text.utf8.count
    if count <= TreeLimits.stringBytesMax { return nil }
    return "The string has \(count) bytes: \(TreeLimits.stringBytesMax) are allowed."
  }
}
