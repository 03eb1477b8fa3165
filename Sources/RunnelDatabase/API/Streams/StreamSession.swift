public import RunnelStreams
public import RunnelTree
import Synchronization

/// Streams over an open database, for whoever uses them: an actor, a task, or a thread with a loop.
///
/// Streams are used by one thread at a time and have no lock. A session is made where they are used and
/// stays there: the compiler lets neither of them go elsewhere. What the database tells waits in the
/// session until it is taken by `receive`, which hands it to the streams; so nothing changes between two
/// `await`s of the owner.
///
/// ```swift
/// actor Board {
///   private let session: StreamSession
///   init(_ database: Database) { session = StreamSession(database) }
///   func follow() async throws { try await session.run() }  // until the task is cancelled
/// }
/// ```
///
/// On a replica, a query without paging is loaded with what is cached; what the origin answers are
/// changes.
///
/// Letting go of a session ends all that it listens to.
public final class StreamSession {
  /// What comes from other threads.
  enum Message: Sendable {
    case events(ListenerID, [TreeEvent])
    case failed(ListenerID, DatabaseError)
    case written(Int, DatabaseError?)
  }

  /// The database.
  public let database: Database
  /// Why a listener failed the last time; nil if none did.
  public private(set) var lastFailure: DatabaseError?

  private let messages: AsyncThrowingStream<Message, any Error>
  private let source: Source
  private var listeners: [any TreeListener] = []

  /// Makes a session without streams.
  ///
  /// - Parameters:
  ///   - database: the open database.
  ///   - batchesMax: how many batches may wait to be taken: at least 1.
  public init(_ database: Database, batchesMax: Int = 1000) {
    precondition(batchesMax > 0, "A batch must be able to wait.")
    self.database = database
    let (messages, continuation) = AsyncThrowingStream<Message, any Error>.makeStream(
      bufferingPolicy: .bufferingOldest(batchesMax))
    self.messages = messages
    source = Source(database, continuation, batchesMax: batchesMax)
  }

  deinit { source.end() }
}

// MARK: Streams

extension StreamSession {
  /// The tree, as streams ask it; it may outlive the session, and then answers nothing.
  public var tree: any TreeSource & TreeTarget { source }

  /// Hands what is told to a stream from now on.
  ///
  /// For streams that were made of `tree` by hand; the session keeps it.
  public func add(_ listener: some TreeListener) { listeners.append(listener) }

  /// A stream of a query's records, started.
  ///
  /// - Parameters:
  ///   - query: the question; a paged one has no limit.
  ///   - paging: how its window grows; nil for exactly what the query asks for.
  ///   - isDescending: whether to show the rows in the opposite order.
  /// - Returns: the stream; its rows come with `receive`.
  public func stream(
    of query: some Queryable, paging: Paging? = nil, isDescending: Bool = false
  ) -> QueryStream<Record> {
    let path = query.databaseQuery.query.path
    return stream(of: query, paging: paging, isDescending: isDescending) { row in
      Record(row, in: path)
    }
  }

  /// A stream of items that are made of a query's rows, started.
  ///
  /// - Parameters:
  ///   - query: the question; a paged one has no limit.
  ///   - paging: how its window grows; nil for exactly what the query asks for.
  ///   - isDescending: whether to show the rows in the opposite order.
  ///   - construct: makes an item of a row; two rows have two keys.
  /// - Returns: the stream; its rows come with `receive`.
  public func stream<Item: KeyedItem>(
    of query: some Queryable, paging: Paging? = nil, isDescending: Bool = false,
    construct: @escaping (TreeRow) -> Item
  ) -> QueryStream<Item> {
    let stream = QueryStream(
      request: ListenRequest(query: query.databaseQuery.query, paging: paging),
      isDescending: isDescending, source: source, construct: construct)
    add(stream)
    stream.start()
    return stream
  }

  /// A list of keys, joined to the records of a collection, started.
  ///
  /// - Parameters:
  ///   - index: the place whose children's keys are those of the records.
  ///   - collection: the place whose children the records are.
  /// - Returns: the stream; its rows come with `receive`.
  public func stream(index: some Queryable, of collection: Reference) -> IndexStream {
    let stream = IndexStream(stream(of: index), source: source, in: collection.path)
    add(stream)
    stream.start()
    return stream
  }

