import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

/// What users of lists over realtime data have asked for, or have reported as broken, for years.
@Suite("What lists over realtime data are known to get wrong")
struct RegressionListTests {
  private let tree = TestTree()
  private let rows = TransientStream(
    (10..<40).map { TestRow("k\($0)", $0) }, order: TestRow.byValue)

  private func fill(_ count: Int) throws {
    try tree.write(
      (0..<count).map { JSONMember("k\($0)", ["at": .number(JSONNumber(Int64($0)))]) })
  }

  private func loaded(_ request: ListenRequest) throws -> QueryStream<Record> {
    let stream = QueryStream(request: request, source: tree)
    stream.start()
    try tree.settle([stream])
    return stream
  }

  private func row(_ key: String, at: Int64) throws -> TreeRow {
    let node = try Node(json: ["at": .number(JSONNumber(at))])
    let child = Child(key: try Key(key), node: node)
    return TreeRow(child, index: .child(try Path("at")), detail: .full)
  }
}

// MARK: Crashes and wrong rows

extension RegressionListTests {
  @Test(
    "A neighbour that nobody knows is reconciled, not fatal, in a limited window that others write to"
  )
  func unknownNeighboursAreReconciled() throws {
    try fill(6)
    let stream = try loaded(try messages(limit: (3, .last)))
    let recorder = Recorder(stream)
    let listener = try #require(tree.activeListeners.first)
    let stranger = try Key("nobody")
    stream.receive(
      [
        .childAdded(try row("x", at: 9), previous: stranger),
        .childMoved(try row("gone", at: 4), previous: stranger),
        .childRemoved(try row("never", at: 0)),
      ], from: listener)
    #expect(stream.names == ["k3", "gone", "k4", "k5", "x"])
    try tree.write([JSONMember("k5", nil), JSONMember("k9", ["at": 8]), JSONMember("k0", nil)])
    try tree.settle([stream])
    #expect(stream.names.contains("k9") && !stream.names.contains("k5"))
    #expect(recorder.mistakes == [])
  }

  @Test(
    "A row that is inserted where another one moves to, and one that moves and goes, in one batch")
  func insertMoveAndDeleteAtOnePlace() {
    let updates = ListUpdates.told(ListPart(rows)) { adapter in
      adapter.hold()
      rows.update(TestRow("k10", 99))
      rows.put(TestRow("new", 98))
      rows.update(TestRow("k11", 97))
      rows.remove("k11")
      adapter.release()
    }
    func path(_ row: Int) -> ListIndexPath { ListIndexPath(section: 0, row: row) }
    #expect(updates.count == 1)
    #expect(updates[0].insertedRows == [path(28)])
    #expect(updates[0].movedRows == [.init(from: path(0), to: path(29))])
    #expect(updates[0].deletedRows == [path(1)])
  }

  @Test(
    "Queries may be swapped at any rate, also while an update is applied, and the last one counts")
  func queriesMayBeSwappedAtAnyRate() throws {
    try fill(8)
    let stream = try loaded(try messages())
    let recorder = Recorder(stream)
    var shown: [SectionIDs] = []
    var swaps = 0
    let adapter = IndexPathAdapter([ListPart(stream)]) { update in
      #expect(update.update.mistake(from: shown, to: update.sectionIDs) == nil)
      shown = update.sectionIDs
      guard swaps < 20, let request = try? messages(limit: (swaps % 5 + 1, .first)) else { return }
      swaps += 1
      stream.swap(to: request)
    }
    adapter.start()
    for count in 1...30 {
      stream.swap(to: try messages(limit: (count % 6 + 1, .last)), isDescending: count % 2 == 0)
      if count % 4 == 0 { try tree.settle([stream]) }
    }
    while swaps < 20 {
      stream.swap(to: try messages(limit: (7, .first)))
      try tree.settle([stream])
      stream.swap(to: try messages(limit: (2, .first)))
      try tree.settle([stream])
    }
    stream.swap(to: try messages(limit: (2, .last)))
    try tree.settle([stream])
    #expect(stream.names == ["k6", "k7"])
    #expect(recorder.mistakes == [])
  }

  @Test(
    "The number of rows after an update is that before it, less those deleted, and those inserted")
  func numbersOfRowsAddUp() {
    for seed in Seeds.first(20) {
      var random = SeededRandom(seed: seed)
      let source = TransientStream<TestRow>(order: TestRow.byValue)
      let parts = PartitionedStream(source, sectionID: { "\($0)" }, partition: { $0.value % 4 })
      var shown: [SectionIDs] = []
      let adapter = IndexPathAdapter([ListPart(parts)]) { update in
        if let mistake = update.update.mistake(from: shown, to: update.sectionIDs) {
          Issue.record("seed \(seed): \(mistake)")
        }
        shown = update.sectionIDs
      }
      adapter.start()
      for _ in 0..<60 {
        let key = "k\(Int.random(in: 0..<20, using: &random))"
        let value = Int.random(in: 0..<9, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0...3: source.put(TestRow(key, value), TestRow(key + "x", value + 1))
        case 4, 5: source.remove(key, key + "x")
        case 6: adapter.hold()
        default: adapter.release()
        }
      }
    }
  }

