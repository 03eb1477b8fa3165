import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

@Suite struct QueryStreamTests {
  private let tree = TestTree()

  private func stream(
    _ request: ListenRequest, isDescending: Bool = false
  ) -> QueryStream<Record> {
    QueryStream(request: request, isDescending: isDescending, source: tree)
  }

  private func fill(_ count: Int, at value: (Int) -> Int = { $0 }) throws {
    try tree.write(
      (0..<count).map { JSONMember("k\($0)", ["at": .number(JSONNumber(Int64(value($0))))]) })
  }

  @Test func loadsAsOneReloadAndFollowsInTheTreesOrder() throws {
    try tree.write([
      JSONMember("b", ["at": 1]), JSONMember("a", ["at": 1]), JSONMember("c", ["at": "x"]),
      JSONMember("10", ["at": 1]), JSONMember("9", ["at": 1]), JSONMember("d", ["at": true]),
    ])
    let stream = stream(try messages())
    let recorder = Recorder(stream)
    stream.start()
    try tree.settle([stream])
    #expect(recorder.changes.map(\.loadState) == [.idle, .loading, .loaded])
    #expect(recorder.lastBatch == .reload)
    #expect(stream.names == ["d", "9", "10", "a", "b", "c"])
    try tree.write([JSONMember("b", nil), JSONMember("9", ["at": 5]), JSONMember("e", ["at": 2])])
    try tree.settle([stream])
    #expect(stream.names == ["d", "10", "a", "e", "9", "c"])
    #expect(recorder.changes.count == 4)
    #expect(recorder.changes.last?.changes.arrivedIDs == ["/m/e"])
    #expect(recorder.mistakes == [])
  }

  @Test func emptyQueryIsLoadedToo() throws {
    let stream = stream(try messages())
    let recorder = Recorder(stream)
    stream.start()
    try tree.settle([stream])
    #expect(stream.loadState == .loaded)
    #expect(recorder.changes.count == 3)
  }

  @Test func changeOfTheOrderValueIsAMoveAndAReload() throws {
    try fill(4)
    let stream = stream(try messages())
    let recorder = Recorder(stream)
    stream.start()
    try tree.settle([stream])
    try tree.write([JSONMember("k0", ["at": 9])])
    try tree.settle([stream])
    let from = ListIndexPath(section: 0, row: 0)
    #expect(
      recorder.lastBatch?.movedRows == [.init(from: from, to: ListIndexPath(section: 0, row: 3))])
    #expect(recorder.lastBatch?.reloadedRows == [from])
    #expect(recorder.mistakes == [])
  }

  @Test func rowRemovedAndAddedAgainInOneBatchIsTheSameRow() throws {
    try fill(3)
    let stream = stream(try messages())
    let recorder = Recorder(stream)
    stream.start()
    try tree.settle([stream])
    let row = try #require(stream.items.first?.row)
    let changed = TreeRow(
      Child(key: row.key, node: try Node(json: ["at": 0, "x": 1])),
      index: .child(try Path("at")), detail: .full)
    let listener = try #require(tree.activeListeners.first)
    stream.receive([.childRemoved(row), .childAdded(changed, previous: nil)], from: listener)
    #expect(recorder.lastBatch?.reloadedRows == [ListIndexPath(section: 0, row: 0)])
    #expect(recorder.changes.last?.changes.insertedIDs == [])
    let count = recorder.changes.count
    stream.receive([.childRemoved(changed), .childAdded(changed, previous: nil)], from: listener)
    #expect(recorder.changes.count == count)
    #expect(recorder.mistakes == [])
  }

  @Test func eventsAboutUnknownRowsAreReconciled() throws {
    try fill(2)
    let stream = stream(try messages())
    let recorder = Recorder(stream)
    stream.start()
    try tree.settle([stream])
    func row(_ key: String, _ json: JSONValue) throws -> TreeRow {
      TreeRow(
        Child(key: try Key(key), node: try Node(json: json)), index: .child(try Path("at")),
        detail: .full)
    }
    let listener = try #require(tree.activeListeners.first)
    stream.receive([.childRemoved(try row("zz", ["at": 1]))], from: listener)
    stream.receive([.childChanged(try row("yy", ["at": 0]), previous: nil)], from: listener)
    stream.receive([.childMoved(try row("xx", ["at": 7]), previous: nil)], from: listener)
    stream.receive([.childAdded(try row("k0", ["at": 8]), previous: nil)], from: listener)
    #expect(stream.names == ["yy", "k1", "xx", "k0"])
    #expect(recorder.mistakes == [])
  }

  @Test func rowIsFoundByKeyPathAndID() throws {
    try fill(3)
    let stream = stream(try messages())
    stream.start()
    try tree.settle([stream])
    let place = ListIndexPath(section: 0, row: 1)
    let path = try Path("m/k1")
    #expect(stream.item(forKey: "k1")?.path == path)
    #expect(stream.item(at: path)?.key == "k1")
    #expect(stream.item(forID: Record.id(of: path))?.path == path)
    #expect(stream.indexPath(forKey: "k1") == place)
    #expect(stream.indexPath(of: path) == place)
    #expect(stream.indexPath(forID: Record.id(of: path)) == place)
    // What is no key, or is the key of no row, is not found.
    for key in ["", "/m/k1", "k9", "a/b", "."] {
      #expect(stream.item(forKey: key) == nil && stream.indexPath(forKey: key) == nil, "\(key)")
    }
    stream.predicate = { $0.key != "k1" }
    #expect(stream.item(forKey: "k1") == nil && stream.indexPath(of: path) == nil)
  }

  @Test func descendingIsTheOpposite() throws {
    try fill(3)
    let stream = stream(try messages(), isDescending: true)
    let recorder = Recorder(stream)
    stream.start()
    try tree.settle([stream])
    try tree.write([JSONMember("k1", ["at": 7]), JSONMember("x", ["at": 1])])
    try tree.settle([stream])
    #expect(stream.names == ["k1", "k2", "x", "k0"])
    #expect(recorder.mistakes == [])
  }

  @Test func lateObserverIsToldThePresentState() throws {
    try fill(3)
    let stream = stream(try messages())
    stream.start()
    try tree.settle([stream])
    let late = Recorder(stream)
    #expect(late.changes.map(\.loadState) == [.loaded])
    #expect(late.sectionIDs.text == [": /m/k0 /m/k1 /m/k2"])
    #expect(late.changes.last?.touched.count == 3)
  }
}

