import RunnelBase
import Testing

@testable import RunnelStreams

@Suite struct BatchedStreamTests {
  /// A clock that goes when it is told to.
  private final class Clock {
    var now: Int64 = 1000
  }

  private let clock = Clock()
  private let source = TransientStream([TestRow("a", 1), TestRow("b", 2)], order: TestRow.byValue)

  private func batched(_ policy: BatchingPolicy = .standard) -> BatchedStream<TestRow> {
    BatchedStream(source, policy: policy) { [clock] in clock.now }
  }

  private func pass(_ milliseconds: Int64, _ stream: BatchedStream<TestRow>) {
    clock.now += milliseconds
    stream.wake(now: clock.now)
  }

  @Test func streamIsSeededFromItsSource() {
    let stream = batched()
    let recorder = Recorder(stream)
    #expect(recorder.sectionIDs.text == [": a b"])
    #expect(stream.loadState == .loaded)
    #expect(stream.wakeTime == nil)
  }

  @Test func itemsAreTheRowsThatWereToldLast() {
    let stream = batched()
    source.put(TestRow("c", 3))
    #expect(stream.items.map(\.id) == ["a", "b"])
    pass(100, stream)
    #expect(stream.items.map(\.id) == ["a", "b", "c"])
  }

  @Test func tokenEndsItsObservation() {
    let stream = batched()
    var told: [Int] = []
    let token = stream.observe { _ in told.append(1) }
    let other = stream.observe { _ in told.append(2) }
    token.cancel()
    source.put(TestRow("c", 3))
    stream.flush()
    #expect(told == [1, 2, 2])
    token.cancel()
    stream.cancel(other)
    source.put(TestRow("d", 4))
    stream.flush()
    #expect(told == [1, 2, 2])
  }

  @Test func changesAreToldAfterQuietAsOne() {
    let stream = batched()
    let recorder = Recorder(stream)
    source.put(TestRow("c", 3))
    #expect(stream.wakeTime == 1100)
    pass(60, stream)
    source.remove("a")
    #expect(stream.wakeTime == 1160)
    pass(99, stream)
    #expect(recorder.later.isEmpty)
    #expect(stream.sections.text == [": a b"])
    pass(1, stream)
    #expect(recorder.later.count == 1)
    #expect(recorder.lastBatch?.deletedRows == [ListIndexPath(section: 0, row: 0)])
    #expect(recorder.lastBatch?.insertedRows == [ListIndexPath(section: 0, row: 1)])
    #expect(stream.wakeTime == nil)
    #expect(recorder.mistakes == [])
  }

  @Test func sectionThatWentAndCameBackTellsItsNewFooterAndNoOldOne() {
    let source = TransientStream(
      [TestRow("a", 1, "p"), TestRow("x", 2, "q"), TestRow("y", 3, "q"), TestRow("z", 4, "r")])
    let sections = PartitionedStream(source, sectionID: { $0 }, partition: { $0.word })
    sections.setFooters { _, total, _ in "\(total) rows" }
    let stream = BatchedStream(sections) { [clock] in clock.now }
    let recorder = Recorder(stream)
    source.remove("x", "y", "z")
    source.put(TestRow("w", 5, "q"), TestRow("v", 6, "r"))
    stream.flush()
    #expect(recorder.later.count == 1)
    #expect(stream.sections.map(\.footer) == ["1 rows", "1 rows", "1 rows"])
    // Section `r` has as many rows as before.
    #expect(recorder.lastBatch?.reloadedSections == [1])
    #expect(recorder.lastBatch?.deletedSections == [])
    #expect(recorder.mistakes == [])
  }

  @Test func steadyChangesAreToldAfterTheMaximumWait() {
    let stream = batched()
    let recorder = Recorder(stream)
    var told: [Int64] = []
    for number in 0..<40 {
      source.put(TestRow("k\(number)", number))
      pass(30, stream)
      if recorder.later.count > told.count { told.append(clock.now) }
    }
    // The first change came at 1000, those after a batch with the next one.
    #expect(told == [1510, 2020])
    #expect(recorder.mistakes == [])
  }

