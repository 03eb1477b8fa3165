/// A rate limit per second: after a quiet time, more may be done at once.
///
/// An amount beyond the limit is a debt, which decreases with time.
package struct Allowance: Hashable, Sendable {
  /// The limit per second on average, and at once; nil for no limit.
  package let perSecond: Int?
  /// The amount spent and not paid off, in thousandths.
  private var debt: Int64 = 0
  /// The time of the last `spend`, in milliseconds on the monotonic clock.
  private var time: Int64 = 0

  /// Makes an allowance; nil for no limit.
  package init(perSecond: Int?) { self.perSecond = perSecond }

  /// Spends an amount, at a time in milliseconds.
  package mutating func spend(_ amount: Int, now: Int64) {
    guard let perSecond, perSecond > 0 else { return }
    let paid = max(0, now - time).multipliedReportingOverflow(by: Int64(perSecond))
    debt = paid.overflow ? 0 : max(0, debt - paid.partialValue)
    debt += Int64(amount) * 1000
    time = now
  }

  /// The time from which the debt is within the limit again, in milliseconds.
  package var readyTime: Int64 {
    guard let perSecond, perSecond > 0 else { return time }
    let beyond = debt - Int64(perSecond) * 1000
    return beyond <= 0 ? time : time + (beyond + Int64(perSecond) - 1) / Int64(perSecond)
  }
}
