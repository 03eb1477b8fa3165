import RunnelBase
import RunnelDatabase
import RunnelStore
import RunnelStreams
import RunnelTree

/// The application without a terminal: store, streams, and the requests that effects become.
///
/// It is used by one thread. Tests run it with a database that answers at once.
final class AppRuntime {
  /// Who an event of the tree is for.
  private enum Receiver {
    case view(Int)
    case children(Path)
    case record(Path)
  }

  /// How many records are offered where a reference may name one.
  private static let choicesMax = 500

  private let store: Store<AppState>
  private let access: TreeAccess
  private let backend: any TreeBackend
  private var views: [Int: ViewStreams] = [:]
  private var nodes: [Path: ChildrenStream] = [:]
  private var records: [Path: ListenerID] = [:]
  private var receivers: [ListenerID: Receiver] = [:]
  private var lastListener = 0
  private var screenEffects: [Effect] = []
  private let clock: Clock
  private let isRecording: Bool
  /// True while an action is handled with all that it asks for: what was typed ahead comes after it.
  private var isDispatching = false
  /// The numbers of what was asked of the database and not answered yet, with the names of the requests.
  private var requests: [Int: RequestID] = [:]
  private var lastRequest = 0
  /// The views whose orders were asked for, by the numbers of the requests.
  private var orderRequests: [Int: Int] = [:]
  /// The places of those that read a value to be looked at.
  private var previews: [Int: Path] = [:]
  /// The numbers of operations among them.
  private var operations: Set<Int> = []
  /// The numbers of writes among them that are none of the store's requests.
  private var direct: Set<Int> = []
  /// The export that is under way, and the number of what it asked for last.
  private var exporter: ExportRunner?
  private var exportQuestion: Int?
  /// The file that is being read, and who reads it; nil to read at once.
  private var reading: FileReading?
  private let startReading: ((FileReading) -> Void)?

  /// The time of the state, for new keys.
  private final class Clock {
    var now: Int64
    init(_ now: Int64) { self.now = now }
  }

  /// The present state.
  var state: AppState { _read { yield store.state } }

  /// Makes the application.
  ///
  /// - Parameters:
  ///   - state: the first state.
  ///   - database: where requests for the tree go.
  ///   - random: the random numbers, for new keys.
  ///   - startReading: has files read, whose reports are given to `receive(_:of:)`; nil to read them at once.
  ///   - record: is told each action before it is reduced; nil if nobody records.
  init(
    state: AppState, database: any TreeBackend,
    random: any RandomNumberGenerator = SystemRandomNumberGenerator(),
    startReading: ((FileReading) -> Void)? = nil,
    record: ((RunnelStore.ActionLogEntry) -> Void)? = nil
  ) {
    backend = database
    self.startReading = startReading
    let clock = Clock(state.now)
    self.clock = clock
    access = TreeAccess(now: { clock.now }, random: random)
    var middleware: [Middleware<AppState>] = [access.middleware()]
    if let record {
      middleware.append(AppState.recording(now: { clock.now }, write: record))
    }
    isRecording = record != nil
    store = Store(state: state, middleware: middleware, reducer: AppState.reduce)
  }

  /// Carries out what the first state asks for.
  func start() {
    if isRecording { store.dispatch(WorkspaceOpened(store.state)) }
    performEffects()
  }

  /// Handles an action and carries out what it asks for.
  func send(_ action: AppAction) {
    if case .tick(let now) = action { clock.now = now }
    dispatch(action)
  }

  private func dispatch(_ action: any Action) {
    store.dispatch(action)
    let isOutermost = !isDispatching
    isDispatching = true
    performEffects()
    guard isOutermost else { return }
    while store.state.typeAhead.isReady {
      store.dispatch(AppAction.typedAhead)
      performEffects()
    }
    isDispatching = false
  }

  /// The effects that only the owner of the screen can carry out, in order.
  func takeScreenEffects() -> [Effect] {
    defer { screenEffects = [] }
    return screenEffects
  }
}

// MARK: What the database says

extension AppRuntime {
  /// Takes messages over, in order.
  func receive(_ messages: [DatabaseMessage]) {
    for message in messages { receive(message) }
  }

