public import RunnelBase
import Synchronization

/// A connection of a remote client to an application.
public final class ServiceConnection: Sendable, Hashable {
  private struct State {
    var user = JSONValue.null
    var authentication = JSONValue.null
    var isOpen = true
  }

  private let state = Mutex(State())
  private let deliver: @Sendable (_ path: String, ServiceEvent, JSONValue) -> Void

  /// Makes a connection; the function gets the events that are published to it.
  public init(_ deliver: @escaping @Sendable (_ path: String, ServiceEvent, JSONValue) -> Void) {
    self.deliver = deliver
  }

  /// The user that the connection is signed in as; null for nobody.
  public var user: JSONValue {
    get { state.withLock(\.user) }
    set { state.withLock { $0.user = newValue } }
  }

  /// What is known of the authentication; null for nothing.
  public var authentication: JSONValue {
    get { state.withLock(\.authentication) }
    set { state.withLock { $0.authentication = newValue } }
  }

  /// True until it is closed.
  public var isOpen: Bool { state.withLock(\.isOpen) }

  func close() { state.withLock { $0.isOpen = false } }

  func send(_ path: String, _ event: ServiceEvent, _ data: JSONValue) {
    if isOpen { deliver(path, event, data) }
  }

  /// True if both are the same connection.
  public static func == (left: ServiceConnection, right: ServiceConnection) -> Bool {
    left === right
  }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The named groups of an application's connections.
final class ChannelTable: Sendable {
  private let channels = Mutex<[String: [ServiceConnection]]>([:])

  func join(_ connection: ServiceConnection, _ names: [String]) {
    if !connection.isOpen { return }
    channels.withLock { channels in
      for name in names where channels[name]?.contains(connection) != true {
        channels[name, default: []].append(connection)
      }
    }
  }

  /// Removes connections from the named channels, or from all with nil; empty channels vanish.
  func leave(_ names: [String]?, where isLeaving: (ServiceConnection) -> Bool) {
    channels.withLock { channels in
      for name in names ?? Array(channels.keys) {
        let left = (channels[name] ?? []).filter { !isLeaving($0) }
        channels[name] = left.isEmpty ? nil : left
      }
    }
  }

  func connections(_ names: [String]) -> [ServiceConnection] {
    channels.withLock { channels in
      var seen: Set<ServiceConnection> = []
      return names.flatMap { channels[$0] ?? [] }.filter { seen.insert($0).inserted }
    }
  }

  var names: [String] { channels.withLock { $0.keys.sorted() } }
}

/// Channels that events are published to.
public struct ServiceChannel: Sendable {
  private let table: ChannelTable
  private let names: [String]
  private var filters: [@Sendable (ServiceConnection) -> Bool] = []
  /// What is sent instead of the record; nil for the record.
  private(set) var data: JSONValue?

  init(_ table: ChannelTable, _ names: [String]) { (self.table, self.names) = (table, names) }

  /// Adds a connection.
  public func join(_ connection: ServiceConnection) { table.join(connection, names) }

  /// Removes a connection.
  public func leave(_ connection: ServiceConnection) {
    table.leave(names) { $0 == connection }
  }

  /// Removes the connections for which the function says so.
  public func leave(where isLeaving: (ServiceConnection) -> Bool) {
    table.leave(names, where: isLeaving)
  }

  /// Returns the channels with only those connections for which the function says so.
  public func filter(_ isKept: @escaping @Sendable (ServiceConnection) -> Bool) -> ServiceChannel {
    var channel = self
    channel.filters.append(isKept)
    return channel
  }

  /// Returns the channels with other data than the record.
  public func send(_ data: JSONValue) -> ServiceChannel {
    var channel = self
    channel.data = data
    return channel
  }

  /// The connections, each once.
  public var connections: [ServiceConnection] {
    table.connections(names).filter { connection in filters.allSatisfy { $0(connection) } }
  }
}

/// Chooses the channels that get an event.
public typealias ServicePublisher = @Sendable (JSONValue, HookContext) -> [ServiceChannel]

/// The publishers of a service or of an application.
struct PublisherTable: Sendable {
  private var any: ServicePublisher?
  private var events: [ServiceEvent: ServicePublisher] = [:]

  mutating func set(_ event: ServiceEvent?, _ publisher: @escaping ServicePublisher) {
    if let event { events[event] = publisher } else { any = publisher }
  }

  func publisher(for event: ServiceEvent) -> ServicePublisher? { events[event] ?? any }
}
