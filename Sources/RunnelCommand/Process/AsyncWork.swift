import CPlatform
import Glibc
import Synchronization

/// Asynchronous work in a command, whose thread waits for it.
enum AsyncWork {
  private final class Ending<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
  }

  /// Runs asynchronous work while this thread waits for its end.
  ///
  /// - Throws: what the work throws, or `Failure` if the system does not allow the wait.
  static func wait<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let bell = runnel_eventfd_open()
    if bell < 0 { throw Failure.system("The work cannot be waited for") }
    defer { runnel_close(bell) }
    let ending = Ending<Value>()
    Task {
      do {
        let value = try await body()
        ending.result.withLock { $0 = .success(value) }
      } catch {
        ending.result.withLock { $0 = .failure(error) }
      }
      _ = runnel_eventfd_signal(bell)
    }
    var answer: UInt8 = 0
    while true {
      if let result = ending.result.withLock(\.self) { return try result.get() }
      guard runnel_poll([bell], &answer, 1, -1) >= 0 || errno == EINTR else {
        throw Failure.system("Waiting failed")
      }
    }
  }
}
