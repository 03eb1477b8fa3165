import CPlatform
import Synchronization

/// Asynchronous work for which a thread waits.
enum Waiting {
  /// Runs asynchronous work while this thread waits.
  static func run(_ work: @escaping @Sendable () async throws -> Void) throws {
    let bell = runnel_eventfd_open()
    if bell < 0 { throw BenchmarkError("The work cannot be waited for.") }
    defer { runnel_close(bell) }
    let failure = Failed()
    Task {
      do { try await work() } catch { failure.text.withLock { $0 = "\(error)" } }
      _ = runnel_eventfd_signal(bell)
    }
    var answer: UInt8 = 0
    while runnel_poll([bell], &answer, 1, -1) == 0 {}
    if let text = failure.text.withLock({ $0 }) { throw BenchmarkError(text) }
  }

  private final class Failed: Sendable {
    let text = Mutex<String?>(nil)
  }
}
