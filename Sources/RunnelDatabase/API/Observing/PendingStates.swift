public import RunnelTree

/// What waits for the origin of a replica at a place, again and again as it changes.
///
/// The first state is the first in which something is pending. If states come faster than they are taken,
/// those between are left out: the newest is given. Each iterator observes by itself, and ends as those
/// of `DataEvents` do.
public struct PendingStates: AsyncSequence, Sendable {
  /// What the sequence gives.
  public typealias Element = PendingState
  /// What the sequence throws.
  public typealias Failure = DatabaseError

  let query: DatabaseQuery

  /// Begins to observe.
  public func makeAsyncIterator() -> Iterator {
    let (stream, continuation) = AsyncThrowingStream<PendingState, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    let token = query.observePending({ continuation.yield($0) }) { error in
      continuation.finish(throwing: error)
    }
    // A stream that ended before it got this calls it at once.
    continuation.onTermination = { _ in token.cancel() }
    return Iterator(base: stream.makeAsyncIterator())
  }

  /// Gives the states one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncThrowingStream<PendingState, any Error>.Iterator

    /// The newest state, once there is one that was not given; nil once the task was cancelled.
    ///
    /// - Throws: `DatabaseError` if the rows cannot be read, or the database was closed (`closed`).
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DatabaseError) -> PendingState? {
      try await base.nextOrFailure(isolation: actor)
    }
  }
}
