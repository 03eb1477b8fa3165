import OrderedCollections

/// Who listens to what, and what each is told when the tree changes.
///
/// Responsibilities:
/// - It keeps a view for every query listened to; listeners of one query share it.
/// - Told which places a committed write touched, it refreshes the views concerned and returns what
///   is to be delivered, in order. It delivers nothing itself.
///
/// It is a value: a caller that cannot commit drops the changed copy and keeps the one before.
///
/// Order of deliveries (section 6.6): views of deeper places first, siblings in key order, then the
/// places from the written one up to the root; at one place in the order in which the views were
/// made; within a view event by event, each to its listeners in order of registration.
public struct TreeEngine: Sendable {
  /// What makes listeners share a view.
  ///
  /// A paged view belongs to one listener, for it grows with it.
  private struct ViewID: Hashable, Sendable {
    var query: Query
    var detail: TreeRow.Detail
    var owner: ListenerID?
  }

  private struct Shared: Sendable {
    var view: View
    var listeners: OrderedDictionary<ListenerID, EventKinds> = [:]

    var wantsValue: Bool { listeners.values.contains { $0.contains(.value) } }

    func deliveries(_ events: [TreeEvent]) -> [Delivery] {
      events.flatMap { event in
        listeners.filter { $0.value.contains(event) }
          .map { Delivery(listener: $0.key, event: event) }
      }
    }
  }

  private var views = PathTree<OrderedDictionary<ViewID, Shared>>()
  private var owners: [ListenerID: ViewID] = [:]

  /// Makes an engine without listeners.
  public init() {}
}

// MARK: Listening

extension TreeEngine {
  /// Registers a listener; returns its initial events: every row in order, then the value.
  ///
  /// - Precondition: no listener with this name is registered.
  /// - Throws: `TreeError` (`storage`) if the rows cannot be read; then nothing is registered.
  public mutating func listen(
    _ listener: ListenerID, _ request: ListenRequest, reader: some TreeReader
  ) throws(TreeError) -> [Delivery] {
    precondition(owners[listener] == nil, "A listener is registered once.")
    let path = request.query.path
    let id = ViewID(
      query: request.query, detail: request.detail, owner: request.paging.map { _ in listener })
    var all = views[path] ?? [:]
    var shared = all[id] ?? Shared(view: View(request))
    let isNew = shared.listeners.isEmpty
    if isNew || (request.events.contains(.value) && !shared.wantsValue) {
      // A view made for child events only does not know the leaf at its place.
      var widened = request
      widened.events.formUnion(shared.view.request.events)
      shared.view = View(widened)
      try shared.view.load(reader)
    }
    shared.listeners[listener] = request.events
    all[id] = shared
    views[path] = all
    owners[listener] = id
    return shared.view.initialEvents(wantsValue: request.events.contains(.value))
      .filter { request.events.contains($0) }
      .map { Delivery(listener: listener, event: $0) }
  }

  /// Removes a listener; one that is not registered is ignored.
  public mutating func unlisten(_ listener: ListenerID) {
    guard let id = owners.removeValue(forKey: listener), var all = views[id.query.path] else {
      return
    }
    all[id]?.listeners[listener] = nil
    if all[id]?.listeners.isEmpty == true { all[id] = nil }
    views[id.query.path] = all.isEmpty ? nil : all
  }

  /// Extends the window of a paged listener by up to `count` rows.
  ///
  /// Returns `childAdded` for each row gained, in order, `value` if any was, then `page`. A count below 1 gains nothing.
  ///
  /// - Throws: `TreeError` (`unknownListener`) if the listener is not registered or not paged,
  ///   (`storage`) if the rows cannot be read; the window is then as before.
  public mutating func extend(
    _ listener: ListenerID, by count: Int, reader: some TreeReader
  ) throws(TreeError) -> [Delivery] {
    guard let id = owners[listener], id.owner == listener, var all = views[id.query.path],
      var shared = all[id]
    else {
      throw TreeError(.unknownListener, "There is no paged listener \(listener.rawValue).")
    }
    let gained = try shared.view.extend(by: count, reader)
    let hasMore = shared.view.hasMore
    var events = shared.view.addedEvents(for: gained)
    if !gained.isEmpty, shared.wantsValue { events.append(.value(shared.view.value)) }
    events.append(.page(hasMore: hasMore))
    all[id] = shared
    views[id.query.path] = all
    return shared.deliveries(events)
  }

  /// True if anyone listens.
  public var hasListeners: Bool { !owners.isEmpty }
}

// MARK: Changing

extension TreeEngine {
  /// Refreshes every view that the touched places concern; returns what is to be delivered.
  ///
  /// `touched` are the places written in one batch, of which `.root` refreshes everything; `reader`
  /// reads the state after the write.
  ///
  /// - Throws: `TreeError` (`storage`) if a row cannot be read; the caller then drops this value.
  public mutating func apply(
    touched: [Path], reader: some TreeReader
  ) throws(TreeError) -> [Delivery] {
    var concerned: [(path: Path, touched: View.Touched)] = []
    for (path, part) in merged(touched) { concerned.append((path, part)) }
    concerned.sort { TreeEngine.isDeliveredBefore($0.path, $1.path) }
    var deliveries: [Delivery] = []
    for (path, part) in concerned {
      guard var all = views[path] else { continue }
      for id in all.keys {
        guard var shared = all[id] else { continue }
        let changes = try shared.view.refresh(part, reader)
        let events = shared.view.events(for: changes, wantsValue: shared.wantsValue)
        all[id] = shared
        deliveries += shared.deliveries(events)
      }
      views[path] = all
    }
    return deliveries
  }

  /// The places that have views and are concerned, with what was touched of each.
  private func merged(_ touched: [Path]) -> [Path: View.Touched] {
    var result: [Path: View.Touched] = [:]
    for path in touched {
      for (index, key) in path.keys.enumerated() {
        let ancestor = Path(unchecked: Array(path.keys[..<index]))
        guard views[ancestor] != nil else { continue }
        result[ancestor, default: .keys([])].insert(key)
      }
      for below in views.paths(at: path) { result[below] = .all }
    }
    return result
  }

  /// Deeper places before those above them; apart from that, in key order.
  private static func isDeliveredBefore(_ left: Path, _ right: Path) -> Bool {
    if left.contains(right) { return false }
    if right.contains(left) { return true }
    return left < right
  }
}

extension TreeEngine {
  /// Traps if an invariant of a view does not hold.
  ///
  /// For tests.
  package func checkInvariants() {
    for path in views.paths(at: .root) {
      for shared in (views[path] ?? [:]).values { shared.view.checkInvariants() }
    }
  }
}
