import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

/// Completions, cancelling, prefetching, and pages at both ends.
@Suite struct QueryStreamPagingTests {
  private let tree = TestTree()

  private func fill(_ count: Int, at value: (Int) -> Int = { $0 }) throws {
    try tree.write(
      (0..<count).map { JSONMember("k\($0)", ["at": .number(JSONNumber(Int64(value($0))))]) })
  }

  private func loaded(
    _ request: ListenRequest, isDescending: Bool = false, from place: IndexPosition? = nil
  ) throws -> QueryStream<Record> {
    let stream = QueryStream(
      request: request, isDescending: isDescending, from: place, source: tree)
    stream.start()
    try tree.settle([stream])
    return stream
  }

  private func paged(_ count: Int, _ anchor: Query.Side = .last) throws -> ListenRequest {
    try messages(paging: Paging(anchor: anchor, count: count))
  }

  @Test func aListWhoseRowsAllGoShowsTheNextPage() throws {
    try fill(6)
    let stream = try loaded(try paged(2, .first))
    let recorder = Recorder(stream)
    try tree.write([JSONMember("k0", .null), JSONMember("k1", .null)])
    try tree.settle([stream])
    #expect(stream.items.map(\.key) == ["k2", "k3"])
    #expect(recorder.sectionIDs[0].rowIDs.count == 2)
    #expect(stream.loadState == .loaded && stream.fetchState == .more)
    try tree.write((2..<6).map { JSONMember("k\($0)", .null) })
    try tree.settle([stream])
    #expect(stream.items.isEmpty && stream.loadState == .loaded)
    #expect(stream.fetchState == .exhausted)
  }

  @Test(arguments: [0, -1, .min])
  func aPageOfNoRowsIsRefused(count: Int) throws {
    try fill(6)
    let stream = try loaded(try paged(2))
    var outcomes: [FetchOutcome] = []
    stream.fetchMore(count) { outcomes.append($0) }
    stream.fetchMore(count)
    stream.fetchMore(count, at: .end)
    #expect(outcomes == [.refused])
    #expect(stream.items.count == 2 && stream.fetchState == .more)
  }

  @Test func aNegativeLimitShowsNoRow() throws {
    try fill(3)
    let stream = try loaded(try messages())
    stream.limit = RowLimit(-1)
    #expect(stream.items.isEmpty)
    var limit: RowLimit = 2
    limit.count = -3
    #expect(limit.count == 0)
    stream.limit = limit
    #expect(stream.items.isEmpty)
    stream.limit = nil
    #expect(stream.items.count == 3)
  }

