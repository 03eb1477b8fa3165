/// How much somebody may do in a second: who did little for a while may do more at once.
///
/// What is done beyond it is a debt, which time pays off.
package struct Allowance: Hashable, Sendable {
  /// The most in a second on average, and at once; nil for any number.
  package let perSecond: Int?
  /// What was done and not paid off, in thousandths.
  private var debt: Int64 = 0
  /// When that was, on the clock that never goes back.
  private var time: Int64 = 0

  /// Makes an allowance of so much in a second; nil for any number.
  package init(perSecond: Int?) { self.perSecond = perSecond }

  /// Something is done, at a time in milliseconds.
  package mutating func spend(_ amount: Int, now: Int64) {
    guard let perSecond, perSecond > 0 else { return }
    let paid = max(0, now - time).multipliedReportingOverflow(by: Int64(perSecond))
    debt = paid.overflow ? 0 : max(0, debt - paid.partialValue)
    debt += Int64(amount) * 1000
    time = now
  }

  /// When nothing is owed beyond what may be done at once, in milliseconds.
  package var readyTime: Int64 {
    guard let perSecond, perSecond > 0 else { return time }
    let beyond = debt - Int64(perSecond) * 1000
    return beyond <= 0 ? time : time + (beyond + Int64(perSecond) - 1) / Int64(perSecond)
  }
}
