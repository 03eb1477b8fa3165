public import RunnelTree
import Synchronization

/// Which file a database is opened on, and how.
struct DatabaseSource: Sendable {
  var file: String
  var isReadOnly = false
  var indexes: [IndexDefinition] = []
}

/// Makes the keys of `childByAutoID`, each after those made before.
struct AutoIDs {
  private var environment: DatabaseEnvironment
  private var generator = PushIDGenerator()
  /// What the origin's clock shows more than the one here, in milliseconds.
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
  /// The file is opened on the tree's own thread, so that no other waits for the disk. Messages of
  /// requests that are submitted to this database go to nobody.
  ///
  /// - Parameters:
  ///   - file: the path of the file; it is made if it does not exist.
  ///   - isReadOnly: whether writes are refused; the file must then exist.
  ///   - indexes: the orders that the program will ask for.
  ///   - environment: makes the clock and the random numbers; it is called twice.
  ///   - onTrouble: is told when the writes of other processes cannot be read for now (it is tried
  ///     again), when `keepSynced` fails, or when the file cannot be closed properly; called where
  ///     handlers are.
  /// - Returns: the open database; it stays open until `close`, or until nothing refers to it and
  ///   nobody observes it.
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
  /// - Throws: `TreeError` (`invalidKey` or `invalidPath`) that names the piece that is refused.
  public nonisolated func reference(withPath path: String) throws(TreeError) -> Reference {
    Reference(database: self, path: try Path(path))
  }
}

// MARK: Reading and writing

extension Database {
  /// Carries out a write.
  ///
  /// When it returns, the write is on disk, and every handler that observes through this database
  /// has been told of it. A write that was begun is not cancelled with its task.
  ///
  /// - Parameters:
  ///   - write: the write.
  ///   - id: names the write, so that it is done once however often it is sent; see `WriteID`.
  /// - Returns: what is known of it; on a replica it tells the origin's answer.
  /// - Throws: `DatabaseError`; then nothing was written.
  @discardableResult
  public func perform(_ write: Write, id: WriteID? = nil) async throws -> WriteReceipt {
    try await self.write { session in
      guard let id else { return (true, try session.write(write)) }
      return try session.write(write, id: id)
    }
  }

  /// Asks the session something.
  func answer<Result: Sendable>(
    _ body: @Sendable (DatabaseSession) throws -> Result
  ) throws -> Result {
    try checkIsOpen()
    return try body(session)
  }

  /// Changes the tree; returns when those who observe have been told.
  func change<Result: Sendable>(
    _ body: @Sendable (DatabaseSession) throws -> (Result, [Delivery])
  ) async throws -> Result {
    try checkIsOpen()
    let (result, deliveries) = try body(session)
    post(deliveries)
    await dispatcher.whenDelivered()
    return result
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

  /// Begins to observe a question for a stream, which is told what the tree tells.
  nonisolated func observe(
    _ request: ListenRequest, _ take: @escaping @Sendable (ListenerID, [TreeEvent]) -> Void,
    onFailure: @escaping @Sendable (ListenerID, DatabaseError) -> Void
  ) -> Observation {
    let observation = dispatcher.add { id in
      Observation(
        id: id, query: DatabaseQuery(database: self, query: request.query),
        sink: .stream { take(id, $0) }, onFailure: { onFailure(id, $0) })
    }
    enqueue(.listen(observation.id, request))
    return observation
  }

  /// Ends an observation; nothing happens if it ended before.
  nonisolated func end(_ observation: Observation) {
    guard observation.end() else { return }
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
    // It is known before it can fail.
    if let other = dispatcher.replaceKept(kept, for: query) { end(other) }
    enqueue(.listen(kept.id, ListenRequest(query: query, events: [])))
  }
}

// MARK: For tests

extension Database {
  /// How many observers there are, and whether the tree has any listener, after what was submitted
  /// before.
  package func listeners() -> (observations: Int, hasAny: Bool) {
    (dispatcher.count, session.hasListeners)
  }
}
