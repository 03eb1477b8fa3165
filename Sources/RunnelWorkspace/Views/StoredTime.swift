import RunnelBase
import RunnelTree

/// Times as they are stored: numbers of milliseconds since 1970, or of seconds, and texts.
package enum StoredTime {
  /// The numbers that look like milliseconds since 1970: from 2001 to 2096.
  package static let milliseconds: Range<Int64> = 1_000_000_000_000..<4_000_000_000_000
  /// The numbers that look like seconds since 1970, of the same years.
  ///
  /// Other numbers are as large, so that only a field that is known to hold times is read like this.
  package static let seconds: Range<Int64> = 1_000_000_000..<4_000_000_000

  /// Returns the milliseconds since 1970 of a number that is known to be a time.
  package static func milliseconds(of number: Int64) -> Int64 {
    seconds.contains(number) ? number * 1000 : number
  }

  /// Returns the milliseconds since 1970 of a value that is known to be a time, a number or a date as a
  /// text; nil if it is neither.
  static func milliseconds(of leaf: Leaf?, _ local: LocalTime) -> Int64? {
    switch leaf {
    case .number(let number)?:
      (number.integer ?? Int64(exactly: number.double.rounded(.down))).map(milliseconds(of:))
    case .string(let text)?: DateText(text, local)?.start
    case .bool?, nil: nil
    }
  }

  /// Returns the milliseconds since 1970 of a value that is known to be a time and names the same moment in
  /// any zone: a whole number, or a text in ISO 8601 with a zone; nil for others.
  static func moment(of leaf: Leaf?) -> Int64? {
    switch leaf {
    case .number(let number)?: number.integer.map(milliseconds(of:))
    case .string(let text)?: ZonedText(text)?.milliseconds
    case .bool?, nil: nil
    }
  }

  /// Whether a number looks like a time, in milliseconds or in seconds.
  static func contains(_ number: Int64) -> Bool {
    milliseconds.contains(number) || seconds.contains(number)
  }
}