// MARK: Starting and stopping

extension QueryStreamTests {
  @Test func nothingIsToldAfterStop() throws {
    try fill(2)
    let stream = stream(try messages())
    stream.start()
    try tree.settle([stream])
    let recorder = Recorder(stream)
    let listener = try #require(tree.activeListeners.first)
    try tree.write([JSONMember("x", ["at": 9])])
    stream.stop()
    try tree.settle([stream])
    stream.receive([.page(hasMore: true)], from: listener)
    stream.receive(failure: "late", from: listener)
    #expect(recorder.later.isEmpty)
    #expect(stream.loadState == .idle)
    #expect(tree.activeListeners == [])
  }

  @Test func restartTellsWhatBecameDifferent() throws {
    try fill(4)
    let stream = stream(try messages())
    let recorder = Recorder(stream)
    stream.start()
    try tree.settle([stream])
    let before = recorder.changes.count
    stream.stop()
    try tree.write([
      JSONMember("k1", nil), JSONMember("k3", ["at": 3, "x": 1]), JSONMember("y", ["at": 9]),
    ])
    stream.start()
    #expect(stream.names == ["k0", "k1", "k2", "k3"])
    try tree.settle([stream])
    #expect(stream.names == ["k0", "k2", "k3", "y"])
    #expect(recorder.changes.count == before + 2)
    #expect(recorder.lastBatch?.deletedRows == [ListIndexPath(section: 0, row: 1)])
    #expect(recorder.lastBatch?.reloadedRows == [ListIndexPath(section: 0, row: 3)])
    #expect(recorder.changes.last?.changes.arrivedIDs == [])
    #expect(recorder.mistakes == [])
  }

  @Test func eventsOfAnEarlierRunAreDropped() throws {
    try fill(2)
    let stream = stream(try messages())
    stream.start()
    try tree.settle([stream])
    let old = try #require(tree.activeListeners.first)
    stream.stop()
    stream.start()
    stream.receive([], from: old)
    #expect(stream.loadState == .loading)
    try tree.settle([stream])
    #expect(stream.names == ["k0", "k1"])
  }

  @Test func observerThatMissedAChangeByAStopIsToldAReload() throws {
    try fill(1)
    let stream = stream(try messages())
    stream.start()
    try tree.settle([stream])
    let (first, second) = (Recorder(stream), Recorder(stream))
    first.onChange = { change in
      if change.sections[0].items.count == 2 { stream.stop() }
    }
    try tree.write([JSONMember("x", ["at": 9])])
    try tree.settle([stream])
    #expect(second.later.isEmpty)
    first.onChange = nil
    stream.start()
    try tree.settle([stream])
    #expect(second.changes.dropFirst().first?.changes.batch == .reload)
    #expect(second.sectionIDs.text == [": /m/k0 /m/x"])
    #expect(first.mistakes == [] && second.mistakes == [])
  }

