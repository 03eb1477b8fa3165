import RunnelNetwork
import Synchronization

/// How old the accounts of a store may be here, as far as this server knows.
///
/// Who was removed may have been removed on another server, or on a primary that took over. So what depends
/// on the accounts counts only while they were read lately, and the primary confirms the lease of this server.
///
/// Any thread may use it.
final class AccountCurrency: Sendable {
  /// The time after which what was read may be old, in milliseconds: two seconds, and the time between two looks.
  static let patience: Int64 = 2250

  /// When the newest complete reading began.
  private let readTime: Atomic<Int64>
  private let isConfirmed: @Sendable () -> Bool
  private let now: @Sendable () -> Int64

  /// Begins with accounts that are read now.
  ///
  /// - Parameters:
  ///   - isConfirmed: whether the primary confirms that this server may serve.
  ///   - now: tells the time of a clock that is never set, in milliseconds.
  init(
    isConfirmed: @escaping @Sendable () -> Bool,
    now: @escaping @Sendable () -> Int64 = { NetworkClock.uptimeMilliseconds }
  ) {
    (self.isConfirmed, self.now) = (isConfirmed, now)
    readTime = Atomic(now())
  }

  /// The present time of its clock.
  var time: Int64 { now() }

  /// True if what is known of the accounts may be relied on.
  var isCurrent: Bool { isFresh && isConfirmed() }

  /// True if the accounts were read lately.
  var isFresh: Bool { now() - readTime.load(ordering: .relaxed) <= AccountCurrency.patience }

  /// Notes that all that was written before `start` is known.
  func confirm(since start: Int64) { readTime.store(start, ordering: .relaxed) }
}
