import Synchronization

/// A gate at which requests wait until it is opened.
package final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var arrivedCount = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
    var watchers: [(count: Int, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  /// Makes a closed gate.
  package init() {}

  /// Waits until the gate is open.
  package func pass() async {
    await withCheckedContinuation { continuation in
      let (isOpen, watchers) = state.withLock { state in
        state.arrivedCount += 1
        if !state.isOpen { state.waiters.append(continuation) }
        let due = state.watchers.filter { $0.count <= state.arrivedCount }
        state.watchers.removeAll { $0.count <= state.arrivedCount }
        return (state.isOpen, due)
      }
      for watcher in watchers { watcher.1.resume() }
      if isOpen { continuation.resume() }
    }
  }

  /// Waits until so many have arrived.
  package func arrived(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.arrivedCount >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Lets all pass, from now on.
  package func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}
