/// The timer of a machine that has a deadline at the most.
///
/// Who owns it touches it on one executor only, and cancels it before it goes away.
package struct DeadlineTimer {
  private let clock: AccountClock
  private var running: (time: Int64, task: Task<Void, Never>)?

  /// Makes a timer without a deadline.
  package init(_ clock: AccountClock) { self.clock = clock }

  /// Waits for a deadline in milliseconds since 1970, and no longer for the one before; nil waits for
  /// none.
  ///
  /// - Parameters:
  ///   - deadline: the time to wait for.
  ///   - tell: is called with the time when it has come, unless another deadline was set meanwhile; ask
  ///     `take` before acting, because the two may meet.
  package mutating func set(
    _ deadline: Int64?, tell: @escaping @Sendable (Int64) async -> Void
  ) {
    guard let deadline else { return cancel() }
    if running?.time == deadline { return }
    running?.task.cancel()
    let task = Task { [clock] in
      do { try await clock.sleep(max(0, deadline - clock.now())) } catch { return }
      await tell(deadline)
    }
    running = (deadline, task)
  }

  /// Waits for nothing any more.
  package mutating func cancel() {
    running?.task.cancel()
    running = nil
  }

  /// Ends the wait for a time that was told; false if another deadline has taken its place.
  package mutating func take(_ time: Int64) -> Bool {
    guard running?.time == time else { return false }
    running = nil
    return true
  }
}
