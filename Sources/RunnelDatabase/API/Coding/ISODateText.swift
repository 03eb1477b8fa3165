import Foundation
import RunnelBase

/// The text of dates by ISO 8601, in the proleptic Gregorian calendar, of the years 1 to 9999.
///
/// Foundation's formats use the Julian calendar before 1582, cut a millisecond off half of all dates, and
/// read days and hours that do not exist.
enum ISODateText {
  /// The times that have a year of four digits, in milliseconds since 1970.
  private static let milliseconds = -62_135_596_800_000..<253_402_300_800_000.0

  /// Returns the text of a date, in whole milliseconds; finer parts are cut off.
  ///
  /// A date is a `Double`, which is not exactly a whole millisecond. One that is as near to it as a `Double`
  /// can be is that millisecond.
  ///
  /// - Returns: nil if the date has no year of four digits.
  static func text(_ date: Date) -> String? {
    let seconds = date.timeIntervalSince1970
    let nearest = (seconds * 1000).rounded()
    // The date is kept since 2001, and both numbers of seconds are rounded.
    let error = 1.5 * seconds.ulp + 0.5 * date.timeIntervalSinceReferenceDate.ulp
    let isWhole = abs(nearest / 1000 - seconds) <= error
    // The last moment of all is not rounded to the first one behind the range.
    let whole =
      isWhole && milliseconds.contains(nearest) ? nearest : (seconds * 1000).rounded(.down)
    return milliseconds.contains(whole) ? CivilTime.utcText(Int64(whole)) : nil
  }

  /// Reads `2026-11-21T20:44:50Z`, with or without a fraction, and with `Z` or an offset like `+02:00`.
  ///
  /// - Returns: nil if the text is nothing like that, if there is no such day or time, or if it is none of the
  ///   years 1 to 9999 in UTC: such a date could not be written.
  static func date(_ text: String) -> Date? {
    var rest = text.utf8[...]
    guard let year = number(&rest, 4), skip("-", &rest),
      let month = number(&rest, 2), skip("-", &rest),
      let day = number(&rest, 2), skip("T", &rest),
      let hour = number(&rest, 2), skip(":", &rest),
      let minute = number(&rest, 2), skip(":", &rest),
      let second = number(&rest, 2),
      let nanoseconds = fraction(&rest), let offset = offset(&rest), rest.isEmpty, year > 0,
      let time = CivilTime(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second,
        millisecond: nanoseconds / 1_000_000)
    else { return nil }
    let number = Double(time.milliseconds(offsetSeconds: offset))
    guard milliseconds.contains(number) else { return nil }
    let whole = Date(timeIntervalSince1970: number / 1000)
    let date = Date(
      timeIntervalSince1970: number / 1000 + Double(nanoseconds % 1_000_000) / 1e9)
    // A `Double` is coarse there: the finer part must not lead out of the range.
    return milliseconds.contains((date.timeIntervalSince1970 * 1000).rounded(.down)) ? date : whole
  }
}

extension ISODateText {
  private typealias Rest = Substring.UTF8View

  private static func number(_ rest: inout Rest, _ count: Int) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { 10 * $0 + Int($1 - UInt8(ascii: "0")) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  private static func skip(_ mark: Unicode.Scalar, _ rest: inout Rest) -> Bool {
    guard rest.first == UInt8(ascii: mark) else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// The nanoseconds of a fraction, without finer parts; 0 if there is none, nil if it has no digits.
  private static func fraction(_ rest: inout Rest) -> Int? {
    guard skip(".", &rest) else { return 0 }
    let digits = rest.prefix(while: isDigit)
    guard !digits.isEmpty else { return nil }
    rest = rest.dropFirst(digits.count)
    let known = digits.prefix(9).reduce(0) { 10 * $0 + Int($1 - UInt8(ascii: "0")) }
    return (digits.count..<max(digits.count, 9)).reduce(known) { number, _ in 10 * number }
  }

  /// The seconds east of UTC: of `Z`, `+02:00`, `+0200` or `+02`.
  private static func offset(_ rest: inout Rest) -> Int? {
    if skip("Z", &rest) { return 0 }
    let sign = skip("+", &rest) ? 1 : skip("-", &rest) ? -1 : 0
    guard sign != 0, let hours = number(&rest, 2), hours < 24 else { return nil }
    if rest.isEmpty { return sign * hours * 3600 }
    _ = skip(":", &rest)
    guard let minutes = number(&rest, 2), minutes < 60 else { return nil }
    return sign * (hours * 3600 + minutes * 60)
  }
}
