import RunnelBase
import Testing

@testable import RunnelTree

/// Listeners of a place of which only some children are known, as on a replica without its origin.
@Suite struct PartialKnowledgeTests {
  /// A tree of which only some children of each place are known; it counts the rows that are read.
  private final class PartlyKnownTree: TreeReader {
    var tree = MemoryTree()
    var known: Set<Key> = []
    var isAnswer = true
    private(set) var readCount = 0
    let hasOrigin = true

    func knowledge(of query: Query) -> Knowledge { .keys(known, isAnswer: isAnswer) }

    func node(at path: Path) throws(TreeError) -> Node { try tree.node(at: path) }

    func summary(at path: Path) throws(TreeError) -> NodeSummary { try tree.summary(at: path) }

    func row(
      _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
    ) throws(TreeError) -> TreeRow? {
      readCount += 1
      return try tree.row(key, of: path, in: slice, detail: detail)
    }

    func rows(
      of path: Path, in slice: RowSlice, detail: TreeRow.Detail
    ) throws(TreeError) -> [TreeRow] {
      try tree.rows(of: path, in: slice, detail: detail)
    }

    func set(_ path: Path, _ value: Int) throws {
      let write = Write.set(path, value == 0 ? .null : JSONValue(value))
      for part in try write.assignments(now: 0, reader: tree) { tree.perform(part) }
    }
  }

  private let place: Path
  private let reader = PartlyKnownTree()

  init() throws { place = try Path("l") }

  private func child(_ number: Int) throws -> (key: Key, path: Path) {
    (try Key("k\(number)"), try place.child("k\(number)"))
  }

  @Test func eachWriteReadsOnlyItsOwnRows() throws {
    var engine = TreeEngine()
    _ = try engine.listen(
      ListenerID(1), ListenRequest(query: Query(place), events: .children), reader: reader)
    for number in 1...50 {
      let (key, path) = try child(number)
      try reader.set(path, number)
      reader.known.insert(key)
      let told = try engine.apply(touched: [path], reader: reader)
      #expect(told.compactMap(\.event.row?.key) == [key])
      engine.checkInvariants()
    }
    #expect(reader.readCount == 50)
  }

  @Test func eachWriteReadsOnlyItsOwnRowsWhereALimitPushesOthersOut() throws {
    var engine = TreeEngine()
    let query = try Query(place).ordered(by: .value).limited(to: 30, from: .last)
    _ = try engine.listen(
      ListenerID(1), ListenRequest(query: query, events: .children), reader: reader)
    for number in 1...50 {
      let (key, path) = try child(number)
      try reader.set(path, number)
      reader.known.insert(key)
      let told = try engine.apply(touched: [path], reader: reader)
      let expected = number > 30 ? [try child(number - 30).key, key] : [key]
      #expect(told.compactMap(\.event.row?.key) == expected)
      // What was pushed out is not known any more, as an origin tells it.
      if number > 30 { reader.known.remove(expected[0]) }
      engine.checkInvariants()
    }
    #expect(reader.readCount < 120)
  }

  @Test func aRowThatLeavesALimitedWindowIsMadeUpForWithoutReadingAllOthers() throws {
    var engine = TreeEngine()
    for number in 1...400 {
      let (key, path) = try child(number)
      try reader.set(path, number)
      reader.known.insert(key)
    }
    let query = try Query(place).ordered(by: .value).limited(to: 100, from: .first)
    _ = try engine.listen(
      ListenerID(1), ListenRequest(query: query, events: .children), reader: reader)
    let readBefore = reader.readCount
    for number in 1...200 {
      let (key, path) = try child(number)
      try reader.set(path, 0)
      let told = try engine.apply(touched: [path], reader: reader)
      #expect(told.compactMap(\.event.row?.key) == [key, try child(number + 100).key])
      engine.checkInvariants()
    }
    // All 400 are read once for each 22 rows that leave, not for each.
    #expect(reader.readCount - readBefore < 200 + 12 * 400)
  }

  /// As when the origin confirms after a reconnection that everything is as it was.
  @Test func whatOnlyBecomesCertainIsToldWithoutReadingARow() throws {
    var engine = TreeEngine()
    for number in 1...50 {
      let (key, path) = try child(number)
      try reader.set(path, number)
      reader.known.insert(key)
    }
    reader.isAnswer = false
    let queries = [
      try Query(place).ordered(by: .value),
      try Query(place).ordered(by: .key).limited(to: 30, from: .last),
    ]
    for (number, query) in queries.enumerated() {
      let request = ListenRequest(query: query, events: .value)
      #expect(try engine.listen(ListenerID(number), request, reader: reader).isEmpty)
    }
    let readBefore = reader.readCount
    reader.isAnswer = true
    let told = try engine.apply(touched: [], known: [place], reader: reader)
    let counts = told.compactMap { delivery -> Int? in
      if case .value(let node) = delivery.event { node.children.count } else { nil }
    }
    #expect(counts.sorted() == [30, 50])
    #expect(reader.readCount == readBefore)
    // One more is known now: it alone is read, once for each of the two.
    let (key, path) = try child(60)
    try reader.set(path, 60)
    reader.known.insert(key)
    _ = try engine.apply(touched: [], known: [place], reader: reader)
    #expect(reader.readCount - readBefore <= 2)
    engine.checkInvariants()
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func listenersSeeTheKnownChildrenWhateverBecomesKnownOrIsWritten(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var engine = TreeEngine()
    var shown: [ListenerID: Node] = [:]
    // Of 120, some are not even next beyond the limited window.
    let (count, steps) = seed.isMultiple(of: 2) ? (20, 60) : (120, 400)
    for number in 0..<count {
      try reader.set(child(number).path, .random(in: 0...3, using: &random))
    }
    let requests = [
      try Query(place).ordered(by: .value), try Query(place).ordered(by: .key),
      try Query(place).ordered(by: .value).limited(to: 4, from: .first),
    ].map { ListenRequest(query: $0, events: .value) }
    for (number, request) in requests.enumerated() {
      _ = try engine.listen(ListenerID(number), request, reader: reader)
      shown[ListenerID(number)] = .empty
    }
    for step in 0..<steps {
      var touched: [Path] = []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let (key, path) = try child(.random(in: 0..<count, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: reader.known.remove(key)
        case 1: reader.known.insert(key)
        default:
          try reader.set(path, .random(in: 0...3, using: &random))
          touched.append(path)
        }
      }
      // A step that only changes what is known touches a child that is as before, or none.
      var told: [Path] = []
      if touched.isEmpty {
        if Bool.random(using: &random) { touched = [try child(0).path] } else { told = [place] }
      }
      for delivery in try engine.apply(touched: touched, known: told, reader: reader) {
        if case .value(let node) = delivery.event { shown[delivery.listener] = node }
      }
      engine.checkInvariants()
      for (number, request) in requests.enumerated() {
        let known = reader.tree.root[place].children.filter { reader.known.contains($0.key) }
        let rows = RowSlice(request.query).rows(among: known, detail: .full)
        let expected = Set(rows.map(\.key))
        let keys = Set(shown[ListenerID(number)]?.children.map(\.key) ?? [])
        #expect(keys == expected, "seed \(seed), step \(step), listener \(number)")
        for row in rows {
          #expect(
            shown[ListenerID(number)]?[row.key] == reader.tree.root[place][row.key],
            "seed \(seed), step \(step), listener \(number)")
        }
      }
    }
  }
}
