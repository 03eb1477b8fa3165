import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

@Suite struct IndexPathAdapterTests {
  private let tree = TestTree()

  /// A history by days with a fetch-more row, and what it was told.
  private final class History {
    let query: QueryStream<Record>
    let transient = TransientStream<Record>()
    let stream: PartitionedStream<Record, Int64>
    var updates: [ListUpdate<Record>] = []
    var mistakes: [String] = []
    private var adapter: IndexPathAdapter<Record>?

    init(_ tree: TestTree, isDescending: Bool = false) throws {
      query = QueryStream(
        request: try messages(paging: Paging(anchor: .last, count: 2)),
        isDescending: isDescending, source: tree)
      let sign = isDescending ? -1 : 1 as Int64
      let union = UnionStream([query, transient] as [any SectionedStream<Record>]) { left, right in
        let (a, b) = (left.row.position, right.row.position)
        return isDescending ? b < a : a < b
      }
      stream = PartitionedStream(union, sectionID: { "day\($0 * sign)" }) { record in
        sign * number(record, "day")
      }
      let adapter = IndexPathAdapter(
        [ListPart(stream, pagings: [PagingPoint(query)])],
        log: { [unowned self] in mistakes.append($0) }, receive: { [unowned self] in take($0) })
      self.adapter = adapter
      adapter.start()
    }

    func stop() { adapter?.stop() }
    func start() { adapter?.start() }

    private func take(_ update: ListUpdate<Record>) {
      if let last = updates.last, !update.update.isReload {
        let mistake = update.update.mistake(from: last.sectionIDs, to: update.sectionIDs)
        if let mistake { mistakes.append(mistake) }
      }
      updates.append(update)
    }

    var list: [String] {
      (updates.last?.sectionIDs ?? []).map { section in
        let keys = section.rowIDs.map { $0.hasPrefix("/m/") ? String($0.dropFirst(3)) : "+" }
        return "\(section.id): \(keys.joined(separator: " "))"
      }
    }
  }

  private func write(_ rows: (String, Int64, Int64)...) throws {
    try tree.write(
      rows.map {
        JSONMember($0.0, ["at": .number(JSONNumber($0.1)), "day": .number(JSONNumber($0.2))])
      })
  }

  @Test func firstLoadIsOneReload() throws {
    try write(("a", 1, 1), ("b", 2, 1), ("c", 3, 2))
    let history = try History(tree)
    #expect(history.updates.isEmpty)
    history.query.start()
    #expect(history.updates.isEmpty)
    try tree.settle([history.query])
    #expect(history.updates.map(\.update) == [.reload])
    #expect(history.list == ["day1: + b", "day2: c"])
    #expect(history.updates.last?.fetchState == .more)
    #expect(history.updates.last?.touched.count == 2)
    #expect(history.updates.last?.arrived == [])
  }