  @Test func completionComesAfterTheObserversAreTold() throws {
    try fill(6)
    let stream = try loaded(try paged(2))
    let recorder = Recorder(stream)
    var counts: [Int] = []
    stream.fetchMore(3) { outcome in
      #expect(outcome == .fetched)
      counts.append(recorder.sectionIDs[0].rowIDs.count)
    }
    stream.fetchMore(3) { outcome in #expect(outcome == .refused) }
    try tree.settle([stream])
    #expect(counts == [5])
    stream.fetchMore(3) { _ in counts.append(recorder.sectionIDs[0].rowIDs.count) }
    try tree.settle([stream])
    #expect(counts == [5, 6] && stream.fetchState == .exhausted)
    var last: FetchOutcome?
    stream.fetchMore(3) { last = $0 }
    #expect(last == .refused)
  }

  @Test func cancelledPageIsToldOnceAndAnotherMayBeFetched() throws {
    try fill(9)
    let stream = try loaded(try paged(2))
    let recorder = Recorder(stream)
    var outcomes: [FetchOutcome] = []
    stream.fetchMore(2) { outcomes.append($0) }
    stream.cancelFetch(at: .start)
    stream.cancelFetch(at: .start)
    #expect(outcomes == [.cancelled] && stream.fetchState == .more)
    stream.fetchMore(1) { outcomes.append($0) }
    try tree.settle([stream])
    #expect(outcomes == [.cancelled, .fetched])
    #expect(stream.names == ["k4", "k5", "k6", "k7", "k8"])
    #expect(recorder.mistakes == [])
  }

  @Test func failedPageTellsItsCompletion() throws {
    try fill(9)
    let stream = try loaded(try paged(2))
    var outcomes: [FetchOutcome] = []
    stream.fetchMore(2) { outcomes.append($0) }
    stream.receive(failure: "no", from: try #require(tree.activeListeners.first))
    #expect(outcomes == [.failed("no")] && stream.fetchState == .failed("no"))
  }

  @Test func onlyWhatCanBeFetchedIsMore() throws {
    try fill(9)
    let stream = try loaded(try paged(2))
    #expect(stream.fetchState == .more)
    stream.swap(to: try paged(3))
    #expect(stream.fetchState == .unknown, "Another request is asked.")
    try tree.settle([stream])
    #expect(stream.fetchState == .more)
    stream.stop()
    #expect(stream.fetchState == .unknown, "A stopped stream does not know.")
    stream.start()
    #expect(stream.fetchState == .fetching, "It is loaded anew.")
    try tree.settle([stream])
    #expect(stream.fetchState == .more)
    stream.receive(failure: "no", from: try #require(tree.activeListeners.first))
    #expect(stream.loadState == .failed("no") && stream.fetchState == .failed("no"))
  }

  @Test func stopCancelsAPage() throws {
    try fill(9)
    let stream = try loaded(try paged(2))
    var outcomes: [FetchOutcome] = []
    stream.fetchMore(2) { outcomes.append($0) }
    stream.stop()
    try tree.settle([stream])
    #expect(outcomes == [.cancelled])
  }

  @Test func pageIsFetchedAsTheReaderNearsTheEnd() throws {
    try fill(20)
    let stream = try loaded(try paged(5, .first))
    stream.rowsSeen(0..<5)
    #expect(stream.fetchState == .more, "Nothing is fetched unless it was asked for.")
    (stream.prefetchDistance, stream.prefetchCount) = (2, 4)
    stream.rowsSeen(0..<3)
    #expect(stream.fetchState == .more)
    stream.rowsSeen(1..<4)
    try tree.settle([stream])
    #expect(stream.items.count == 9)
    stream.rowsSeen(7..<8)
    stream.receive(failure: "no", from: try #require(tree.activeListeners.first))
    stream.rowsSeen(7..<8)
    #expect(stream.fetchState == .failed("no"), "What failed is not fetched again by itself.")
  }

  @Test(arguments: [false, true])
  func pagesAtBothEndsAreOneRange(isDescending: Bool) throws {
    try fill(30, at: { $0 / 4 })
    let request = try paged(3, .first)
    let all = try tree.rows(request.query).map(\.key.text)
    let middle = try tree.rows(request.query)[14].position
    let stream = try loaded(request, isDescending: isDescending, from: middle)
    let recorder = Recorder(stream)
    func expected(_ range: Range<Int>) -> [String] {
      isDescending ? all[range].reversed() : Array(all[range])
    }
    #expect(stream.names == expected(11..<17))
    #expect(Set(stream.pagedEnds) == [.start, .end])
    let later: ListEnd = isDescending ? .start : .end
    let earlier: ListEnd = isDescending ? .end : .start
    stream.fetchMore(4, at: later) { _ in }
    stream.fetchMore(2, at: earlier) { _ in }
    try tree.settle([stream])
    #expect(stream.names == expected(9..<21))
    stream.fetchMore(50, at: earlier) { _ in }
    try tree.settle([stream])
    #expect(stream.names == expected(0..<21))
    #expect(stream.fetchState(at: earlier) == .exhausted && stream.fetchState(at: later) == .more)
    #expect(recorder.changes.allSatisfy { $0.changes.arrivedIDs.isEmpty })
    #expect(recorder.mistakes == [])
  }

  @Test func rowsGoFromOneHalfToTheOther() throws {
    for seed in Seeds.first(12) {
      var random = SeededRandom(seed: seed)
      let tree = TestTree()
      for _ in 0..<4 { try tree.writeAtRandom(&random) }
      let request = try messages(paging: Paging(anchor: .first, count: 3))
      let place = IndexPosition(value: .leaf(.number(2)), key: .minimum)
      let stream = QueryStream(request: request, from: place, source: tree)
      let recorder = Recorder(stream)
      stream.start()
      for _ in 0..<30 {
        try tree.writeAtRandom(&random)
        if Bool.random(using: &random) {
          stream.fetchMore(2, at: Bool.random(using: &random) ? .start : .end) { _ in }
        }
        // What two listeners are told has to come in the order in which it happened.
        try tree.settle([stream])
      }
      let all = try tree.rows(request.query)
      let rows = stream.items.map(\.row)
      if let first = rows.first, let start = all.firstIndex(of: first) {
        #expect(Array(all[start..<min(all.count, start + rows.count)]) == rows, "seed \(seed)")
      } else {
        #expect(rows.isEmpty, "seed \(seed)")
      }
      for end in ListEnd.allCases where stream.fetchState(at: end) == .exhausted {
        #expect((end == .start ? rows.first : rows.last) == (end == .start ? all.first : all.last))
      }
      #expect(recorder.mistakes == [], "seed \(seed)")
    }
  }
}

/// A replica listens before its origin has answered.
extension QueryStreamPagingTests {
  /// Returns the events of rows with these numbers, as they enter a window.
  private func added(_ numbers: Range<Int>) throws -> [TreeEvent] {
    var before: RunnelTree.Key?
    return try numbers.map { number in
      let key = try Key("k\(number)")
      defer { before = key }
      let node = try Node(json: ["at": .number(JSONNumber(Int64(number)))])
      let row = TreeRow(
        Child(key: key, node: node), index: try messages().query.index, detail: .full)
      return .childAdded(row, previous: before)
    }
  }

  @Test func rowsOfAFirstPageThatComesLateHaveNotArrived() throws {
    let stream = QueryStream<Record>(request: try paged(3), source: tree)
    stream.start()
    let recorder = Recorder(stream)
    let listener = try #require(tree.activeListeners.first)
    stream.receive([.page(hasMore: true)], from: listener)
    #expect(stream.loadState == .cached && stream.awaitsFirstPage)
    // Another query of the replica has this row.
    stream.receive(try added(3..<4), from: listener)
    #expect(stream.awaitsFirstPage)
    stream.receive(try added(4..<6) + [.answered, .page(hasMore: true)], from: listener)
    #expect(stream.loadState == .loaded)
    #expect(!stream.awaitsFirstPage && stream.items.count == 3)
    #expect(recorder.changes.allSatisfy { $0.changes.arrivedIDs.isEmpty })
    stream.receive(try added(6..<7), from: listener)
    #expect(recorder.changes.last?.changes.arrivedIDs.count == 1)
  }

  @Test func emptyFirstPageIsTheEndOfTheWait() throws {
    let stream = QueryStream<Record>(request: try paged(3), source: tree)
    stream.start()
    let listener = try #require(tree.activeListeners.first)
    stream.receive([.page(hasMore: true)], from: listener)
    #expect(stream.awaitsFirstPage)
    #expect(stream.loadState == .cached)
    stream.receive([.answered, .page(hasMore: false)], from: listener)
    #expect(stream.loadState == .loaded)
    #expect(!stream.awaitsFirstPage && stream.fetchState == .exhausted)
  }

  @Test func wholesAreCachedUntilEachPartIsAnswered() throws {
    let streams = try (0..<2).map { _ in QueryStream<Record>(request: try messages(), source: tree)
    }
    let union = UnionStream(inTreeOrder: streams)
    let sections = PartitionedStream(union) { _ in "all" }
    for stream in streams { stream.start() }
    let recorder = Recorder(sections)
    #expect(sections.loadState == .loading)
    let listeners = tree.activeListeners
    streams[0].receive([.answered], from: listeners[0])
    #expect(streams[0].loadState == .loaded && union.loadState == .loading)
    streams[1].receive([], from: listeners[1])
    #expect(streams[1].loadState == .cached && union.loadState == .cached)
    #expect(recorder.changes.last?.loadState == .cached)
    streams[1].receive([.answered], from: listeners[1])
    #expect(union.loadState == .loaded && recorder.changes.last?.loadState == .loaded)
    #expect(recorder.mistakes.isEmpty)
    streams[1].stop()
    streams[1].start()
    streams[1].receive([], from: try #require(tree.activeListeners.last))
    #expect(streams[1].loadState == .cached)
  }

  // MARK: Replicas

  /// What a replica knows of a page may have gaps, which the origin's answer fills.
  @Test func rowsThatFillAGapOfAFirstPageHaveNotArrived() throws {
    let stream = QueryStream<Record>(request: try paged(4, .first), source: tree)
    stream.asksOrigin = { true }
    stream.start()
    let recorder = Recorder(stream)
    let listener = try #require(tree.activeListeners.first)
    stream.receive(try added(1..<2) + added(5..<6) + [.page(hasMore: true)], from: listener)
    stream.receive(try added(2..<5) + [.page(hasMore: true)], from: listener)
    stream.receive([.answered], from: listener)
    #expect(recorder.changes.allSatisfy { $0.changes.arrivedIDs.isEmpty })
    stream.receive(try added(6..<7), from: listener)
    #expect(recorder.changes.last?.changes.arrivedIDs.count == 1)
  }

  /// Messages that others wrote since the history was read last.
  @Test func newerRowsOfAHistoryHaveArrivedAlsoBeforeTheAnswer() throws {
    let stream = QueryStream<Record>(request: try paged(4), source: tree)
    stream.asksOrigin = { true }
    stream.start()
    let recorder = Recorder(stream)
    let listener = try #require(tree.activeListeners.first)
    stream.receive(try added(3..<6) + [.page(hasMore: true)], from: listener)
    stream.receive(try added(2..<3) + added(6..<8) + [.page(hasMore: true)], from: listener)
    #expect(recorder.changes.last?.changes.arrivedIDs.count == 2)
  }

  @Test func rowsOfANewRequestAreShownOnceTheOriginHasAnswered() throws {
    let stream = QueryStream<Record>(request: try paged(2, .first), source: tree)
    stream.start()
    let first = try #require(tree.activeListeners.last)
    stream.receive(try added(0..<2) + [.answered, .page(hasMore: true)], from: first)
    stream.waitsForAnswer = true
    stream.swap(to: try paged(2))
    let second = try #require(tree.activeListeners.last)
    stream.receive(try added(0..<2) + [.page(hasMore: true)], from: second)
    #expect(stream.loadState == .loading && stream.items.map(\.key) == ["k0", "k1"])
    let gone = try added(0..<2).compactMap(\.row).map { TreeEvent.childRemoved($0) }
    stream.receive(gone + (try added(8..<10)) + [.page(hasMore: true)], from: second)
    #expect(stream.loadState == .cached && stream.items.map(\.key) == ["k8", "k9"])
    // Without a connection there will be no answer.
    stream.swap(to: try paged(2, .first))
    let third = try #require(tree.activeListeners.last)
    stream.receive(try added(0..<1) + [.page(hasMore: true)], from: third)
    #expect(stream.items.map(\.key) == ["k8", "k9"])
    stream.waitsForAnswer = false
    #expect(stream.items.map(\.key) == ["k0"])
  }
}
