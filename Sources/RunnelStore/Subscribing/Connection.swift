/// An action that has the connection to the origin told, as `ConnectionChanged`: as it is when the first
/// watch begins, and when it changes.
///
/// A name that watches already is ignored.
public struct MonitorConnection: TreeCommand {
  let name: SubscriptionName

  /// Makes the action; the name is what ends it.
  public init(as name: SubscriptionName) { self.name = name }

  func carriedOut(by access: TreeAccess, state: Any?) -> [any Action] {
    let isFirst = access.connection.add(name)
    if isFirst { access.perform(.monitorConnection) }
    return []
  }
}

/// An action that ends a watch on the connection; a name that does not watch is ignored.
public struct StopMonitoringConnection: TreeCommand {
  let name: SubscriptionName

  /// Makes the action for a name.
  public init(_ name: SubscriptionName) { self.name = name }

  func carriedOut(by access: TreeAccess, state: Any?) -> [any Action] {
    if access.connection.remove(name) { access.perform(.stopMonitoringConnection) }
    return []
  }
}

/// Who watches the connection, and what was told of it.
struct ConnectionMonitor {
  private var names: Set<SubscriptionName> = []
  private var told: Bool?

  /// Adds a name; true if it is the first.
  mutating func add(_ name: SubscriptionName) -> Bool {
    names.insert(name).inserted && names.count == 1
  }

  /// Removes a name; true if it was the last.
  mutating func remove(_ name: SubscriptionName) -> Bool {
    guard names.remove(name) != nil, names.isEmpty else { return false }
    told = nil
    return true
  }

  /// What is told of a state of the connection: nothing to nobody, and nothing twice.
  mutating func receive(_ isConnected: Bool) -> [any Action] {
    if names.isEmpty || told == isConnected { return [] }
    told = isConnected
    return [ConnectionChanged(isConnected: isConnected)]
  }
}
