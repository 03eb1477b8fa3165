import Synchronization

/// The messages that wait for the streams of a session: posted by any thread, taken by the
/// session's owner.
///
/// The number of messages is limited. One message too many ends the inbox: the owner takes the
/// waiting messages, and then gets an error.
final class SessionInbox<Message: Sendable>: Sendable {
  /// The way in which the inbox ended.
  private enum End {
    case finished
    case failed(DatabaseError)
  }

  private struct State {
    var messages: [Message] = []
    var end: End?
    /// The owner that waits for a message.
    var waiter: CheckedContinuation<Void, Never>?
    var isWaitedFor = false
  }

  private let state = Mutex(State())
  private let countMax: Int
  private let overflow: DatabaseError
  /// The watch for a session whose messages are never taken; nil for none.
  private let untaken: UntakenEvents?

  init(countMax: Int, overflow: DatabaseError, untaken: UntakenEvents? = nil) {
    (self.countMax, self.overflow, self.untaken) = (countMax, overflow, untaken)
  }

  // MARK: Posting

  /// Adds a message; one message too many ends the inbox.
  func post(_ message: Message) {
    untaken?.noteWaiting()
    change { state in
      if state.end != nil { return }
      if state.messages.count < countMax {
        state.messages.append(message)
      } else {
        state.end = .failed(overflow)
      }
    }
  }

  /// Adds a message, unless there is no room for it.
  func postIfRoom(_ message: Message) {
    change { state in
      if state.end == nil, state.messages.count < countMax { state.messages.append(message) }
    }
  }

  /// Ends the inbox; waiting messages can still be taken.
  func finish() {
    untaken?.noteTaken()
    change { if $0.end == nil { $0.end = .finished } }
  }

  /// Ends the inbox for a reason, which is thrown once the waiting messages were taken.
  func fail(_ error: DatabaseError) {
    untaken?.noteTaken()
    change { if $0.end == nil { $0.end = .failed(error) } }
  }

  private func change(_ body: (inout sending State) -> Void) {
    let waiter = state.withLock { state in
      body(&state)
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  // MARK: Taking

  /// Takes all waiting messages.
  ///
  /// - Throws: `DatabaseError` once no message waits any more: `overflow` if there was one message
  ///   too many, or the reason given to `fail`.
  func takeAll() throws(DatabaseError) -> [Message] {
    untaken?.noteTaken()
    let (messages, end) = state.withLock { state in
      defer { state.messages = [] }
      return (state.messages, state.end)
    }
    if messages.isEmpty, case .failed(let error)? = end { throw error }
    return messages
  }

  /// Takes the oldest message, and waits for one if there is none.
  ///
  /// - Returns: the message; nil after the end, or once the task was cancelled.
  /// - Throws: `DatabaseError` (`refused`) if another caller waits, and as `takeAll`.
  func next(isolation: isolated (any Actor)?) async throws(DatabaseError) -> Message? {
    untaken?.noteTaken()
    guard state.withLock({ !$0.isWaitedFor }) else {
      throw DatabaseError(
        .refused,
        "Another `run` or `receive` waits for the events of this session: one caller at a time may. "
          + "Make a session for each.")
    }
    state.withLock { $0.isWaitedFor = true }
    defer { state.withLock { $0.isWaitedFor = false } }
    while true {
      if Task.isCancelled { return nil }
      let (message, end) = state.withLock { state in
        (state.messages.isEmpty ? nil : state.messages.removeFirst(), state.end)
      }
      if let message { return message }
      switch end {
      case .failed(let error)?: throw error
      case .finished?: return nil
      case nil: await wait(isolation: isolation)
      }
    }
  }

  /// Waits until something was posted, the inbox ended, or the task was cancelled.
  private func wait(isolation: isolated (any Actor)?) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        let isDue = state.withLock { state in
          // A message may have come, or the task may have been cancelled, before the owner waited.
          if !state.messages.isEmpty || state.end != nil || Task.isCancelled { return true }
          state.waiter = continuation
          return false
        }
        if isDue { continuation.resume() }
      }
    } onCancel: {
      change { _ in }
    }
  }
}
