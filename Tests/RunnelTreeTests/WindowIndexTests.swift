import RunnelBase
import Testing

@testable import RunnelTree

/// Many windows of one place, of which a write reaches few.
@Suite struct WindowIndexTests {
  /// Numbers, some of them twice, as positions of an order.
  private func position(_ number: Int, _ key: IndexPosition.KeyBound) -> IndexPosition {
    IndexPosition(value: .leaf(.number(JSONNumber(Int64(number)))), key: key)
  }

  /// Every slice between ends from a few, and every position around them.
  @Test func aTreeFindsTheSlicesThatContainAPosition() throws {
    let key = try Key("k")
    var ends: [Query.Bound?] = [nil]
    for number in 0..<3 {
      for bound in [IndexPosition.KeyBound.minimum, .key(key), .maximum] {
        for isInclusive in [false, true] {
          ends.append(Query.Bound(position(number, bound), isInclusive: isInclusive))
        }
      }
    }
    var slices: [(slice: RowSlice, owner: Int)] = []
    for start in ends {
      for end in ends {
        slices.append((RowSlice(index: .value, start: start, end: end), slices.count))
      }
    }
    for count in [0, 1, 40, slices.count] {
      let some = Array(slices.prefix(count))
      let tree = SliceTree(some)
      for number in -1..<4 {
        let position = position(number, .key(key))
        var found: [Int] = []
        tree.forEachOwner(ofSliceAt: position) { found.append($0) }
        let wanted = some.filter { $0.slice.contains(position) }.map(\.owner)
        #expect(found.sorted() == wanted, "\(count) slices, \(number)")
      }
    }
  }

  /// The oracle is an engine for each window: alone, it is looked at by every write.
  @Test(arguments: 0..<10 as Range<UInt64>)
  func eachOfManyWindowsIsToldWhatItIsToldAlone(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var tree = MemoryTree(try random.node(depth: 3))
    let path = try random.path(depth: 0..<2)
    var together = TreeEngine()
    var alone: [ListenerID: TreeEngine] = [:]
    var gone: Set<ListenerID> = []
    for step in 0..<20 {
      for _ in 0..<(step == 0 ? 40 : random.number(0..<2)) {
        let listener = ListenerID(alone.count)
        let request = try request(&random, path)
        var engine = TreeEngine()
        let told = try engine.listen(listener, request, reader: tree)
        try #require(try together.listen(listener, request, reader: tree) == told)
        alone[listener] = engine
      }
      if random.chance(10) {
        let listener = ListenerID(random.number(0..<alone.count))
        together.unlisten(listener)
        gone.insert(listener)
      }
      for listener in alone.keys.sorted() where random.chance(5) {
        let told = try? alone[listener]?.extend(listener, by: 2, reader: tree)
        if let more = try? together.extend(listener, by: 2, reader: tree) {
          try #require(more == told)
        }
      }
      guard let parts = try? random.write().assignments(now: 0, reader: tree) else { continue }
      for part in parts { tree.perform(part) }
      let told = try together.apply(touched: parts.map(\.path), reader: tree)
      together.checkInvariants()
      let byListener = Dictionary(grouping: told, by: \.listener)
      for listener in alone.keys.sorted() {
        let wanted = try alone[listener]?.apply(touched: parts.map(\.path), reader: tree)
        if gone.contains(listener) { continue }
        try #require(
          byListener[listener] ?? [] == wanted, "seed \(seed), step \(step), \(listener)")
      }
    }
  }

  private func request(_ random: inout RandomTree, _ path: Path) throws -> ListenRequest {
    let query = try random.query(path)
    var paging: Paging?
    if query.limit == nil, random.chance(30) {
      paging = Paging(anchor: random.pick([.first, .last]), count: random.number(1..<4))
    }
    return ListenRequest(
      query: query, paging: paging, detail: random.chance(80) ? .full : .shallow,
      events: random.chance(50) ? .all : .children)
  }
}
