import RunnelDatabase

/// The one timer of a link, on the tree's thread.
struct LinkTimer {
  private let executor: TreeExecutor
  /// When it is due, in milliseconds on the monotonic clock; nil if it is not set.
  private var next: (time: Int64, subscription: TreeExecutor.Subscription)?

  /// Makes a timer that is not set.
  init(on executor: TreeExecutor) { self.executor = executor }

  /// Has `work` called at a time; nil stops the timer.
  ///
  /// A timer that is due earlier stays: `work` stops it and sets the next one. So a deadline that moves away
  /// with each message sets no timer each time.
  mutating func set(_ time: Int64?, now: Int64, _ work: @escaping @Sendable () -> Void) {
    guard let time else { return stop() }
    if let next, next.time <= time { return }
    stop()
    let delay = Int(clamping: max(1, time - now))
    next = (time, executor.repeating(everyMilliseconds: delay, work))
  }

  /// Stops the timer.
  mutating func stop() {
    next?.subscription.cancel()
    next = nil
  }
}
