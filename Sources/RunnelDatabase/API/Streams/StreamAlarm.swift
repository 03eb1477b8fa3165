/// The clock of a session: it tells the time, and rings at the earliest time for which it was set.
///
/// It is used by the owner of the session only; `ring` is called from any thread.
final class StreamAlarm {
  /// The latest time at which it rings, a century from its start: clocks need not know later ones.
  private static let timeMax: Int64 = 36_525 * 86_400_000

  /// The time in milliseconds since the alarm was made.
  let now: @Sendable () -> Int64

  private let sleep: @Sendable (Int64) async throws -> Void
  private let ring: @Sendable () -> Void
  /// The time at which it rings; nil if it is not set.
  private var time: Int64?
  private var task: Task<Void, Never>?

  init<C: Clock<Duration>>(_ clock: C, ring: @escaping @Sendable () -> Void) {
    let start = clock.now
    now = { start.duration(to: clock.now).wholeMilliseconds }
    sleep = { try await clock.sleep(until: start.advanced(by: .milliseconds($0)), tolerance: nil) }
    self.ring = ring
  }

  /// Sets the alarm for a time, unless it already rings earlier.
  func set(for time: Int64) {
    if let set = self.time, set <= time { return }
    task?.cancel()
    self.time = time
    task = Task { [sleep, ring] in
      // Only cancellation ends the sleep early; another task has then taken over.
      guard (try? await sleep(min(time, StreamAlarm.timeMax))) != nil else { return }
      ring()
    }
  }

  /// Notes the present time; an alarm that was set for this time or earlier must be set again.
  func noteTime(_ now: Int64) {
    if let set = time, set <= now { (time, task) = (nil, nil) }
  }

  /// The time that is so much later, rounded up; the last of all times if it would be later.
  func time(after limit: Duration) -> Int64 {
    let (time, isTooLate) = now().addingReportingOverflow(max(0, limit.wholeMilliseconds) + 1)
    return isTooLate ? .max : time
  }

  /// Stops the alarm for good.
  func end() { task?.cancel() }
}

extension Duration {
  /// The milliseconds, rounded down.
  fileprivate var wholeMilliseconds: Int64 {
    let seconds = min(max(components.seconds, -Int64.max / 2000), Int64.max / 2000)
    return seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
