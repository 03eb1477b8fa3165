/// A JSON number: an exact 64-bit integer where it is one, a finite double otherwise.
///
/// `1`, `1.0` and `1e0` are one number, and so are `0` and `-0`. Every integer from -2^63 to 2^63-1
/// is kept exactly; integers beyond, and every fraction, become the nearest double. Comparison is
/// exact between the two kinds: no integer is rounded to a double to be compared.
///
/// Source: tree semantics, section 1 (number model).
public struct JSONNumber: Hashable, Sendable {
  private enum Storage: Hashable, Sendable {
    case integer(Int64)
    /// Never an integer in the range of Int64, never NaN or infinite.
    case double(Double)
  }

  private let storage: Storage

  /// Makes the number that equals an integer.
  public init(_ integer: Int64) { storage = .integer(integer) }

  /// Makes the number that equals a double; nil if it is NaN or infinite.
  public init?(_ double: Double) {
    guard double.isFinite else { return nil }
    if let integer = Int64(exactly: double) {
      storage = .integer(integer)
    } else {
      storage = .double(double)
    }
  }

  /// The number as an exact integer; nil if it is none, or lies outside Int64.
  public var integer: Int64? {
    if case .integer(let value) = storage { value } else { nil }
  }

  /// The nearest double; exact unless the number is an integer beyond 2^53.
  public var double: Double {
    switch storage {
    case .integer(let value): Double(value)
    case .double(let value): value
    }
  }
}

extension JSONNumber: Comparable {
  /// Compares exactly, whatever kinds the two are.
  public static func < (left: JSONNumber, right: JSONNumber) -> Bool {
    switch (left.storage, right.storage) {
    case (.integer(let a), .integer(let b)): a < b
    case (.double(let a), .double(let b)): a < b
    case (.integer(let a), .double(let b)): isLess(a, b)
    case (.double(let a), .integer(let b)): !isLess(b, a)
    }
  }

  /// Compares exactly; the two are never equal, because `double` is no integer in the range of
  /// Int64.
  private static func isLess(_ integer: Int64, _ double: Double) -> Bool {
    if double >= 0x1p63 { return true }
    if double < -0x1p63 { return false }
    return integer <= Int64(double.rounded(.down))
  }
}

extension JSONNumber: ExpressibleByIntegerLiteral {
  /// Makes the number that equals an integer literal.
  public init(integerLiteral value: Int64) { self.init(value) }
}