  @Test func failedListenCanBeStartedAgain() throws {
    try fill(1)
    let stream = stream(try messages())
    let recorder = Recorder(stream)
    stream.start()
    let listener = try #require(tree.activeListeners.first)
    stream.receive(failure: "no", from: listener)
    #expect(stream.loadState == .failed("no"))
    #expect(!stream.isStarted)
    stream.start()
    try tree.settle([stream])
    #expect(
      recorder.changes.map(\.loadState) == [.idle, .loading, .failed("no"), .loading, .loaded])
    #expect(stream.names == ["k0"])
  }

  @Test func startAndStopInsideACallbackAreCarriedOutInOrder() throws {
    try fill(2)
    let stream = stream(try messages())
    let recorder = Recorder(stream)
    recorder.onChange = { change in
      guard change.loadState == .loaded, change.sections[0].items.count == 2 else { return }
      recorder.onChange = nil
      stream.stop()
      stream.start()
      stream.stop()
      stream.start()
    }
    stream.start()
    try tree.settle([stream])
    #expect(stream.loadState == .loaded)
    #expect(tree.activeListeners.count == 1)
    #expect(recorder.mistakes == [])
  }
}

// MARK: Windows and pages

extension QueryStreamTests {
  @Test func slidingWindowTellsArrivalsFromRefills() throws {
    try fill(5)
    let stream = stream(try messages(limit: (3, .last)))
    let recorder = Recorder(stream)
    stream.start()
    try tree.settle([stream])
    try tree.write([JSONMember("x", ["at": 9])])
    try tree.settle([stream])
    #expect(stream.names == ["k3", "k4", "x"])
    #expect(recorder.changes.last?.changes.arrivedIDs == ["/m/x"])
    try tree.write([JSONMember("x", nil)])
    try tree.settle([stream])
    #expect(stream.names == ["k2", "k3", "k4"])
    #expect(recorder.changes.last?.changes.insertedIDs == ["/m/k2"])
    #expect(recorder.changes.last?.changes.arrivedIDs == [])
    #expect(recorder.mistakes == [])
  }

  @Test(arguments: [false, true])
  func pagesGoThroughRunsOfEqualValues(isDescending: Bool) throws {
    try fill(25, at: { $0 / 20 })
    let request = try messages(paging: Paging(anchor: .last, count: 3))
    let stream = stream(request, isDescending: isDescending)
    let recorder = Recorder(stream)
    stream.start()
    try tree.settle([stream])
    #expect(stream.items.count == 3)
    #expect(stream.fetchState == .more)
    #expect(stream.isPagedAtStart != isDescending)
    var all: [TreeRow] = try tree.rows(stream.request.query)
    if isDescending { all.reverse() }
    while stream.fetchState == .more {
      stream.fetchMore(4)
      #expect(stream.fetchState == .fetching)
      stream.fetchMore(4)
      try tree.settle([stream])
      let count = stream.items.count
      let window = isDescending ? all.prefix(count) : all.suffix(count)
      #expect(stream.items.map(\.row) == Array(window))
      #expect(stream.boundaryID == (isDescending ? stream.items.last : stream.items.first)?.id)
      #expect(recorder.changes.last?.changes.arrivedIDs == [])
    }
    #expect(stream.fetchState == .exhausted)
    #expect(stream.items.count == 25)
    #expect(recorder.mistakes == [])
  }

  @Test func rowsThatArriveWithAPageAreToldFromItsRows() throws {
    try fill(6)
    let stream = stream(try messages(paging: Paging(anchor: .last, count: 2)))
    let recorder = Recorder(stream)
    stream.start()
    try tree.settle([stream])
    stream.fetchMore(2)
    func row(_ key: String, _ value: Int64) throws -> TreeRow {
      TreeRow(
        Child(key: try Key(key), node: try Node(json: ["at": .number(JSONNumber(value))])),
        index: .child(try Path("at")), detail: .full)
    }
    let listener = try #require(tree.activeListeners.first)
    stream.receive(
      [
        .childAdded(try row("new", 9), previous: nil), .childAdded(try row("k2", 2), previous: nil),
        .childAdded(try row("k3", 3), previous: nil), .page(hasMore: true),
      ], from: listener)
    #expect(stream.names == ["k2", "k3", "k4", "k5", "new"])
    #expect(recorder.changes.last?.changes.arrivedIDs == ["/m/new"])
    #expect(stream.fetchState == .more)
  }

