/// The handle of one observation, which can end it.
///
/// Releasing a token does not end the observation: the handler is called until `cancel`, or until it
/// was told that the database is closed, which may be shortly after `close` has returned. For an observation that ends with a scope or a task, iterate over
/// `events` or `values`.
public final class ObservationToken: Sendable {
  private let observation: Observation

  init(_ observation: Observation) { self.observation = observation }

  /// Ends the observation; does nothing if it has ended.
  ///
  /// After this has returned, the handler is not called any more. If the handler is running on
  /// another thread, this waits for its end, so hold no lock that the handler needs. A handler may
  /// cancel its own token and every other one of its database. Handlers of two databases that
  /// cancel each other's tokens may deadlock.
  public func cancel() { observation.query.database.end(observation) }

  /// Ends the observation, without waiting for its handler, which only gives elements to a sequence.
  func cancelWithoutWaiting() { observation.query.database.endWithoutWaiting(observation) }

  /// True once the observation was cancelled or failed, or was told that the database is closed.
  public var isCancelled: Bool { observation.isEnded }
}
