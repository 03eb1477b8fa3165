import Glibc

/// Ends the program when a signal asks for it while its thread waits for a server, and says first how far the work
/// has come.
struct InterruptionWatch {
  /// The pause between two looks for a signal.
  private static let pause = Duration.milliseconds(100)

  private let task: Task<Void, any Error>

  /// Starts to watch; `words` returns what is said before the program ends.
  init(_ interruption: Interruption, _ words: @escaping @Sendable () -> String) {
    task = Task {
      while true {
        if let signal = interruption.pending() {
          StandardError.clearLine()
          StandardError.say(words())
          Glibc.exit(ExitStatus.interrupted(by: signal).rawValue)
        }
        try await Task.sleep(for: InterruptionWatch.pause)
      }
    }
  }

  /// Ends the watch, when the work is done.
  func cancel() { task.cancel() }
}
