public import RunnelStreams
public import RunnelTree

/// Streams over an open database, for an actor, a task, or a thread with a loop.
///
/// Streams are used by one thread at a time and have no lock. A session is made where its streams
/// are used and stays there: the compiler does not let them go elsewhere. Events of the database
/// wait in the session until `receive` passes them to the streams; so nothing changes between two
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
/// Its queries are of its own database; a stream, an array or a data source of another one fails
/// (`refused`), and refuses writes.
///
/// Streams belong to who keeps them: the session only passes events to them. A stream that is released
/// listens no more, whether it was stopped or not, and its session forgets it. Whoever is made of a
/// stream keeps it: unions, partitions, batched streams, adapters, arrays and data sources. Release
/// streams where they are used.
///
/// If events wait for two seconds and none was ever taken, a debug build logs that `run` was
/// forgotten.
///
/// On a replica, a query without paging is loaded from the cache first; the origin's answer comes
/// as changes.
///
/// Releasing a session ends all its listeners.
public final class StreamSession {
  /// A message from another thread.
  enum Message: Sendable {
    case events(ListenerID, [TreeEvent])
    case failed(ListenerID, DatabaseError)
    case written(Int, DatabaseError?)
    /// Changes of batched streams may be due.
    case due
  }

  /// The database.
  public let database: Database
  /// The last failure of a listener; nil if there was none.
  public private(set) var lastFailure: DatabaseError?

  private let inbox: SessionInbox<Message>
  private let source: SessionSource
  private let alarm: StreamAlarm
  private let bystanders = Bystanders()
  /// True while the one that takes the events waits for a condition, so that `run` may follow it.
  private var isTakenUntil = false
  private var listeners = SessionListeners()
  /// The streams whose changes become due by the time.
  private var batchedStreams = WeakList<any WakenStream>()

  /// Makes a session without streams.
  ///
  /// - Parameters:
  ///   - database: the open database.
  ///   - batchesMax: how many batches may wait to be taken; less than 1 counts as 1. A batch is what one write
  ///     makes, for however many streams; what the session asked for itself, such as the first rows
  ///     of a stream, is not counted.
  ///   - clock: measures how long changes of batched streams wait.
  public convenience init(
    _ database: Database, batchesMax: Int = 1000, clock: some Clock<Duration> = ContinuousClock()
  ) {
    self.init(
      database, batchesMax: batchesMax, clock: clock, onForgotten: UntakenEvents.reporter)
  }

  /// Makes a session; `onForgotten` is called if its events are never taken.
  public init(
    _ database: Database, batchesMax: Int = 1000, clock: some Clock<Duration>,
    onForgotten: (@Sendable (String) -> Void)?
  ) {
    let batchesMax = max(batchesMax, 1)
    self.database = database
    inbox = SessionInbox(
      countMax: batchesMax,
      overflow: DatabaseError(
        .overflow,
        "More than \(batchesMax) batches of events wait, so these streams have ended. Take events "
          + "faster, with no long work between two of them; if there are many short ones, have changes told "
          + "in batches (`batching: .standard`); "
          + "or allow more to wait by `batchesMax`. Then make the streams again."),
      untaken: onForgotten.map { UntakenEvents(clock, file: database.file, report: $0) })
    source = SessionSource(database, inbox)
    alarm = StreamAlarm(clock) { [inbox] in inbox.postIfRoom(.due) }
  }

  deinit {
    alarm.end()
    source.end()
  }
}

// MARK: Streams

extension StreamSession {
  /// The tree for streams; it may outlive the session, and then does nothing.
  public var tree: any TreeSource & TreeTarget { source }

  /// The tree for the streams of a query: one of another database is refused.
  func tree(for query: some Queryable) -> any TreeSource & TreeTarget {
    let other = query.databaseQuery.database
    if other.isSame(as: database) { return source }
    return ForeignSource(source, place: query.databaseQuery.query.path, in: other.file)
  }

  /// Passes events to a stream from now on.
  ///
  /// This is for streams that the program makes with `tree`, and keeps.
  public func add(_ listener: some TreeListener) {
    listeners.append(listener)
  }

