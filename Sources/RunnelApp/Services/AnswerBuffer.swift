import RunnelBase
import RunnelServices
import Synchronization

/// The answers to calls that wait for the tree's thread, in their order: those that came meanwhile are taken
/// in one step, so that the disk is waited for only once.
final class AnswerBuffer: Sendable {
  /// The answer to a call of a connection.
  struct Answer: Sendable {
    var number: Int
    var result: Result<JSONValue, FeathersError>
    /// True if the call changed nothing.
    var isRead: Bool
    /// The number of the connection.
    var generation: Int

    /// False if the call ended by itself, such as at its time limit.
    var isFromServer: Bool {
      if case .failure(let error) = result { !error.isUnanswered } else { true }
    }
  }

  private let waiting = Mutex<[Answer]>([])

  /// Adds an answer; returns true if it is the first, so that somebody has to take them.
  func add(_ answer: Answer) -> Bool {
    waiting.withLock { waiting in
      waiting.append(answer)
      return waiting.count == 1
    }
  }

  /// Takes all answers.
  func take() -> [Answer] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
