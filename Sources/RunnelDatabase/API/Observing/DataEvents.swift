import RunnelTree

/// The events of a query as a sequence: at first those by which the present state is learned.
///
/// Each iterator observes by itself. The observation ends when the iterator is let go of (a loop that
/// was left lets go of its own), or when the task that iterates is cancelled; the loop then ends
/// without an error.
///
/// Events wait in batches, and a batch is what one write came to. No event is ever left out: if more
/// than the allowed number of batches wait, the sequence gives those and then throws `overflow`.
public struct DataEvents: AsyncSequence, Sendable {
  /// What the sequence gives.
  public typealias Element = DataEvent
  /// What the sequence throws.
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

  /// Gives the events one by one.
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

/// What a query shows, again and again as it changes: at first the present state.
///
/// If states come faster than they are taken, those between are left out: the newest is given.
/// Each iterator observes by itself, and ends as those of `DataEvents` do.
public struct DataValues: AsyncSequence, Sendable {
  /// What the sequence gives.
  public typealias Element = DataSnapshot
  /// What the sequence throws.
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

  /// Gives the states one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncThrowingStream<DataSnapshot, any Error>.Iterator

    /// The newest state, once there is one that was not given; nil once the task was cancelled.
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
  /// Observes into a stream, until nobody takes from it any more.
  fileprivate func observe<Element>(
    _ kinds: EventKinds, into continuation: AsyncThrowingStream<Element, any Error>.Continuation,
    _ take: @escaping @Sendable ([DataEvent]) -> Void
  ) {
    let observation = database.observe(query, kinds, .buffer(take)) { error in
      continuation.finish(throwing: error)
    }
    // A stream that ended before it got this calls it at once.
    continuation.onTermination = { [database] _ in database.end(observation) }
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
