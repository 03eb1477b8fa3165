import RunnelBase
import RunnelServer
import Synchronization

/// The messages that a server logged.
final class KeptLog: Sendable {
  private let kept = Mutex<[String]>([])

  /// Runs `body` with servers that log here, without anything that they still log afterwards.
  func during<Result>(_ body: () async throws -> Result) async throws -> Result {
    let lines = try LogLines { line in
      self.kept.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    }
    defer { lines.flush() }
    return try await TestServer.$log.withValue(lines) { try await body() }
  }

  /// The messages so far, or all of them once `during` has returned.
  var messages: [String] {
    kept.withLock(\.self).compactMap { (try? JSONValue(parsing: $0))?["message"]?.string }
  }
}