  @Test(
    "A list that is left and returned to is alive, and late answers to its earlier life are dropped"
  )
  func listIsAliveAfterEachReturn() throws {
    try fill(2)
    let stream = QueryStream<Record>(request: try messages(), source: tree)
    let recorder = Recorder(stream)
    for round in 0..<10 {
      stream.start()
      if round % 3 == 0 { try tree.settle([stream]) }
      stream.stop()
      try tree.write([JSONMember("r\(round)", ["at": 100])])
    }
    stream.start()
    try tree.settle([stream])
    #expect(stream.loadState == .loaded && stream.items.count == 12)
    try tree.write([JSONMember("last", ["at": 200])])
    try tree.settle([stream])
    #expect(stream.names.last == "last")
    #expect(recorder.mistakes == [])
  }

  @Test(
    "Keys that are integers stay keys: a collection never turns into an array as its rows change")
  func integerKeysStayKeys() throws {
    try tree.write((0..<3).map { JSONMember("\($0)", ["at": 1, "list": ["0": "a", "1": "b"]]) })
    let stream = try loaded(ListenRequest(query: Query(try Path("m"))))
    #expect(stream.names == ["0", "1", "2"])
    #expect(
      stream.items[0].row.node?.json == ["at": 1, "list": ["0": "a", "1": "b"]], "No array.")
    try tree.write([JSONMember("1", nil), JSONMember("10", ["at": 1]), JSONMember("9", ["at": 1])])
    try tree.settle([stream])
    #expect(stream.names == ["0", "2", "9", "10"])
    try tree.write([JSONMember("a", ["at": 1])])
    try tree.settle([stream])
    #expect(stream.names == ["0", "2", "9", "10", "a"])
    let node = try #require(stream.items[0].row.node)
    #expect(node.json(coercingArrays: true) == ["at": 1, "list": ["a", "b"]], "On request only.")
  }
}

// MARK: Views

extension RegressionListTests {
  @Test("Rows that arrive above move nothing in sight; the list follows its end only from its end")
  func viewStaysUnlessItIsAtItsEnd() {
    let screen = ListScreen(ListPart(rows), height: 6)
    screen.go(to: "k25")
    screen.state.isFollowing = true
    let sight = screen.rows
    rows.put(TestRow("early", 1), TestRow("late", 99))
    #expect(screen.rows == sight)
    screen.go(to: "late")
    rows.put(TestRow("later", 100))
    #expect(screen.rows.last == "later")
  }

  @Test("The first row in sight moves away alone: the view passes to its neighbour")
  func firstRowInSightMovesAlone() {
    let screen = ListScreen(ListPart(rows), height: 6)
    screen.go(to: "k25")
    let sight = screen.rows
    rows.update(TestRow(sight[0], 99))
    #expect(screen.rows.suffix(sight.count - 1) == sight.dropFirst(), "Each in its line.")
    rows.update(TestRow("k25", 0))
    #expect(screen.state.cursor == .row("k25"), "The cursor follows its row.")
  }

  @Test("Headers and footers are told as changed without their rows, and sections move as a whole")
  func headersChangeAloneAndSectionsMove() {
    let parts = PartitionedStream(rows, sectionID: \.description, partition: { $0.value / 20 })
    parts.setFooters { _, total, _ in "\(total)" }
    let labelled = ListPart(parts) { SectionLabels(header: $0.id, footer: $0.footer) }
    let told = ListUpdates.told(labelled) { _ in rows.put(TestRow("new", 15)) }
    #expect(told.map(\.reloadedSections) == [[0]])
    #expect(told.map(\.reloadedRows) == [[]])
    let moved = SectionedDiff.update(
      from: list(("a", ["1", "2"]), ("b", ["3"])), to: list(("b", ["3"]), ("a", ["1", "2"])))
    #expect(moved.movedSections.count == 1 && moved.movedRows.isEmpty)
  }

  @Test(
    "A row that the user drags gets a number between its new neighbours, and comes back as one move"
  )
  func draggedRowIsWrittenBackAndMovesOnce() throws {
    try fill(5)
    let stream = try loaded(try messages())
    let recorder = Recorder(stream)
    for _ in 0..<30 {
      // The last row goes between the first two.
      let names = stream.names
      func at(_ row: Int) -> JSONNumber? {
        guard case .leaf(.number(let number)) = stream.items[row].row.value else { return nil }
        return number
      }
      let number = try #require(OrderNumber.between(at(0), at(1)))
      try tree.write([JSONMember(names[4], ["at": .number(number)])])
      try tree.settle([stream])
      #expect(stream.names == [names[0], names[4], names[1], names[2], names[3]])
      let moves = recorder.lastBatch?.movedRows
      #expect(
        moves == [
          .init(from: ListIndexPath(section: 0, row: 4), to: ListIndexPath(section: 0, row: 1))
        ])
      #expect(recorder.changes.last?.changes.insertedIDs == [])
    }
    #expect(recorder.mistakes == [])
  }

  @Test("While the user edits a row, changes wait as one update, and how many rows wait is known")
  func changesWaitWhileARowIsEdited() {
    var waiting: [Int] = []
    let updates = ListUpdates.told(ListPart(rows)) { adapter in
      adapter.hold()
      for number in 0..<5 {
        rows.put(TestRow("new\(number)", 50 + number))
        waiting.append(adapter.waitingRowCount)
      }
      rows.remove("k10")
      adapter.release()
      #expect(adapter.waitingRowCount == 0)
    }
    #expect(waiting == [1, 2, 3, 4, 5])
    #expect(updates.count == 1)
    #expect(updates[0].insertedRows.count == 5 && updates[0].deletedRows.count == 1)
  }
}
