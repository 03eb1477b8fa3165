import Synchronization

/// What an example reported, in order.
final class EventLog: Sendable {
  private let state = Mutex<[String]>([])
  private let lines: AsyncStream<String>
  private let added: AsyncStream<String>.Continuation

  init() { (lines, added) = AsyncStream<String>.makeStream() }

  /// Everything so far.
  var texts: [String] { state.withLock { $0 } }

  func note(_ text: String) {
    state.withLock { $0.append(text) }
    added.yield(text)
  }

  /// Waits until a text was noted, from the first on.
  func wait(for text: String) async throws {
    for await line in lines where line == text { return }
    throw CancellationError()
  }
}