  /// The children of a place or a query as an array that keeps itself up to date once it is synced.
  public func syncedArray(of query: some Queryable) -> SyncedArray {
    SyncedArray(stoppedStream(of: query), target: source)
  }

  /// The children of a place or a query as a list view asks for them, once it is synced.
  public func dataSource(of query: some Queryable) -> IndexPathDataSource<Record> {
    IndexPathDataSource(stoppedStream(of: query), target: source)
  }

  private func stoppedStream(of query: some Queryable) -> QueryStream<Record> {
    let stream = QueryStream(
      request: ListenRequest(query: query.databaseQuery.query), source: source)
    add(stream)
    return stream
  }
}

// MARK: Receiving

extension StreamSession {
  /// Waits for what the database tells next, and hands it to the streams.
  ///
  /// One caller at a time.
  ///
  /// - Returns: false once the task was cancelled.
  /// - Throws: `DatabaseError` if more waited than may (`overflow`); the session is then at its end.
  @discardableResult
  public func receive(
    isolation actor: isolated (any Actor)? = #isolation
  ) async throws(DatabaseError) -> Bool {
    var iterator = messages.makeAsyncIterator()
    let message: Message?
    do {
      message = try await iterator.next(isolation: actor)
    } catch {
      throw DatabaseError(error, file: database.file)
    }
    guard let message else { return false }
    hand(message)
    return true
  }

  /// Hands all that the database tells to the streams, until the task is cancelled.
  ///
  /// - Throws: `DatabaseError`, as `receive`.
  public func run(isolation actor: isolated (any Actor)? = #isolation) async throws(DatabaseError) {
    while try await receive(isolation: actor) {}
  }

  private func hand(_ message: Message) {
    switch message {
    case .events(let listener, let events):
      for stream in listeners { stream.receive(events, from: listener) }
    case .failed(let listener, let error):
      lastFailure = error
      for stream in listeners { stream.receive(failure: error.message, from: listener) }
    case .written(let number, let error):
      source.completions.removeValue(forKey: number)?(
        error.map { .refused($0.message) } ?? .written)
    }
  }
}

// MARK: The tree

extension StreamSession {
  /// The tree, as the streams of a session ask it.
  private final class Source: TreeSource, TreeTarget {
    private let database: Database
    private let continuation: AsyncThrowingStream<Message, any Error>.Continuation
    private let overflow: DatabaseError
    private var observations: [ListenerID: Observation] = [:]
    private var lastWrite = 0
    var completions: [Int: (WriteOutcome) -> Void] = [:]

    init(
      _ database: Database, _ continuation: AsyncThrowingStream<Message, any Error>.Continuation,
      batchesMax: Int
    ) {
      self.database = database
      self.continuation = continuation
      overflow = DatabaseError(
        .overflow,
        "More than \(batchesMax) batches wait for the streams. Take them faster, or allow more.")
    }

    /// Sends a message from any thread.
    private var send: @Sendable (Message) -> Void {
      { [continuation, overflow] message in
        guard case .dropped = continuation.yield(message) else { return }
        continuation.finish(throwing: overflow)
      }
    }

    func listen(_ request: ListenRequest) -> ListenerID {
      let send = send
      let observation = database.observe(request) { listener, events in
        send(.events(listener, events))
      } onFailure: { listener, error in
        send(.failed(listener, error))
      }
      observations[observation.id] = observation
      return observation.id
    }

    func unlisten(_ listener: ListenerID) {
      if let observation = observations.removeValue(forKey: listener) {
        database.end(observation)
      }
    }

    func extend(_ listener: ListenerID, by count: Int) {
      database.enqueue(.extend(listener, count: count))
    }

    func submit(_ write: Write, completion: @escaping (WriteOutcome) -> Void) {
      lastWrite += 1
      let (number, send) = (lastWrite, send)
      completions[number] = completion
      database.submit(write) { error in send(.written(number, error)) }
    }

    func makeKey() -> Key { database.autoIDs.withLock { $0.next() } }

    func end() {
      for observation in observations.values { database.end(observation) }
      observations = [:]
      continuation.finish()
    }
  }
}
