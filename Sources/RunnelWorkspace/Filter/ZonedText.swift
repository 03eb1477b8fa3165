import RunnelBase

/// A moment that a text in ISO 8601 with a zone names, `2026-08-20T20:45:00.250Z` or
/// `2026-08-20 20:45+02:00`, and how the text writes it.
///
/// Such a text is shown in the user's time zone, and written in its own.
struct ZonedText: Hashable, Sendable {
  /// The moment in milliseconds since 1970.
  let milliseconds: Int64
  /// The distance of the written zone from UTC.
  let offsetSeconds: Int
  private let separator: Substring
  private let hasSeconds: Bool
  /// The part of a second with its point, and the zone, as they are written.
  private var fraction: String
  private let zone: Substring

  /// Reads a text; nil if it is no date with a time and a zone.
  init?(_ text: String) {
    guard text.utf8.count > 10, FieldProfile.isDate(text), let date = DateText(text, .utc),
      let offset = date.offsetSeconds
    else { return nil }
    let rest = text.dropFirst(11)
    let clock = rest.prefix { ("0"..."9").contains($0) || $0 == ":" || $0 == "." }
    (milliseconds, offsetSeconds) = (date.start, offset)
    separator = text.dropFirst(10).prefix(1)
    hasSeconds = clock.split(separator: ":", omittingEmptySubsequences: false).count == 3
    fraction = String(clock.drop { $0 != "." })
    zone = rest[clock.endIndex...]
  }

  /// The form of the text, with zeros for the part of a second.
  var ofWholeSeconds: ZonedText {
    var whole = self
    whole.fraction = String(fraction.map { $0 == "." ? $0 : "0" })
    return whole
  }

  /// Returns the text of another moment in the form and the zone of this one; the part of a second stays.
  func text(of milliseconds: Int64) -> String {
    let civil = CivilTime(milliseconds: milliseconds, offsetSeconds: offsetSeconds)
    let seconds =
      hasSeconds || civil.second != 0 ? ":\(String(100 + civil.second).dropFirst())" : ""
    return civil.dateText + separator + civil.timeText + seconds + fraction + zone
  }
}

extension DateText {
  /// Returns the beginning of the texts of a form at a moment: by the order of characters it stands before
  /// all texts of that second, or behind them.
  ///
  /// `text` is of the form, a date in ISO 8601; without a zone it is local.
  static func bound(
    of milliseconds: Int64, like text: String, isBehind: Bool, _ local: LocalTime
  ) -> String {
    let zoned = ZonedText(text)
    let civil =
      zoned.map { CivilTime(milliseconds: milliseconds, offsetSeconds: $0.offsetSeconds) }
      ?? local.civil(milliseconds)
    let isMidnight = (civil.hour, civil.minute, civil.second) == (0, 0, 0)
    // A date alone stands before all times of its day.
    guard text.utf8.count > 10, isBehind || !isMidnight else { return civil.dateText }
    let clock = "\(civil.timeText):\(String(100 + civil.second).dropFirst())"
    return civil.dateText + text.dropFirst(10).prefix(1) + clock + (isBehind ? "Z" : "")
  }
}
