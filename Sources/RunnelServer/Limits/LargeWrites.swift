import Synchronization

/// The number of writes with large bodies in memory, which take several times as much while they are done.
final class LargeWrites: Sendable {
  private let max: Int
  private let count = Mutex(0)

  init(max: Int) { self.max = max }

  /// Counts a write; false if there are too many.
  func enter() -> Bool {
    count.withLock { count in
      if count >= max { return false }
      count += 1
      return true
    }
  }

  /// Stops counting a write.
  func leave() { count.withLock { $0 -= 1 } }
}
