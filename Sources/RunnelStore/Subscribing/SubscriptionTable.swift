import RunnelTree

/// The names of subscriptions and their listeners.
///
/// Invariants:
/// - I1. A name stands for one listener, and a listener has one name or more.
/// - I2. Two listeners differ in their request or in their object type.
struct SubscriptionTable {
  /// A listener and the names that share it.
  private struct Entry {
    var listener: any ObjectListener
    var names: Set<SubscriptionName>
  }

  private var next: ListenerID
  private var entries: [ListenerID: Entry] = [:]
  private var listenerOfName: [SubscriptionName: ListenerID] = [:]
  private var listenerOfSource: [ObjectSource: ListenerID] = [:]

  init(next: ListenerID) { self.next = next }

  /// The source that a name stands for.
  func source(of name: SubscriptionName) -> ObjectSource? {
    listenerOfName[name].flatMap { entries[$0]?.listener.source }
  }

  /// Adds a name; returns the listener if it is new, and so must be registered.
  mutating func add(
    _ name: SubscriptionName, to listener: any ObjectListener
  ) -> ListenerID? {
    precondition(listenerOfName[name] == nil, "I1: a name stands for one listener.")
    if let known = listenerOfSource[listener.source] {
      entries[known]?.names.insert(name)
      listenerOfName[name] = known
      return nil
    }
    let id = next
    next = ListenerID(id.rawValue + 1)
    entries[id] = Entry(listener: listener, names: [name])
    listenerOfName[name] = id
    listenerOfSource[listener.source] = id
    return id
  }

  /// Removes a name; returns the listener if no other name shares it.
  mutating func remove(
    _ name: SubscriptionName
  ) -> (id: ListenerID, listener: any ObjectListener)? {
    guard let id = listenerOfName.removeValue(forKey: name), var entry = entries[id] else {
      return nil
    }
    entry.names.remove(name)
    entries[id] = entry
    if !entry.names.isEmpty { return nil }
    forget(id, entry)
    return (id, entry.listener)
  }

  /// The actions for the events of one batch: listener by listener, in the order of their first
  /// events.
  mutating func receive(_ deliveries: [Delivery]) -> [any Action] {
    var order: [ListenerID] = []
    var events: [ListenerID: [TreeEvent]] = [:]
    for delivery in deliveries where entries[delivery.listener] != nil {
      if events[delivery.listener] == nil { order.append(delivery.listener) }
      events[delivery.listener, default: []].append(delivery.event)
    }
    return order.flatMap { id in
      entries[id]?.listener.receive(events[id] ?? []) ?? []
    }
  }

  /// Ends a listener that failed, and all names that stood for it.
  mutating func fail(_ id: ListenerID, _ error: TreeError) -> [any Action] {
    guard let entry = entries[id] else { return [] }
    for name in entry.names { listenerOfName[name] = nil }
    forget(id, entry)
    return entry.listener.failed(error) + entry.listener.ended
  }

  private mutating func forget(_ id: ListenerID, _ entry: Entry) {
    entries[id] = nil
    listenerOfSource[entry.listener.source] = nil
  }
}

extension TreeAccess {
  func subscribe(
    _ name: SubscriptionName, to listener: any ObjectListener
  ) -> [any Action] {
    if subscriptions.source(of: name) == listener.source { return [] }
    let ended = unsubscribe(name)
    guard let id = subscriptions.add(name, to: listener) else { return ended }
    perform(.listen(id, listener.source.request))
    return ended + listener.began
  }

  func unsubscribe(_ name: SubscriptionName) -> [any Action] {
    guard let (id, listener) = subscriptions.remove(name) else { return [] }
    perform(.unlisten(id))
    return listener.ended
  }
}
