import RunnelBase
import RunnelTree
import Testing

/// Random listeners over random writes: the events alone must rebuild every window.
@Suite struct EngineOracleTests {
  @Test(arguments: 0..<250 as Range<UInt64>)
  func eventsRebuildEveryWindow(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var harness = try EngineHarness()
    var mirrors: [ListenerID: Mirror] = [:]
    _ = try harness.deliveries(.set(.root, random.node(depth: 3).exportJSON))
    for step in 0..<25 {
      if mirrors.count < 6, random.chance(50) {
        let mirror = try listen(&random, &harness, id: ListenerID(step))
        mirrors[mirror.0] = mirror.1
      }
      if random.chance(5), let listener = mirrors.keys.min() {
        harness.engine.unlisten(listener)
        mirrors[listener] = nil
      }
      if random.chance(25) { try extend(&random, &harness, &mirrors) }
      let before = harness.tree
      let write = try random.write()
      guard let deliveries = try? harness.deliveries(write) else {
        // A conflict within an update: nothing may have happened.
        try #require(harness.tree == before)
        continue
      }
      let byListener = Dictionary(grouping: deliveries, by: \.listener)
      for (listener, var mirror) in mirrors {
        let events = (byListener[listener] ?? []).map(\.event)
        let fault = mirror.apply(events, harness.tree)
        try #require(fault == nil, "seed \(seed), step \(step), \(write), \(mirror.request)")
        mirrors[listener] = mirror
      }
    }
  }

  private func listen(
    _ random: inout RandomTree, _ harness: inout EngineHarness, id: ListenerID
  ) throws -> (ListenerID, Mirror) {
    var query = try random.query(random.path(depth: 0..<3))
    var paging: Paging?
    if query.limit == nil, random.chance(40) {
      paging = Paging(anchor: random.pick([.first, .last]), count: random.number(1..<4))
    }
    if random.chance(10) { query = Query(query.path) }
    if query.limit != nil { paging = nil }
    let request = ListenRequest(
      query: query, paging: paging, detail: random.chance(70) ? .full : .shallow,
      events: random.chance(50) ? .all : .children)
    var mirror = Mirror(request)
    let events = try harness.engine.listen(id, request, reader: harness.tree).map(\.event)
    let fault = mirror.apply(events, harness.tree, isInitial: true)
    try #require(fault == nil, "\(request)")
    return (id, mirror)
  }

  private func extend(
    _ random: inout RandomTree, _ harness: inout EngineHarness,
    _ mirrors: inout [ListenerID: Mirror]
  ) throws {
    for (listener, var mirror) in mirrors where mirror.request.paging != nil {
      let deliveries = try harness.engine.extend(
        listener, by: random.number(0..<4), reader: harness.tree)
      let fault = mirror.apply(deliveries.map(\.event), harness.tree, isInitial: true)
      try #require(fault == nil, "\(mirror.request)")
      mirrors[listener] = mirror
    }
  }
}

/// A window as its listener knows it: nothing but what events told.
private struct Mirror {
  let request: ListenRequest
  private var rows: [TreeRow] = []
  private var value: Node?
  private var hasMore = true

  init(_ request: ListenRequest) { self.request = request }

  /// Takes in a batch; returns what is wrong with it, if anything.
  mutating func apply(
    _ events: [TreeEvent], _ tree: MemoryTree, isInitial: Bool = false
  ) -> String? {
    let before = rows
    if let fault = orderFault(events) ?? takeIn(events) { return fault }
    let expected = expectedRows(tree)
    if rows != expected { return "The window is \(rows), not \(expected)." }
    for event in events {
      if let fault = previousFault(event) { return fault }
    }
    if isInitial { return nil }
    if events.isEmpty != (before == rows && !isValueTold(events)), request.paging == nil {
      return "Events \(events) for a window that changed from \(before) to \(rows)."
    }
    return valueFault(tree)
  }

  private func isValueTold(_ events: [TreeEvent]) -> Bool {
    events.contains { if case .value = $0 { true } else { false } }
  }

  /// Removed, added, moved, changed, value, page.
  private func orderFault(_ events: [TreeEvent]) -> String? {
    let ranks = events.map { event in
      switch event {
      case .childRemoved: 0
      case .childAdded: 1
      case .childMoved: 2
      case .childChanged: 3
      case .value: 4
      case .page: 5
      }
    }
    return ranks == ranks.sorted() ? nil : "The kinds are out of order: \(events)."
  }

  private mutating func takeIn(_ events: [TreeEvent]) -> String? {
    var placed: [(row: TreeRow, previous: Key?)] = []
    for event in events {
      switch event {
      case .childRemoved(let row):
        guard let index = rows.firstIndex(of: row) else { return "\(row) was not there." }
        rows.remove(at: index)
      case .childAdded(let row, let previous):
        if rows.contains(where: { $0.key == row.key }) { return "\(row.key) was there." }
        placed.append((row, previous))
      case .childMoved(let row, let previous):
        guard let index = rows.firstIndex(where: { $0.key == row.key }) else {
          return "\(row.key) moved and was not there."
        }
        rows.remove(at: index)
        placed.append((row, previous))
      case .childChanged(let row, _):
        if placed.contains(where: { $0.row == row }) { continue }
        guard let index = rows.firstIndex(where: { $0.key == row.key }), rows[index] != row else {
          return "\(row.key) did not change."
        }
        rows[index] = row
      case .value(let node): value = node
      case .page(let more): hasMore = more
      }
    }
    return place(placed)
  }

  /// Puts rows after those that come before them, which may be among them.
  private mutating func place(_ placed: [(row: TreeRow, previous: Key?)]) -> String? {
    var waiting = placed
    while !waiting.isEmpty {
      let ready = waiting.firstIndex { entry in
        entry.previous == nil || rows.contains { $0.key == entry.previous }
      }
      guard let ready else { return "No place for \(waiting)." }
      let (row, previous) = waiting.remove(at: ready)
      let index = previous.flatMap { key in rows.firstIndex { $0.key == key } }
      rows.insert(row, at: index.map { $0 + 1 } ?? 0)
    }
    return nil
  }

  private func expectedRows(_ tree: MemoryTree) -> [TreeRow] {
    let slice = RowSlice(request.query)
    let all = slice.rows(among: tree.root[request.query.path].children, detail: request.detail)
    guard let paging = request.paging, hasMore else { return all }
    return paging.anchor == .last
      ? Array(all.suffix(rows.count)) : Array(all.prefix(rows.count))
  }

  private func previousFault(_ event: TreeEvent) -> String? {
    switch event {
    case .childAdded(let row, let previous), .childMoved(let row, let previous),
      .childChanged(let row, let previous):
      guard let index = rows.firstIndex(of: row) else { return "\(row.key) is not in the window." }
      let expected = index == 0 ? nil : rows[index - 1].key
      return previous == expected ? nil : "\(row.key) is after \(String(describing: expected))."
    case .childRemoved, .value, .page: return nil
    }
  }

  private func valueFault(_ tree: MemoryTree) -> String? {
    guard request.events.contains(.value), request.detail == .full else { return nil }
    let node = tree.root[request.query.path]
    let children = rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } }
    let isLeafShown = request.query.loadsAllData && node.leaf != nil
    let priority = request.query.loadsAllData ? node.priority : nil
    let expected = isLeafShown ? node : Node(children: children, priority: priority)
    return value == expected ? nil : "The value is \(String(describing: value))."
  }
}
