public import RunnelTree

/// The pending states of a place on a replica as an asynchronous sequence.
///
/// The first element is the first state in which something is pending. If states come faster than
/// they are taken, those between are skipped: the newest is returned. Each iterator observes on its
/// own, and ends like those of `DataEvents`.
public struct PendingStates: AsyncSequence, Sendable {
  /// The elements.
  public typealias Element = PendingState
  /// The errors.
  public typealias Failure = DatabaseError

  let query: DatabaseQuery

  /// Begins to observe.
  public func makeAsyncIterator() -> Iterator {
    let (stream, continuation) = AsyncThrowingStream<PendingState, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    let token = query.observePending({ continuation.yield($0) }) { error in
      continuation.finish(throwing: error)
    }
    // A stream that has already ended calls it at once.
    continuation.onTermination = { _ in token.cancelWithoutWaiting() }
    return Iterator(base: stream.makeAsyncIterator())
  }

  /// Returns the states one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncThrowingStream<PendingState, any Error>.Iterator

    /// The newest state, as soon as there is one that was not returned; nil once the task was
    /// cancelled.
    ///
    /// - Throws: `DatabaseError` if the rows cannot be read, or the database was closed (`closed`).
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DatabaseError) -> PendingState? {
      try await base.nextOrFailure(isolation: actor)
    }
  }
}
