import RunnelTree
import Synchronization

/// Tells observers of events, on a thread that is not the tree's.
///
/// Responsibilities:
/// - It keeps the observations of one database by their listeners.
/// - It tells events in the tree's order: batch after batch, within a batch event after event, and
///   each event to its observers in order of registration. The results of a handler's actions are
///   told after the batch for which the handler was called, so handlers never nest.
///
/// A slow handler delays other handlers and the return of writes, but never the tree: while
/// `isFull`, the writes of other processes wait in the file's change feed.
///
/// Source: tree semantics, sections 6.2 to 6.7.
final class EventDispatcher: Sendable {
  /// The number of waiting batches at which the writes of other processes are left in the feed.
  static let batchesMax = 1000

  private struct State {
    var lastID = 0
    var observations: [ListenerID: Observation] = [:]
    var kept: [Query: Observation] = [:]
    /// Those who are told that the database is closed, by their numbers.
    var closeHandlers: [Int: @Sendable (DatabaseError) -> Void] = [:]
    var lastCloseHandler = 0
    /// The reason why nothing more is told; nil while the database is open.
    var closure: DatabaseError?

    /// The observations, in the order in which they began, without those that only keep a query: they
    /// need not be told.
    func observers() -> [Observation] {
      let kept = Set(kept.values.map(\.id))
      return observations.values.filter { !kept.contains($0.id) }.sorted { $1.id < $0.id }
    }
  }

  private let thread: TreeExecutor
  private let state = Mutex(State())
  private let waitingCount = Atomic(0)
  /// The number of the newest batch.
  private let batchNumber = Atomic(0)
  private let onTrouble: @Sendable (DatabaseError) -> Void

  /// Starts the thread on which handlers are called.
  ///
  /// - Throws: `DatabaseError` if the system has none left.
  init(onTrouble: @escaping @Sendable (DatabaseError) -> Void) throws(DatabaseError) {
    thread = try TreeExecutor(label: "runnel.events")
    self.onTrouble = onTrouble
  }

  /// The number of batches that wait, including the one that is being told.
  var waiting: Int { waitingCount.load(ordering: .relaxed) }

  /// Lets the thread end when all is told; it is started again if something more is.
  func rest() { thread.rest() }

  /// True if too many batches wait to fetch more.
  var isFull: Bool { waiting >= EventDispatcher.batchesMax }
}

// MARK: Who observes

extension EventDispatcher {
  /// Adds an observation under a new name.
  func add(_ make: (ListenerID) -> Observation) -> Observation {
    let id = state.withLock { state in
      state.lastID -= 1
      return ListenerID(state.lastID)
    }
    let observation = make(id)
    state.withLock { $0.observations[id] = observation }
    return observation
  }

  func remove(_ id: ListenerID) {
    state.withLock { $0.observations[id] = nil }
  }

  /// The number of observations.
  var count: Int { state.withLock { $0.observations.count } }

  func isKept(_ query: Query) -> Bool { state.withLock { $0.kept[query] != nil } }

  /// Sets the observation that keeps a query; returns the previous one.
  func replaceKept(_ observation: Observation?, for query: Query) -> Observation? {
    state.withLock { state in
      let old = state.kept[query]
      state.kept[query] = observation
      return old
    }
  }

  /// Calls a handler once when the database is closed, after all observers were told so; at once if
  /// they were told already.
  ///
  /// - Returns: the number of the handler.
  func whenClosed(_ handler: @escaping @Sendable (DatabaseError) -> Void) -> Int {
    let (number, closure) = state.withLock { state in
      state.lastCloseHandler += 1
      if state.closure == nil { state.closeHandlers[state.lastCloseHandler] = handler }
      return (state.lastCloseHandler, state.closure)
    }
    if let closure { handler(closure) }
    return number
  }

  /// Removes a handler of `whenClosed`.
  func removeCloseHandler(_ number: Int) {
    state.withLock { $0.closeHandlers[number] = nil }
  }

  private func observation(_ id: ListenerID) -> Observation? {
    state.withLock { $0.observations[id] }
  }
}

// MARK: Telling

