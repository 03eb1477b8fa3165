import CPlatform
import Synchronization

/// Gives memory back to the system that was needed for a while, as for clients that read slowly or for
/// large reads; the allocator keeps most of what is freed.
///
/// It is used on one thread.
final class MemoryCare: Sendable {
  static let lookMilliseconds = 10_000

  private let plan = Mutex(TrimPlan())

  /// Gives back what was spare at the last look and is spare now, if it is much.
  func look() {
    let isDue = plan.withLock { $0.isDue(spareBytes: Int(runnel_memory_spare())) }
    if isDue { runnel_memory_trim() }
  }
}

/// Decides when memory is given back: not so often that what is needed again is given away.
///
/// The allocator counts as spare also what it gave back, until it is used again. So only what became
/// spare since then counts.
struct TrimPlan {
  /// The spare bytes from which on they are given back.
  static let spareBytesMax = 67_108_864

  /// The least spare bytes since memory was given back.
  private var floor = 0
  private var last = 0

  /// Takes the spare bytes of the allocator; returns whether they are to be given back.
  mutating func isDue(spareBytes: Int) -> Bool {
    defer { last = spareBytes }
    floor = min(floor, spareBytes)
    guard min(spareBytes, last) - floor > TrimPlan.spareBytesMax else { return false }
    floor = spareBytes
    return true
  }
}
