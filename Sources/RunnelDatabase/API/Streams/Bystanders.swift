import Synchronization

/// Those who wait beside the one that takes the events of a session, until it has passed some on.
///
/// They belong to one isolation, like the session; only the cancellation of a task comes from elsewhere.
final class Bystanders: Sendable {
  private struct State {
    var last = 0
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  /// Waits until `wake`, or until the task is cancelled.
  func wait(isolation: isolated (any Actor)?) async {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        let isCancelled = state.withLock { state in
          if Task.isCancelled { return true }
          state.waiting[number] = continuation
          return false
        }
        if isCancelled { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
  }

  /// Wakes all, in the order in which they came.
  func wake() {
    let woken = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting.sorted { $0.key < $1.key }.map(\.value)
    }
    for continuation in woken { continuation.resume() }
  }
}
