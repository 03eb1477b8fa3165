/// An action that starts to watch the connection to the origin.
///
/// `ConnectionChanged` tells the state when the first watch begins, and when it changes.
///
/// A name that watches already is ignored.
public struct MonitorConnection: TreeCommand {
  let name: SubscriptionName

  /// Makes the action; the watch is ended by its name.
  public init(as name: SubscriptionName) { self.name = name }

  func carriedOut(by access: TreeAccess, state: Any?) -> [any Action] {
    let isFirst = access.connection.add(name)
    if isFirst { access.perform(.monitorConnection) }
    return []
  }
}

/// An action that ends a watch on the connection; a name without a watch is ignored.
public struct StopMonitoringConnection: TreeCommand {
  let name: SubscriptionName

  /// Makes the action for a name.
  public init(_ name: SubscriptionName) { self.name = name }

  func carriedOut(by access: TreeAccess, state: Any?) -> [any Action] {
    if access.connection.remove(name) { access.perform(.stopMonitoringConnection) }
    return []
  }
}

/// The names that watch the connection, and the state that was last told.
struct ConnectionMonitor {
  private var names: Set<SubscriptionName> = []
  private var told: Bool?

  /// Adds a name; returns true if it is the first.
  mutating func add(_ name: SubscriptionName) -> Bool {
    names.insert(name).inserted && names.count == 1
  }

  /// Removes a name; returns true if it was the last.
  mutating func remove(_ name: SubscriptionName) -> Bool {
    guard names.remove(name) != nil, names.isEmpty else { return false }
    told = nil
    return true
  }

  /// The actions that tell a state of the connection: none if nobody watches, or if it was told
  /// before.
  mutating func receive(_ isConnected: Bool) -> [any Action] {
    if names.isEmpty || told == isConnected { return [] }
    told = isConnected
    return [ConnectionChanged(isConnected: isConnected)]
  }
}
