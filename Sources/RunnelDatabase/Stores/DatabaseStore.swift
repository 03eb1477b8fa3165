import RunnelBase
public import RunnelStore
public import RunnelTree

/// A store with an open database, for programs that use `await`.
///
/// Responsibilities:
/// - It owns a `Store`, and dispatches all actions to it, from any thread.
/// - It carries out the effects of `TreeAccess`, and dispatches the results. Requests are carried
///   out one after the other, in the order in which they were dispatched; their deliveries are
///   dispatched before their answers. Meanwhile it waits for the answers of a replica's origin to
///   writes.
/// - It runs asynchronous thunks.
///
/// A program with its own loop has a `Store` and a `TreeAccess` itself, and submits the effects to
/// its database.
///
/// Source: FirebaseReSwift's access to data; ReSwift-Thunk.
public actor DatabaseStore<State: Sendable> {
  /// The most actions of other threads that wait; a batch of events counts as one.
  private static var inboxMax: Int { 10_000 }
  /// The most requests that wait.
  private static var requestsMax: Int { 10_000 }

  /// The database.
  public nonisolated let database: Database
  private nonisolated let inbox: Inbox<any Action>
  private nonisolated let wake: AsyncStream<Void>.Continuation
  private nonisolated let requests: AsyncStream<TreeEffect>.Continuation
  // This actor only:
  private let store: RunnelStore.Store<State>
  private let access: TreeAccess
  private let thunks = ThunkQueue<State>()
  /// The requests that have not begun.
  private var waiting: Set<RequestID> = []
  private var observations: [ListenerID: Observation] = [:]
  /// The writes that the origin has not answered.
  private var followed: [RequestID: Task<Void, Never>] = [:]
  /// The observation of the connection to the origin.
  private var connection: Observation?
  private var running: [Int: Task<Void, Never>] = [:]
  private var thunkOfName: [String: Int] = [:]
  private var lastThunk = 0
  /// The newest values of persisted parts that are not written yet, by place.
  private var unkept: [Path: @Sendable () async throws -> Void] = [:]
  /// The tasks that write persisted parts, one for each place.
  private var keeping: [Path: Task<Void, Never>] = [:]
  /// What was told last of persisted parts that are not equal to themselves, by place.
  private var unequal: [Path: UnequalValue] = [:]
  private var isClosed = false

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - database: the database; the store keeps it, and does not close it.
  ///   - state: the first state.
  ///   - middleware: the functions that see each action before the reducer, and after the store's
  ///     own, which carry out requests, subscriptions and thunks.
  ///   - environment: the clock and the random numbers, for new keys.
  ///   - reducer: computes the next state.
  public init(
    _ database: Database, state: State, middleware: sending [Middleware<State>] = [],
    environment: sending DatabaseEnvironment = .system,
    reducer: sending @escaping Reducer<State>
  ) {
    let (wakes, wake) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let (effects, requests) = AsyncStream.makeStream(
      of: TreeEffect.self, bufferingPolicy: .bufferingOldest(Self.requestsMax))
    self.database = database
    self.wake = wake
    self.requests = requests
    inbox = Inbox(limit: Self.inboxMax) { wake.yield() }
    access = TreeAccess(now: environment.now, random: environment.random)
    store = RunnelStore.Store(
      state: state,
      middleware: [thunks.middleware, thunkMiddleware(), access.middleware()] + middleware,
      reducer: reducer)
    Task { [weak self] in
      for await _ in wakes { await self?.drain() }
    }
    Task { [weak self] in
      for await effect in effects { await self?.carryOut(effect) }
    }
  }

  deinit {
    wake.finish()
    requests.finish()
  }

  /// Ends all subscriptions and thunks; the database stays open.
  ///
  /// Actions that are dispatched afterwards reach the reducer, but no request is carried out.
  public func close() {
    isClosed = true
    wake.finish()
    requests.finish()
    for observation in observations.values { database.end(observation) }
    observations = [:]
    stopMonitoring()
    for task in followed.values { task.cancel() }
    followed = [:]
    for task in running.values { task.cancel() }
    running = [:]
    thunkOfName = [:]
  }
}

