import Synchronization

/// The turn of one of several calls whose order is kept: the next one begins when it is over.
///
/// Each call is a task of its own, and tasks begin in any order.
final class CallTurn: Sendable {
  private struct State {
    var isOver = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// Ends the turn, if it is not over.
  func end() {
    let waiting = state.withLock { state in
      defer { (state.isOver, state.waiting) = (true, nil) }
      return state.waiting
    }
    waiting?.resume()
  }

  /// Waits until the turn is over; one call may wait for it.
  func wait() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.isOver { state.waiting = continuation }
        return state.isOver
      }
      if isOver { continuation.resume() }
    }
  }
}
