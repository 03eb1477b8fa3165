package import RunnelAccounts
import Synchronization

/// A clock that moves only when a test moves it.
package final class ManualClock: Sendable {
  private struct Sleeper {
    var time: Int64
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now: Int64 = 1_750_000_000_000
    var lastSleeper = 0
    var sleepers: [Int: Sleeper] = [:]
  }

  private let state = Mutex(State())

  /// Makes a clock.
  package init() {}

  /// The time in milliseconds since 1970.
  package var now: Int64 { state.withLock { $0.now } }

  /// The clock for a session.
  package var clock: AccountClock {
    AccountClock(now: { self.now }, sleep: { try await self.sleep($0) })
  }

  private func sleep(_ milliseconds: Int64) async throws {
    let number = state.withLock { state in
      state.lastSleeper += 1
      return state.lastSleeper
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<Void, any Error>? = state.withLock { state in
          if Task.isCancelled { return .failure(CancellationError()) }
          if milliseconds <= 0 { return .success(()) }
          state.sleepers[number] = Sleeper(
            time: state.now + milliseconds, continuation: continuation)
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Moves the time, and wakes who waited for it, in the order of their times.
  package func advance(_ milliseconds: Int64) {
    let due = state.withLock { state in
      state.now += milliseconds
      let due = state.sleepers.filter { $0.value.time <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.sorted { $0.time < $1.time }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }
}
