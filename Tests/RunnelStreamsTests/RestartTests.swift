import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

@Suite struct RestartTests {
  private final class Clock {
    var now: Int64 = 1000
  }

  private let clock = Clock()
  private let tree = TestTree()
  private let pinned: QueryStream<Record>
  private let history: QueryStream<Record>
  private let transient = TransientStream<Record>()

  init() throws {
    var query = try Query(Path("m")).ordered(by: .child(Path("pin")))
    query = try query.equal(to: .leaf(.bool(true)))
    pinned = QueryStream(request: ListenRequest(query: query), source: tree)
    history = QueryStream(request: try messages(), source: tree)
    try tree.write([
      JSONMember("a", ["at": 1, "day": 1]), JSONMember("b", ["at": 2, "day": 2, "pin": true]),
    ])
  }

  private func settle() throws { try tree.settle([pinned, history]) }

  private func union() -> UnionStream<Record> {
    UnionStream([pinned, history, transient] as [any SectionedStream<Record>]) { a, b in
      number(a, "at") < number(b, "at")
    }
  }

  private func days(
    _ source: any SectionedStream<Record>
  ) -> PartitionedStream<Record, Int64> {
    PartitionedStream(source, sectionID: { "\($0)" }) { number($0, "day") }
  }

  private func draft(_ key: String, at: Int64) throws -> Record {
    let child = Child(
      key: try Key(key), node: try Node(json: ["at": .number(JSONNumber(at)), "day": 1]))
    return Record(TreeRow(child, index: .key, detail: .full), in: try Path("m"))
  }

  @Test func whatWaitedWhenTheSourceStoppedIsToldWithTheRestart() throws {
    let stream = BatchedStream(history) { [clock] in clock.now }
    let recorder = Recorder(stream)
    history.start()
    try settle()
    let count = recorder.changes.count
    try tree.write([JSONMember("c", ["at": 3])])
    try settle()
    #expect(stream.waitingRowCount == 1)
    history.stop()
    #expect(stream.wakeTime == nil)
    #expect(stream.loadState == .idle)
    clock.now += 1000
    stream.wake(now: clock.now)
    stream.flush()
    #expect(recorder.changes.count == count)
    #expect(stream.sections[0].items.map(\.row.key.text) == ["a", "b"])
    history.start()
    try settle()
    #expect(stream.sections[0].items.map(\.row.key.text) == ["a", "b", "c"])
    #expect(recorder.changes.count > count)
    #expect(recorder.mistakes == [])
  }

  @Test func wholeCompositionStopsAndTellsWhatBecameDifferent() throws {
    let stream = days(union())
    let recorder = Recorder(stream)
    for round in 0..<4 as Range<Int64> {
      stream.start()
      try settle()
      #expect(stream.loadState == .loaded)
      let rows = stream.sections.flatMap(\.items)
      #expect(Set(rows.map(\.row.key)) == Set(try tree.rows(try messages().query).map(\.key)))
      let count = recorder.changes.count
      // What is on its way when it is stopped is not told either.
      try tree.write([JSONMember("k\(round)", ["at": .number(JSONNumber(round)), "day": 1])])
      stream.stop()
      stream.stop()
      try settle()
      try tree.write([JSONMember("k\(round - 1)", nil)])
      try settle()
      stream.repartition()
      #expect(recorder.changes.count == count)
      #expect(stream.loadState == .idle)
      #expect(tree.activeListeners == [])
    }
    stream.start()
    try settle()
    let restarted = try #require(recorder.changes.last)
    #expect(!restarted.changes.batch.isReload)
    #expect(restarted.changes.removedIDs == ["/m/k2"])
    #expect(restarted.changes.insertedIDs == ["/m/k3"])
    #expect(recorder.mistakes == [])
  }

  @Test func lateObserverLearnsThatAllSourcesAreStopped() throws {
    let queries = UnionStream([pinned, history] as [any SectionedStream<Record>]) { a, b in
      number(a, "at") < number(b, "at")
    }
    let partition = days(queries)
    let batched = BatchedStream(partition) { [clock] in clock.now }
    pinned.start()
    history.start()
    try settle()
    pinned.stop()
    #expect(queries.loadState == .loaded)
    history.stop()
    let recorders = [Recorder(queries), Recorder(partition), Recorder(batched)]
    #expect(recorders.map { $0.changes.map(\.loadState) } == [[.idle], [.idle], [.idle]])
    pinned.start()
    history.start()
    try settle()
    #expect(recorders.map { $0.changes.last?.loadState } == [.loaded, .loaded, .loaded])
  }

