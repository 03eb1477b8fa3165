import Foundation
import GRDB
import Synchronization

/// Waits for a file that another process holds.
///
/// SQLite's own wait sleeps longer and longer, up to 100 ms, so that a process may never find the
/// file free among several that write all the time. This wait tries again every few milliseconds,
/// at random intervals.
final class BusyWait: Sendable {
  /// The shortest and the longest sleep between two tries, in microseconds.
  private static let pause: ClosedRange<UInt32> = 500...3000

  private let timeout: Duration
  private let end = Mutex<ContinuousClock.Instant?>(nil)

  /// Makes a wait that gives up after a time.
  init(_ timeout: Duration) { self.timeout = timeout }

  /// The busy mode for a connection.
  var mode: GRDB.Database.BusyMode { .callback { self.goesOn(after: $0) } }

  /// Sleeps a little.
  ///
  /// - Parameter tries: the number of sleeps of this wait so far.
  /// - Returns: false if the wait has lasted too long.
  private func goesOn(after tries: Int) -> Bool {
    let now = ContinuousClock.now
    let end = self.end.withLock { end in
      if tries == 0 { end = now + timeout }
      return end ?? now
    }
    if now >= end { return false }
    usleep(UInt32.random(in: BusyWait.pause))
    return true
  }
}