  @Test func failedPageCanBeFetchedAgain() throws {
    try fill(6)
    let stream = stream(try messages(paging: Paging(anchor: .last, count: 2)))
    let recorder = Recorder(stream)
    stream.start()
    try tree.settle([stream])
    let listener = try #require(tree.activeListeners.first)
    stream.fetchMore(2)
    stream.receive(failure: "no", from: listener)
    #expect(stream.fetchState == .failed("no"))
    #expect(stream.loadState == .loaded)
    stream.fetchMore(9)
    try tree.settle([stream])
    #expect(stream.items.count == 6)
    #expect(stream.fetchState == .exhausted)
    #expect(recorder.mistakes == [])
  }

  @Test func restartAsksForAsManyRowsAsThereWere() throws {
    try fill(20)
    let stream = stream(try messages(paging: Paging(anchor: .last, count: 3)))
    stream.start()
    try tree.settle([stream])
    stream.fetchMore(5)
    try tree.settle([stream])
    stream.stop()
    stream.start()
    try tree.settle([stream])
    #expect(stream.items.count == 8)
    #expect(tree.listened.last?.paging?.count == 8)
  }

  @Test func itemsMayBeOfATypeOfOnesOwn() throws {
    try fill(3)
    let request = try messages()
    let stream = QueryStream(request: request, source: tree) { row in
      TestRow(row.key.text, 0, row.node?[(try? Key("name")) ?? row.key].leaf == nil ? "" : "named")
    }
    let recorder = Recorder(stream)
    stream.start()
    let listener = try #require(tree.activeListeners.first)
    let index = QueryIndex.child(try Path("at"))
    func row(_ json: JSONValue) throws -> TreeRow {
      TreeRow(Child(key: try Key("a"), node: try Node(json: json)), index: index, detail: .full)
    }
    stream.receive([.childAdded(try row(["at": 1]), previous: nil)], from: listener)
    let count = recorder.changes.count
    stream.receive([.childChanged(try row(["at": 1, "x": 2]), previous: nil)], from: listener)
    #expect(recorder.changes.count == count, "What the item does not show is no change.")
    stream.receive([.childChanged(try row(["at": 1, "name": 2]), previous: nil)], from: listener)
    #expect(recorder.lastBatch?.reloadedRows == [ListIndexPath(section: 0, row: 0)])
    #expect(recorder.mistakes == [])
  }

  @Test func randomWritesAndPagesReplayAndAgreeWithTheTree() throws {
    for seed in Seeds.first(15) {
      var random = SeededRandom(seed: seed)
      let tree = TestTree()
      let requests = [
        try messages(), try messages(limit: (4, .last)), try messages(limit: (4, .first)),
        try messages(paging: Paging(anchor: .last, count: 2)),
        try filteredMessages(limit: (3, .first)),
        try filteredMessages(paging: Paging(anchor: .last, count: 2)),
      ]
      let streams = requests.map { request in
        QueryStream<Record>(request: request, isDescending: seed % 2 == 0, source: tree)
      }
      let recorders = streams.map { Recorder($0) }
      for stream in streams { stream.start() }
      for _ in 0..<30 {
        try tree.writeAtRandom(&random)
        let stream = try #require(streams.randomElement(using: &random))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: stream.fetchMore(2)
        case 1:
          stream.stop()
          stream.start()
        default: break
        }
        guard Bool.random(using: &random) else { continue }
        try tree.settle(streams)
        for stream in streams { try compare(stream, tree, seed) }
      }
      try tree.settle(streams)
      for (stream, recorder) in zip(streams, recorders) {
        #expect(recorder.mistakes == [], "seed \(seed)")
        try compare(stream, tree, seed)
      }
    }
  }

  /// Compares the rows of a stream that is quiet with those of the tree.
  private func compare(_ stream: QueryStream<Record>, _ tree: TestTree, _ seed: UInt64) throws {
    let all = try tree.rows(stream.request.query)
    let rows = stream.isDescending ? stream.items.map(\.row).reversed() : stream.items.map(\.row)
    if stream.request.paging == nil {
      #expect(rows == all, "seed \(seed)")
    } else {
      #expect(rows == Array(all.suffix(rows.count)), "seed \(seed)")
    }
  }

  @Test func streamThatIsGoneListensNoMore() throws {
    var stream: QueryStream<Record>? = stream(try messages())
    stream?.start()
    #expect(tree.activeListeners.count == 1)
    stream = nil
    #expect(tree.activeListeners == [])
  }
}