  @Test func aPolicyIsWhatIsNearestToItsNumbers() {
    let quick = BatchingPolicy(quietMilliseconds: 100, waitMillisecondsMax: 50, rowCountMax: -1)
    #expect(quick.waitMillisecondsMax == 100 && quick.rowCountMax == 0)
    let negative = BatchingPolicy(
      quietMilliseconds: -1, waitMillisecondsMax: .min, rowCountMax: 0)
    #expect(negative == .synchronous)
  }

  @Test func changesMayWaitForFlushAlone() {
    for now in [Int64(1000), 0, -5, .max] {
      clock.now = now
      let stream = batched(
        BatchingPolicy(quietMilliseconds: .max, waitMillisecondsMax: .max, rowCountMax: .max))
      source.put(TestRow("c\(now)", 3))
      #expect(stream.waitingRowCount == (now == .max ? 0 : 1))
      if now < .max { stream.wake(now: now + 1_000_000) }
      stream.flush()
      #expect(stream.waitingRowCount == 0 && stream.wakeTime == nil)
      #expect(stream.items.map(\.id) == source.items.map(\.id))
    }
  }

  @Test func manyRowsAreToldAtOnce() {
    let stream = batched(
      BatchingPolicy(quietMilliseconds: 100, waitMillisecondsMax: 500, rowCountMax: 3))
    let recorder = Recorder(stream)
    source.put(TestRow("c"), TestRow("d"), TestRow("e"))
    #expect(recorder.later.isEmpty)
    source.put(TestRow("f"))
    #expect(recorder.later.count == 1)
  }

  @Test func synchronousStreamTellsEachChangeAtOnce() {
    let stream = batched(.synchronous)
    let recorder = Recorder(stream)
    source.put(TestRow("c"))
    source.put(TestRow("d"))
    #expect(recorder.later.count == 2)
    #expect(stream.wakeTime == nil)
  }

  @Test func whatCancelsOutIsNotTold() {
    let stream = batched()
    let recorder = Recorder(stream)
    source.put(TestRow("c"))
    source.remove("c")
    source.remove("a")
    source.put(TestRow("a", 1))
    pass(100, stream)
    #expect(recorder.later.isEmpty)
    #expect(stream.wakeTime == nil)
  }

  @Test func fieldThatIsWhatItWasAgainIsNotTold() {
    let stream = batched()
    let recorder = Recorder(stream)
    source.put(TestRow("a", 1, "new"))
    source.put(TestRow("a", 1))
    pass(100, stream)
    #expect(recorder.later.isEmpty)
    // So it is where it also moved, and left after it had changed; another row is told.
    source.put(TestRow("a", 9, "new"))
    source.put(TestRow("b", 2, "new"))
    source.remove("a")
    source.put(TestRow("a", 1))
    pass(100, stream)
    #expect(recorder.later.count == 1)
    #expect(recorder.lastBatch?.reloadedRows == [ListIndexPath(section: 0, row: 1)])
    #expect(recorder.mistakes == [])
  }

  @Test func fieldThatChangedTwiceIsTold() {
    let stream = batched()
    let recorder = Recorder(stream)
    source.put(TestRow("a", 1, "new"))
    source.put(TestRow("a", 1, "newer"))
    pass(100, stream)
    #expect(recorder.lastBatch?.reloadedRows == [ListIndexPath(section: 0, row: 0)])
    #expect(recorder.mistakes == [])
  }

  @Test func rowThatLeftAndCameBackDifferentIsReloaded() {
    let stream = batched()
    let recorder = Recorder(stream)
    source.remove("a")
    source.put(TestRow("a", 1, "new"))
    pass(100, stream)
    #expect(recorder.lastBatch?.reloadedRows == [ListIndexPath(section: 0, row: 0)])
    #expect(recorder.lastBatch?.insertedRows == [])
    #expect(recorder.mistakes == [])
  }

