import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

@Suite struct IndexStreamTests {
  private let tree = TestTree()
  private let entries: QueryStream<Record>
  private let joined: IndexStream
  private let recorder: Recorder<IndexedRecord>

  /// Entries are the children of `/m`, in the order of `at`; records those of `/data`.
  init() throws {
    entries = QueryStream(request: try messages(), source: tree)
    joined = IndexStream(entries, source: tree, in: try Path("data"))
    recorder = Recorder(joined)
  }

  private func settle() throws { try tree.settle([entries, joined]) }

  private func start() throws {
    entries.start()
    joined.start()
    try settle()
  }

  private func write(_ path: String, _ value: JSONValue) throws {
    try tree.write(.set(try Path(path), value))
    try settle()
  }

  private var text: [String] {
    joined.sections.flatMap(\.items).map { row in
      switch row.target {
      case .loading: "\(row.entry.row.key.text)=..."
      case .found(let node): "\(row.entry.row.key.text)=\(node.json.jsonText())"
      case .missing: "\(row.entry.row.key.text)=none"
      case .failed(let reason): "\(row.entry.row.key.text)=!\(reason)"
      case .unnamed: "\(row.entry.row.key.text)=?"
      }
    }
  }

  @Test func entriesAreJoinedToTheirRecords() throws {
    try tree.write(.set(try Path("data"), ["a": 1, "b": 2, "x": 3]))
    try tree.write([JSONMember("b", ["at": 1]), JSONMember("a", ["at": 2])])
    try start()
    #expect(text == ["b=2", "a=1"])
    #expect(joined.loadState == .loaded)
    #expect(recorder.later.map(\.loadState) == [.loading, .loaded])
    #expect(recorder.mistakes == [])
  }

  @Test func missingRecordIsMarkedAndFilledWhenItComes() throws {
    try tree.write([JSONMember("a", ["at": 1])])
    try start()
    #expect(text == ["a=none"])
    try write("data/a", 7)
    #expect(text == ["a=7"])
    #expect(recorder.lastBatch?.reloadedRows == [ListIndexPath(section: 0, row: 0)])
    try write("data/a", .null)
    #expect(text == ["a=none"])
    #expect(recorder.mistakes == [])
  }

  @Test func emptyIndexIsLoaded() throws {
    try start()
    #expect(joined.loadState == .loaded)
    #expect(text == [])
  }

  @Test func newEntryIsShownBeforeItsRecordIsThere() throws {
    try tree.write(.set(try Path("data"), ["a": 1]))
    try start()
    try tree.write([JSONMember("a", ["at": 1])])
    var seen: [[String]] = []
    recorder.onChange = { _ in seen.append(text) }
    try settle()
    #expect(seen == [["a=..."], ["a=1"]])
    #expect(joined.loadState == .loaded)
  }

  @Test func onlyPlacesThatRowsNameAreListenedTo() throws {
    try tree.write([JSONMember("a", ["at": 1]), JSONMember("b", ["at": 2])])
    try start()
    #expect(tree.activeListeners.count == 3)
    try tree.write([JSONMember("a", .null)])
    try settle()
    #expect(tree.activeListeners.count == 2)
    joined.stop()
    #expect(tree.activeListeners.count == 1)
  }

  @Test func rowsOfOnePlaceShareAListener() throws {
    let joined = IndexStream(entries, source: tree) { _ in try? Path("data/one") }
    try tree.write(.set(try Path("data/one"), 5))
    try tree.write([JSONMember("a", ["at": 1]), JSONMember("b", ["at": 2])])
    entries.start()
    joined.start()
    try tree.settle([entries, joined])
    #expect(joined.sections.flatMap(\.items).map(\.node) == [try Node(json: 5), try Node(json: 5)])
    #expect(tree.activeListeners.count == 2)
  }

  @Test func entryThatNamesNoPlaceSaysSo() throws {
    let joined = IndexStream(entries, source: tree) { _ in nil }
    try tree.write([JSONMember("a", ["at": 1])])
    entries.start()
    joined.start()
    try tree.settle([entries, joined])
    #expect(joined.sections[0].items.map(\.target) == [.unnamed])
    #expect(joined.loadState == .loaded)
  }

  @Test func failureIsToldInTheRow() throws {
    try tree.write([JSONMember("a", ["at": 1])])
    try start()
    let listener = try #require(tree.activeListeners.last)
    joined.receive(failure: "no", from: listener)
    #expect(text == ["a=!no"])
    #expect(recorder.mistakes == [])
  }

  @Test func stoppedStreamTellsNothingAndCatchesUp() throws {
    try tree.write(.set(try Path("data"), ["a": 1]))
    try tree.write([JSONMember("a", ["at": 1])])
    try start()
    joined.stop()
    let count = recorder.changes.count
    try write("data/a", 2)
    #expect(recorder.changes.count == count)
    joined.start()
    try settle()
    #expect(text == ["a=2"])
    #expect(recorder.mistakes == [])
  }

  @Test func randomUseEqualsAJoinDoneByHand() throws {
    for seed in 0..<60 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      let suite = try IndexStreamTests()
      try suite.start()
      for _ in 0..<40 {
        let name = "k\(Int.random(in: 0..<14, using: &random))"
        switch Int.random(in: 0..<6, using: &random) {
        case 0...2: try suite.tree.writeAtRandom(&random)
        case 3: try suite.tree.write(.set(try Path("data/\(name)"), .null))
        case 4:
          let value = JSONNumber(Int64.random(in: 0..<9, using: &random))
          try suite.tree.write(.set(try Path("data/\(name)"), .number(value)))
        default: try suite.settle()
        }
      }
      try suite.settle()
      let expected = try suite.entries.items.map { entry in
        let node = suite.tree.tree.root[try Path("data").child(entry.row.key)]
        return node.isEmpty ? IndexedRecord.Target.missing : .found(node)
      }
      #expect(suite.joined.sections[0].items.map(\.target) == expected, "seed \(seed)")
      #expect(suite.recorder.mistakes == [], "seed \(seed)")
    }
  }
}