  /// The number of streams that the session still knows, with those whose end it did not notice yet.
  var entryCount: Int { listeners.entryCount + batchedStreams.entryCount }

  /// A stream of a query's records, started.
  ///
  /// - Parameters:
  ///   - query: the query; a paged one has no limit, or the stream fails (`refused`).
  ///   - paging: how its window grows; nil for exactly the rows of the query.
  ///   - isDescending: whether to show the rows in the opposite order.
  /// - Returns: the stream; its rows come with `receive`.
  public func stream(
    of query: some Queryable, paging: Paging? = nil, isDescending: Bool = false
  ) -> QueryStream<Record> {
    let stream = QueryStream(
      request: ListenRequest(query: query.databaseQuery.query, paging: paging),
      isDescending: isDescending, source: tree(for: query), showsPending: true)
    return begin(stream)
  }

  /// A stream of items made from a query's rows, started.
  ///
  /// - Parameters:
  ///   - query: the query; a paged one has no limit, or the stream fails (`refused`).
  ///   - paging: how its window grows; nil for exactly the rows of the query.
  ///   - isDescending: whether to show the rows in the opposite order.
  ///   - construct: makes an item from a row; different rows must have different keys.
  /// - Returns: the stream; its rows come with `receive`.
  public func stream<Item: StreamItem>(
    of query: some Queryable, paging: Paging? = nil, isDescending: Bool = false,
    construct: @escaping (TreeRow) -> Item
  ) -> QueryStream<Item> {
    begin(
      QueryStream(
        request: ListenRequest(query: query.databaseQuery.query, paging: paging),
        isDescending: isDescending, source: tree(for: query), construct: construct))
  }

  /// Passes events to a stream, and starts it.
  func begin<Item: StreamItem>(_ stream: QueryStream<Item>) -> QueryStream<Item> {
    add(stream)
    stream.start()
    return stream
  }

  /// A stream of a query's records, started, whose changes are told in batches.
  ///
  /// - Parameters:
  ///   - query: the query.
  ///   - batching: when changes are told.
  ///   - isDescending: whether to show the rows in the opposite order.
  /// - Returns: the stream; its rows come with `receive`.
  public func stream(
    of query: some Queryable, batching: BatchingPolicy, isDescending: Bool = false
  ) -> BatchedStream<Record> {
    batched(stream(of: query, isDescending: isDescending), by: batching)
  }

  /// Makes a batched stream of a stream of this session, with the session's clock.
  ///
  /// Due changes are told by `receive`, `run` or `drain`, as long as the caller keeps the stream.
  ///
  /// - Parameters:
  ///   - stream: the stream; a paged one is paged as before.
  ///   - policy: when changes are told.
  /// - Returns: the batched stream.
  public func batched<Item: StreamItem>(
    _ stream: any SectionedStream<Item>, by policy: BatchingPolicy = .standard
  ) -> BatchedStream<Item> {
    let batched = BatchedStream(stream, policy: policy, now: alarm.now)
    batched.onWakeTime = { [alarm] time in
      if let time { alarm.set(for: time) }
    }
    batchedStreams.append { [weak batched] in batched }
    return batched
  }

  /// The stream itself, or a batched stream if there is a policy.
  func batched<Item: StreamItem>(
    _ stream: any SectionedStream<Item>, ifBy policy: BatchingPolicy?
  ) -> any SectionedStream<Item> {
    if let policy { batched(stream, by: policy) } else { stream }
  }

  /// A list of keys, joined to the records of a collection, started.
  ///
  /// - Parameters:
  ///   - index: the place whose children have the keys of the records.
  ///   - collection: the place whose children are the records.
  /// - Returns: the stream; its rows come with `receive`.
  public func stream(index: some Queryable, of collection: Reference) -> IndexStream {
    let records = tree(for: collection)
    let stream = IndexStream(stream(of: index), source: records, in: collection.path)
    add(stream)
    stream.start()
    return stream
  }

  /// The children of a place or a query as an array that stays up to date after it is synced.
  public func syncedArray(of query: some Queryable) -> SyncedArray {
    SyncedArray(stoppedStream(of: query), target: tree(for: query))
  }

