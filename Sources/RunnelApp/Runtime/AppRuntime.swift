import RunnelBase
import RunnelDatabase
import RunnelStore
import RunnelStreams
import RunnelTree

/// Where requests for the tree go.
protocol TreeBackend: AnyObject {
  /// Asks for something; what comes of it is given to `AppRuntime.receive`.
  func submit(_ request: DatabaseRequest)
}

extension Database: TreeBackend {}

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

  private let store: Store<AppState>
  private let backend: any TreeBackend
  private var views: [Int: ViewStreams] = [:]
  private var nodes: [Path: ChildrenStream] = [:]
  private var records: [Path: ListenerID] = [:]
  private var receivers: [ListenerID: Receiver] = [:]
  private var lastListener = 0
  private var screenEffects: [Effect] = []

  /// The present state.
  var state: AppState { store.state }

  init(state: AppState, database: any TreeBackend) {
    backend = database
    store = Store(state: state, reducer: AppState.reduce)
  }

  /// Carries out what the first state asks for.
  func start() { performEffects() }

  /// Handles an action and carries out what it asks for.
  func send(_ action: AppAction) {
    store.dispatch(action)
    performEffects()
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
    case .written(let number, let key): send(.written(number, key: key))
    case .refused(let number, let error): send(.refused(number, error.message))
    case .rejected(let number, let error): send(.refused(number, error.description))
    case .acknowledged, .origin: break
    case .failed(let listener, let error): fail(listener, error)
    // The orders of views are declared when the file is opened; one that is not cannot be.
    case .advice: break
    case .stale(let error): send(.trouble(error.message))
    }
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
      for effect in effects { perform(effect) }
    }
  }

  private func perform(_ effect: Effect) {
    switch effect {
    case .openView(let index): openView(index)
    case .fetchMore(let index): views[index]?.fetchMore()
    case .pause(let index, let isPaused): views[index]?.pause(isPaused)
    case .stopFetching(let index): views[index]?.stopFetching()
    case .filter(let index, let filter, let surroundings):
      views[index]?.show(only: filter, surroundings)
    case .compose(let index, let record): views[index]?.compose(record, now: state.now)
    case .expand(let path): expand(path)
    case .collapse(let path): nodes.removeValue(forKey: path)?.stop()
    case .fetchMoreChildren(let path): nodes[path]?.fetchMore()
    case .openRecord(let path): openRecord(path)
    case .closeRecord(let path): closeRecord(path)
    case .write(let number, let write): backend.submit(.write(number, write))
    case .push(let number, let path, let json): backend.submit(.push(number, path, json))
    case .suspend, .redraw, .crash: screenEffects.append(effect)
    }
  }

  private func openView(_ index: Int) {
    let source = Source(runtime: self, receiver: .view(index))
    do {
      let streams = try ViewStreams(
        state.lists[index].definition, source: source, local: state.local)
      views[index] = streams
      streams.start { [weak self] change in self?.send(.list(view: index, change)) }
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
    private unowned let runtime: AppRuntime
    private let receiver: Receiver

    init(runtime: AppRuntime, receiver: Receiver) {
      self.runtime = runtime
      self.receiver = receiver
    }

    func listen(_ request: ListenRequest) -> ListenerID { runtime.listen(request, receiver) }

    func unlisten(_ listener: ListenerID) { runtime.unlisten(listener) }

    func extend(_ listener: ListenerID, by count: Int) {
      runtime.backend.submit(.extend(listener, count: count))
    }
  }
}
