import RunnelBase
import RunnelStreams
import RunnelTerminal

/// The date that a field holds, and how the field writes it.
///
/// A field holds a date if its schema says so, or if its text is one: a number that looks like
/// milliseconds or seconds since 1970, or a date in ISO 8601 or day first with points, with whatever follows
/// it.
struct FieldDate: Hashable, Sendable {
  private enum Form: Hashable, Sendable {
    /// A number of milliseconds since 1970, or of seconds; the time of day is in milliseconds since
    /// midnight.
    case moment(timeOfDay: Int64, isSeconds: Bool)
    /// A moment as a text with a zone; the local time of day is in milliseconds since midnight.
    case zoned(ZonedText, timeOfDay: Int64)
    /// A date such as `2026-08-24`, and the text that follows it.
    case text(rest: String)
    /// A date day first, such as `05.04.1942` or `5.4.1942`, and the text that follows it.
    case dayFirst(digits: Int, rest: String)

    var withoutRest: Form {
      switch self {
      case .moment: self
      case .zoned(let text, _): .zoned(text.ofWholeSeconds, timeOfDay: 0)
      case .text: .text(rest: "")
      case .dayFirst(let digits, _): .dayFirst(digits: digits, rest: "")
      }
    }
  }

  /// The day that the field holds, counted from 1970-01-01; nil if there is none yet.
  let day: Int?
  private let form: Form

  /// Whether the field writes its date in a zone of its own, while the day is that of the user's.
  var isZoned: Bool { if case .zoned = form { true } else { false } }

  /// Whether the field has a day only, and no place for a time.
  var isDay: Bool {
    switch form {
    case .moment, .zoned: false
    case .text(let rest), .dayFirst(_, let rest): rest.isEmpty
    }
  }

  /// Reads what is typed into a field; nil if the field holds no date.
  init?(_ input: FieldInput, now: Int64, _ local: LocalTime) {
    let text = input.editor.text
    if input.editor.isSecret { return nil }
    if case .time? = input.rule?.kind {
      let moment = Int64(text) ?? MomentReader(now: now, local: local).moment(text)
      self.init(moment: text == FieldInput.now ? now : moment, local)
      return
    }
    switch input.kind {
    case .number:
      if text.isEmpty {
        self.init(moment: nil, local)
        return
      }
      guard let moment = Int64(text), StoredTime.contains(moment) else { return nil }
      self.init(moment: moment, local)
    case .string:
      if text.isEmpty, let example = input.dateExample {
        // The day is written as other days are, without what follows them; a moment is that of midnight.
        self.init(day: nil, FieldDate(text: example, local)?.form.withoutRest ?? .text(rest: ""))
        return
      }
      guard let date = FieldDate(text: input.namedDate ?? text, local) else { return nil }
      self = date
    case .boolean, .json: return nil
    }
  }

  /// Reads a date that is a text; nil if it is none.
  init?(text: String, _ local: LocalTime) {
    if let zoned = ZonedText(text) {
      let civil = local.civil(zoned.milliseconds)
      self.init(day: civil.dayNumber, .zoned(zoned, timeOfDay: FieldDate.timeOfDay(civil)))
      return
    }
    if let date = FieldDate.isoDate(text) {
      self.init(day: date.dayNumber, .text(rest: String(text.dropFirst(date.dateText.count))))
      return
    }
    let word = text.prefix { $0 != " " }
    guard !FieldProfile.isDate(text), DateText(text, .utc) != nil,
      let date = WrittenDay(word)?.civil
    else { return nil }
    self.init(
      day: date.dayNumber,
      .dayFirst(
        digits: text.prefix { $0 != "." }.count == 2 && word.count == 10 ? 2 : 1,
        rest: String(text[word.endIndex...])))
  }

  private init(day: Int?, _ form: Form) {
    self.day = day
    self.form = form
  }

  /// Makes the date of a moment in milliseconds or seconds since 1970; nil is a field without a date yet,
  /// whose time of day is midnight.
  private init(moment: Int64?, _ local: LocalTime) {
    let isSeconds = moment.map(StoredTime.seconds.contains) == true
    let civil = moment.map { local.civil(StoredTime.milliseconds(of: $0)) }
    self.init(
      day: civil?.dayNumber,
      .moment(timeOfDay: civil.map(FieldDate.timeOfDay) ?? 0, isSeconds: isSeconds))
  }

  /// The milliseconds since midnight, as clocks show them.
  private static func timeOfDay(_ civil: CivilTime) -> Int64 {
    civil.milliseconds() - CivilTime(dayNumber: civil.dayNumber).milliseconds()
  }

  /// The date that a text begins with: `2026-08-24`, alone or before a time of day.
  private static func isoDate(_ text: String) -> CivilTime? {
    let date = text.prefix(10)
    if let next = text.dropFirst(10).first, next != "T", next != " " { return nil }
    let parts = date.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2],
      let civil = CivilTime(year: year, month: month, day: day), civil.dateText == date
    else { return nil }
    return civil
  }

  /// The text of the field with another day; a moment keeps its local time of day,
  /// and if it is a text, its zone.
  func text(day: Int, _ local: LocalTime) -> String {
    switch form {
    case .moment(let timeOfDay, let isSeconds):
      let moment = FieldDate.moment(timeOfDay, of: day, local)
      return String(isSeconds ? moment / 1000 : moment)
    case .zoned(let text, let timeOfDay):
      // The day that the field holds leaves the moment as it is, also where clocks show an hour twice.
      return text.text(
        of: day == self.day ? text.milliseconds : FieldDate.moment(timeOfDay, of: day, local))
    case .text(let rest): return CivilTime(dayNumber: day).dateText + rest
    case .dayFirst(let digits, let rest):
      let date = CivilTime(dayNumber: day)
      let parts = [date.day, date.month].map { number in
        (number < 10 && digits == 2 ? "0" : "") + String(number)
      }
      return (parts + [String(date.year)]).joined(separator: ".") + rest
    }
  }

  /// The text of the field for a moment in milliseconds since 1970; nil if the field would lose a part of it.
  ///
  /// A field that has no time of day is content with the day, unless a time was named.
  func text(of moment: Int64, withTime: Bool, _ local: LocalTime) -> String? {
    let civil = local.civil(moment)
    let rest: String
    switch form {
    case .moment(_, let isSeconds): return String(isSeconds ? moment / 1000 : moment)
    case .zoned(let text, _): return text.text(of: moment)
    case .text(let text), .dayFirst(_, let text): rest = text
    }
    if rest.isEmpty { return withTime ? nil : text(day: civil.dayNumber, local) }
    guard let time = FieldDate.time(of: civil, like: rest) else { return nil }
    return FieldDate(day: day, form.withoutRest).text(day: civil.dayNumber, local) + time
  }

  /// The time of day as one such as ` 09:30` or `T09:30:00` is written; nil if the text is none.
  private static func time(of civil: CivilTime, like text: String) -> String? {
    guard let first = text.first, first == "T" || first == " " else { return nil }
    let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 || parts.count == 3,
      parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isASCII) && Int($0) != nil })
    else { return nil }
    let numbers = [civil.hour, civil.minute, civil.second].prefix(parts.count)
    return String(first) + numbers.map { ($0 < 10 ? "0" : "") + String($0) }.joined(separator: ":")
  }

  /// The moment when local clocks show a time of a day.
  private static func moment(_ timeOfDay: Int64, of day: Int, _ local: LocalTime) -> Int64 {
    let midnight = CivilTime(dayNumber: day).milliseconds()
    return local.milliseconds(CivilTime(milliseconds: midnight + timeOfDay))
  }
}