  /// The children of a place or a query as a data source for a list view, after it is synced.
  public func dataSource(of query: some Queryable) -> IndexPathDataSource<Record> {
    IndexPathDataSource(stoppedStream(of: query), target: tree(for: query))
  }

  private func stoppedStream(of query: some Queryable) -> QueryStream<Record> {
    let stream = QueryStream(
      request: ListenRequest(query: query.databaseQuery.query), source: tree(for: query),
      showsPending: true)
    add(stream)
    return stream
  }
}

// MARK: Receiving

extension StreamSession {
  /// Waits until a condition holds, and passes the events of the database to the streams meanwhile.
  ///
  /// ```swift
  /// try await session.waitUntil { list.count >= 3 }
  /// ```
  ///
  /// The condition is asked first at once, and then after each batch of events. While a `run`, or
  /// another wait, in the same isolation takes the events, this waits beside it.
  ///
  /// A stream that has failed makes each wait of its session throw, until it is started again, stopped
  /// (`stop()`), or released: the condition may be about it.
  ///
  /// - Parameters:
  ///   - actor: the isolation of the caller.
  ///   - condition: returns whether to wait no longer; it reads the session's streams.
  /// - Throws: `CancellationError` if the task is cancelled. `DatabaseError` if a stream of the session,
  ///   or a page of one, failed: it is the failure; if the database is closed (`closed`); and as
  ///   `receive`. The errors of the condition.
  public func waitUntil(
    isolation actor: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool
  ) async throws {
    while try !condition() {
      if let failure { throw DatabaseError(failure) }
      try await waitOnce(isolation: actor)
    }
  }

  /// Waits until a condition holds, but no longer than a time by the session's clock.
  ///
  /// ```swift
  /// try await session.waitUntil(within: .seconds(5)) { list.count >= 3 }
  /// ```
  ///
  /// - Parameters:
  ///   - limit: the longest time to wait; the condition is asked once more when it is over.
  ///   - actor: the isolation of the caller.
  ///   - condition: returns whether to wait no longer; it reads the session's streams.
  /// - Throws: `DatabaseError` (`timedOut`) if the condition does not hold in time; otherwise as without a
  ///   limit.
  public func waitUntil(
    within limit: Duration, isolation actor: isolated (any Actor)? = #isolation,
    _ condition: () throws -> Bool
  ) async throws {
    let end = alarm.time(after: limit)
    while try !condition() {
      if let failure { throw DatabaseError(failure) }
      let now = alarm.now()
      guard now < end else {
        throw DatabaseError(
          .timedOut,
          "What a session waits for did not come within \(limit): wait longer, or go on without it."
        )
      }
      alarm.noteTime(now)
      alarm.set(for: end)
      try await waitOnce(isolation: actor)
    }
  }

  /// Waits for the next events, or beside the one that takes them.
  private func waitOnce(isolation actor: isolated (any Actor)?) async throws {
    if inbox.isWaitedFor {
      await bystanders.wait(isolation: actor)
      try Task.checkCancellation()
    } else {
      isTakenUntil = true
      defer { isTakenUntil = false }
      try await receive(isolation: actor)
    }
  }

  /// Waits for the next events of the database, and passes them to the streams.
  ///
  /// A stream that fails does not end this: its `loadState` is failed. To wait for a state of a stream,
  /// use `waitUntil`, which throws the failure.
  ///
  /// - Throws: `CancellationError` if the task is cancelled. `DatabaseError` if the database is closed
  ///   (`closed`), once the streams were told so; if more events wait than allowed (`overflow`), and
  ///   the session and its streams have then ended, which they were told; or if another caller waits (`refused`), as only one may at a time.
  public func receive(isolation actor: isolated (any Actor)? = #isolation) async throws {
    guard try await takeNext(isolation: actor) else { throw CancellationError() }
  }