  private func receive(_ message: DatabaseMessage) {
    switch message {
    case .deliveries(let deliveries): deliver(deliveries)
    case .written(let number, let key, let entry): finish(number, key, entry)
    case .orders(let number, let orders):
      guard let view = orderRequests.removeValue(forKey: number) else { return }
      send(.orders(view: view, orders.map(\.description)))
    case .excerpt(let number, let excerpt):
      if let path = previews.removeValue(forKey: number) { send(.previewed(path, excerpt)) }
    case .found(let number, let node) where number == exportQuestion: takeForExport(node)
    case .rows(let number, let rows) where number == exportQuestion: takeForExport(rows)
    case .refused(let number, let error) where number == exportQuestion: failExport(error)
    case .found(let number, let node): answer(number) { .found($0, node) }
    case .rows(let number, let rows): answer(number) { .rows($0, rows) }
    case .performed(let number, let plan):
      guard let id = requests.removeValue(forKey: number), let write = Int(id.text) else { return }
      send(
        .performed(
          write,
          Performed(
            path: plan.path, resource: plan.identity.resource, kind: plan.changes.first?.kind,
            changes: plan.changes.map { change in
              RunnelStreams.ActionLogEntry(of: change, at: clock.now, author: state.me)
            })))
    case .resourceRefused(let number, let error): refuse(number, Refusal(error))
    case .refused(let number, let error): refuse(number, error)
    case .rejected(_, let error):
      // What was dropped here is no trouble.
      if error.code != .writeCanceled { send(.trouble(error.description)) }
    case .pendingWrites(let writes): send(.pendingWrites(writes))
    case .history(let number, let page):
      direct.remove(number)
      guard let id = requests.removeValue(forKey: number), let read = Int(id.text) else { return }
      send(.history(read, page))
    case .acknowledged, .origin: break
    case .failed(let listener, let error): fail(listener, error)
    // The orders of views are declared when the file is opened; one that is not cannot be.
    case .advice: break
    case .stale(let error): send(.trouble(error.message))
    case .fileGone(let error): send(.fileGone(error.message))
    case .copied(_, let file, let bytes): send(.copySaved(file: file, bytes: bytes))
    }
  }

  /// A write is on disk: the state is told its entry before the store's answer, if there is one.
  private func finish(_ number: Int, _ key: RunnelTree.Key?, _ entry: Int64?) {
    let isLast = direct.remove(number) != nil
    if let id = requests[number], let write = Int(id.text) {
      send(.written(write, key: key, entry: entry, isLast: isLast))
    }
    if isLast {
      requests[number] = nil
    } else {
      answer(number) { .written($0, awaitsOrigin: false) }
    }
  }

  /// Hands on what came of a request to the store's tree access.
  private func answer(_ number: Int, _ make: (RequestID) -> TreeAnswer) {
    guard let id = requests.removeValue(forKey: number) else { return }
    dispatch(make(id))
  }

  private func refuse(_ number: Int, _ error: DatabaseError) {
    if let path = previews.removeValue(forKey: number) { return send(.previewed(path, nil)) }
    guard let id = requests[number] else { return send(.trouble(error.message)) }
    if operations.contains(number) || direct.contains(number) {
      return refuse(number, Refusal(error))
    }
    requests[number] = nil
    dispatch(
      TreeAnswer.failed(id, TreeError(TreeError.Code(rawValue: error.code.rawValue), error.message))
    )
  }

  private func refuse(_ number: Int, _ refusal: Refusal) {
    operations.remove(number)
    direct.remove(number)
    guard let id = requests.removeValue(forKey: number), let write = Int(id.text) else {
      return send(.trouble(refusal.message))
    }
    send(.refused(write, refusal))
  }

  /// One message is one batch: the events of each listener are handed over together.
  private func deliver(_ deliveries: [Delivery]) {
    var order: [ListenerID] = []
    var batches: [ListenerID: [TreeEvent]] = [:]
    for delivery in deliveries {
      if batches[delivery.listener] == nil { order.append(delivery.listener) }
      batches[delivery.listener, default: []].append(delivery.event)
    }
    for listener in order {
      guard let events = batches[listener] else { continue }
      switch receivers[listener] {
      case .view(let index):
        views[index]?.receive(events, from: listener)
        if let count = views[index]?.waitingCount { send(.waiting(view: index, count)) }
      case .children(let path): nodes[path]?.receive(events, from: listener)
      case .record(let path):
        if case .value(let node)? = events.last { send(.record(path, node)) }
      case nil: break
      }
    }
  }

  private func fail(_ listener: ListenerID, _ error: DatabaseError) {
    switch receivers[listener] {
    case .view(let index): views[index]?.receive(error, from: listener)
    case .children(let path): nodes[path]?.receive(error, from: listener)
    case .record, nil: send(.trouble(error.message))
    }
  }
}

// MARK: What the state asks for

extension AppRuntime {
  private func performEffects() {
    while !store.state.effects.isEmpty {
      let effects = store.state.effects
      store.dispatch(AppAction.effectsTaken)
      for effect in effects {
        perform(effect)
        for effect in access.takeEffects() { perform(effect) }
      }
    }
  }