// MARK: The store

extension DatabaseStore {
  /// The present state.
  public var state: State { store.state }

  /// A new key, which sorts after those made before.
  public func newObjectID() -> Key { access.newObjectID() }

  /// Dispatches an action; returns when the reducer has seen it and subscribers were told.
  ///
  /// The results of a request are dispatched later.
  public func dispatch(_ action: any Action) {
    store.dispatch(action)
    performEffects()
  }

  /// Dispatches an action a little later, without waiting; returns false if too many wait.
  ///
  /// Actions of one thread keep their order.
  public nonisolated func post(_ action: any Action) -> Bool { inbox.post(action) }

  /// Tells a part of the state now, and again after each action that changed it.
  ///
  /// - Parameters:
  ///   - part: the part of the state; its values are compared by `==`.
  ///   - body: called with the part, on the store's actor, for which it must not wait.
  /// - Returns: the token by which the subscription is removed.
  public func subscribe<Part: Equatable>(
    to part: @escaping @Sendable (State) -> Part,
    _ body: @escaping @Sendable (Part) -> Void
  ) -> StoreToken {
    store.subscribe(to: part, body)
  }

  /// Removes a subscription; one that is removed already is ignored.
  public func unsubscribe(_ token: StoreToken) { store.unsubscribe(token) }

  /// The values of a part of the state: the present one, and each new one.
  ///
  /// - Parameters:
  ///   - part: the part of the state; its values are compared by `==`.
  ///   - bufferingPolicy: the values to keep if they come faster than they are taken; by default
  ///     the newest.
  /// - Returns: a sequence that ends with the task that iterates.
  public func values<Part: Equatable & Sendable>(
    of part: @escaping @Sendable (State) -> Part,
    bufferingPolicy: AsyncStream<Part>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Part> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Part.self, bufferingPolicy: bufferingPolicy)
    let token = store.subscribe(to: part) { continuation.yield($0) }
    continuation.onTermination = { [weak self] _ in
      Task { await self?.unsubscribe(token) }
    }
    return stream
  }

  /// Persists a part of the state in the tree: the present value, and each new one.
  ///
  /// If values come faster than they are written, those in between are skipped. A failure is
  /// dispatched as `PersistFailed`. A value that is not equal to itself, such as one with a NaN, is new
  /// only if it is also encoded differently.
  ///
  /// - Parameter persisted: the part and its place.
  /// - Returns: the token; `unsubscribe` ends the persistence.
  public func persist<Part>(_ persisted: PersistedPart<State, Part>) -> StoreToken {
    let (part, place) = (persisted.part, persisted.place)
    unequal[place.path] = nil
    return store.subscribe(to: { $0[keyPath: part] }) { [weak self] value in
      self?.assumeIsolated { store in
        let unequal = UnequalValue(value)
        if unequal != nil, unequal == store.unequal[place.path] { return }
        store.unequal[place.path] = unequal
        store.keep(at: place.path) { try await place.setValue(value) }
      }
    }
  }

  /// Waits until the present values of all persisted parts are on disk, or could not be written.
  public func persisted() async {
    while let task = keeping.values.first { await task.value }
  }

  private func keep(at path: Path, _ write: @escaping @Sendable () async throws -> Void) {
    unkept[path] = write
    if keeping[path] == nil { keeping[path] = Task { await writeUnkept(at: path) } }
  }

  private func writeUnkept(at path: Path) async {
    while let write = unkept.removeValue(forKey: path) {
      do {
        try await write()
      } catch {
        dispatch(PersistFailed(path: path, error: TreeError(reason: error)))
      }
    }
    keeping[path] = nil
  }

  private func drain() {
    store.dispatch(from: inbox)
    performEffects()
  }
}

// MARK: Effects

