public import RunnelTree
import Synchronization

/// The file of a database, and the way in which it is opened.
struct DatabaseSource: Sendable {
  var file: String
  var isReadOnly = false
  var indexes: [IndexDefinition] = []
}

/// Makes the keys of `childByAutoID`, each after those made before.
struct AutoIDs {
  private var environment: DatabaseEnvironment
  private var generator = PushIDGenerator()
  /// The time by which the origin's clock is ahead of this one, in milliseconds.
  var serverTimeOffset: Int64 = 0

  init(environment: sending DatabaseEnvironment) { self.environment = environment }

  mutating func next() -> Key {
    generator.next(now: environment.now() + serverTimeOffset, random: &environment.random)
  }
}

// MARK: Opening

extension Database {
  /// Opens a database file, to be used by references.
  ///
  /// The file is opened on the tree's own thread, so that no other thread waits for the disk. There
  /// is no inbox, so messages of submitted requests are dropped.
  ///
  /// - Parameters:
  ///   - file: the path of the file; it is made if it does not exist. `:memory:` and `file:a.db`
  ///     are names of files like others; there is no database in memory.
  ///   - isReadOnly: whether writes are refused; the file must then exist.
  ///   - indexes: the orders that the program will ask for. With `isReadOnly` none is made: those that the file
  ///     does not have are missing, and all children are read in their place.
  ///   - environment: makes the clock and the random numbers; it is called twice.
  ///   - onTrouble: called, on the thread of the handlers, if the writes of other processes cannot
  ///     be read for now (reading is tried again), if the file is gone (`fileGone`), if `keepSynced` fails,
  ///     or if the file cannot be closed properly.
  /// - Returns: the open database; it stays open until `close`, or until nothing refers to it and
  ///   nothing observes it.
  /// - Throws: `DatabaseError` that says what is wrong with the file.
  public static func open(
    file: String, isReadOnly: Bool = false, indexes: [IndexDefinition] = [],
    environment: @escaping @Sendable () -> sending DatabaseEnvironment = { .system },
    onTrouble: @escaping @Sendable (DatabaseError) -> Void = { _ in }
  ) async throws -> Database {
    let source = DatabaseSource(file: file, isReadOnly: isReadOnly, indexes: indexes)
    let executor = try TreeExecutor(label: "runnel.tree")
    return try await withCheckedThrowingContinuation { continuation in
      executor.submit {
        continuation.resume(
          with: Result {
            try Database(
              source, executor: executor, inbox: nil,
              dispatcher: EventDispatcher(onTrouble: onTrouble),
              environment: environment(), environmentOfKeys: environment())
          })
      }
    }
  }

  /// The place of the whole tree.
  public nonisolated func reference() -> Reference { Reference(database: self, path: .root) }

  /// A place in the tree.
  public nonisolated func reference(at path: Path) -> Reference {
    Reference(database: self, path: path)
  }

  /// A place in the tree, by its path as text: `users/ana`.
  ///
  /// - Throws: `TreeError` (`invalidKey` or `invalidPath`) that names the refused piece.
  public nonisolated func reference(withPath path: String) throws(TreeError) -> Reference {
    Reference(database: self, path: try Path(path))
  }
}

// MARK: Reading and writing

extension Database {
  /// Carries out a write.
  ///
  /// When it returns, the write is on disk, and all handlers that observe through this database
  /// have been called. If its task is cancelled, a write that has begun is carried out
  /// nevertheless.
  ///
  /// - Parameters:
  ///   - write: the write.
  ///   - id: the name of the write, under which it is done once, however often it is sent; see
  ///     `WriteID`.
  /// - Returns: the receipt, which on a replica tells the origin's answer.
  /// - Throws: `DatabaseError`; then nothing was written.
  @discardableResult
  public func perform(_ write: Write, id: WriteID? = nil) async throws -> WriteReceipt {
    try await self.write { session in
      guard let id else { return (true, try session.write(write)) }
      return try session.write(write, id: id)
    }
  }

  /// Runs `body` with the session.
  func answer<Result: Sendable>(
    _ body: @Sendable (DatabaseSession) throws -> Result
  ) throws -> Result {
    try checkIsReadable()
    return try body(session)
  }
}

// MARK: Observing

extension Database {
  /// Begins to observe a query.
  nonisolated func observe(
    _ query: Query, _ kinds: EventKinds, _ sink: Observation.Sink,
    onFailure: @escaping @Sendable (DatabaseError) -> Void
  ) -> Observation {
    let observation = dispatcher.add { id in
      Observation(
        id: id, query: DatabaseQuery(database: self, query: query), sink: sink,
        onFailure: onFailure)
    }
    enqueue(.listen(observation.id, ListenRequest(query: query, events: kinds)))
    return observation
  }

  /// Begins to observe a request for a stream, which gets the events of the tree and the number of
  /// their batch; nil for what it asked for itself.
  nonisolated func observe(
    _ request: ListenRequest,
    _ take: @escaping @Sendable (ListenerID, [TreeEvent], _ batch: Int?) -> Void,
    onFailure: @escaping @Sendable (ListenerID, DatabaseError) -> Void
  ) -> Observation {
    let observation = dispatcher.add { id in
      Observation(
        id: id, query: DatabaseQuery(database: self, query: request.query),
        sink: .stream { take(id, $0, $1) }, onFailure: { onFailure(id, $0) })
    }
    enqueue(.listen(observation.id, request))
    return observation
  }

  /// Ends an observation; nothing happens if it ended before.
  nonisolated func end(_ observation: Observation) {
    if observation.end() { forget(observation) }
  }

  /// Ends the observation of a sequence that takes nothing any more; see `Observation`.
  nonisolated func endWithoutWaiting(_ observation: Observation) {
    if observation.endWithoutWaiting() { forget(observation) }
  }

  private nonisolated func forget(_ observation: Observation) {
    dispatcher.remove(observation.id)
    enqueue(.unlisten(observation.id))
  }

  /// Keeps a query's rows in memory, or no longer.
  nonisolated func keepSynced(_ query: Query, _ isKept: Bool) {
    guard isKept else {
      if let kept = dispatcher.replaceKept(nil, for: query) { end(kept) }
      return
    }
    if dispatcher.isKept(query) { return }
    let kept = dispatcher.add { id in
      Observation(id: id, query: DatabaseQuery(database: self, query: query), sink: .nobody) {
        [dispatcher] error in
        _ = dispatcher.replaceKept(nil, for: query)
        dispatcher.report(error)
      }
    }
    // It is registered before it can fail.
    if let other = dispatcher.replaceKept(kept, for: query) { end(other) }
    enqueue(.listen(kept.id, ListenRequest(query: query, events: [])))
  }
}

// MARK: For tests

extension Database {
  /// The number of observations, and whether the tree has any listener, after all earlier requests.
  package func listeners() -> (observations: Int, hasAny: Bool) {
    (dispatcher.count, session.hasListeners)
  }
}