  /// Carries out what the store's tree access asks for.
  private func perform(_ effect: TreeEffect) {
    switch effect {
    case .write(let id, let write): ask(id) { .write($0, write) }
    case .get(let id, let path): ask(id) { .get($0, path) }
    case .search(let id, let query): ask(id) { .search($0, query) }
    // Lists and records listen by streams of their own, and nothing is cancelled here.
    case .cancel, .listen, .unlisten, .monitorConnection, .stopMonitoringConnection: break
    }
  }

  /// Asks the database for something whose answer carries a number.
  private func ask(_ id: RequestID, _ make: (Int) -> DatabaseRequest) {
    lastRequest += 1
    requests[lastRequest] = id
    backend.submit(make(lastRequest))
  }

  private func write(_ number: Int, _ request: WriteRequest) {
    let id = RequestID("\(number)")
    let registry = state.resources.registry
    switch request {
    case .set(let path, let json):
      store.dispatch(StoredValue.createObject(StoredValue(json), at: path, id: id))
    case .update(let path, let json):
      store.dispatch(StoredValue.updateObject(at: path, json, id: id))
    case .remove(let path): store.dispatch(StoredValue.removeObject(at: path, id: id))
    // The database makes the key, which comes after those that others made.
    case .push(let path, let json): askDirectly(id) { .push($0, path, json) }
    case .operation(let operation): perform(id) { .perform($0, operation, registry) }
    case .append(let identity, let field, let json):
      let place = Path(unchecked: field.keys + [access.newObjectID()])
      let operation = state.resources.updating(identity, [JSONMember(place.text, json)])
      perform(id) { .perform($0, operation, registry) }
    case .undo(let entry): perform(id) { .undo($0, entry, registry) }
    case .undoWrite(let entry): askDirectly(id) { .undoWrite($0, entry: entry) }
    case .guarded(let request, let conditions): write(number, request, if: conditions)
    }
  }

  /// Carries a write out if places stand as expected.
  private func write(_ number: Int, _ request: WriteRequest, if conditions: [WriteCondition]) {
    let id = RequestID("\(number)")
    let registry = state.resources.registry
    switch request {
    case .set(let path, let json): askDirectly(id) { .writeIf($0, .set(path, json), conditions) }
    case .update(let path, .object(let members)):
      askDirectly(id) { .writeIf($0, .update(path, members), conditions) }
    case .remove(let path): askDirectly(id) { .writeIf($0, .remove(path), conditions) }
    case .operation(let operation):
      perform(id) { .performIf($0, operation, registry, conditions) }
    case .update, .push, .append, .undo, .undoWrite, .guarded: write(number, request)
    }
  }

  private func askDirectly(_ id: RequestID, _ make: (Int) -> DatabaseRequest) {
    direct.insert(lastRequest + 1)
    ask(id, make)
  }

  private func perform(_ id: RequestID, _ make: (Int) -> DatabaseRequest) {
    operations.insert(lastRequest + 1)
    ask(id, make)
  }

  private func readOrders(_ view: Int) {
    lastRequest += 1
    orderRequests[lastRequest] = view
    backend.submit(.orders(lastRequest, state.lists[view].definition.source.path))
  }

  private func readChoices(_ path: Path) {
    // The order of keys takes every limit.
    guard
      let query = try? Query(path).ordered(by: .key)
        .limited(to: AppRuntime.choicesMax, from: .first)
    else { return }
    store.dispatch(StoredValue.searchObjects(query))
  }

  private func perform(_ effect: Effect) {
    switch effect {
    case .openView(let index): openView(index)
    case .fetchMore(let index): views[index]?.fetchMore()
    case .resizePages:
      for (index, streams) in views { streams.pageSize = state.lists[index].definition.source.page }
      for children in nodes.values { children.pageSize = state.pageSize }
    case .pause(let index, let isPaused): views[index]?.pause(isPaused)
    case .stopFetching(let index): views[index]?.stopFetching()
    case .filter(let index, let filter, let surroundings):
      views[index]?.show(only: filter, surroundings)
    case .compose(let index, let sent, let record):
      views[index]?.compose(record, sending: sent, now: state.now)
    case .expand(let path): expand(path)
    case .collapse(let path): nodes.removeValue(forKey: path)?.stop()
    case .preview(let path): readPreview(path)
    case .fetchMoreChildren(let path): nodes[path]?.fetchMore()
    case .openRecord(let path): openRecord(path)
    case .closeRecord(let path): closeRecord(path)
    case .write(let number, let request): write(number, request)
    case .dropPending(let number, let id):
      askDirectly(RequestID("\(number)")) { .dropPending($0, id) }
    case .read(let number, let path):
      store.dispatch(StoredValue.getObject(at: path, id: RequestID("\(number)")))
    case .readHistory(let number, let path, let before, let count):
      askDirectly(RequestID("\(number)")) { .history($0, path, before: before, count: count) }
    case .readChoices(let path): readChoices(path)
    case .readOrders(let view): readOrders(view)
    case .export(let job): export(job)
    case .stopExport:
      exporter?.stop()
      ask(nil)
    case .readFile(let file, let texts): read(file, texts)
    case .stopReading: reading?.stop()
    case .writeFile(let file, let text):
      if let reason = FileContent.write(text, to: file) { send(.trouble(reason)) }
    case .saveCopy(let file): backend.submit(.saveCopy(0, file: ExportRunner.expanded(file)))
    case .copy, .openLink, .theme, .editOutside, .suspend, .redraw, .crash:
      screenEffects.append(effect)
    }
  }

