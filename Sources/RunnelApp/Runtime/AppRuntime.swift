import Logging
import RunnelBase
import RunnelDatabase
import RunnelStore
import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// The workspace without a terminal: the store, and the objects that carry out its effects.
///
/// An effect goes to one of three: a request to the database or to its server, under the id that the state
/// gave it; what is live to `LiveQueries`; files to `FileWork`. What they report becomes an action.
///
/// It belongs to one thread. Tests run it with a database that answers at once.
final class AppRuntime {
  private let store: Store<AppState>
  private let backend: any TreeBackend
  let queries: LiveQueries
  /// What the server finds by itself, if the tree is made of its services.
  var reach: FindReach? { didSet { queries.reach = reach } }
  let files: FileWork
  private let startFileTask: (FileTask) -> Void
  /// Where a server of the database may be asked.
  private let serverPlaces: [ServerPlace]
  /// The places where the program itself writes, for who is here and the devices.
  let ownPlaces: OwnPlaces
  private static let logger = Logger(label: "runnel.workspace")
  private let isRecording: Bool
  private var screenEffects: [Effect] = []
  /// Whether an action and its effects are being handled; waiting keys are handled after that.
  private var isDispatching = false
  // Generate new keys.
  private var keys = PushIDGenerator()
  private var random: any RandomNumberGenerator

  /// The present state.
  var state: AppState { _read { yield store.state } }

  /// Creates the workspace.
  ///
  /// - Parameters:
  ///   - state: the first state.
  ///   - database: where requests for the tree go.
  ///   - serverPlaces: where a server of the database may be asked; none in a replay.
  ///   - ownPlaces: the places where the program itself writes.
  ///   - levels: the source of the levels of a server's tree; nil if the database tells its tree whole.
  ///   - random: the random numbers, for new keys.
  ///   - startFileTask: has work with files done on another thread, whose reports are given to
  ///     `receive(_:)`.
  ///   - record: is told each action before it is reduced; nil if nobody records.
  init(
    state: AppState, database: any TreeBackend, serverPlaces: [ServerPlace] = [],
    ownPlaces: OwnPlaces = OwnPlaces(), levels: (any LevelSource)? = nil,
    random: any RandomNumberGenerator = SystemRandomNumberGenerator(),
    startFileTask: @escaping (FileTask) -> Void,
    record: ((LoggedAction) -> Void)? = nil
  ) {
    backend = database
    queries = LiveQueries(database, levels: levels)
    files = FileWork(database, start: startFileTask)
    (self.serverPlaces, self.startFileTask) = (serverPlaces, startFileTask)
    self.ownPlaces = ownPlaces
    self.random = random
    isRecording = record != nil
    let clock = Clock(state.now)
    let middleware: [Middleware<AppState>] =
      record.map { [AppState.recording(now: { clock.now }, write: $0)] } ?? []
    self.clock = clock
    store = Store(state: state, middleware: middleware, reducer: AppState.reduce)
    queries.listed?.now = { clock.now }
    queries.report = { [weak self] in self?.send($0) }
    queries.awaitsOrigin = { [weak self] in
      self?.state.database.origin.map { !$0.isDisconnected } ?? false
    }
    queries.isCutOff = { [weak self] in self?.state.database.origin?.isDisconnected == true }
    queries.isUnconfirmed = { [weak self] in
      self.map { $0.state.database.origin != nil && !$0.wasLive } ?? false
    }
    files.report = { [weak self] action in
      if case .exported(let report) = action, !report.isProgress { self?.queries.endWhole() }
      self?.send(action)
    }
  }

  /// The time of the state, for recordings.
  private final class Clock {
    var now: Int64
    init(_ now: Int64) { self.now = now }
  }

  private let clock: Clock
  /// The ids of the refused writes that the database keeps, as it told them last.
  var keptRefusals: Set<Int64> = []
  /// The number of changes of the refused writes of the state when they were compared last.
  private var refusedRevision = 0
  /// Whether the link to the origin was live.
  private var wasLive = false

  /// Carries out the effects of the first state.
  func start() {
    if isRecording { store.dispatch(WorkspaceOpened(store.state)) }
    performEffects()
  }

  /// Handles an action, and carries out its effects.
  func send(_ action: AppAction) {
    if case .tick(let now) = action { clock.now = now }
    store.dispatch(action)
    if case .origin(let facts) = action {
      queries.listed?.take(facts)
      if !facts.isCached {
        wasLive = true
        queries.originIsThere()
      }
      if facts.isDisconnected { queries.originIsGone() }
    }
    let isOutermost = !isDispatching
    isDispatching = true
    performEffects()
    dropRefusals()
    guard isOutermost else { return }
    while store.state.input.typeAhead.isReady {
      store.dispatch(AppAction.typedAhead)
      performEffects()
    }
    dropRefusals()
    isDispatching = false
  }

  /// Has the database drop the refused writes that the state no longer has, such as one that another write has
  /// replaced; those that were sent again or dropped by the user are gone there before.
  private func dropRefusals() {
    let queue = state.writes.queue
    guard queue.refusedRevision != refusedRevision else { return }
    refusedRevision = queue.refusedRevision
    let gone = keptRefusals.subtracting(queue.refused.compactMap(\.write?.id))
    keptRefusals.subtract(gone)
    for id in gone.sorted() { backend.submit(.dropRefused(DatabaseAsker.nobody.number, id)) }
  }

