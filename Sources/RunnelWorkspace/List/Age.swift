/// The age of a time as a text of at most four characters.
///
/// A text is valid for a while; `nextChange` tells until when, so that a screen is brought up to
/// date in time.
package enum Age {
  /// The steps of ages: from a number of seconds on, the age is counted in units of a number of
  /// seconds, with a sign.
  private static let steps: [(from: Int64, seconds: Int64, sign: String)] = [
    (365 * 86_400, 365 * 86_400, "y"), (14 * 86_400, 7 * 86_400, "w"), (86_400, 86_400, "d"),
    (3600, 3600, "h"), (60, 60, "m"), (nowSeconds, 1, "s"),
  ]
  /// The number of seconds up to which an age is "now".
  private static let nowSeconds: Int64 = 5

  /// The greatest count that three characters can show; a greater one is "long".
  private static let countMax: Int64 = 999
  /// The greatest count of a time to come, which has a sign before it; a greater one is "far".
  private static let comingCountMax: Int64 = 99

  /// Returns the age of a time at `now`: `now`, `12s`, `5m`, `3h`, `2d`, `8w`, `1y`; for a time to
  /// come `soon`, or `+5m`, `+3h`.
  ///
  /// Both are in milliseconds since 1970; any numbers are allowed.
  package static func text(of time: Int64, now: Int64) -> String {
    let (elapsed, isOverflow) = now.subtractingReportingOverflow(time)
    if isOverflow { return time < now ? "long" : "far" }
    if elapsed < 0 {
      guard let coming = coming(in: elapsed.magnitude) else { return "soon" }
      return coming.count > comingCountMax ? "far" : "+\(coming.count)\(coming.sign)"
    }
    let seconds = elapsed / 1000
    guard let step = steps.first(where: { seconds >= $0.from }) else { return "now" }
    let count = seconds / step.seconds
    return count > countMax ? "long" : "\(count)\(step.sign)"
  }

  /// Returns the time after `now` when the text changes, or nil if it does not change in the near
  /// future.
  static func nextChange(of time: Int64, now: Int64) -> Int64? {
    let (elapsed, isOverflow) = now.subtractingReportingOverflow(time)
    if isOverflow { return nil }
    if elapsed < 0 {
      // The text holds as long as at least so much is left.
      guard let coming = coming(in: elapsed.magnitude) else { return time }
      let left = coming.count > comingCountMax ? (comingCountMax + 1) * coming.seconds : coming.left
      return time - left * 1000 + 1
    }
    let (change, isFar) = time.addingReportingOverflow(secondsOfNextText(elapsed / 1000) * 1000)
    return isFar || change <= now ? nil : change
  }

  /// Returns the count and unit of a time to come in so many milliseconds, and the least number of
  /// seconds until then that has this text; nil for less than a minute.
  private static func coming(
    in milliseconds: UInt64
  ) -> (count: Int64, sign: String, seconds: Int64, left: Int64)? {
    let seconds = Int64(milliseconds / 1000)
    guard let step = steps.first(where: { seconds >= $0.from && $0.seconds >= 60 }) else {
      return nil
    }
    let count = seconds / step.seconds
    return (count, step.sign, step.seconds, max(count * step.seconds, step.from))
  }

  /// Returns the age in seconds at which the text of an age changes, or 0 if it does not.
  private static func secondsOfNextText(_ seconds: Int64) -> Int64 {
    guard let index = steps.firstIndex(where: { seconds >= $0.from }) else { return nowSeconds }
    let step = steps[index]
    let count = seconds / step.seconds
    if count > countMax { return 0 }
    let next = (count + 1) * step.seconds
    return index > 0 ? min(next, steps[index - 1].from) : next
  }
}
