import RunnelBase

/// Reads dates, times and ages as people write them, in filters and in fields.
package struct MomentReader: Hashable, Sendable {
  /// Milliseconds since 1970.
  package let now: Int64
  package let local: LocalTime

  package init(now: Int64, local: LocalTime) {
    self.now = now
    self.local = local
  }

  private static let units: [Character: Int64] = [
    "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000,
  ]

  /// Returns all that a text may stand for.
  package func value(_ text: String) -> FilterValue {
    var value = FilterValue(text: text)
    // A text that is no number is compared as a text.
    if case .number(let number)? = try? JSONValue(parsing: text) { value.number = number }
    if value.number == nil { value.moments = moments(text) }
    value.local = local
    return value
  }

  /// Returns the moment that a text in a field names, or nil if it names none.
  ///
  /// A day begins at midnight, and a signed number of units is an age or lies ahead: `tomorrow 9:00`,
  /// `tomorrow 9`, `2026-08-24`, `24.8.` of this year, `24.8.26`, `18:30`, `-2d`, `+90m`.
  package func moment(_ text: String) -> Int64? {
    let words = text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
    if words.count == 1, let sign = words[0].first, sign == "+" || sign == "-" {
      return distance(String(words[0].dropFirst()), isBack: sign == "-")
    }
    if words.count == 2, let minute = time(words[1][...]) ?? hour(words[1]) {
      guard let day = namedDay(words[0]) ?? dayNumber(words[0][...]) ?? shortDay(words[0]) else {
        return nil
      }
      return self.minute(minute, of: day).start
    }
    if words.count == 1, let day = shortDay(words[0]) { return moment(day) }
    return words.count == 1 ? moments(text.filter { !$0.isWhitespace })?.start : nil
  }

  /// The day that a text such as `24.8.`, of this year, or `24.8.26` names; nil if it names none.
  private func shortDay(_ word: String) -> Int? {
    let parts = word.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy({ $0.utf8.count <= 2 && $0.allSatisfy(\.isNumber) }),
      let day = Int(parts[0]), let month = Int(parts[1])
    else { return nil }
    var year = local.civil(now).year
    if !parts[2].isEmpty {
      guard parts[2].utf8.count == 2, let short = Int(parts[2]) else { return nil }
      year = (short < 70 ? 2000 : 1900) + short
    }
    return CivilTime(year: year, month: month, day: day)?.dayNumber
  }

  /// Returns the minute of the day at which a full hour begins, or nil if the text is no hour.
  private func hour(_ word: String) -> Int? {
    guard word.utf8.count <= 2, word.allSatisfy(\.isNumber), let hour = Int(word),
      (0..<24).contains(hour)
    else { return nil }
    return hour * 60
  }

  private func namedDay(_ word: String) -> Int? {
    let today = local.civil(now).dayNumber
    switch word {
    case "yesterday": return today - 1
    case "today": return today
    case "tomorrow": return today + 1
    default: return nil
    }
  }

  /// Returns the moments that a text names, or nil if it names none.
  private func moments(_ text: String) -> MomentRange? {
    let today = local.civil(now).dayNumber
    switch text.lowercased() {
    case "now": return MomentRange(start: now, end: now)
    case "today", "yesterday", "tomorrow": return namedDay(text.lowercased()).map(day)
    default: return age(text) ?? dateAndTime(text, today: today)
    }
  }

  /// Returns the moment of an age, or nil if the text is no age.
  private func age(_ text: String) -> MomentRange? {
    distance(text, isBack: true).map { MomentRange(start: $0, end: $0) }
  }

  /// Returns the moment that lies so many units back or ahead, or nil if the text is no such number.
  private func distance(_ text: String, isBack: Bool) -> Int64? {
    guard let unit = text.last.flatMap({ MomentReader.units[$0] }),
      let count = Int64(text.dropLast()), count >= 0
    else { return nil }
    let (elapsed, isTooLong) = count.multipliedReportingOverflow(by: unit)
    let (moment, isTooFar) =
      isBack
      ? now.subtractingReportingOverflow(elapsed) : now.addingReportingOverflow(elapsed)
    return isTooLong || isTooFar ? nil : moment
  }

  /// A day, or a minute of it: `2026-08-24`, `24.8.2026`, `2026-08-24T09:30`, `09:30` for today's.
  private func dateAndTime(_ text: String, today: Int) -> MomentRange? {
    let parts = text.split(
      separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 1 {
      if let number = dayNumber(parts[0]) { return day(number) }
      return time(parts[0]).map { minute($0, of: today) }
    }
    guard let number = dayNumber(parts[0]), let time = time(parts[1]) else { return nil }
    return minute(time, of: number)
  }

  private func dayNumber(_ text: Substring) -> Int? { WrittenDay(text)?.civil?.dayNumber }

  /// Returns the minute of the day, or nil if the text is no time.
  private func time(_ text: Substring) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let hour = parts[0], let minute = parts[1],
      (0..<24).contains(hour), (0..<60).contains(minute)
    else { return nil }
    return hour * 60 + minute
  }

  private func day(_ number: Int) -> MomentRange {
    MomentRange(start: moment(number), end: moment(number + 1))
  }

  private func minute(_ minute: Int, of day: Int) -> MomentRange {
    let start = moment(day) + Int64(minute) * 60_000
    return MomentRange(start: start, end: start + 60_000)
  }

  /// Returns the moment at which a day begins on local clocks.
  private func moment(_ day: Int) -> Int64 {
    local.milliseconds(CivilTime(dayNumber: day))
  }
}
