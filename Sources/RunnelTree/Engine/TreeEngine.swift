import OrderedCollections

/// The listeners of a tree, with the events for each of them when the tree changes.
///
/// Responsibilities:
/// - It keeps a view for every query that has listeners; listeners of one query share it.
/// - Given the places that a committed write touched, it refreshes the views concerned and returns
///   the deliveries, in order. It delivers nothing itself.
///
/// A call that throws changes nothing. A caller that cannot commit undoes its changes with
/// `atomically`, which records how to undo each change and so copies no window.
///
/// Order of deliveries (section 6.6): views of deeper places first, siblings in key order, then the
/// places from the written one up to the root; at one place in the order in which the views were
/// made; within a view event by event, each to its listeners in order of registration.
package struct TreeEngine: Sendable {
  /// The identity of a view: listeners with equal ones share it.
  ///
  /// A paged view belongs to one listener, since it grows at that listener's request.
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
      if events.isEmpty { return [] }
      return events.flatMap { event in
        listeners.filter { $0.value.contains(event) }
          .map { Delivery(listener: $0.key, event: event) }
      }
    }

    /// The deliveries for an extension of the window.
    func deliveries(gained: [TreeRow]) -> [Delivery] {
      var events = view.addedEvents(for: gained)
      if !gained.isEmpty, wantsValue { events.append(.value(view.value)) }
      events.append(.page(hasMore: view.hasMore))
      return deliveries(events)
    }

    /// The paging of a window that has just lost all its rows, and beyond which there are others.
    func emptiedPaging(_ changes: View.Changes) -> Paging? {
      !changes.removed.isEmpty && view.rows.isEmpty && view.hasMore ? view.request.paging : nil
    }
  }

  /// The views of one place, in the order in which they were made.
  private struct Place: Sendable {
    /// The largest number of views that are examined one by one.
    private static let fewMax = 16

    private(set) var views: OrderedDictionary<ViewID, Shared> = [:]
    /// The index of the views that a write reaches; nil until it is needed, and again after a view
    /// was made, removed, or changed other than by `refresh`.
    private var index: WindowIndex?

    /// Changes the views in any way.
    mutating func update<Result, Failure: Error>(
      _ body: (inout OrderedDictionary<ViewID, Shared>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      index = nil
      return try body(&views)
    }

    /// The numbers of the views to refresh after a write: those that it reaches, and maybe others.
    mutating func concerned(
      by touched: View.Touched, at path: Path, _ reader: RowCache
    ) throws(TreeError) -> [Int] {
      guard case .keys(let keys) = touched, views.count > Place.fewMax, !reader.hasOrigin else {
        return Array(views.values.indices)
      }
      let index = index ?? WindowIndex(views.values.lazy.map(\.view))
      self.index = index
      return try index.windows(reachedBy: keys, of: path, reader)
    }

    /// Refreshes a view; nil if the write does not concern it.
    mutating func refresh(
      _ number: Int, _ touched: View.Touched, _ reader: RowCache
    ) throws(TreeError) -> View.Changes? {
      let changes = try views.values[number].view.refresh(touched, reader)
      switch touched {
      // The ends of a window may have moved.
      case .all: index = nil
      case .keys: if let changes { index?.note(changes, of: number) }
      }
      return changes
    }

    /// Extends a paged window that has lost all its rows by its first page, as a part of the same
    /// changes; returns how to undo that, nil if nothing was gained.
    ///
    /// A replica asks its origin for the rows beyond instead.
    mutating func refill(
      _ number: Int, _ changes: inout View.Changes, _ reader: RowCache
    ) throws(TreeError) -> View.Undo? {
      guard !reader.hasOrigin, let paging = views.values[number].emptiedPaging(changes) else {
        return nil
      }
      let page = try views.values[number].view.extend(by: paging.count, reader)
      index = nil
      changes.added += page.gained
      changes.hasMoreChanged = true
      return page.undo
    }

    func checkInvariants() {
      for shared in views.values { shared.view.checkInvariants() }
      index?.checkInvariants(views.values.lazy.map(\.view))
    }
  }

  private var places = PathTree<Place>()
  private var owners: [ListenerID: ViewID] = [:]
  /// The steps that undo the changes made within `atomically`, the oldest first.
  private var undoSteps: [UndoStep] = []
  private var atomicDepth = 0

  private enum UndoStep: Sendable {
    /// A view changed.
    case view(ViewID, View.Undo)
    /// The registration of a listener; with the previous view, if the view was made anew for it.
    case listener(ListenerID, View?)
  }

  /// Makes an engine without listeners.
  package init() {}
}

// MARK: Listening

