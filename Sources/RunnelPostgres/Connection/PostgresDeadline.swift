import Synchronization

/// The time from which on a program that ends waits for its database no more.
///
/// After it, an answer has a second to come. Once one has not come, nothing is waited for any more: a
/// database that is out of reach must not hold up the end for each thing that is still to be done there.
///
/// Any thread may use it.
package final class PostgresDeadline: Sendable {
  /// What each wait gets after that time.
  private static let grace = Duration.seconds(1)

  private struct State {
    var time: ContinuousClock.Instant?
    var isInVain = false
  }

  private let state = Mutex(State())

  /// Makes one that is not set.
  package init() {}

  /// Sets the time, once.
  package func set(_ time: ContinuousClock.Instant) {
    state.withLock { $0.time = $0.time ?? time }
  }

  /// True from that time on: nothing is done anew.
  package var isOver: Bool { state.withLock { $0.time.map { $0 <= .now } ?? false } }

  /// True once something was waited for in vain.
  var isInVain: Bool { state.withLock { $0.isInVain } }

  /// True if a wait that began at `start` is to end, without an answer.
  func ends(waitSince start: ContinuousClock.Instant) -> Bool {
    state.withLock { state in
      if state.isInVain { return true }
      guard let time = state.time else { return false }
      state.isInVain = ContinuousClock.now >= max(time, start + PostgresDeadline.grace)
      return state.isInVain
    }
  }
}
