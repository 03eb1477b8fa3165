/// What ends one observation, and no other.
///
/// Letting go of a token ends nothing: a handler goes on being called until `cancel`, or until the
/// database is closed. For an observation that ends with a scope or a task, iterate over `events` or
/// `values`.
public final class ObservationToken: Sendable {
  private let observation: Observation

  init(_ observation: Observation) { self.observation = observation }

  /// Ends the observation; nothing happens if it ended before.
  ///
  /// Once this returned, the handler is not called any more. If it is running on another thread, this
  /// waits until it returned, so call this with no lock held that the handler needs. A handler may
  /// cancel its own token and every other of its database; handlers of two databases that cancel each
  /// other's may wait for each other.
  public func cancel() { observation.query.database.end(observation) }

  /// True once the observation was cancelled or failed, or the database was closed.
  public var isCancelled: Bool { observation.isEnded }
}