  @Test func sourceThatCannotStopIsNotToldOnEither() throws {
    let union = union()
    let recorder = Recorder(union)
    union.start()
    try settle()
    union.stop()
    let count = recorder.changes.count
    transient.put(try draft("z", at: 9))
    #expect(recorder.changes.count == count)
    union.start()
    #expect(union.items.map(\.row.key.text) == ["a", "b", "z"])
    #expect(recorder.sectionIDs.flatMap(\.rowIDs) == ["/m/a", "/m/b", "/m/z"])
    try settle()
    #expect(recorder.mistakes == [])
  }

  @Test func observerThatWasAddedWhileItWasStoppedIsToldTheStart() throws {
    transient.put(try draft("z", at: 9))
    let partition = days(transient)
    let batched = BatchedStream(transient) { [clock] in clock.now }
    let joined = UnionStream([transient] as [any SectionedStream<Record>]) { a, b in
      number(a, "at") < number(b, "at")
    }
    let streams: [any SectionedStream<Record> & StartableStream] = [partition, batched, joined]
    for stream in streams {
      let early = Recorder(stream)
      stream.stop()
      let late = Recorder(stream)
      #expect(late.changes.map(\.loadState) == [.idle])
      stream.start()
      #expect(late.changes.map(\.loadState) == [.idle, .loaded])
      #expect(late.sectionIDs.flatMap(\.rowIDs) == ["/m/z"])
      // The other one knows the state.
      #expect(early.changes.map(\.loadState) == [.loaded])
      #expect(early.mistakes == [] && late.mistakes == [])
    }
  }

  @Test func listOfDraftsThatIsSyncedAgainShowsItsRows() throws {
    transient.put(try draft("z", at: 9))
    let partition = days(transient)
    let list = IndexPathDataSource(
      [ListPart(partition, placeholders: [.status, .empty])], syncing: [partition])
    for _ in 0..<2 {
      list.startSync()
      #expect(list.item(at: ListIndexPath(section: 0, row: 0))?.key == "z")
      #expect(list.count == 1)
      list.stopSync()
    }
  }

  // MARK: Sources that are stopped and started by themselves

  /// What is made of a source: each kind of stream, and partitions of these.
  private func made(
    of source: any SectionedStream<Record>
  ) -> [any SectionedStream<Record> & StartableStream] {
    let order: (Record, Record) -> Bool = { number($0, "at") < number($1, "at") }
    // Each change is due at once.
    let policy = BatchingPolicy(quietMilliseconds: 0, waitMillisecondsMax: 0, rowCountMax: 1)
    let streams: [any SectionedStream<Record> & StartableStream] = [
      days(source), BatchedStream(source, policy: policy) { [clock] in clock.now },
      UnionStream([source] as [any SectionedStream<Record>], by: order),
    ]
    // Those below each other behave as those directly above the source.
    return streams + streams.map { days($0) }
  }

  @Test func observersAreNotToldOnceAnotherOneHasStoppedTheSource() throws {
    for stream in made(of: history) {
      history.start()
      try settle()
      let (first, second) = (Recorder(stream), Recorder(stream))
      let count = (first.changes.count, second.changes.count)
      first.onChange = { [history] _ in history.stop() }
      try tree.write([JSONMember("n", ["at": 7, "day": 7])])
      try settle()
      #expect(first.changes.count == count.0 + 1, "\(type(of: stream))")
      #expect(second.changes.count == count.1, "\(type(of: stream))")
      #expect(stream.isStopped && stream.loadState == .idle)
      first.onChange = nil
      history.start()
      try settle()
      #expect(second.changes[count.1].changes.batch.isReload)
      #expect(second.changes.last?.loadState == .loaded)
      #expect(second.sectionIDs == first.sectionIDs)
      #expect(first.mistakes == [] && second.mistakes == [])
      for recorder in [first, second] { recorder.cancel() }
      try tree.write([JSONMember("n", nil)])
      try settle()
      history.stop()
    }
  }

  @Test func sourceThatIsStartedByItselfBringsWhatIsMadeOfItBack() throws {
    for stream in made(of: history) {
      history.start()
      try settle()
      let early = Recorder(stream)
      history.stop()
      let count = early.changes.count
      let late = Recorder(stream)
      #expect(stream.isStopped && late.changes.map(\.loadState) == [.idle])
      #expect(late.sectionIDs == early.sectionIDs)
      try tree.write([JSONMember("n", ["at": 7, "day": 7])])
      try settle()
      #expect(early.changes.count == count && late.changes.count == 1)
      history.start()
      #expect(stream.loadState == .loading && late.changes.last?.loadState == .loading)
      try settle()
      #expect(!stream.isStopped)
      #expect(early.changes.last?.loadState == .loaded && late.changes.last?.loadState == .loaded)
      let ids = early.sectionIDs.flatMap(\.rowIDs)
      #expect(Set(ids) == ["/m/a", "/m/b", "/m/n"] && late.sectionIDs == early.sectionIDs)
      #expect(early.mistakes == [] && late.mistakes == [])
      for recorder in [early, late] { recorder.cancel() }
      try tree.write([JSONMember("n", nil)])
      try settle()
      history.stop()
    }
  }

