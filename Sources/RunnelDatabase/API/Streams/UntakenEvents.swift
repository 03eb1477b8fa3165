import Logging
import Synchronization

/// Warns if the events of a session are never taken.
///
/// A program that makes streams and forgets `run` sees empty lists and no error; the warning says
/// why.
final class UntakenEvents: Sendable {
  /// The time between the first event and the warning.
  static let patience = Duration.seconds(2)

  private enum State {
    /// No events have come.
    case idle
    /// Events wait, and none has been taken.
    case waiting(Task<Void, Never>)
    /// The session takes events, or has ended.
    case taken
  }

  private let state = Mutex(State.idle)
  private let sleep: @Sendable () async throws -> Void
  private let report: @Sendable () -> Void

  init(
    _ clock: some Clock<Duration>, file: String, report: @escaping @Sendable (String) -> Void
  ) {
    sleep = { try await clock.sleep(for: UntakenEvents.patience) }
    self.report = {
      report(
        "Events of \(file) wait for the streams of a StreamSession, and nobody takes them: call "
          + "`run()`, `waitUntil`, `receive()` or `drain()` where the session was made, or its lists "
          + "stay empty."
      )
    }
  }

  /// The function that writes the warning to the log, in a debug build; nil in a release build.
  static var reporter: (@Sendable (String) -> Void)? {
    #if DEBUG
    return { text in Logger(label: "runnel.streams").warning("\(text)") }
    #else
    return nil
    #endif
  }

  /// Notes that events wait.
  func noteWaiting() {
    state.withLock { state in
      guard case .idle = state else { return }
      state = .waiting(
        Task { [sleep, report] in
          // Only cancellation ends the sleep early: events were taken, or the session has ended.
          guard (try? await sleep()) != nil, !Task.isCancelled else { return }
          report()
        })
    }
  }

  /// Notes that events are taken, or that the session has ended.
  func noteTaken() {
    state.withLock { state in
      if case .waiting(let task) = state { task.cancel() }
      state = .taken
    }
  }
}
