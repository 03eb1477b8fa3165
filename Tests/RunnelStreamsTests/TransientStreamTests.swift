import RunnelBase
import RunnelStreams
import Testing

@Suite struct TransientStreamTests {
  @Test func lateObserverIsToldThePresentStateAtOnce() {
    let stream = TransientStream([TestRow("a"), TestRow("b")])
    let recorder = Recorder(stream)
    #expect(recorder.sectionIDs.text == [": a b"])
    #expect(recorder.changes.map(\.loadState) == [.loaded])
    #expect(recorder.lastBatch == .reload)
  }

  @Test func keepsTheOrderOfInsertion() {
    let stream = TransientStream<TestRow>()
    stream.put(TestRow("b"), TestRow("a"))
    stream.put(TestRow("c"))
    #expect(stream.sections.text == [": b a c"])
  }

  @Test func sortsByItsOrder() {
    let stream = TransientStream<TestRow>(order: TestRow.byValue)
    stream.put(TestRow("a", 3), TestRow("b", 1), TestRow("c", 1))
    #expect(stream.sections.text == [": b c a"])
    #expect(stream.indexPath(forID: "a") == ListIndexPath(section: 0, row: 2))
    #expect(stream.item(forID: "a") == TestRow("a", 3))
  }

  @Test func existingKeyIsReplacedAndReloaded() {
    let stream = TransientStream([TestRow("a", 1), TestRow("b", 1)])
    let recorder = Recorder(stream)
    stream.put(TestRow("a", 2))
    #expect(stream.sections.text == [": a b"])
    #expect(recorder.lastBatch?.reloadedRows == [ListIndexPath(section: 0, row: 0)])
    #expect(recorder.mistakes == [])
  }

  @Test func unknownKeysAreIgnored() {
    let stream = TransientStream([TestRow("a")])
    let recorder = Recorder(stream)
    stream.remove("x")
    stream.update(TestRow("x"))
    stream.reset([TestRow("a")])
    #expect(recorder.later.isEmpty)
  }

  @Test func ownRowsDoNotArrive() {
    let stream = TransientStream<TestRow>()
    let recorder = Recorder(stream)
    stream.put(TestRow("a"))
    #expect(recorder.changes.last?.changes.arrivedIDs == [])
    #expect(recorder.changes.last?.changes.insertedIDs == ["a"])
  }

  @Test func changeMadeByAnObserverFollowsForAll() {
    let stream = TransientStream<TestRow>()
    let (first, second) = (Recorder(stream), Recorder(stream))
    first.onChange = { change in
      if change.sections[0].items.count == 1 { stream.put(TestRow("b")) }
    }
    stream.put(TestRow("a"))
    for recorder in [first, second] {
      #expect(recorder.later.map { $0.sections.text } == [[": a"], [": a b"]])
      #expect(recorder.mistakes == [])
    }
  }

  @Test func changeMadeWhileTheFirstStateIsToldFollows() {
    let stream = TransientStream<TestRow>()
    var told: [[String]] = []
    let token = stream.observe { change in
      told.append(change.sections.text)
      if told.count == 1 { stream.put(TestRow("a")) }
    }
    #expect(told == [[": "], [": a"]])
    stream.cancel(token)
  }

  @Test func observerCancelledByAnotherIsNotToldTheChangeInProgress() {
    let stream = TransientStream<TestRow>()
    let (first, second) = (Recorder(stream), Recorder(stream))
    first.onChange = { _ in second.cancel() }
    stream.put(TestRow("a"))
    #expect(first.later.count == 1)
    #expect(second.later.isEmpty)
  }

  @Test func tokenOfAnotherStreamCancelsNothing() {
    let (stream, other) = (TransientStream<TestRow>(), TransientStream<TestRow>())
    let recorder = Recorder(stream)
    stream.cancel(other.observe { _ in })
    stream.put(TestRow("a"))
    #expect(recorder.later.count == 1)
  }

  @Test func randomChangesReplay() {
    for seed in 0..<100 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      let stream =
        seed % 2 == 0
        ? TransientStream<TestRow>(order: TestRow.byValue) : TransientStream<TestRow>()
      let recorder = Recorder(stream)
      for _ in 0..<30 { change(stream, &random) }
      #expect(recorder.mistakes == [], "seed \(seed)")
      #expect(recorder.sectionIDs.text == stream.sections.text, "seed \(seed)")
    }
  }

  private func change(_ stream: TransientStream<TestRow>, _ random: inout SeededRandom) {
    let row = TestRow(
      "k\(Int.random(in: 0..<8, using: &random))", Int.random(in: 0..<5, using: &random))
    switch Int.random(in: 0..<6, using: &random) {
    case 0...2: stream.put(row)
    case 3: stream.update(row)
    case 4: stream.remove(row.id)
    default:
      stream.reset((0..<4).map { TestRow("k\($0 * row.value)", row.value - $0) })
    }
  }

  @Test func predicateHidesRowsAndShowsThemAgain() {
    let stream = TransientStream((0..<5).map { TestRow("k\($0)", $0) })
    let recorder = Recorder(stream)
    stream.predicate = { $0.value % 2 == 0 }
    #expect(stream.sections.text == [": k0 k2 k4"])
    stream.put(TestRow("x", 7), TestRow("k1", 8))
    #expect(stream.sections.text == [": k0 k1 k2 k4"])
    #expect(stream.item(forID: "x") == nil && stream.indexPath(forID: "x") == nil)
    stream.predicate = nil
    #expect(stream.sections.text == [": k0 k1 k2 k3 k4 x"])
    #expect(recorder.mistakes == [])
  }

  @Test func rowsMayBePutBeforeTheOthers() {
    let stream = TransientStream([TestRow("m")])
    stream.put(TestRow("a"), TestRow("b"), at: .start)
    stream.put(TestRow("z"))
    stream.put(TestRow("0"), at: .start)
    #expect(stream.sections.text == [": 0 a b m z"])
  }

  @Test func localChangeIsToldThoughItIsEqual() {
    let stream = TransientStream([TestRow("a")])
    let recorder = Recorder(stream)
    stream.itemChanged(TestRow("a"))
    stream.itemChanged(TestRow("b"))
    #expect(recorder.later.count == 1)
    #expect(recorder.changes.last?.changes.updatedIDs == ["a"])
  }
}
