import RunnelBase
import RunnelTree
import TestSupport
import Testing

/// Random listeners over random writes: the events alone must rebuild every window.
@Suite struct EngineOracleTests {
  @Test(arguments: Seeds.first(250))
  func eventsRebuildEveryWindow(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var harness = try EngineHarness()
    var mirrors: [ListenerID: WindowMirror] = [:]
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
  ) throws -> (ListenerID, WindowMirror) {
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
    var mirror = WindowMirror(request)
    let events = try harness.engine.listen(id, request, reader: harness.tree).map(\.event)
    let fault = mirror.apply(events, harness.tree, isInitial: true)
    try #require(fault == nil, "\(request)")
    return (id, mirror)
  }

  private func extend(
    _ random: inout RandomTree, _ harness: inout EngineHarness,
    _ mirrors: inout [ListenerID: WindowMirror]
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
