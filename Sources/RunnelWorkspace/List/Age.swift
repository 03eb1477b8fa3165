/// How long ago something was, in at most four characters.
///
/// A text holds for a while; `nextChange` tells how long, so that a screen that nobody touches does
/// not lie.
package enum Age {
  /// From so many seconds on, an age is told in steps of so many seconds, with this sign.
  private static let steps: [(from: Int64, seconds: Int64, sign: String)] = [
    (365 * 86_400, 365 * 86_400, "y"), (14 * 86_400, 7 * 86_400, "w"), (86_400, 86_400, "d"),
    (3600, 3600, "h"), (60, 60, "m"), (nowSeconds, 1, "s"),
  ]
  /// Up to so many seconds is "now".
  private static let nowSeconds: Int64 = 5

  /// The most that three characters tell; what is longer ago is "long".
  private static let countMax: Int64 = 999

  /// How long before `now` a time is: `now`, `12s`, `5m`, `3h`, `2d`, `8w`, `1y`.
  ///
  /// Both are milliseconds since 1970; any numbers may be given.
  package static func text(of time: Int64, now: Int64) -> String {
    let (elapsed, isOverflow) = now.subtractingReportingOverflow(time)
    if isOverflow { return time < now ? "long" : "soon" }
    if elapsed < 0 { return "soon" }
    let seconds = elapsed / 1000
    guard let step = steps.first(where: { seconds >= $0.from }) else { return "now" }
    let count = seconds / step.seconds
    return count > countMax ? "long" : "\(count)\(step.sign)"
  }

  /// When the text becomes another one: later than `now`; nil if it does not in any near time.
  static func nextChange(of time: Int64, now: Int64) -> Int64? {
    let (elapsed, isOverflow) = now.subtractingReportingOverflow(time)
    if isOverflow { return nil }
    if elapsed < 0 { return time }
    let (change, isFar) = time.addingReportingOverflow(secondsOfNextText(elapsed / 1000) * 1000)
    return isFar || change <= now ? nil : change
  }

  /// The age in seconds at which the text of an age becomes another one; 0 if it does not.
  private static func secondsOfNextText(_ seconds: Int64) -> Int64 {
    guard let index = steps.firstIndex(where: { seconds >= $0.from }) else { return nowSeconds }
    let step = steps[index]
    let count = seconds / step.seconds
    if count > countMax { return 0 }
    let next = (count + 1) * step.seconds
    return index > 0 ? min(next, steps[index - 1].from) : next
  }
}