  @Test func fetchMoreRowTellsItsStateAndGoesToTheNewEnd() throws {
    try write(("a", 1, 1), ("b", 2, 1), ("c", 3, 2), ("d", 4, 2))
    let history = try History(tree)
    history.query.start()
    try tree.settle([history.query])
    #expect(history.list == ["day2: + c d"])
    history.query.fetchMore(1)
    #expect(history.updates.last?.update.reloadedRows == [ListIndexPath(section: 0, row: 0)])
    #expect(history.updates.last?.fetchState == .fetching)
    try tree.settle([history.query])
    #expect(history.list == ["day1: + b", "day2: c d"])
    let update = try #require(history.updates.last?.update)
    #expect(update.insertedSections == [0])
    #expect(
      update.movedRows == [
        .init(from: ListIndexPath(section: 0, row: 0), to: ListIndexPath(section: 0, row: 0))
      ])
    history.query.fetchMore(5)
    try tree.settle([history.query])
    #expect(history.list == ["day1: + a b", "day2: c d"])
    #expect(history.updates.last?.update.insertedRows == [ListIndexPath(section: 0, row: 1)])
    #expect(history.updates.last?.fetchState == .exhausted)
    #expect(history.updates.last?.arrived == [])
    #expect(history.mistakes == [])
  }

  @Test func fetchMoreRowIsLastIfTheListIsDescending() throws {
    try write(("a", 1, 1), ("b", 2, 1), ("c", 3, 2))
    let history = try History(tree, isDescending: true)
    history.query.start()
    try tree.settle([history.query])
    #expect(history.list == ["day2: c", "day1: b +"])
    history.query.fetchMore(5)
    try tree.settle([history.query])
    #expect(history.list == ["day2: c", "day1: b a +"])
    #expect(history.mistakes == [])
  }

  @Test func failureIsAStateOfTheFetchMoreRow() throws {
    try write(("a", 1, 1), ("b", 2, 1), ("c", 3, 2))
    let history = try History(tree)
    history.query.start()
    try tree.settle([history.query])
    history.query.fetchMore(5)
    history.query.receive(failure: "no", from: try #require(tree.activeListeners.first))
    #expect(history.updates.last?.fetchState == .failed("no"))
    #expect(history.updates.last?.update.reloadedRows.count == 1)
  }

  @Test func arrivalsAndContentAreToldWithTheBatch() throws {
    try write(("a", 1, 1), ("b", 2, 1))
    let history = try History(tree)
    history.query.start()
    try tree.settle([history.query])
    try write(("c", 9, 2), ("b", 2, 2))
    try tree.settle([history.query])
    let update = try #require(history.updates.last)
    #expect(history.list == ["day1: + a", "day2: b c"])
    #expect(update.arrived == ["/m/c"])
    #expect(update.touched.map(\.id) == ["/m/b", "/m/c"])
    try tree.write([JSONMember("a", nil)])
    try tree.settle([history.query])
    #expect(history.list == ["day2: + b c"])
    #expect(history.updates.last?.removed == ["/m/a"])
    #expect(history.mistakes == [])
  }

  @Test func anEmptiedWindowShowsTheNextPageInTheSameUpdate() throws {
    try write(("a", 1, 1), ("b", 2, 1), ("c", 3, 1), ("d", 4, 1))
    let history = try History(tree)
    history.query.start()
    try tree.settle([history.query])
    // Both rows of the window go.
    try tree.write([JSONMember("c", nil), JSONMember("d", nil)])
    try tree.settle([history.query])
    #expect(history.list == ["day1: + a b"])
    #expect(history.updates.last?.removed == ["/m/c", "/m/d"])
    #expect(history.updates.last?.placeholders.map(\.path) == [ListIndexPath(section: 0, row: 0)])
    #expect(history.mistakes == [])
  }

  @Test func emptyListHasNoFetchMoreRow() throws {
    let history = try History(tree)
    history.query.start()
    try tree.settle([history.query])
    #expect(history.updates.map(\.update) == [.reload])
    #expect(history.list == [])
    try write(("a", 1, 1))
    try tree.settle([history.query])
    #expect(history.list == ["day1: + a"])
    #expect(history.updates.last?.fetchState == .exhausted)
    #expect(history.mistakes == [])
  }

  @Test func nothingIsToldAfterStopAndAReloadAfterTheNextStart() throws {
    try write(("a", 1, 1))
    let history = try History(tree)
    history.query.start()
    try tree.settle([history.query])
    history.stop()
    try write(("b", 2, 1))
    try tree.settle([history.query])
    #expect(history.updates.count == 1)
    history.start()
    #expect(history.updates.map(\.update) == [.reload, .reload])
    #expect(history.list == ["day1: + a b"])
  }

  @Test func changeMadeByTheReceiverFollows() throws {
    let source = TransientStream([TestRow("a", 1)])
    var told: [[String]] = []
    let adapter = IndexPathAdapter(source) { update in
      told.append(update.sectionIDs.text)
      if told.count == 1 { source.put(TestRow("b", 2)) }
    }
    adapter.start()
    #expect(told == [[": a"], [": a b"]])
  }

  @Test func adapterThatIsGoneIsNotTold() {
    let source = TransientStream<TestRow>()
    var count = 0
    var adapter: IndexPathAdapter<TestRow>? = IndexPathAdapter(source) { _ in
      count += 1
    }
    adapter?.start()
    adapter = nil
    source.put(TestRow("a"))
    #expect(count == 1)
  }
}

/// The whole number at a child of a record; 0 if there is none.
func number(_ record: Record, _ name: String) -> Int64 {
  guard let key = try? Key(name), case .number(let number)? = record.row.node?[key].leaf else {
    return 0
  }
  return number.integer ?? 0
}