  @Test func heldStreamTellsNothingUntilItIsReleased() {
    let stream = batched(.synchronous)
    let recorder = Recorder(stream)
    stream.hold()
    source.put(TestRow("c"))
    source.put(TestRow("d"))
    #expect(stream.waitingRowCount == 2)
    #expect(stream.wakeTime == nil)
    stream.flush()
    #expect(recorder.later.isEmpty)
    stream.release()
    #expect(recorder.later.count == 1)
    #expect(recorder.mistakes == [])
  }

  @Test func ownerIsToldWhenToWakeIt() {
    let stream = batched()
    var times: [Int64?] = []
    stream.onWakeTime = { times.append($0) }
    source.put(TestRow("c"))
    clock.now += 50
    source.put(TestRow("d"))
    pass(100, stream)
    #expect(times == [1100, 1150, nil])
  }

  @Test func clockThatIsSetBackStopsNothing() {
    let stream = batched()
    let recorder = Recorder(stream)
    source.put(TestRow("c"))
    clock.now = 10
    source.put(TestRow("d"))
    #expect(stream.wakeTime == 110)
    pass(100, stream)
    #expect(recorder.later.count == 1)
  }

  @Test func changeMadeByAnObserverFollows() {
    let stream = batched(.synchronous)
    let recorder = Recorder(stream)
    recorder.onChange = { [source] change in
      if change.sections[0].items.count == 3 { source.put(TestRow("later")) }
    }
    source.put(TestRow("c"))
    #expect(recorder.later.count == 2)
    #expect(recorder.mistakes == [])
  }

  @Test func rowsAreFoundAsTheyWereToldLast() {
    let stream = batched()
    source.remove("a")
    source.put(TestRow("c", 0))
    source.update(TestRow("b", 2, "new"))
    #expect(stream.indexPath(forID: "a") == ListIndexPath(section: 0, row: 0))
    #expect(stream.indexPath(forID: "b") == ListIndexPath(section: 0, row: 1))
    #expect(stream.item(forID: "b") == TestRow("b", 2))
    #expect(stream.indexPath(forID: "c") == nil)
    stream.flush()
    #expect(stream.indexPath(forID: "c") == ListIndexPath(section: 0, row: 0))
    #expect(stream.item(forID: "b")?.word == "new")
  }

  @Test func randomChangesOfSectionsAddUp() {
    for seed in 0..<60 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      let days = PartitionedStream(
        source, fixed: seed % 2 == 0 ? [1] : [], sectionID: { "day\($0)" },
        partition: { $0.value % 4 })
      let stream = BatchedStream(days) { [clock] in clock.now }
      let recorder = Recorder(stream)
      for _ in 0..<40 {
        let key = "k\(Int.random(in: 0..<12, using: &random))"
        switch Int.random(in: 0..<8, using: &random) {
        case 0...3: source.put(TestRow(key, Int.random(in: 0..<9, using: &random)))
        case 4: source.remove(key)
        case 5: source.update(TestRow(key, 2, "w"))
        case 6: days.repartition()
        default: pass(Int64.random(in: 0..<300, using: &random), stream)
        }
        #expect(lostKeys(stream) == [], "seed \(seed)")
      }
      stream.flush()
      #expect(recorder.mistakes == [], "seed \(seed)")
      #expect(stream.sections == days.sections, "seed \(seed)")
      source.reset([TestRow("a", 1), TestRow("b", 2)])
    }
  }

  /// The keys of rows that the stream finds elsewhere than they stand.
  private func lostKeys(_ stream: BatchedStream<TestRow>) -> [String] {
    stream.sections.enumerated().flatMap { section, content in
      content.items.enumerated().filter { row, item in
        stream.indexPath(forID: item.id) != ListIndexPath(section: section, row: row)
      }.map(\.element.id)
    }
  }
}
