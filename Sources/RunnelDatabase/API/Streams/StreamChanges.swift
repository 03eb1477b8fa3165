public import RunnelStreams
public import RunnelTree

/// The changes of a stream over a database, for `for try await`: at first the whole state, as a reload,
/// once it is loaded.
///
/// Each iterator has streams of its own, which live where it is used and end with the loop. Changes are
/// made when they are taken: what comes faster waits in the database's own terms, and a reader that is
/// too slow for that is told so (`overflow`).
public struct StreamChanges<Item: KeyedItem & Sendable>: AsyncSequence, Sendable {
  /// What the sequence gives.
  public typealias Element = StreamChange<Item>
  /// What the sequence throws.
  public typealias Failure = DatabaseError

  let database: Database
  let batchesMax: Int
  let make: @Sendable (StreamSession) -> any SectionedStream<Item>

  /// Begins to listen.
  public func makeAsyncIterator() -> Iterator {
    let session = StreamSession(database, batchesMax: batchesMax)
    return Iterator(session, make(session))
  }

  /// Gives the changes one by one.
  public struct Iterator: AsyncIteratorProtocol {
    /// The stream and the changes that nobody has taken.
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
        if !hasLoaded, change.loadState != .loaded { return }
        var change = change
        if !hasLoaded { change.changes = .reload }
        hasLoaded = true
        changes.append(change)
      }
    }

    private let feed: Feed

    init(_ session: StreamSession, _ stream: any SectionedStream<Item>) {
      feed = Feed(session, stream)
    }

    /// The next change; nil once the task was cancelled.
    ///
    /// - Throws: `DatabaseError` if a stream failed, the changes came too fast (`overflow`), or the
    ///   database was closed (`closed`).
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DatabaseError) -> StreamChange<Item>? {
      while !Task.isCancelled {
        if let change = feed.changes.popFirst() {
          guard case .failed(let reason) = change.loadState else { return change }
          throw feed.session.lastFailure ?? DatabaseError(.storage, reason)
        }
        guard try await feed.session.receive(isolation: actor) else { return nil }
      }
      return nil
    }
  }
}

extension Database {
  /// The changes of a stream that is made of streams of this database.
  ///
  /// - Parameters:
  ///   - batchesMax: how many batches may wait to be taken: at least 1.
  ///   - make: makes the stream, of streams of the session that it is given; called by each iterator.
  /// - Returns: a sequence, of which each iterator listens by itself.
  public nonisolated func changes<Item>(
    batchesMax: Int = 1000,
    of make: @escaping @Sendable (StreamSession) -> any SectionedStream<Item>
  ) -> StreamChanges<Item> {
    StreamChanges(database: self, batchesMax: batchesMax, make: make)
  }
}

extension Queryable {
  /// The changes of a live list of the records that the query finds.
  ///
  /// - Parameters:
  ///   - paging: how many rows from which end; nil for exactly what the query asks for.
  ///   - isDescending: whether to give the rows in the opposite order.
  /// - Returns: a sequence, of which each iterator listens by itself.
  public func changes(
    paging: Paging? = nil, isDescending: Bool = false
  ) -> StreamChanges<Record> {
    let query = databaseQuery
    return query.database.changes { session in
      session.stream(of: query, paging: paging, isDescending: isDescending)
    }
  }
}
