import CPlatform
import Glibc
import Synchronization

/// Work that waits for answers, done while the main thread waits; a signal ends the program as usual.
enum AsyncWork {
  /// Does work, and returns its result.
  ///
  /// - Throws: the error of the work, or `Failure` if the system refuses to wait.
  static func result<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let wake = runnel_eventfd_open()
    if wake < 0 { throw Failure.system("A wake-up cannot be made") }
    defer { close(wake) }
    let outcome = Outcome<Value>()
    Task {
      do {
        outcome.set(.success(try await work()))
      } catch {
        outcome.set(.failure(error))
      }
      _ = runnel_eventfd_signal(wake)
    }
    var answers: [UInt8] = [0]
    while true {
      if let result = outcome.result { return try result.get() }
      guard runnel_poll([wake], &answers, 1, -1) >= 0 || errno == EINTR else {
        throw Failure.system("Waiting failed")
      }
    }
  }

  /// The result of work, once there is one.
  private final class Outcome<Value: Sendable>: Sendable {
    private let state = Mutex<Result<Value, any Error>?>(nil)

    var result: Result<Value, any Error>? { state.withLock { $0 } }

    func set(_ result: Result<Value, any Error>) { state.withLock { $0 = result } }
  }
}
