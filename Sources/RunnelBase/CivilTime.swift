/// A date and a time of day in the proleptic Gregorian calendar, as clocks at some place show them.
///
/// It knows no time zones and no leap seconds: the caller gives the offset from UTC that holds at
/// that place and moment. All functions are pure and O(1).
///
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms". The algorithms count in
/// eras of 400 years, which all have the same number of days. The year starts in March, so that the
/// leap day, which some years lack, is its last day.
package struct CivilTime: Hashable, Sendable {
  /// The year; 0 is the year before 1.
  package let year: Int
  /// The month, from 1 to 12.
  package let month: Int
  /// The day of the month, from 1.
  package let day: Int
  /// The hour, from 0 to 23.
  package let hour: Int
  /// The minute, from 0 to 59.
  package let minute: Int
  /// The second, from 0 to 59.
  package let second: Int
  /// The millisecond, from 0 to 999.
  package let millisecond: Int

  /// The largest year, and the smallest if negated, that a time can be made of.
  package static let yearMax = 200_000_000

  /// More days than there are from 1970 to `yearMax` or its negative.
  ///
  /// A moment so far away still fits in milliseconds.
  private static let dayNumberMax = 73_050_000_000

  /// Makes the time that clocks `offsetSeconds` east of UTC show at a moment in milliseconds since
  /// 1970 in UTC.
  ///
  /// The moment must lie within `yearMax`; a clock's always does.
  package init(milliseconds: Int64, offsetSeconds: Int = 0) {
    precondition(abs(milliseconds / 86_400_000) <= Self.dayNumberMax, "The year is within yearMax.")
    let (utcSeconds, millisecond) = floorDivide(Int(milliseconds), by: 1_000)
    let (dayNumber, daySecond) = floorDivide(utcSeconds + offsetSeconds, by: 86_400)
    (year, month, day) = Self.date(dayNumber: dayNumber)
    hour = daySecond / 3_600
    minute = daySecond / 60 % 60
    second = daySecond % 60
    self.millisecond = millisecond
  }

  /// Midnight at the start of a day that is counted from 1970-01-01, which is 0.
  package init(dayNumber: Int) {
    precondition(abs(dayNumber) <= Self.dayNumberMax, "The year is within yearMax.")
    self.init(milliseconds: Int64(dayNumber) * 86_400_000)
  }

  /// Makes a time of a date and a time of day; nil if there is no such date or time.
  package init?(
    year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0,
    millisecond: Int = 0
  ) {
    guard -Self.yearMax...Self.yearMax ~= year, 1...12 ~= month,
      1...Self.dayCount(year: year, month: month) ~= day,
      0..<24 ~= hour, 0..<60 ~= minute, 0..<60 ~= second, 0..<1_000 ~= millisecond
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
    self.millisecond = millisecond
  }

  /// The moment, in milliseconds since 1970 in UTC, when clocks `offsetSeconds` east show this.
  package func milliseconds(offsetSeconds: Int = 0) -> Int64 {
    let seconds = dayNumber * 86_400 + hour * 3_600 + minute * 60 + second - offsetSeconds
    return Int64(seconds * 1_000 + millisecond)
  }

  /// The day, counted from 1970-01-01, which is 0.
  package var dayNumber: Int {
    let (era, yearOfEra) = floorDivide(month <= 2 ? year - 1 : year, by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The day of the week as ISO 8601 counts it: Monday is 1, Sunday is 7.
  package var weekday: Int { floorDivide(dayNumber + 3, by: 7).remainder + 1 }

  /// The number of days of a month, which is from 1 to 12.
  package static func dayCount(year: Int, month: Int) -> Int {
    precondition(1...12 ~= month, "A month is from 1 to 12.")
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    switch month {
    case 2: return isLeapYear ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }

  private static func date(dayNumber: Int) -> (year: Int, month: Int, day: Int) {
    let (era, dayOfEra) = floorDivide(dayNumber + 719_468, by: 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
  }
}

extension CivilTime: Comparable {
  /// Orders by the date and time shown, the earlier first.
  package static func < (left: CivilTime, right: CivilTime) -> Bool {
    left.milliseconds() < right.milliseconds()
  }
}

// MARK: - Text

extension CivilTime {
  /// The date in ISO 8601: `2026-08-24`.
  package var dateText: String {
    let digits = padded(Int(year.magnitude), to: 4)
    return "\(year < 0 ? "-" : "")\(digits)-\(padded(month, to: 2))-\(padded(day, to: 2))"
  }

  /// A moment in milliseconds since 1970 as its date and time in UTC, by ISO 8601:
  /// `2026-08-24T09:09:30.125Z`; a moment too far away as the number.
  package static func utcText(_ milliseconds: Int64) -> String {
    guard milliseconds.magnitude / 86_400_000 <= UInt64(dayNumberMax) else {
      return "\(milliseconds) ms"
    }
    let time = CivilTime(milliseconds: milliseconds)
    let part = String(1000 + time.millisecond).dropFirst()
    return "\(time.dateText)T\(time.timeText):\(time.padded(time.second, to: 2)).\(part)Z"
  }

  /// The hour and the minute: `09:09`.
  package var timeText: String { "\(padded(hour, to: 2)):\(padded(minute, to: 2))" }

  /// The date for people to read: `Mon 24 Aug 2026`.
  package var longDateText: String { "\(weekdayText) \(day) \(monthText) \(year)" }

  /// The day of the week in three letters: `Mon`.
  package var weekdayText: String {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][weekday - 1]
  }

  /// The month in three letters: `Aug`.
  package var monthText: String {
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][month - 1]
  }

  private func padded(_ number: Int, to width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

/// Divides with a remainder that is never negative.
private func floorDivide(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
  let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
  return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}