extension DatabaseStore {
  private func performEffects() {
    for effect in access.takeEffects() where !isClosed { perform(effect) }
    for work in thunks.take() where !isClosed {
      switch work {
      case .start(let thunk): start(thunk)
      case .cancel(let name): cancelThunk(name)
      }
    }
  }

  private func perform(_ effect: TreeEffect) {
    switch effect {
    case .write(let id, _), .get(let id, _), .search(let id, _):
      waiting.insert(id)
      guard case .dropped = requests.yield(effect) else { return }
      waiting.remove(id)
      dispatch(TreeAnswer.failed(id, .overflow("requests", Self.requestsMax)))
    case .cancel(let id):
      waiting.remove(id)
      followed.removeValue(forKey: id)?.cancel()
    case .listen(let listener, let request): listen(listener, request)
    case .unlisten(let listener):
      if let observation = observations.removeValue(forKey: listener) {
        database.end(observation)
      }
    case .monitorConnection: monitor()
    case .stopMonitoringConnection: stopMonitoring()
    }
  }

  /// Carries out a request, unless it was cancelled meanwhile.
  private func carryOut(_ effect: TreeEffect) async {
    switch effect {
    case .write(let id, let write): await perform(write, id)
    case .get(let id, let path):
      await answer(id) { .found(id, try await $0.answer { try $0.node(at: path) }) }
    case .search(let id, let query):
      await answer(id) { .rows(id, try await $0.answer { try $0.rows(query) }) }
    case .cancel, .listen, .unlisten, .monitorConnection, .stopMonitoringConnection:
      preconditionFailure("Only requests are carried out one after the other.")
    }
  }

  private func answer(
    _ id: RequestID, _ body: @Sendable (Database) async throws -> TreeAnswer
  ) async {
    guard waiting.remove(id) != nil else { return }
    do {
      tell(try await body(database))
    } catch {
      tell(.failed(id, TreeError(reason: error)))
    }
  }

  /// Dispatches an answer, after its deliveries, which were posted before.
  private func tell(_ answer: TreeAnswer) {
    drain()
    dispatch(answer)
  }

  private func perform(_ write: Write, _ id: RequestID) async {
    guard waiting.remove(id) != nil else { return }
    do {
      let receipt = try await database.perform(write)
      let awaitsOrigin = receipt.isPending
      // If it was refused meanwhile, this throws.
      if !awaitsOrigin { try await receipt.acknowledgement() }
      tell(.written(id, awaitsOrigin: awaitsOrigin))
      if awaitsOrigin, !isClosed { follow(receipt, id) }
    } catch {
      tell(.failed(id, TreeError(reason: error)))
    }
  }

  /// Waits for the origin's answer to a write, however late it comes.
  private func follow(_ receipt: WriteReceipt, _ id: RequestID) {
    followed[id] = Task { [weak self] in
      do {
        try await receipt.acknowledgement()
        if !Task.isCancelled { await self?.conclude(id, .acknowledged(id)) }
      } catch let error as DatabaseError where error.code != .closed {
        if !Task.isCancelled { await self?.conclude(id, .failed(id, TreeError(reason: error))) }
      } catch {
        // The store or the database was closed: the write is still pending in the file.
      }
    }
  }

  private func conclude(_ id: RequestID, _ answer: TreeAnswer) {
    if followed.removeValue(forKey: id) != nil { tell(answer) }
  }

  // MARK: The connection

  private func monitor() {
    stopMonitoring()
    let place = Query(Path(unchecked: Path.info.keys + [Key(unchecked: "connected")]))
    let inbox = inbox
    let sink: @Sendable ([DataEvent]) -> Void = { events in
      guard case .value(let snapshot)? = events.last else { return }
      // If the inbox is full, the next change reports the state.
      _ = inbox.post(TreeAnswer.connection(isConnected: snapshot.value == true))
    }
    connection = database.observe(place, .value, .buffer(sink)) { _ in }
  }

  private func stopMonitoring() {
    if let connection { database.end(connection) }
    connection = nil
  }

