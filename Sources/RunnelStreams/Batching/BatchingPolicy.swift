/// When changes that were held back are told.
///
/// Times are milliseconds of whatever clock the stream is given.
public struct BatchingPolicy: Hashable, Sendable {
  /// How long nothing may have changed before what waits is told; 0 to tell every change at once.
  public var quietMilliseconds: Int64
  /// How long a change waits at most, however steadily others follow.
  public var waitMillisecondsMax: Int64
  /// How many touched rows wait at most; one more, and they are told at once.
  public var rowCountMax: Int

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - quietMilliseconds: 0 or more.
  ///   - waitMillisecondsMax: at least `quietMilliseconds`.
  ///   - rowCountMax: 0 or more.
  public init(quietMilliseconds: Int64, waitMillisecondsMax: Int64, rowCountMax: Int) {
    precondition(
      0 <= quietMilliseconds && quietMilliseconds <= waitMillisecondsMax && rowCountMax >= 0,
      "A change waits for a time that is not negative, and no shorter than the quiet.")
    self.quietMilliseconds = quietMilliseconds
    self.waitMillisecondsMax = waitMillisecondsMax
    self.rowCountMax = rowCountMax
  }

  /// Tells every change at once.
  public static let synchronous = BatchingPolicy(
    quietMilliseconds: 0, waitMillisecondsMax: 0, rowCountMax: 0)

  /// A tenth of a second of quiet, at most half a second, and no more than 1000 rows.
  public static let standard = BatchingPolicy(
    quietMilliseconds: 100, waitMillisecondsMax: 500, rowCountMax: 1000)
}

/// When what waits is to be told: the policy applied to the changes that came.
struct BatchingTimer {
  let policy: BatchingPolicy
  /// When the first of the changes that wait came; nil if none does.
  private var first: Int64?
  /// When what waits is to be told; nil if nothing does.
  private(set) var deadline: Int64?

  init(_ policy: BatchingPolicy) { self.policy = policy }

  /// A change came.
  ///
  /// - Parameters:
  ///   - now: when.
  ///   - rowCount: how many rows wait with it.
  mutating func note(now: Int64, rowCount: Int) {
    // A clock that was set back must not make anything wait for it.
    let start = min(first ?? now, now)
    first = start
    if policy.quietMilliseconds == 0 || rowCount > policy.rowCountMax {
      deadline = now
    } else {
      deadline = min(now + policy.quietMilliseconds, start + policy.waitMillisecondsMax)
    }
  }

  /// True if what waits is to be told now.
  func isDue(now: Int64) -> Bool { deadline.map { $0 <= now } ?? false }

  /// What waited was told.
  mutating func reset() { (first, deadline) = (nil, nil) }
}
