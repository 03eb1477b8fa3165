import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

/// Predicates, limits, local changes and places of rows.
@Suite struct QueryStreamShowingTests {
  private let tree = TestTree()

  private func fill(_ range: Range<Int>) throws {
    try tree.write(range.map { JSONMember("k\($0)", ["at": .number(JSONNumber(Int64($0)))]) })
  }

  private func loaded(
    _ request: ListenRequest, isDescending: Bool = false
  ) throws -> QueryStream<Record> {
    let stream = QueryStream(request: request, isDescending: isDescending, source: tree)
    stream.start()
    try tree.settle([stream])
    return stream
  }

  @Test func predicateHidesAndShowsRowsWithoutAReload() throws {
    try fill(0..<6)
    let stream = try loaded(try messages())
    let recorder = Recorder(stream)
    stream.predicate = { number($0, "at") % 2 == 0 }
    #expect(stream.names == ["k0", "k2", "k4"])
    #expect(recorder.lastBatch?.deletedRows.count == 3)
    #expect(stream.item(forID: "/m/k1") == nil && stream.indexPath(forID: "/m/k1") == nil)
    stream.predicate = { number($0, "at") > 2 }
    #expect(stream.names == ["k3", "k4", "k5"])
    stream.predicate = nil
    #expect(stream.names.count == 6 && stream.scannedCount == 6)
    #expect(recorder.mistakes == [])
  }

  @Test func rowsThatALimitCutOffComeBack() throws {
    try fill(0..<6)
    let stream = try loaded(try messages())
    let recorder = Recorder(stream)
    stream.limit = RowLimit(2, at: .end)
    #expect(stream.names == ["k4", "k5"])
    try tree.write([JSONMember("k5", nil)])
    try tree.settle([stream])
    #expect(stream.names == ["k3", "k4"])
    stream.predicate = { number($0, "at") != 3 }
    #expect(stream.names == ["k2", "k4"])
    try tree.write([JSONMember("k9", ["at": 9])])
    try tree.settle([stream])
    #expect(stream.names == ["k4", "k9"])
    #expect(recorder.changes.last?.changes.arrivedIDs == ["/m/k9"])
    stream.limit = RowLimit(1)
    #expect(stream.names == ["k0"])
    stream.limit = nil
    #expect(stream.names == ["k0", "k1", "k2", "k4", "k9"])
    #expect(recorder.mistakes == [])
  }

  @Test func limitAfterAPredicateIsFilledFromFurtherPages() throws {
    try fill(0..<40)
    let stream = try loaded(try messages(paging: Paging(anchor: .last, count: 4)))
    stream.limit = RowLimit(3, at: .end)
    stream.predicate = { number($0, "at") % 10 == 0 }
    try tree.settle([stream])
    #expect(stream.names == ["k10", "k20", "k30"])
    #expect(stream.scannedCount < 40)
    stream.predicate = { number($0, "at") == 0 }
    try tree.settle([stream])
    #expect(stream.names == ["k0"])
    #expect(stream.fetchState == .exhausted)
  }

  @Test func localChangeIsToldAndOutlivesNoRecord() throws {
    try fill(0..<3)
    let stream = QueryStream(request: try messages(), source: tree) { row in
      TestRow(row.key.text, Int(number(Record(row, in: .root), "at")))
    }
    stream.didConstruct = { item, previous in
      TestRow(item.id, item.value, previous?.word ?? "new")
    }
    let recorder = Recorder(stream)
    stream.start()
    let listener = try #require(tree.activeListeners.first)
    func row(_ key: String, _ at: Int64) throws -> TreeRow {
      TreeRow(
        Child(key: try Key(key), node: try Node(json: ["at": .number(JSONNumber(at))])),
        index: .child(try Path("at")), detail: .full)
    }
    stream.receive(
      [.childAdded(try row("a", 1), previous: nil), .childAdded(try row("b", 2), previous: nil)],
      from: listener)
    #expect(stream.items == [TestRow("a", 1, "new"), TestRow("b", 2, "new")])
    stream.itemChanged(TestRow("b", 2, "read"))
    #expect(recorder.changes.last?.changes.updatedIDs == ["b"])
    stream.itemChanged(TestRow("b", 2, "read"))
    #expect(recorder.changes.last?.changes.updatedIDs == ["b"], "It is told though it is equal.")
    stream.itemChanged(TestRow("c", 2, "read"))
    stream.receive([.childChanged(try row("b", 0), previous: nil)], from: listener)
    #expect(stream.items == [TestRow("b", 0, "read"), TestRow("a", 1, "new")])
    stream.predicate = { $0.word == "new" }
    stream.itemChanged(TestRow("a", 1, "old"))
    #expect(stream.items == [])
    #expect(recorder.mistakes == [])
  }

  @Test(arguments: [false, true])
  func placesAroundAnExemplarAreStrict(isDescending: Bool) throws {
    try fill(0..<9)
    let stream = try loaded(try messages(), isDescending: isDescending)
    stream.predicate = { number($0, "at") % 2 == 1 }
    let shown = stream.items.map { number($0, "at") }
    for at in Int64(-1)...9 {
      let position = IndexPosition(
        value: .leaf(.number(JSONNumber(at))), key: .key(try Key("k\(max(at, 0))")))
      let after = shown.firstIndex { isDescending ? $0 < at : $0 > at }
      let before = shown.lastIndex { isDescending ? $0 > at : $0 < at }
      #expect(stream.firstIndexPath(after: position)?.row == after, "\(at)")
      #expect(stream.lastIndexPath(before: position)?.row == before, "\(at)")
      // A record made without the order of the query stands there too.
      let record = try Record(
        key: "k\(max(at, 0))", in: Path("m"), value: ["at": .number(JSONNumber(at))])
      #expect(stream.firstIndexPath(after: record)?.row == after, "\(at)")
      #expect(stream.lastIndexPath(before: record)?.row == before, "\(at)")
    }
    stream.limit = 2
    #expect(stream.items.count == 2)
  }

  @Test func randomPredicatesAndLimitsAgreeWithTheTree() throws {
    for seed in Seeds.first(12) {
      var random = SeededRandom(seed: seed)
      let tree = TestTree()
      let isDescending = seed % 2 == 0
      let stream = QueryStream(request: try messages(), isDescending: isDescending, source: tree)
      let recorder = Recorder(stream)
      stream.start()
      for _ in 0..<40 {
        try tree.writeAtRandom(&random)
        let rest = Int64.random(in: 0..<4, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: stream.predicate = rest == 3 ? nil : { number($0, "day") != rest }
        case 1:
          let count = Int.random(in: 0..<5, using: &random)
          stream.limit = rest == 3 ? nil : RowLimit(count, at: rest == 0 ? .start : .end)
        default: break
        }
        try tree.settle([stream])
        var rows = try tree.rows(stream.request.query).map { Record($0, in: try Path("m")) }
        if isDescending { rows.reverse() }
        if let predicate = stream.predicate { rows = rows.filter(predicate) }
        if let limit = stream.limit {
          rows = Array(limit.end == .start ? rows.prefix(limit.count) : rows.suffix(limit.count))
        }
        #expect(Array(stream.items) == rows, "seed \(seed)")
        for (index, row) in rows.enumerated() {
          #expect(stream.indexPath(forID: row.id)?.row == index, "seed \(seed)")
          #expect(stream.item(forID: row.id) == row, "seed \(seed)")
        }
      }
      #expect(recorder.mistakes == [], "seed \(seed)")
    }
  }
}
