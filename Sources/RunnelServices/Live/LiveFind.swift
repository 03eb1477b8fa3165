import Synchronization

/// A list of records that is kept current: the answer to a query, with each event of the service.
///
/// ```
///   let live = try app.service("messages").live(["$sort": ["created": -1], "$limit": 25])
///   for await list in live.lists { show(list.rows, list.total) }
/// ```
/// After a reconnection the list is read again; rows that stay are not taken out meanwhile.
public final class LiveFind: Sendable {
  private struct Values {
    var list: LiveList
    var isEnded = false
    var observers: [Int: AsyncStream<LiveList>.Continuation] = [:]
    var lastObserver = 0
    var timer: Task<Void, Never>?
    var timerTime: Int64?
    var tasks: [Int: Task<Void, Never>] = [:]
    var listeners: [ServiceListener] = []
  }

  private let service: ServiceHandle
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private let values: Mutex<Values>
  /// The observers that were cancelled.
  ///
  /// It is a lock of its own: the system holds a lock of the task when it tells of the cancellation, and
  /// whoever gives an element to the observer takes that lock too.
  private let endedObservers = Mutex<[Int]>([])

  init(_ service: ServiceHandle, _ list: LiveList) {
    self.service = service
    start = clock.now
    values = Mutex(Values(list: list))
  }

  /// Starts to listen, and reads the rows.
  func begin() {
    let events = service.entry.emitter.add(nil, once: false) { [weak self] record in
      self?.perform { $0.take(record.event, record.data, now: $1) }
    }
    let connections = service.app.onConnection { [weak self] in
      self?.perform { $0.reconnected(now: $1) }
    }
    values.withLock { $0.listeners = [events, connections] }
    perform { $0.load(now: $1) }
  }

  deinit { end() }

  /// The list as it is now.
  public var list: LiveList { values.withLock(\.list) }

  /// The list as it is now, and after each change; a slow reader gets the newest.
  public var lists: AsyncStream<LiveList> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let number = values.withLock { values -> Int in
        forgetEnded(&values)
        values.lastObserver += 1
        values.observers[values.lastObserver] = continuation
        continuation.yield(values.list)
        if values.isEnded { continuation.finish() }
        return values.lastObserver
      }
      continuation.onTermination = { [weak self] _ in
        self?.endedObservers.withLock { $0.append(number) }
      }
    }
  }

  private func forgetEnded(_ values: inout Values) {
    let ended = endedObservers.withLock { ended in
      defer { ended = [] }
      return ended
    }
    for number in ended { values.observers[number] = nil }
  }

  /// Asks for more rows at the end of a list; a page has none.
  public func fetchMore(_ count: Int) { perform { $0.fetchMore(count, now: $1) } }

  /// Reads all rows again.
  public func reload() { perform { $0.load(now: $1) } }

  /// Ends the list; it does not change any more.
  public func end() {
    let (listeners, observers, tasks, timer) = values.withLock { values in
      defer {
        values.isEnded = true
        (values.listeners, values.observers, values.tasks, values.timer) = ([], [:], [:], nil)
      }
      return (values.listeners, values.observers, values.tasks, values.timer)
    }
    listeners.forEach { $0.cancel() }
    observers.values.forEach { $0.finish() }
    tasks.values.forEach { $0.cancel() }
    timer?.cancel()
  }

  // MARK: Carrying out

  private var now: Int64 {
    let time = start.duration(to: clock.now).components
    return time.seconds * 1000 + time.attoseconds / 1_000_000_000_000_000
  }

  /// Changes the list, tells of it, and asks what has to be asked.
  private func perform(_ change: (inout LiveList, Int64) -> [LiveList.Effect]) {
    let now = now
    values.withLock { values in
      if values.isEnded { return }
      for case .find(let number, let query) in change(&values.list, now) {
        values.tasks[number] = Task { [weak self, service] in
          let result: Result<ServiceResult, FeathersError>
          do throws(FeathersError) {
            result = .success(try await service.find(query))
          } catch {
            result = .failure(error)
          }
          self?.values.withLock { $0.tasks[number] = nil }
          self?.perform { list, now in
            switch result {
            case .success(let answer): list.answered(number, answer, now: now)
            case .failure(let error): list.failed(number, error, now: now)
            }
          }
        }
      }
      forgetEnded(&values)
      for observer in values.observers.values { observer.yield(values.list) }
      setTimer(&values, now)
    }
  }

  private func setTimer(_ values: inout Values, _ now: Int64) {
    guard let deadline = values.list.deadline else { return }
    // An earlier timer sets the next one when it is over.
    if let time = values.timerTime, time <= deadline { return }
    values.timer?.cancel()
    values.timerTime = deadline
    values.timer = Task { [weak self, clock] in
      let wait = max(1, deadline - now)
      guard (try? await Task.sleep(for: .milliseconds(wait), clock: clock)) != nil else { return }
      self?.values.withLock { if $0.timerTime == deadline { $0.timerTime = nil } }
      self?.perform { $0.tick(now: $1) }
    }
  }
}

extension ServiceHandle {
  /// Returns the answer to a query as a list that is kept current.
  ///
  /// - Parameters:
  ///   - query: the query, with order and limit.
  ///   - mode: whether the list has the place of a page, or grows.
  ///   - idField: the name of the id; nil to find it in the first record: `_id`, `id` or `uuid`.
  ///   - operators: operators that the service knows besides those of Feathers; events that they
  ///     concern lead to a new question.
  /// - Returns: the list, which is read from now on, until it is ended or nobody holds it.
  /// - Throws: `BadRequest` if the query is none that Feathers understands.
  public func live(
    _ query: ServiceQuery = ServiceQuery(), mode: LiveList.Mode = .list, idField: String? = nil,
    operators: Set<String> = []
  ) throws(FeathersError) -> LiveFind {
    let list = try LiveList(query, mode: mode, idField: idField, operators: operators)
    let live = LiveFind(self, list)
    live.begin()
    return live
  }
}
