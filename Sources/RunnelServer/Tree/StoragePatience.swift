import RunnelPostgres

/// How long a batch is done anew while its storage is out of reach.
///
/// Source: several servers, section 3, rule 6.
struct StoragePatience {
  private let end: ContinuousClock.Instant
  private var pause = RetryPause()

  init(_ duration: Duration) { end = .now + duration }

  /// Blocks the thread until the next attempt; false if there is to be none.
  mutating func wait() -> Bool {
    if ContinuousClock.now >= end { return false }
    pause.wait()
    return true
  }
}
