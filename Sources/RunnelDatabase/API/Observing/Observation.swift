import Logging
import Foundation
import RunnelTree
import Synchronization

/// An observation of a query, from the call that begins it to the one that ends it.
///
/// Invariants:
/// - I1. Once `end` (not `endWithoutWaiting`) has returned, or the failure was told, nothing more is told, and no handler is
///   running, except a handler from within which `end` was called.
/// - I2. Handlers run one at a time.
///
/// Because of I1 a lock is held while a handler runs: a thread that ends the observation waits for
/// the handler. The lock is recursive, so that a handler may end its own observation.
final class Observation: Sendable {
  /// The receiver of the events.
  enum Sink: Sendable {
    /// A handler, event by event.
    case handler(@Sendable (DataEvent) -> Void)
    /// A buffer, which gets all events of one batch at once.
    case buffer(@Sendable ([DataEvent]) -> Void)
    /// A handler of the pending state.
    case pending(@Sendable (PendingState) -> Void)
    /// A stream, which gets all events of one batch and its number, and failures that do not end it.
    ///
    /// What is no write's, but the answer to a request of the stream, has no number.
    case stream(@Sendable ([TreeEvent], _ batch: Int?) -> Void)
    /// No receiver: the rows are only kept in memory.
    case nobody
  }

  let id: ListenerID
  let query: DatabaseQuery
  let sink: Sink
  private let onFailure: @Sendable (DatabaseError) -> Void
  private let gate = NSRecursiveLock()
  /// Written while the gate is held, except by `endWithoutWaiting`.
  private let hasEnded = Atomic(false)

  init(
    id: ListenerID, query: DatabaseQuery, sink: Sink,
    onFailure: @escaping @Sendable (DatabaseError) -> Void
  ) {
    self.id = id
    self.query = query
    self.sink = sink
    self.onFailure = onFailure
  }

  /// True once the observation has ended or failed.
  var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

  /// Ends the observation; returns false if it had ended before.
  func end() -> Bool {
    gate.lock()
    defer { gate.unlock() }
    return !hasEnded.exchange(true, ordering: .acquiringAndReleasing)
  }

  /// Ends the observation of a sequence without waiting for a handler; returns false if it had ended before.
  ///
  /// What is being told still gets to the sequence, which takes nothing any more. The system calls it with a lock held, which whoever gives an element to the sequence takes too.
  func endWithoutWaiting() -> Bool {
    !hasEnded.exchange(true, ordering: .acquiringAndReleasing)
  }

  /// Reports a failure, after which nothing more is told; does nothing if the observation has
  /// ended.
  func fail(_ error: DatabaseError) {
    gate.lock()
    defer { gate.unlock() }
    if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { onFailure(error) }
  }

  /// Writes a failure to the log, for an observation whose owner asked for no failures.
  static func log(_ error: DatabaseError, of query: Query) {
    // A program that closes its database knows it.
    let level: Logger.Level = error.code == .closed ? .debug : .error
    Logger(label: "runnel.observe").log(
      level: level,
      "The observer of \(query.path) is told nothing more: \(error) (`onFailure:` of `observe` handles this.)"
    )
  }

  /// Reports a failure after which more may follow; does nothing if the observation has ended.
  func warn(_ error: DatabaseError) { tell { onFailure(error) } }

  /// Runs `body`, which tells something, unless the observation has ended.
  func tell(_ body: () -> Void) {
    gate.lock()
    defer { gate.unlock() }
    if !isEnded { body() }
  }
}

extension ListenerID {
  /// True for the names of observations, which are the numbers below zero.
  var isObservation: Bool { rawValue < 0 }
}
