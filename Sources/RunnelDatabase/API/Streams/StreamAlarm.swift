/// The clock of a session: it tells the time, and rings at the earliest time it was set for.
///
/// Used by the owner of the session only; `ring` is called from any thread.
final class StreamAlarm {
  /// The time in milliseconds since the alarm was made.
  let now: @Sendable () -> Int64

  private let sleep: @Sendable (Int64) async throws -> Void
  private let ring: @Sendable () -> Void
  /// When it rings; nil if it is not set.
  private var time: Int64?
  private var task: Task<Void, Never>?

  init<C: Clock<Duration>>(_ clock: C, ring: @escaping @Sendable () -> Void) {
    let start = clock.now
    now = { start.duration(to: clock.now).wholeMilliseconds }
    sleep = { try await clock.sleep(until: start.advanced(by: .milliseconds($0)), tolerance: nil) }
    self.ring = ring
  }

  /// Rings at a time, if it would not ring earlier.
  func set(for time: Int64) {
    if let set = self.time, set <= time { return }
    task?.cancel()
    self.time = time
    task = Task { [sleep, ring] in
      // Only cancellation ends the sleep early; another task has then taken over.
      guard (try? await sleep(time)) != nil else { return }
      ring()
    }
  }

  /// Notes the present time; if it rang until then, or is about to, it must be set again.
  func noteTime(_ now: Int64) {
    if let set = time, set <= now { (time, task) = (nil, nil) }
  }

  /// Rings no more.
  func end() { task?.cancel() }
}

extension Duration {
  /// The milliseconds, rounded down.
  fileprivate var wholeMilliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