  /// Passes the waiting events to the streams without waiting for more, for an owner with its own
  /// loop, and tells the changes of batched streams that are due by the session's clock.
  ///
  /// O(n) in the events, and in the batched streams.
  ///
  /// - Returns: the number of batches that were passed on.
  /// - Throws: `DatabaseError` (`closed` or `overflow`), as `receive`.
  @discardableResult
  public func drain() throws(DatabaseError) -> Int {
    let batches: [[Message]]
    do throws(DatabaseError) {
      batches = try inbox.takeAll()
    } catch {
      let wasTold = fail(error)
      if error.code == .closed, wasTold { return 1 }
      throw error
    }
    for batch in batches { hand(batch) }
    // The alarm rings in a task of its own, so what is due may not have been said yet.
    tellDueChanges()
    return batches.count { $0.contains { if case .due = $0 { false } else { true } } }
  }

  /// Passes all events of the database to the streams, until the task is cancelled.
  ///
  /// While a `waitUntil` takes the events, this waits beside it.
  ///
  /// - Throws: `DatabaseError` if the database is closed (`closed`), if more events wait than allowed
  ///   (`overflow`), and as `receive`. The `loadState` of the streams is then failed.
  public func run(isolation actor: isolated (any Actor)? = #isolation) async throws(DatabaseError) {
    while true {
      if inbox.isWaitedFor, isTakenUntil {
        await bystanders.wait(isolation: actor)
        if Task.isCancelled { return }
      } else if try await !takeNext(isolation: actor) {
        return
      }
    }
  }

  /// Waits for the next events, and passes them to the streams; false once the task was cancelled.
  func takeNext(
    isolation actor: isolated (any Actor)?
  ) async throws(DatabaseError) -> Bool {
    let batch: [Message]?
    // Also when this ends: one of those who wait beside it then takes the events.
    defer { bystanders.wake() }
    do throws(DatabaseError) {
      batch = try await inbox.next(isolation: actor)
    } catch {
      // Whoever calls beside the one that waits (`refused`) ends nothing.
      let wasTold = error.code != .refused && fail(error)
      if error.code == .closed, wasTold { return true }
      throw error
    }
    guard let batch else { return false }
    hand(batch)
    return true
  }

  private func hand(_ batch: [Message]) {
    for message in batch {
      switch message {
      case .events(let listener, let events):
        for stream in listeners.takers(of: listener) { stream.receive(events, from: listener) }
      case .failed(let listener, let error):
        tell(error, to: listener)
      case .written(let number, let error):
        source.completions.removeValue(forKey: number)?(
          error.map { .refused(StreamFailure($0)) } ?? .written)
      case .due:
        break
      }
    }
    tellDueChanges()
  }

  private func tell(_ error: DatabaseError, to listener: ListenerID) {
    lastFailure = error
    let failure = StreamFailure(error)
    for stream in listeners.takers(of: listener) {
      stream.receive(failure: failure, from: listener)
    }
  }

  private func tellDueChanges() {
    let now = alarm.now()
    // Also without such streams: the alarm may have rung for a wait, and one may be made later.
    alarm.noteTime(now)
    let streams = batchedStreams.elements()
    for stream in streams {
      stream.wake(now: now)
      if let time = stream.wakeTime { alarm.set(for: time) }
    }
  }

  /// Tells all who still listen, or wait for a write, why no events come any more; returns false if
  /// there are none.
  private func fail(_ error: DatabaseError) -> Bool {
    let (listening, completions) = source.takeAll()
    if listening.isEmpty, completions.isEmpty { return false }
    for listener in listening { tell(error, to: listener) }
    for completion in completions { completion(.refused(StreamFailure(error))) }
    tellDueChanges()
    return true
  }

  /// The failure of the first stream that failed, or of a page of it, or of a union over several
  /// databases; nil if there is none.
  private var failure: StreamFailure? {
    for listener in listeners.elements() {
      if let stream = listener as? any SectionedStream,
        case .failed(let failure) = stream.loadState
      {
        return failure
      }
      guard let stream = listener as? any PagedStream else { continue }
      for end in stream.pagedEnds {
        if case .failed(let failure) = stream.fetchState(at: end) { return failure }
      }
    }
    return source.failures.values.min { $0.message < $1.message }
  }
}

/// A stream whose changes become due by the time.
private protocol WakenStream: AnyObject {
  /// The time of the session's clock at which changes become due; nil if none wait.
  var wakeTime: Int64? { get }
  /// Tells the changes that are due.
  func wake(now: Int64)
}

extension BatchedStream: WakenStream {}