  /// The source tells nothing when it is started, since nothing has changed for it.
  @Test func whatWasMissedWhileASourceWasStoppedIsToldWhenItIsStartedSilently() throws {
    transient.put(try draft("z", at: 9))
    let source = UnionStream([transient] as [any SectionedStream<Record>]) { a, b in
      number(a, "at") < number(b, "at")
    }
    let streams = made(of: source)
    let partition = days(source)
    let looked = Recorder(partition)
    for _ in 0..<3 {
      source.stop()
      let late = streams.map { Recorder($0) }
      let count = looked.changes.count
      partition.setFooters { section, total, _ in "\(section): \(total) \(count)" }
      #expect(looked.changes.count == count)
      source.start()
      for recorder in late {
        #expect(recorder.changes.map(\.loadState) == [.idle, .loaded])
        #expect(recorder.sectionIDs.flatMap(\.rowIDs) == ["/m/z"] && recorder.mistakes == [])
        recorder.cancel()
      }
      #expect(looked.changes.count == count + 1)
      #expect(looked.changes.last?.sections.first?.footer == "1: 1 \(count)")
      #expect(looked.mistakes == [])
    }
  }

  @Test func batchThatWaitedWhileItsSourceWasStoppedIsToldWhenItIsStartedSilently() throws {
    let source = UnionStream([transient] as [any SectionedStream<Record>]) { a, b in
      number(a, "at") < number(b, "at")
    }
    let stream = BatchedStream(source) { [clock] in clock.now }
    let recorder = Recorder(stream)
    transient.put(try draft("z", at: 9))
    #expect(stream.waitingRowCount == 1)
    source.stop()
    clock.now += 1000
    stream.wake(now: clock.now)
    #expect(recorder.later.isEmpty)
    source.start()
    #expect(recorder.later.count == 1 && stream.waitingRowCount == 0)
    #expect(recorder.sectionIDs.flatMap(\.rowIDs) == ["/m/z"])
    #expect(recorder.mistakes == [])
  }

  @Test func whatWasStoppedItselfWaitsForItsOwnStart() throws {
    for stream in made(of: history) {
      stream.start()
      try settle()
      let recorder = Recorder(stream)
      stream.stop()
      #expect(history.isStopped)
      history.start()
      try tree.write([JSONMember("n", ["at": 7, "day": 7])])
      try settle()
      #expect(history.loadState == .loaded && stream.isStopped && stream.loadState == .idle)
      #expect(recorder.later.isEmpty)
      stream.start()
      #expect(!stream.isStopped && stream.loadState == .loaded)
      #expect(recorder.changes.last?.loadState == .loaded)
      #expect(Set(recorder.sectionIDs.flatMap(\.rowIDs)) == ["/m/a", "/m/b", "/m/n"])
      #expect(recorder.mistakes == [])
      recorder.cancel()
      try tree.write([JSONMember("n", nil)])
      try settle()
      stream.stop()
    }
  }

  @Test func unionGoesOnWhileOneOfItsSourcesIsStoppedByItself() throws {
    let union = union()
    let recorder = Recorder(union)
    union.start()
    try settle()
    history.stop()
    #expect(!union.isStopped && union.loadState == .loaded)
    try tree.write([JSONMember("n", ["at": 7, "pin": true])])
    try settle()
    #expect(union.items.map(\.row.key.text) == ["a", "b", "n"])
    #expect(recorder.sectionIDs.flatMap(\.rowIDs) == ["/m/a", "/m/b", "/m/n"])
    history.start()
    #expect(union.loadState == .loading)
    try settle()
    #expect(union.loadState == .loaded && recorder.changes.last?.loadState == .loaded)
    #expect(recorder.mistakes == [])
  }

  @Test func batchedStreamOfRowsThatCannotStopTellsWhatWaitedWhenItIsStarted() throws {
    let stream = BatchedStream(transient) { [clock] in clock.now }
    let recorder = Recorder(stream)
    stream.stop()
    transient.put(try draft("z", at: 9))
    clock.now += 1000
    stream.wake(now: clock.now)
    #expect(recorder.later.isEmpty)
    stream.start()
    #expect(recorder.later.count == 1)
    #expect(recorder.lastBatch?.insertedRows == [ListIndexPath(section: 0, row: 0)])
    #expect(recorder.mistakes == [])
  }
}
