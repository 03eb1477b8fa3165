/// The rule for when waiting changes are told.
///
/// Times are in milliseconds of the clock that the stream is given.
public struct BatchingPolicy: Hashable, Sendable {
  /// The time without a change after which waiting changes are told; 0 tells every change at once.
  public var quietMilliseconds: Int64
  /// The longest time that a change waits, even if others follow steadily.
  public var waitMillisecondsMax: Int64
  /// The most touched rows that wait; if there are more, they are told at once.
  public var rowCountMax: Int

  /// Makes a policy; numbers that are too small count as the smallest that is possible.
  ///
  /// - Parameters:
  ///   - quietMilliseconds: 0 or more; `.max` for changes that wait until `flush`.
  ///   - waitMillisecondsMax: at least `quietMilliseconds`.
  ///   - rowCountMax: 0 or more.
  public init(quietMilliseconds: Int64, waitMillisecondsMax: Int64, rowCountMax: Int) {
    self.quietMilliseconds = max(quietMilliseconds, 0)
    self.waitMillisecondsMax = max(waitMillisecondsMax, self.quietMilliseconds)
    self.rowCountMax = max(rowCountMax, 0)
  }

  /// Tells every change at once.
  public static let synchronous = BatchingPolicy(
    quietMilliseconds: 0, waitMillisecondsMax: 0, rowCountMax: 0)

  /// Tells changes after 0.1 s without a change, after 0.5 s at most, and if more than 1000 rows
  /// wait.
  public static let standard = BatchingPolicy(
    quietMilliseconds: 100, waitMillisecondsMax: 500, rowCountMax: 1000)
}

/// Computes when waiting changes are to be told.
struct BatchingTimer {
  let policy: BatchingPolicy
  /// The time of the first waiting change; nil if there is none.
  private var first: Int64?
  /// The time at which the waiting changes are told; nil if there are none.
  private(set) var deadline: Int64?

  init(_ policy: BatchingPolicy) { self.policy = policy }

  /// Notes a change.
  ///
  /// - Parameters:
  ///   - now: the time of the change.
  ///   - rowCount: the number of rows that wait, including those of the change.
  mutating func note(now: Int64, rowCount: Int) {
    // If the clock was set back, nothing must wait longer for it.
    let start = min(first ?? now, now)
    first = start
    if policy.quietMilliseconds == 0 || rowCount > policy.rowCountMax {
      deadline = now
    } else {
      deadline = min(
        BatchingTimer.time(policy.quietMilliseconds, after: now),
        BatchingTimer.time(policy.waitMillisecondsMax, after: start))
    }
  }

  /// The time so many milliseconds after another one; the last of all times if it would be later.
  private static func time(_ milliseconds: Int64, after start: Int64) -> Int64 {
    let (time, isTooLate) = start.addingReportingOverflow(milliseconds)
    return isTooLate ? .max : time
  }

  /// True if the waiting changes are due.
  func isDue(now: Int64) -> Bool { deadline.map { $0 <= now } ?? false }

  /// Notes that the waiting changes were told.
  mutating func reset() { (first, deadline) = (nil, nil) }
}
