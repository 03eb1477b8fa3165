import RunnelBase
import RunnelStreams
import TestSupport
import Testing

@Suite struct PartitionedStreamTests {
  private func partition(
    _ source: any SectionedStream<TestRow>, fixed: [Int] = []
  ) -> PartitionedStream<TestRow, Int> {
    PartitionedStream(source, fixed: fixed, sectionID: { "s\($0)" }, partition: { $0.value })
  }

  @Test func distributesRowsThatAreThereAlready() {
    let source = TransientStream([TestRow("a", 2), TestRow("b", 1), TestRow("c", 2)])
    #expect(partition(source).sections.text == ["s1: b", "s2: a c"])
  }

  @Test func changeOfPartitionIsOneMove() {
    let source = TransientStream([TestRow("a", 1), TestRow("b", 1), TestRow("c", 2)])
    let stream = partition(source)
    let recorder = Recorder(stream)
    source.update(TestRow("b", 2))
    #expect(stream.sections.text == ["s1: a", "s2: b c"])
    let from = ListIndexPath(section: 0, row: 1)
    #expect(
      recorder.lastBatch?.movedRows == [.init(from: from, to: ListIndexPath(section: 1, row: 0))])
    #expect(recorder.lastBatch?.reloadedRows == [from])
    #expect(recorder.lastBatch?.deletedRows == [] && recorder.lastBatch?.insertedRows == [])
    #expect(recorder.mistakes == [])
  }

  @Test func severalDeletesAreInOldPlaces() {
    let rows = (0..<6).map { TestRow("k\($0)", $0 % 2) }
    let source = TransientStream(rows)
    let stream = partition(source)
    let recorder = Recorder(stream)
    source.remove("k0", "k3", "k4")
    #expect(stream.sections.text == ["s0: k2", "s1: k1 k5"])
    #expect(
      recorder.lastBatch?.deletedRows == [
        ListIndexPath(section: 0, row: 0), ListIndexPath(section: 0, row: 2),
        ListIndexPath(section: 1, row: 1),
      ])
    #expect(recorder.mistakes == [])
  }

  @Test func sectionsComeAndGoWithTheirRows() {
    let source = TransientStream([TestRow("a", 1)])
    let stream = partition(source)
    let recorder = Recorder(stream)
    source.put(TestRow("b", 0))
    #expect(recorder.lastBatch?.insertedSections == [0])
    #expect(recorder.lastBatch?.insertedRows == [])
    source.remove("a")
    #expect(recorder.lastBatch?.deletedSections == [1])
    #expect(stream.sections.text == ["s0: b"])
    #expect(stream.sectionKeys == [0])
    #expect(recorder.mistakes == [])
  }

  @Test func lastRowThatMovesTakesItsSectionAlong() {
    let source = TransientStream([TestRow("a", 1)])
    let stream = partition(source)
    let recorder = Recorder(stream)
    source.update(TestRow("a", 2))
    #expect(recorder.lastBatch?.deletedSections == [0])
    #expect(recorder.lastBatch?.insertedSections == [0])
    #expect(recorder.lastBatch?.movedRows.count == 1)
    #expect(recorder.mistakes == [])
  }

  @Test func fixedSectionsAreThereWithoutRows() {
    let source = TransientStream<TestRow>()
    let stream = partition(source, fixed: [3, 1])
    let recorder = Recorder(stream)
    #expect(stream.sections.text == ["s1: ", "s3: "])
    source.put(TestRow("a", 1), TestRow("b", 2))
    source.reset()
    #expect(stream.sections.text == ["s1: ", "s3: "])
    #expect(recorder.mistakes == [])
  }

  @Test func repartitionAppliesTheRuleAgain() {
    let source = TransientStream([TestRow("a", 1), TestRow("b", 2)])
    var shift = 0
    let stream = PartitionedStream(
      source, sectionID: { "s\($0)" }, partition: { $0.value + (shift - $0.value) * (shift / 5) })
    let recorder = Recorder(stream)
    shift = 5
    stream.repartition()
    #expect(stream.sections.text == ["s5: a b"])
    source.put(TestRow("c", 1))
    #expect(stream.sections.text == ["s5: a b c"])
    #expect(recorder.mistakes == [])
  }

  @Test func partitionOfAPartitionFollows() {
    let source = TransientStream([TestRow("a", 1), TestRow("b", 2)])
    let inner = partition(source)
    let stream = PartitionedStream(
      inner, sectionID: { "\($0)" }, partition: { $0.value > 1 ? 0 : 1 })
    let recorder = Recorder(stream)
    source.put(TestRow("c", 3), TestRow("d", 1))
    source.update(TestRow("b", 0))
    #expect(stream.sections.text == ["0: c", "1: b a d"])
    #expect(recorder.mistakes == [])
  }

  @Test func changesOfTheSourceWhileAnObserverIsToldFollow() {
    let source = TransientStream<TestRow>()
    let stream = partition(source)
    var told: [[String]] = []
    let token = stream.observe { change in
      told.append(change.sections.text)
      // The source goes two steps ahead of what is told.
      if told.count == 1 {
        source.put(TestRow("a", 1))
        source.put(TestRow("b", 0))
        source.remove("a")
      }
    }
    #expect(told == [[], ["s1: a"], ["s0: b", "s1: a"], ["s0: b"]])
    stream.cancel(token)
  }

  @Test func randomChangesReplayAndAgreeWithAPartitionFromScratch() {
    for seed in Seeds.first(60) {
      var random = SeededRandom(seed: seed)
      let source =
        seed % 3 == 0
        ? TransientStream<TestRow>(order: { $0.id < $1.id }) : TransientStream<TestRow>()
      let union = UnionStream([source], by: { $0.word < $1.word })
      let input: any SectionedStream<TestRow> = seed % 2 == 0 ? source : union
      let stream = partition(input, fixed: seed % 5 == 0 ? [2] : [])
      let recorder = Recorder(stream)
      for _ in 0..<40 {
        change(source, &random)
        let rows = input.sections[0].items
        var expected = Dictionary(grouping: rows, by: \.value)
        if seed % 5 == 0 { expected[2, default: []] += [] }
        let sections = expected.keys.sorted().map { key in
          StreamSection(id: "s\(key)", items: expected[key] ?? [])
        }
        #expect(stream.sections == sections, "seed \(seed)")
      }
      #expect(recorder.mistakes == [], "seed \(seed)")
    }
  }

  private func change(_ source: TransientStream<TestRow>, _ random: inout SeededRandom) {
    let rows = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      TestRow(
        "k\(Int.random(in: 0..<12, using: &random))", Int.random(in: 0..<4, using: &random),
        "\(Int.random(in: 0..<9, using: &random))")
    }
    switch Int.random(in: 0..<6, using: &random) {
    case 0...2: source.put(contentsOf: rows)
    case 3: source.remove(rows[0].id)
    case 4: source.reset(source.items.shuffled(using: &random))
    default: source.reset(rows + source.items.prefix(5))
    }
  }

  @Test func rowsThatAlwaysComeToOnePlaceWhileOthersGoKeepTheirOrder() {
    let rows = (0..<40).map { TestRow("k\($0)", $0 < 20 ? -$0 : 1_000_000 + $0) }
    let source = TransientStream(rows, order: TestRow.byValue)
    let partition = PartitionedStream(source, sectionID: { "\($0)" }, partition: { $0.value % 3 })
    let recorder = Recorder(partition)
    let batch = BatchedStream(source, now: { 0 })
    batch.hold()
    let late = PartitionedStream(batch, sectionID: { "\($0)" }, partition: { $0.value % 3 })
    for number in 1..<400 {
      source.put(TestRow("n\(number)", number))
      source.remove(source.items[number * 7 % source.items.count].id)
      if number % 9 == 0 {
        batch.release()
        batch.hold()
      }
      for shown in number % 9 == 0 ? [partition, late] : [partition] {
        let sections = Dictionary(grouping: source.items, by: { $0.value % 3 })
        let expected = sections.sorted { $0.key < $1.key }
          .map { "\($0.key): \($0.value.map(\.id).joined(separator: " "))" }
        #expect(shown.sections.text == expected)
      }
    }
    #expect(recorder.mistakes == [])
  }
}
