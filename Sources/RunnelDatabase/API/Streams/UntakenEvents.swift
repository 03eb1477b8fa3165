import Logging
import Synchronization

/// Watches whether anybody begins to take the events of a session.
///
/// A program that makes streams and forgets `run` sees empty lists and no error. This tells it.
final class UntakenEvents: Sendable {
  /// How long the first events wait before that is told.
  static let patience = Duration.seconds(2)

  private enum State {
    /// No events came.
    case idle
    /// Events came, and nobody has taken any.
    case waiting(Task<Void, Never>)
    /// Somebody has begun to take them.
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
          + "`run()`, `receive()` or `drain()` where the session was made, or its lists stay empty."
      )
    }
  }

  /// Writes a warning to the log in a debug build, and is nil in a release build.
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
          // Only cancellation ends the sleep early: somebody has taken the events, or nobody can.
          guard (try? await sleep()) != nil, !Task.isCancelled else { return }
          report()
        })
    }
  }

  /// Notes that somebody takes events, or nobody will any more.
  func noteTaken() {
    state.withLock { state in
      if case .waiting(let task) = state { task.cancel() }
      state = .taken
    }
  }
}