extension EventDispatcher {
  /// Tells the events of one batch, after everything submitted before.
  ///
  /// `pending` holds the places of the writes that wait for the origin. `isAnswer` says that a listener
  /// asked for the events; all others come of a write.
  func deliver(_ deliveries: [Delivery], pending: [Path] = [], isAnswer: Bool = false) {
    waitingCount.add(1, ordering: .relaxed)
    let batch = isAnswer ? nil : batchNumber.add(1, ordering: .relaxed).newValue
    thread.submit { [self] in
      tell(deliveries, pending: pending, batch)
      waitingCount.subtract(1, ordering: .relaxed)
    }
  }

  /// Tells a stream an empty batch: it waits for its first rows, even if there are none.
  func deliverNothing(to id: ListenerID) {
    thread.submit { [self] in
      guard let observation = observation(id) else { return }
      if case .stream(let take) = observation.sink { observation.tell { take([], nil) } }
    }
  }

  /// Runs work after everything submitted before has been told.
  func afterDelivery(_ work: @escaping @Sendable () -> Void) { thread.submit(work) }

  /// Tells an observer the reason why no more events follow; a stream then ends.
  func fail(_ id: ListenerID, _ error: DatabaseError) {
    thread.submit { [self] in
      guard let observation = observation(id) else { return }
      if case .stream = observation.sink { return observation.warn(error) }
      remove(id)
      observation.fail(error)
    }
  }

  /// Tells every observer that the database is closed.
  func failAll(_ error: DatabaseError) {
    thread.submit { [self] in
      // In one step: who is added afterwards is told by the answer to its request to listen.
      let all = state.withLock { state in
        defer { (state.observations, state.kept) = ([:], [:]) }
        return state.observers()
      }
      for observation in all { observation.fail(error) }
      let handlers = state.withLock { state in
        state.closure = error
        defer { state.closeHandlers = [:] }
        return state.closeHandlers
      }
      for (_, handler) in handlers.sorted(by: { $0.key < $1.key }) { handler(error) }
    }
  }

  /// Tells every observer of an open database why no more events follow; returns their names.
  func endAll(_ error: DatabaseError) -> [ListenerID] {
    let all = state.withLock { $0.observers() }
    thread.submit { [self] in
      for observation in all {
        remove(observation.id)
        observation.fail(error)
      }
    }
    return all.map(\.id)
  }

  func report(_ error: DatabaseError) {
    thread.submit { [self] in onTrouble(error) }
  }

  /// Runs `body` when everything submitted before has been told.
  func afterwards(_ body: @escaping @Sendable () -> Void) { thread.submit(body) }

  /// Returns when everything submitted before has been told.
  func whenDelivered() async {
    await withCheckedContinuation { continuation in thread.submit { continuation.resume() } }
  }

  private func tell(_ deliveries: [Delivery], pending: [Path], _ batch: Int?) {
    var buffered: [(observation: Observation, events: [DataEvent])] = []
    var streamed = StreamBatches()
    for delivery in deliveries {
      // The observation is looked up again for each event, since a handler may have ended it.
      guard let observation = observation(delivery.listener) else { continue }
      if case .stream = observation.sink {
        streamed.add(delivery.event, to: observation)
        continue
      }
      if case .pending(let state) = delivery.event, case .pending(let tell) = observation.sink {
        observation.tell { tell(state) }
      }
      guard let event = DataEvent(delivery.event, in: observation.query, pending: pending) else {
        continue
      }
      switch observation.sink {
      case .handler(let handler): observation.tell { handler(event) }
      case .buffer:
        if let index = buffered.firstIndex(where: { $0.observation === observation }) {
          buffered[index].events.append(event)
        } else {
          buffered.append((observation, [event]))
        }
      case .pending, .stream, .nobody: break
      }
    }
    for (observation, events) in buffered {
      if case .buffer(let take) = observation.sink { observation.tell { take(events) } }
    }
    streamed.tell(batch)
  }
}

/// The events of one batch for streams; each stream gets all of its events at once.
private struct StreamBatches {
  private var observations: [Observation] = []
  private var events: [ListenerID: [TreeEvent]] = [:]

  mutating func add(_ event: TreeEvent, to observation: Observation) {
    if events[observation.id] == nil { observations.append(observation) }
    events[observation.id, default: []].append(event)
  }

  func tell(_ batch: Int?) {
    for observation in observations {
      guard case .stream(let take) = observation.sink, let events = events[observation.id] else {
        continue
      }
      observation.tell { take(events, batch) }
    }
  }
}
