import Foundation
import RunnelBase
import RunnelTree

/// The format in which dates are stored.
public enum DateCoding: Hashable, Sendable {
  /// Whole milliseconds since 1970, as server timestamps are: the default. Finer parts are rounded. A number
  /// beyond Int64, which could not be written, is not read.
  case milliseconds
  /// Seconds since 1970, with fractions: exact to a microsecond, so a date that is read back may
  /// differ from the one that was written by less than that.
  case seconds
  /// Text like `2026-11-21T20:44:50.123Z`, of the years 1 to 9999. Finer parts are cut off, except those that a
  /// `Date` of a whole millisecond may have, which are less than the last bits of its number.
  ///
  /// The calendar is the Gregorian one for all years, as ISO 8601 says. Text of a day or time that does not
  /// exist, such as the 30th of February, is not read.
  case iso8601
}

extension DateCoding {
  /// The JSON of a date; nil if the date is out of range.
  func json(_ date: Date) -> JSONValue? {
    switch self {
    case .milliseconds:
      Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()).map { .number(JSONNumber($0)) }
    case .seconds: JSONNumber(date.timeIntervalSince1970).map { .number($0) }
    case .iso8601: ISODateText.text(date).map { .string($0) }
    }
  }

  /// The date of a leaf; nil if it is not a date.
  func date(_ leaf: Leaf) -> Date? {
    switch (self, leaf) {
    case (.milliseconds, .number(let number)):
      guard Int64(exactly: number.double.rounded()) != nil else { return nil }
      return Date(timeIntervalSince1970: number.double / 1000)
    case (.seconds, .number(let number)): return Date(timeIntervalSince1970: number.double)
    case (.iso8601, .string(let text)):
      // The caller refuses text that is not a date, since it knows the place.
      return ISODateText.date(text)
    default: return nil
    }
  }
}