extension TreeEngine {
  /// Registers a listener; returns its initial events: every row in order, then the value.
  ///
  /// - Precondition: no listener with this name is registered.
  /// - Throws: `TreeError` (`storage`) if the rows cannot be read; then nothing is registered.
  package mutating func listen(
    _ listener: ListenerID, _ request: ListenRequest, reader: some TreeReader
  ) throws(TreeError) -> [Delivery] {
    try listen(listener, request, part: nil, reader: reader)
  }

  /// Registers a listener; a paged one may be shown only a part of its request.
  mutating func listen(
    _ listener: ListenerID, _ request: ListenRequest, part: WindowPart?, reader: some TreeReader
  ) throws(TreeError) -> [Delivery] {
    precondition(owners[listener] == nil, "A listener is registered once.")
    let path = request.query.path
    let id = ViewID(
      query: request.query, detail: request.detail, owner: request.paging.map { _ in listener })
    let made = part.map { View(request, part: $0) } ?? View(request)
    var shared = places[path]?.views[id] ?? Shared(view: made)
    let isNew = shared.listeners.isEmpty
    var before: View?
    if isNew || (request.events.contains(.value) && !shared.wantsValue) {
      // A view that was made for child events only has not read the leaf at its place.
      var widened = request
      widened.events.formUnion(shared.view.request.events)
      before = isNew ? nil : shared.view
      shared.view = part.map { View(widened, part: $0) } ?? View(widened)
      try shared.view.load(reader)
    }
    shared.listeners[listener] = request.events
    if places[path] == nil { places[path] = Place() }
    places.update(at: path) { place in place.update { $0[id] = shared } }
    owners[listener] = id
    note(.listener(listener, before))
    return shared.view.initialEvents(wantsValue: request.events.contains(.value))
      .filter { request.events.contains($0) }
      .map { Delivery(listener: listener, event: $0) }
  }

  /// Removes a listener; one that is not registered is ignored.
  package mutating func unlisten(_ listener: ListenerID) {
    guard let id = owners.removeValue(forKey: listener) else { return }
    places.update(at: id.query.path) { place in
      place.update { views in
        views[id]?.listeners[listener] = nil
        if views[id]?.listeners.isEmpty == true { views[id] = nil }
      }
    }
    if places[id.query.path]?.views.isEmpty == true { places[id.query.path] = nil }
  }

  /// Extends the window of a paged listener by up to `count` rows.
  ///
  /// Returns `childAdded` for each row gained, in order, `value` if any was, then `page`. A count below
  /// 1 gains nothing.
  ///
  /// - Throws: `TreeError` (`unknownListener`) if the listener is not registered or not paged,
  ///   (`storage`) if the rows cannot be read; the window is then as before.
  package mutating func extend(
    _ listener: ListenerID, by count: Int, reader: some TreeReader
  ) throws(TreeError) -> [Delivery] {
    try changePaged(listener) { shared throws(TreeError) in
      let page = try shared.view.extend(by: count, reader)
      return (shared.deliveries(gained: page.gained), page.undo)
    }
  }

  /// Shows another part of a paged listener's request.
  ///
  /// Returns the events of the change, and `page` as the last of them.
  ///
  /// - Throws: `TreeError` (`unknownListener`) if the listener is not registered or not paged,
  ///   (`storage`) if the rows cannot be read; the window is then as before.
  mutating func show(
    _ part: WindowPart, to listener: ListenerID, reader: some TreeReader
  ) throws(TreeError) -> [Delivery] {
    try changePaged(listener) { shared throws(TreeError) in
      var changes = try shared.view.show(part, reader)
      changes.hasMoreChanged = true
      let events = shared.view.events(for: changes, wantsValue: shared.wantsValue)
      return (shared.deliveries(events), changes.undo)
    }
  }

  /// Changes the window of a paged listener, and notes how to undo the change.
  private mutating func changePaged(
    _ listener: ListenerID,
    _ change: (inout Shared) throws(TreeError) -> (deliveries: [Delivery], undo: View.Undo?)
  ) throws(TreeError) -> [Delivery] {
    guard let id = owners[listener], id.owner == listener else {
      throw TreeError(.unknownListener, "There is no paged listener \(listener.rawValue).")
    }
    var result: (deliveries: [Delivery], undo: View.Undo?) = ([], nil)
    try places.update(at: id.query.path) { place throws(TreeError) in
      try place.update { views throws(TreeError) in
        guard let index = views.index(forKey: id) else { return }
        result = try change(&views.values[index])
      }
    }
    if let undo = result.undo { note(.view(id, undo)) }
    return result.deliveries
  }

  /// True if a listener shows no row.
  func isEmpty(_ listener: ListenerID) -> Bool {
    guard let id = owners[listener] else { return true }
    return places[id.query.path]?.views[id]?.view.rows.isEmpty ?? true
  }

