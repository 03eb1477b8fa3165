import RunnelBase

/// A date, or a date with a time, that a text in the data holds: in the form of ISO 8601, `2026-11-15`,
/// `2026-08-20T20:45:00Z`, `2026-08-20 20:45:00.250+02:00`, or day first with points, `15.11.2026`,
/// `20.8.2026 20:45`.
struct DateText: Hashable {
  /// The moment in milliseconds since 1970: that when the day begins if the text has no time.
  let start: Int64
  /// Whether the text has a time of day.
  let hasTime: Bool
  /// The distance of the written zone from UTC; nil if the text has none.
  private(set) var offsetSeconds: Int?

  /// Reads a text, of which times without a zone are local; nil if it is something else.
  init?(_ text: String, _ local: LocalTime) {
    guard let word = DateText.day(in: text), let date = WrittenDay(word)?.civil else { return nil }
    let rest = text[word.endIndex...].dropFirst()
    hasTime = !rest.isEmpty
    if rest.isEmpty {
      start = local.milliseconds(date)
      return
    }
    guard let time = DateText.time(rest) else { return nil }
    if let zone = time.zone {
      start = date.milliseconds() + time.milliseconds - zone
      offsetSeconds = Int(zone / 1000)
    } else {
      start = local.milliseconds(date) + time.milliseconds
    }
  }

  /// Returns the part of a text that may be a day.
  private static func day(in text: String) -> Substring? {
    if FieldProfile.isDate(text) { return text.prefix(10) }
    guard text.utf8.count <= 30, text.utf8.prefix(3).contains(UInt8(ascii: ".")) else { return nil }
    return text.prefix { $0 != " " }
  }

  /// Whether a text is the beginning of a date in the form of ISO 8601: a year, or a month.
  ///
  /// Such texts have the order of the moments, as texts.
  static func isBeginning(_ text: String) -> Bool {
    let bytes = Array(text.utf8.prefix(8))
    guard bytes.count == 4 || bytes.count == 7 else { return false }
    return bytes.enumerated().allSatisfy { index, byte in
      index == 4 ? byte == UInt8(ascii: "-") : (0x30...0x39).contains(byte)
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
