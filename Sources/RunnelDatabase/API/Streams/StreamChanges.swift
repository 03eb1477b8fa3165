public import RunnelStreams
public import RunnelTree

/// The changes of a stream over a database, for `for try await`; the first change is a reload with
/// the whole state, once it is loaded.
///
/// Each iterator has its own streams, which stay where it is used and end with the loop. Changes
/// are computed when they are taken; until then the events wait, and if too many wait, the iterator
/// throws `overflow`.
public struct StreamChanges<Item: StreamItem & Sendable>: AsyncSequence, Sendable {
  /// The elements.
  public typealias Element = StreamChange<Item>
  /// The errors.
  public typealias Failure = DatabaseError

  let database: Database
  let batchesMax: Int
  let make: @Sendable (StreamSession) throws -> any SectionedStream<Item>

  /// Begins to listen.
  public func makeAsyncIterator() -> Iterator {
    let session = StreamSession(database, batchesMax: batchesMax)
    do {
      return Iterator(session, try make(session))
    } catch {
      return Iterator(failure: DatabaseError(error, file: database.file))
    }
  }

  /// Returns the changes one by one.
  public struct Iterator: AsyncIteratorProtocol {
    /// The stream, and the changes that were not taken yet.
    private final class Feed {
      let session: StreamSession
      let stream: any SectionedStream<Item>
      var changes: ArraySlice<StreamChange<Item>> = []
      var hasLoaded = false
      private var token: StreamToken?

      init(_ session: StreamSession, _ stream: any SectionedStream<Item>) {
        self.session = session
        self.stream = stream
        token = stream.observe { [weak self] in self?.take($0) }
      }

      deinit {
        if let token { stream.cancel(token) }
      }

      private func take(_ change: StreamChange<Item>) {
        if case .failed = change.loadState { return changes.append(change) }
        if !hasLoaded, !change.loadState.showsRows { return }
        var change = change
        if !hasLoaded { change.changes = .reload }
        hasLoaded = true
        changes.append(change)
      }
    }

    private let feed: Feed?
    /// The reason why there is no stream, until it is thrown.
    private var failure: DatabaseError?

    init(failure: DatabaseError) { (feed, self.failure) = (nil, failure) }

    init(_ session: StreamSession, _ stream: any SectionedStream<Item>) {
      feed = Feed(session, stream)
    }

    /// The next change; nil once the task was cancelled.
    ///
    /// - Throws: `DatabaseError` if the stream could not be made or failed, the changes came too fast (`overflow`), or the
    ///   database was closed (`closed`).
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DatabaseError) -> StreamChange<Item>? {
      if let failure {
        self.failure = nil
        throw failure
      }
      guard let feed else { return nil }
      while !Task.isCancelled {
        if let change = feed.changes.popFirst() {
          guard case .failed(let failure) = change.loadState else { return change }
          throw DatabaseError(failure)
        }
        guard try await feed.session.takeNext(isolation: actor) else { return nil }
      }
      return nil
    }
  }
}

extension Database {
  /// The changes of a stream that is built from streams of this database.
  ///
  /// - Parameters:
  ///   - batchesMax: how many batches may wait to be taken; less than 1 counts as 1. A batch is what one write
  ///     makes, for all streams together.
  ///   - make: makes the stream from streams of the session it is given; each iterator calls it.
  ///     Its errors are thrown by the first `next`, an error of a query as `refused`.
  /// - Returns: a sequence; each of its iterators listens on its own.
  public nonisolated func changes<Item>(
    batchesMax: Int = 1000,
    of make: @escaping @Sendable (StreamSession) throws -> any SectionedStream<Item>
  ) -> StreamChanges<Item> {
    StreamChanges(database: self, batchesMax: batchesMax, make: make)
  }
}

extension Queryable {
  /// The changes of a live list of the query's records.
  ///
  /// - Parameters:
  ///   - paging: how many rows from which end; nil for exactly the rows of the query.
  ///   - isDescending: whether the rows are in the opposite order.
  ///   - batching: when changes are told; nil for each at once.
  ///   - batchesMax: how many batches of events may wait to be taken; less than 1 counts as 1.
  /// - Returns: a sequence; each of its iterators listens on its own.
  public func changes(
    paging: Paging? = nil, isDescending: Bool = false, batching: BatchingPolicy? = nil,
    batchesMax: Int = 1000
  ) -> StreamChanges<Record> {
    let query = databaseQuery
    return query.database.changes(batchesMax: batchesMax) { session in
      session.batched(
        session.stream(of: query, paging: paging, isDescending: isDescending), ifBy: batching)
    }
  }

  /// The changes of a live list of the query's records as values of a Swift type.
  ///
  /// - Parameters:
  ///   - type: the type; the row of a record that does not fit contains the error.
  ///   - paging: how many rows from which end; nil for exactly the rows of the query.
  ///   - isDescending: whether the rows are in the opposite order.
  ///   - batching: when changes are told; nil for each at once.
  ///   - batchesMax: how many batches of events may wait to be taken; less than 1 counts as 1.
  /// - Returns: a sequence; each of its iterators listens on its own.
  public func changes<Value: Decodable & Sendable>(
    as type: Value.Type, paging: Paging? = nil, isDescending: Bool = false,
    batching: BatchingPolicy? = nil, batchesMax: Int = 1000
  ) -> StreamChanges<DecodedRecord<Value>> {
    let query = databaseQuery
    return query.database.changes(batchesMax: batchesMax) { session in
      session.batched(
        session.stream(of: query, as: type, paging: paging, isDescending: isDescending),
        ifBy: batching)
    }
  }
}
