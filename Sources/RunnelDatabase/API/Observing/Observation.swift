import Foundation
import RunnelTree
import Synchronization

/// One who observes a query, from the call that began it to the one that ended it.
///
/// Invariants:
/// - I1. Once `end` returned, or the failure was told, nothing more is told, and no handler runs any
///   more, except the one from within which `end` was called.
/// - I2. Handlers run one at a time.
///
/// I1 is why a lock is held while a handler runs: whoever ends the observation on another thread waits
/// for the handler. The lock is recursive, so that a handler may end its own observation.
final class Observation: Sendable {
  /// Who is told.
  enum Sink: Sendable {
    /// A handler, event by event.
    case handler(@Sendable (DataEvent) -> Void)
    /// A buffer, with all the events of one batch at once.
    case buffer(@Sendable ([DataEvent]) -> Void)
    /// A handler of what waits for the origin.
    case pending(@Sendable (PendingState) -> Void)
    /// A stream, with what the tree tells of one batch, and with failures that do not end it.
    case stream(@Sendable ([TreeEvent]) -> Void)
    /// Nobody: the rows are only kept.
    case nobody
  }

  let id: ListenerID
  let query: DatabaseQuery
  let sink: Sink
  private let onFailure: @Sendable (DatabaseError) -> Void
  private let gate = NSRecursiveLock()
  /// Written with the gate held.
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

  /// True once it ended or failed.
  var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

  /// Ends it; false if it had ended before.
  func end() -> Bool {
    gate.lock()
    defer { gate.unlock() }
    return !hasEnded.exchange(true, ordering: .acquiringAndReleasing)
  }

  /// Tells the failure, as the last thing that is told; nothing happens if it ended before.
  func fail(_ error: DatabaseError) {
    gate.lock()
    defer { gate.unlock() }
    if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { onFailure(error) }
  }

  /// Tells a failure after which more may be told; nothing happens if it ended before.
  func warn(_ error: DatabaseError) { tell { onFailure(error) } }

  /// Runs `body`, which tells something, unless it ended before.
  func tell(_ body: () -> Void) {
    gate.lock()
    defer { gate.unlock() }
    if !isEnded { body() }
  }
}

extension ListenerID {
  /// True for the names that observations have: the numbers below zero.
  var isObservation: Bool { rawValue < 0 }
}
