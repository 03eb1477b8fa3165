import RunnelBase

/// A date, or a date with a time, that a text in the data holds in the form of ISO 8601:
/// `2026-11-15`, `2026-08-20T20:45:00Z`, `2026-08-20 20:45:00.250+02:00`.
struct DateText: Hashable {
  /// The moment in milliseconds since 1970: that when the day begins if the text has no time.
  let start: Int64

  /// Reads a text, of which times without a zone are local; nil if it is something else.
  init?(_ text: String, _ local: LocalTime) {
    guard FieldProfile.isDate(text) else { return nil }
    let parts = text.prefix(10).split(separator: "-").map { Int($0) }
    guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2],
      let date = CivilTime(year: year, month: month, day: day)
    else { return nil }
    let rest = text.dropFirst(11)
    if rest.isEmpty {
      start = local.milliseconds(date)
      return
    }
    guard let time = DateText.time(rest) else { return nil }
    if let zone = time.zone {
      start = date.milliseconds() + time.milliseconds - zone
    } else {
      start = local.milliseconds(date) + time.milliseconds
    }
  }

  /// Returns the time of day and the distance of its zone from UTC, in milliseconds.
  private static func time(_ text: Substring) -> (milliseconds: Int64, zone: Int64?)? {
    let clock = text.prefix { ("0"..."9").contains($0) || $0 == ":" || $0 == "." }
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let hour = Int64(parts[0]), let minute = Int64(parts[1]),
      (0...24).contains(hour), (0..<60).contains(minute)
    else { return nil }
    let seconds = parts.count == 3 ? Double(parts[2]) : 0
    guard let seconds, (0..<61).contains(seconds) else { return nil }
    let milliseconds = (hour * 60 + minute) * 60_000 + Int64(seconds * 1000)
    guard let zone = zone(text.dropFirst(clock.count)) else { return nil }
    return (milliseconds, zone)
  }

  /// Returns the distance of a zone from UTC; nil in it for no zone, nil for something else.
  private static func zone(_ text: Substring) -> Int64?? {
    if text.isEmpty { return .some(nil) }
    if text == "Z" || text == "z" { return 0 }
    guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
    let digits = text.dropFirst().filter { $0 != ":" }
    guard digits.count == 4 || digits.count == 2, let number = Int64(digits) else { return nil }
    let minutes = digits.count == 2 ? number * 60 : number / 100 * 60 + number % 100
    return (sign == "-" ? -minutes : minutes) * 60_000
  }
}