  private func read(_ file: String, _ texts: [String]) {
    reading?.stop()
    let next = FileReading((reading?.number ?? 0) + 1, file: file, texts: texts)
    reading = next
    if let startReading { return startReading(next) }
    next.run { receive($0, of: next.number) }
  }

  /// Takes over how the reading of a file goes; one that was given up tells nothing any more.
  func receive(_ report: FileReading.Report, of number: Int) {
    guard let reading, reading.number == number else { return }
    switch report {
    case .progress(let count, let size): send(.fileReading(count, of: size))
    case .done(let content): send(.fileRead(reading.file, content))
    }
  }

  private func export(_ job: ExportJob) {
    let runner = ExportRunner(job) { [weak self] report in self?.send(.exported(report)) }
    exporter = runner
    ask(runner.start())
  }

  private func takeForExport(_ rows: [TreeRow]) { ask(exporter?.take(rows)) }
  private func takeForExport(_ node: RunnelTree.Node) { ask(exporter?.take(node)) }

  private func failExport(_ error: DatabaseError) {
    exporter?.fail(error.message)
    ask(nil)
  }

  /// Asks what an export wants to know next; it is over if that is nothing.
  private func ask(_ question: ExportRunner.Question?) {
    guard let question else {
      (exporter, exportQuestion) = (nil, nil)
      return
    }
    lastRequest += 1
    exportQuestion = lastRequest
    switch question {
    case .rows(let query): backend.submit(.search(lastRequest, query))
    case .node(let path): backend.submit(.get(lastRequest, path))
    }
  }

  private func openView(_ index: Int) {
    let source = Source(runtime: self, receiver: .view(index))
    do {
      let streams = try ViewStreams(
        state.lists[index].definition, source: source, local: state.local)
      views[index]?.stop()
      views[index] = streams
      streams.start { [weak self] change in
        self?.send(.list(view: index, change))
      } count: { [weak self] count in
        self?.send(.counted(view: index, count))
      }
    } catch {
      send(.trouble("\(error)"))
    }
  }

  private func expand(_ path: Path) {
    nodes[path]?.stop()
    let source = Source(runtime: self, receiver: .children(path))
    let children = ChildrenStream(of: path, source: source, pageSize: state.pageSize)
    nodes[path] = children
    children.start { [weak self] children in self?.send(.tree(path, children)) }
  }

  private func readPreview(_ path: Path) {
    lastRequest += 1
    previews[lastRequest] = path
    backend.submit(
      .excerpt(
        lastRequest, path, textMax: TreePreview.textMax, countMax: TreePreview.countMax))
  }

  private func openRecord(_ path: Path) {
    guard records[path] == nil else { return }
    let request = ListenRequest(query: Query(path), events: .value)
    records[path] = listen(request, .record(path))
  }

  private func closeRecord(_ path: Path) {
    guard let listener = records.removeValue(forKey: path) else { return }
    unlisten(listener)
  }

  private func listen(_ request: ListenRequest, _ receiver: Receiver) -> ListenerID {
    lastListener += 1
    let listener = ListenerID(lastListener)
    receivers[listener] = receiver
    backend.submit(.listen(listener, request))
    return listener
  }

  private func unlisten(_ listener: ListenerID) {
    receivers[listener] = nil
    backend.submit(.unlisten(listener))
  }

  /// The tree, as the streams of one receiver ask it.
  private final class Source: TreeSource {
    // Weak: streams that go with the runtime end their listeners when it is half gone.
    private weak var runtime: AppRuntime?
    private let receiver: Receiver

    init(runtime: AppRuntime, receiver: Receiver) {
      self.runtime = runtime
      self.receiver = receiver
    }

    func listen(_ request: ListenRequest) -> ListenerID {
      runtime?.listen(request, receiver) ?? ListenerID(0)
    }

    func unlisten(_ listener: ListenerID) { runtime?.unlisten(listener) }

    func extend(_ listener: ListenerID, by count: Int) {
      runtime?.backend.submit(.extend(listener, count: count))
    }
  }
}
