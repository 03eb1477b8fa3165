import Glibc
import RunnelNetwork

/// The time of a session.
public struct AccountClock: Sendable {
  /// Returns the time in milliseconds since 1970.
  public var now: @Sendable () -> Int64
  /// Waits for some milliseconds; throws when the task is cancelled.
  public var sleep: @Sendable (Int64) async throws -> Void

  /// Makes a clock of two functions.
  public init(
    now: @escaping @Sendable () -> Int64, sleep: @escaping @Sendable (Int64) async throws -> Void
  ) {
    (self.now, self.sleep) = (now, sleep)
  }

  /// The clock of the machine.
  public static var system: AccountClock {
    AccountClock(
      now: {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
      },
      sleep: { try await NetworkTasks.sleep(milliseconds: $0) })
  }
}