  /// Returns the effects that only the owner of the screen can carry out, once and in order.
  func takeScreenEffects() -> [Effect] {
    defer { screenEffects = [] }
    return screenEffects
  }

  /// Stops the work on files that is under way.
  func stopFileWork() {
    files.stopExport()
    files.stopReading()
    files.stopIndex()
    files.stopCopy()
  }

  /// Takes over what work with files tells, and what a server answered.
  func receive(_ report: FileReport) {
    if case .answered(let id, let answer) = report { return send(.answered(id, answer)) }
    files.receive(report)
  }
}

// MARK: What the state asks for

extension AppRuntime {
  private func performEffects() {
    while !store.state.effects.isEmpty {
      let effects = store.state.effects
      store.dispatch(AppAction.effectsTaken)
      for effect in effects { perform(effect) }
    }
  }

  private func perform(_ effect: Effect) {  // tidy:table
    switch effect {
    case .request(let id, let request): ask(request, id)
    case .askServer(let id, let request):
      startFileTask(.askServer(id, request, at: serverPlaces))
    case .openView(let index):
      let list = state.tabs.lists[index]
      queries.open(
        view: index, list.definition, first: list.reach.firstCount, local: state.settings.local)
    case .fetchMore(let index, let pages): queries.views[index]?.fetchMore(pages: pages)
    case .fetchNewer(let index, let pages): queries.views[index]?.fetchNewer(pages: pages)
    case .goToLiveEnd(let index, let count): queries.views[index]?.goToLiveEnd(count: count)
    case .goTo(let index, let position, let count):
      queries.views[index]?.go(to: position, count: count)
    case .letGo(let index, let kept):
      if queries.views[index]?.letGo(kept) != true { send(.keptAll(view: index)) }
    case .resizePages:
      queries.resizePages(
        ofViews: state.tabs.lists.map(\.definition.source.page), ofNodes: state.settings.pageSize)
    case .pause(let index, let isPaused): queries.views[index]?.pause(isPaused)
    case .stopFetching(let index): queries.views[index]?.stopFetching()
    case .filter(let index, let filter, let surroundings):
      let part = filter.flatMap { FilterPredicate.part(of: $0, in: state.tabs.lists[index]) }
      queries.views[index]?.show(only: filter, surroundings, asking: part)
    case .compose(let index, let sent, let record, let typing):
      queries.views[index]?.compose(record, sending: sent, typing: typing, now: state.now)
    case .expand(let path): queries.expand(path, pageSize: state.settings.pageSize)
    case .collapse(let path): queries.collapse(path)
    case .fetchMoreChildren(let path): queries.fetchMoreChildren(of: path)
    case .keepChildren(let path, let count): queries.keepChildren(of: path, count: count)
    case .look(let paths): queries.listed?.look(at: paths)
    case .countKeys(let path): queries.listed?.count(path)
    case .seek(let path): queries.listed?.seek(path)
    case .openRecord(let path): queries.open(record: path)
    case .closeRecord(let path): queries.close(record: path)
    case .export(let id, let job): export(job, id)
    case .stopExport:
      if queries.endWhole() { send(.exported(.stopped)) } else { files.stopExport() }
    case .readFile(let file, let texts, let nested): files.read(file, texts, nested)
    case .stopReading: files.stopReading()
    case .find(let id, let path): queries.find(path, id)
    case .count(let id, let counting): queries.count(counting, id)
    case .makeIndex(let definition): files.makeIndex(definition)
    case .stopIndex: files.stopIndex()
    case .saveCopy(let id, let file): files.saveCopy(to: file, id)
    case .stopCopy: files.stopCopy()
    case .writeRefused(let file, let text): files.write(refused: text, to: file)
    case .saveView(let saving): startFileTask(.saveView(saving))
    case .mismatch(let words):
      AppRuntime.logger.error("\(words)")
      // A recording may have been changed by hand.
      assert(backend is ReplayBackend, words)
    case .copy, .notify, .openLink, .sendAgain, .reconnect, .readOrigin, .measureLatency, .theme,
      .editOutside,
      .suspend, .redraw, .crash, .account, .stopAccount, .device, .callMethod, .explain:
      screenEffects.append(effect)
    }
  }

  /// Exports records; the rows of a list of a server are read from it first.
  private func export(_ job: ExportJob, _ id: AppRequestID) {
    guard case .view(let definition, _, _) = job.source, let origin = state.database.origin,
      !job.takesKnown
    else { return files.export(job, id) }
    if origin.isDisconnected { return send(.exported(.isOffline)) }
    send(.exported(.reading))
    queries.readWhole(definition) { [weak self] reason in
      guard let self else { return }
      if let reason {
        queries.endWhole()
        send(.exported(.failed(reason)))
      } else {
        files.export(job, id)
      }
    }
  }

  private func ask(_ request: Request, _ id: AppRequestID) {
    let registry = state.database.resources.registry
    backend.submit(
      request.databaseRequest(DatabaseAsker.state(id).number, registry) {
        keys.next(now: clock.now, random: &random)
      })
  }
}
