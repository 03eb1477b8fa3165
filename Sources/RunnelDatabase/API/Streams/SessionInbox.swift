import Synchronization

/// The messages that wait for the streams of a session: posted by any thread, taken by the
/// session's owner.
///
/// Messages wait in batches: those that come from one write are one. The number of batches is limited;
/// one too many ends the inbox: the owner takes the waiting messages, and then gets an error.
///
/// Answers to what the owner asked for, such as the first rows of a stream, join the newest batch and
/// are not counted: there are no more of them than there were requests.
final class SessionInbox<Message: Sendable>: Sendable {
  /// The way in which the inbox ended.
  private enum End {
    case finished
    case failed(DatabaseError)
  }

  private struct Batch {
    /// The number that names the write; nil if there are only answers so far.
    var number: Int?
    var messages: [Message]
  }

  private struct State {
    var batches: [Batch] = []
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

  /// Adds a message; one batch too many ends the inbox.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - batch: the number of its batch, whose messages come one after the other; nil for an answer
  ///     to a request of the owner.
  func post(_ message: Message, of batch: Int? = nil) {
    untaken?.noteWaiting()
    change { state in
      if state.end != nil { return }
      let newest = state.batches.indices.last
      if let newest, batch == nil || [nil, batch].contains(state.batches[newest].number) {
        state.batches[newest].messages.append(message)
        if batch != nil { state.batches[newest].number = batch }
      } else if state.batches.count < countMax {
        state.batches.append(Batch(number: batch, messages: [message]))
      } else {
        state.end = .failed(overflow)
      }
    }
  }

  /// Adds a message, unless there is no room for it.
  func postIfRoom(_ message: Message) {
    change { state in
      if state.end == nil, state.batches.count < countMax {
        state.batches.append(Batch(messages: [message]))
      }
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

  /// Takes all waiting batches.
  ///
  /// - Throws: `DatabaseError` once no message waits any more: `overflow` if there was one batch
  ///   too many, or the reason given to `fail`.
  func takeAll() throws(DatabaseError) -> [[Message]] {
    untaken?.noteTaken()
    let (batches, end) = state.withLock { state in
      defer { state.batches = [] }
      return (state.batches.map(\.messages), state.end)
    }
    if batches.isEmpty, case .failed(let error)? = end { throw error }
    return batches
  }

  /// True while a caller waits for a batch.
  var isWaitedFor: Bool { state.withLock { $0.isWaitedFor } }

  /// Takes the oldest batch, and waits for one if there is none.
  ///
  /// What comes of the same write afterwards is a batch of its own.
  ///
  /// - Returns: the batch; nil after the end, or once the task was cancelled.
  /// - Throws: `DatabaseError` (`refused`) if another caller waits, and as `takeAll`.
  func next(isolation: isolated (any Actor)?) async throws(DatabaseError) -> [Message]? {
    untaken?.noteTaken()
    guard state.withLock({ !$0.isWaitedFor }) else {
      throw DatabaseError(
        .refused,
        "Another `run` or `receive` waits for the events of this session: one caller at a time may. "
          + "Beside it, `waitUntil` may wait for a condition.")
    }
    state.withLock { $0.isWaitedFor = true }
    defer { state.withLock { $0.isWaitedFor = false } }
    while true {
      if Task.isCancelled { return nil }
      let (batch, end) = state.withLock { state in
        (state.batches.isEmpty ? nil : state.batches.removeFirst().messages, state.end)
      }
      if let batch { return batch }
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
          if !state.batches.isEmpty || state.end != nil || Task.isCancelled { return true }
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
