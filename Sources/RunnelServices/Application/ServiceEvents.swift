public import RunnelBase
import Synchronization

/// An event of a service that happened.
public struct ServiceEventRecord: Sendable {
  /// Where it was raised.
  public enum Origin: Hashable, Sendable {
    /// In this program, by a call or by the service.
    case local
    /// At the server.
    case remote
  }

  /// The path of the service.
  public let path: String
  /// The event.
  public let event: ServiceEvent
  /// The record, or what else was sent.
  public let data: JSONValue
  /// Where it was raised.
  public let origin: Origin
  /// The call that raised it; nil if the event came from a server or from the service itself.
  public let context: HookContext?
}

/// One who is told of events; nobody else is affected by its end.
public final class ServiceListener: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  /// Ends the listening; a second call does nothing.
  public func cancel() { end() }
}

/// Tells listeners of the events of a service.
///
/// Listeners are told in the order in which they came, on the thread that raised the event.
final class ServiceEmitter: Sendable {
  typealias Handler = @Sendable (ServiceEventRecord) -> Void

  private struct Entry {
    var event: ServiceEvent?
    var isOnce: Bool
    var handler: Handler
  }

  private struct State {
    var entries: [(id: Int, entry: Entry)] = []
    var lastID = 0
  }

  private let state = Mutex(State())

  /// Adds a listener for an event; nil for all events.
  func add(_ event: ServiceEvent?, once: Bool, _ handler: @escaping Handler) -> ServiceListener {
    let id = state.withLock { state in
      state.lastID += 1
      state.entries.append((state.lastID, Entry(event: event, isOnce: once, handler: handler)))
      return state.lastID
    }
    return ServiceListener { [weak self] in
      self?.state.withLock { $0.entries.removeAll { $0.id == id } }
    }
  }

  func emit(_ record: ServiceEventRecord) {
    let handlers = state.withLock { state -> [Handler] in
      if state.entries.isEmpty { return [] }
      let told = state.entries.filter { $0.entry.event == nil || $0.entry.event == record.event }
      if told.contains(where: \.entry.isOnce) {
        state.entries.removeAll { entry in
          entry.entry.isOnce && told.contains { $0.id == entry.id }
        }
      }
      return told.map(\.entry.handler)
    }
    for handler in handlers { handler(record) }
  }

  /// The number of listeners.
  var count: Int { state.withLock { $0.entries.count } }
}

/// Tells who asked for it of each connection to the server.
final class ConnectionObservers: Sendable {
  private struct State {
    var observers: [Int: @Sendable () -> Void] = [:]
    var lastID = 0
  }

  private let state = Mutex(State())

  func add(_ tell: @escaping @Sendable () -> Void) -> ServiceListener {
    let id = state.withLock { state in
      state.lastID += 1
      state.observers[state.lastID] = tell
      return state.lastID
    }
    return ServiceListener { [weak self] in _ = self?.state.withLock { $0.observers[id] = nil } }
  }

  func tell() {
    for observer in state.withLock({ Array($0.observers.values) }) { observer() }
  }
}