  /// True if what a listener shows is an answer of the origin, of whatever connection.
  func isAnswer(_ listener: ListenerID) -> Bool {
    guard let id = owners[listener] else { return false }
    return places[id.query.path]?.views[id]?.view.knowledge.isAnswer ?? false
  }

  /// True if anyone listens.
  package var hasListeners: Bool { !owners.isEmpty }
}

// MARK: Changing

extension TreeEngine {
  /// Refreshes every view that the touched places concern; returns the deliveries.
  ///
  /// `touched` are the places written in one batch; `.root` among them refreshes everything. `known` are
  /// places of which other things are known than before, though nothing was written: only rows that
  /// became known or unknown there are read. `reader` reads the state after the write.
  ///
  /// - Throws: `TreeError` (`storage`) if a row cannot be read; then no view has changed.
  package mutating func apply(
    touched: [Path], known: [Path] = [], reader: some TreeReader
  ) throws(TreeError) -> [Delivery] {
    try atomically { engine throws(TreeError) in try engine.refresh(touched, known, reader) }
  }

  private mutating func refresh(
    _ touched: [Path], _ known: [Path], _ reader: some TreeReader
  ) throws(TreeError) -> [Delivery] {
    var concerned: [(path: Path, touched: View.Touched)] = []
    for (path, part) in merged(touched, known) { concerned.append((path, part)) }
    concerned.sort { TreeEngine.isDeliveredBefore($0.path, $1.path) }
    var deliveries: [Delivery] = []
    for (path, part) in concerned {
      // Each touched row is read once, however many views there are at a place.
      let cache = RowCache(reader)
      var undos: [UndoStep] = []
      defer { undoSteps += undos }
      try places.update(at: path) { place throws(TreeError) in
        for number in try place.concerned(by: part, at: path, cache) {
          guard var changes = try place.refresh(number, part, cache), let undo = changes.undo else {
            continue
          }
          undos.append(.view(place.views.keys[number], undo))
          if let undo = try place.refill(number, &changes, cache) {
            undos.append(.view(place.views.keys[number], undo))
          }
          let shared = place.views.values[number]
          let events = shared.view.events(for: changes, wantsValue: shared.wantsValue)
          deliveries += shared.deliveries(events)
        }
      }
    }
    return deliveries
  }

  /// The places with views that are concerned, and the touched children of each.
  private func merged(_ touched: [Path], _ known: [Path]) -> [Path: View.Touched] {
    var result: [Path: View.Touched] = [:]
    for path in touched + known {
      for (index, key) in path.keys.enumerated() {
        let ancestor = Path(unchecked: Array(path.keys[..<index]))
        guard places[ancestor] != nil else { continue }
        result[ancestor, default: .keys([])].insert(key)
      }
    }
    for path in touched {
      for below in places.paths(at: path) { result[below] = .all }
    }
    for path in known {
      for below in places.paths(at: path) { result[below] = result[below] ?? .keys([]) }
    }
    return result
  }

  /// True if a place is deeper than the other, or before it in key order.
  private static func isDeliveredBefore(_ left: Path, _ right: Path) -> Bool {
    if left.contains(right) { return false }
    if right.contains(left) { return true }
    return left < right
  }
}

// MARK: Taking back

extension TreeEngine {
  /// Runs `body`; if it throws, every listener and window is as it was before.
  ///
  /// A listener removed within it stays removed. O(changes); what did not change is not copied.
  ///
  /// - Throws: the errors of `body`.
  package mutating func atomically<Result, Failure: Error>(
    _ body: (inout TreeEngine) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = undoSteps.count
    atomicDepth += 1
    defer {
      atomicDepth -= 1
      if atomicDepth == 0 { undoSteps = [] }
    }
    do {
      return try body(&self)
    } catch {
      while undoSteps.count > start, let step = undoSteps.popLast() { revert(step) }
      throw error
    }
  }

  private mutating func note(_ step: UndoStep) {
    if atomicDepth > 0 { undoSteps.append(step) }
  }

  private mutating func revert(_ step: UndoStep) {
    switch step {
    case .view(let id, let undo):
      places.update(at: id.query.path) { place in place.update { $0[id]?.view.revert(undo) } }
    case .listener(let listener, let before):
      guard let id = owners[listener] else { return }
      unlisten(listener)
      if let before {
        places.update(at: id.query.path) { place in place.update { $0[id]?.view = before } }
      }
    }
  }
}

extension TreeEngine {
  /// Traps if an invariant of a view does not hold.
  ///
  /// For tests.
  package func checkInvariants() {
    for path in places.paths(at: .root) { places[path]?.checkInvariants() }
  }
}