  private func listen(_ listener: ListenerID, _ request: ListenRequest) {
    let (inbox, index) = (inbox, request.query.index)
    let sink: @Sendable ([DataEvent]) -> Void = { [weak self] events in
      let deliveries = events.compactMap { event in
        TreeEvent(event, index).map { Delivery(listener: listener, event: $0) }
      }
      if inbox.post(TreeAnswer.deliveries(deliveries)) { return }
      Task { await self?.fail(listener, .overflow("batches of events", Self.inboxMax)) }
    }
    observations[listener] = database.observe(request.query, request.events, .buffer(sink)) {
      [weak self] error in
      Task { await self?.fail(listener, TreeError(reason: error)) }
    }
  }

  private func fail(_ listener: ListenerID, _ error: TreeError) {
    guard let observation = observations.removeValue(forKey: listener) else { return }
    database.end(observation)
    drain()
    dispatch(TreeAnswer.listenFailed(listener, error))
  }
}

// MARK: Thunks

extension DatabaseStore {
  private func start(_ thunk: AsyncThunk<State>) {
    if let name = thunk.name { cancelThunk(name) }
    lastThunk += 1
    let id = lastThunk
    if let name = thunk.name { thunkOfName[name] = id }
    running[id] = Task { [weak self] in
      guard let store = self else { return }
      do {
        try await thunk.body(AsyncThunkContext(store: store, id: id))
        await store.end(id, thunk.name, nil)
      } catch {
        await store.end(id, thunk.name, error)
      }
    }
  }

  private func cancelThunk(_ name: String) {
    guard let id = thunkOfName.removeValue(forKey: name) else { return }
    running.removeValue(forKey: id)?.cancel()
  }

  private func end(_ id: Int, _ name: String?, _ error: (any Error)?) {
    // A cancelled thunk dispatches nothing.
    guard running.removeValue(forKey: id) != nil else { return }
    if let name, thunkOfName[name] == id { thunkOfName[name] = nil }
    if let error { dispatch(ThunkFailed(name: name, error: TreeError(reason: error))) }
  }

  private func checkIsRunning(_ id: Int) throws {
    if running[id] == nil { throw CancellationError() }
  }

  func state(forThunk id: Int) throws -> State {
    try checkIsRunning(id)
    return state
  }

  func dispatch(_ action: any Action, fromThunk id: Int) throws {
    try checkIsRunning(id)
    dispatch(action)
  }
}

// MARK: Conversions

extension TreeEvent {
  /// Makes the tree event for an observer's event.
  fileprivate init?(_ event: DataEvent, _ index: QueryIndex) {
    let previous = event.previousKey.map(Key.init(unchecked:))
    if case .value(let snapshot) = event {
      self = .value(snapshot.node)
      return
    }
    guard let key = event.snapshot.reference.path.lastKey else { return nil }
    let row = TreeRow(
      Child(key: key, node: event.snapshot.node), index: index, detail: .full)
    switch event {
    case .childAdded: self = .childAdded(row, previous: previous)
    case .childChanged: self = .childChanged(row, previous: previous)
    case .childMoved: self = .childMoved(row, previous: previous)
    case .childRemoved: self = .childRemoved(row)
    case .value: return nil
    }
  }
}

extension TreeError {
  /// Makes the error for an action from any error; the codes of database errors are kept.
  fileprivate init(reason error: any Error) {
    switch error {
    case let error as TreeError: self = error
    case let error as DatabaseError:
      self.init(Code(rawValue: error.code.rawValue), error.description)
    case is CancellationError:
      self.init(Code(rawValue: DatabaseError.Code.cancelled.rawValue), "It was cancelled.")
    default: self.init(.storage, "\(error)")
    }
  }

  fileprivate static func overflow(_ what: String, _ count: Int) -> TreeError {
    TreeError(
      Code(rawValue: DatabaseError.Code.overflow.rawValue),
      "More than \(count) \(what) wait: dispatch less at once.")
  }
}
