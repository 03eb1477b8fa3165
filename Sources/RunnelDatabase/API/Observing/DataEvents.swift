import RunnelTree

/// The events of a query as an asynchronous sequence; the first ones tell the present state.
///
/// Each iterator observes on its own. The observation ends when the iterator is released (which the
/// end of a loop does), or when the iterating task is cancelled; the loop then ends without an
/// error.
///
/// Events wait in batches; a batch is the result of one write. No event is skipped: if more batches
/// wait than allowed, the sequence returns those and then throws `overflow`.
public struct DataEvents: AsyncSequence, Sendable {
  /// The elements.
  public typealias Element = DataEvent
  /// The errors.
  public typealias Failure = DatabaseError

  let query: DatabaseQuery
  let kinds: EventKinds
  let batchesMax: Int

  /// Begins to observe.
  public func makeAsyncIterator() -> Iterator {
    let (query, batchesMax) = (query, batchesMax)
    let (stream, continuation) = AsyncThrowingStream<[DataEvent], any Error>.makeStream(
      bufferingPolicy: .bufferingOldest(batchesMax))
    query.observe(kinds, into: continuation) { events in
      guard case .dropped = continuation.yield(events) else { return }
      continuation.finish(
        throwing: DatabaseError(
          .overflow,
          "\(query.reference): more than \(batchesMax) batches of events wait. "
            + "Take them faster, or allow more."))
    }
    return Iterator(base: stream.makeAsyncIterator())
  }

  /// Returns the events one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncThrowingStream<[DataEvent], any Error>.Iterator
    private var batch: ArraySlice<DataEvent> = []

    init(base: AsyncThrowingStream<[DataEvent], any Error>.Iterator) { self.base = base }

    /// The next event; nil once the task was cancelled.
    ///
    /// - Throws: `DatabaseError` if the rows cannot be read, the events came too fast (`overflow`), or
    ///   the database was closed (`closed`).
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DatabaseError) -> DataEvent? {
      while !Task.isCancelled {
        if let event = batch.popFirst() { return event }
        guard let next = try await base.nextOrFailure(isolation: actor) else { return nil }
        batch = next[...]
      }
      return nil
    }
  }
}

/// The states of a query as an asynchronous sequence, beginning with the present one.
///
/// If states come faster than they are taken, those between are skipped: the newest is returned.
/// Each iterator observes on its own, and ends like those of `DataEvents`.
public struct DataValues: AsyncSequence, Sendable {
  /// The elements.
  public typealias Element = DataSnapshot
  /// The errors.
  public typealias Failure = DatabaseError

  let query: DatabaseQuery

  /// Begins to observe.
  public func makeAsyncIterator() -> Iterator {
    let (stream, continuation) = AsyncThrowingStream<DataSnapshot, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    query.observe(.value, into: continuation) { events in
      for event in events { continuation.yield(event.snapshot) }
    }
    return Iterator(base: stream.makeAsyncIterator())
  }

  /// Returns the states one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncThrowingStream<DataSnapshot, any Error>.Iterator

    /// The newest state, as soon as there is one that was not returned; nil once the task was
    /// cancelled.
    ///
    /// - Throws: `DatabaseError` if the rows cannot be read, or the database was closed (`closed`).
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DatabaseError) -> DataSnapshot? {
      try await base.nextOrFailure(isolation: actor)
    }
  }
}

extension DatabaseQuery {
  /// Observes into a stream, until the stream ends.
  fileprivate func observe<Element>(
    _ kinds: EventKinds, into continuation: AsyncThrowingStream<Element, any Error>.Continuation,
    _ take: @escaping @Sendable ([DataEvent]) -> Void
  ) {
    let observation = database.observe(query, kinds, .buffer(take)) { error in
      continuation.finish(throwing: error)
    }
    // A stream that has already ended calls it at once.
    continuation.onTermination = { [database] _ in database.endWithoutWaiting(observation) }
  }
}

extension AsyncThrowingStream.Iterator where Failure == any Error {
  /// The next element; every error of these streams is one of the database.
  mutating func nextOrFailure(
    isolation actor: isolated (any Actor)?
  ) async throws(DatabaseError) -> Element? {
    do {
      return try await next(isolation: actor)
    } catch {
      throw DatabaseError(error, file: "")
    }
  }
}
