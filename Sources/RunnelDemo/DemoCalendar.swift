import RunnelBase

/// The times at which the demo's people talk: from breakfast to bedtime, more at weekends, hardly
/// at night.
///
/// It maps a share of all messages to the moment by which that share has been sent. Within an hour
/// the messages are spread evenly; hours differ by the time of day, the day of the week, and
/// chance.
struct DemoCalendar {
  /// The number of days that the demo's messages cover.
  static let dayCount = 61

  /// The first moment, in milliseconds since 1970.
  let start: Int64
  /// The amount of talk before each hour from the start; one more element has the total.
  private var saidBefore: [Double] = [0]
  private static let hourMilliseconds: Int64 = 3_600_000

  /// The amount of talk in each hour of a day.
  private static let dayRhythm: [Double] = [
    0.05, 0.02, 0.01, 0.01, 0.02, 0.15, 0.6, 1.2, 1.5, 1.4, 1.2, 1.1,
    1.3, 1.1, 0.8, 0.8, 1.0, 1.4, 1.9, 2.1, 1.9, 1.4, 0.7, 0.25,
  ]

  /// Makes the calendar of the days before a moment, at a place `offsetSeconds` east of UTC.
  init(endingAt end: Int64, offsetSeconds: Int, using random: inout some RandomNumberGenerator) {
    let hourCount = Self.dayCount * 24
    start = end - Int64(hourCount) * Self.hourMilliseconds
    let luck = (0...Self.dayCount).map { _ in Double.random(in: 0.55...1.6, using: &random) }
    let firstDay = CivilTime(milliseconds: start, offsetSeconds: offsetSeconds).dayNumber
    for hour in 0..<hourCount {
      let time = CivilTime(
        milliseconds: start + Int64(hour) * Self.hourMilliseconds, offsetSeconds: offsetSeconds)
      var weight = Self.dayRhythm[time.hour] * luck[time.dayNumber - firstDay]
      if time.weekday >= 6 { weight *= 1.35 }
      // If the demo is made at night, people talk nevertheless.
      if hour >= hourCount - 2 { weight = max(weight, 1) }
      saidBefore.append((saidBefore.last ?? 0) + weight)
    }
  }

  /// The moment, in milliseconds since 1970, by which a share of all messages, from 0 to 1, has
  /// been sent.
  func moment(ofShare share: Double) -> Int64 {
    let said = share * (saidBefore.last ?? 0)
    // The last hour before which no more than that was sent.
    let hour = max(0, saidBefore.dropLast().lowerBound { $0 <= said } - 1)
    let inHour = (said - saidBefore[hour]) / (saidBefore[hour + 1] - saidBefore[hour])
    return start + Int64(hour) * Self.hourMilliseconds
      + Int64((inHour * Double(Self.hourMilliseconds)).rounded(.down))
  }
}
