import RunnelBase
import RunnelStreams
import TestSupport
import Testing

@Suite struct UnionStreamTests {
  @Test func mergesSourcesThatHaveRowsAlready() {
    let first = TransientStream([TestRow("a", 1), TestRow("c", 3)])
    let second = TransientStream([TestRow("d", 4), TestRow("b", 2)])
    let union = UnionStream([first, second], by: TestRow.byValue)
    #expect(union.sections.text == [": a b c d"])
    #expect(union.loadState == .loaded)
    #expect(union.source(of: "b") == 1)
    #expect(union.source(of: "x") == nil)
    #expect(union.indexPath(forID: "c") == ListIndexPath(section: 0, row: 2))
  }

  @Test func firstSourceWinsADuplicate() {
    let first = TransientStream([TestRow("a", 1, "first")])
    let second = TransientStream([TestRow("a", 9, "second")])
    let union = UnionStream([first, second], by: TestRow.byValue)
    #expect(union.items == [TestRow("a", 1, "first")])
    second.put(TestRow("a", 5, "shadowed"))
    #expect(union.items == [TestRow("a", 1, "first")])
  }

  @Test func shadowedDuplicateIsRevealedAsReloadAndMove() {
    let first = TransientStream([TestRow("a", 1)])
    let second = TransientStream([TestRow("a", 9), TestRow("b", 5), TestRow("c", 6)])
    let union = UnionStream([first, second], by: TestRow.byValue)
    let recorder = Recorder(union)
    first.remove("a")
    #expect(union.sections.text == [": b c a"])
    let place = ListIndexPath(section: 0, row: 0)
    #expect(recorder.lastBatch?.reloadedRows == [place])
    #expect(
      recorder.lastBatch?.movedRows == [.init(from: place, to: ListIndexPath(section: 0, row: 2))])
    #expect(recorder.changes.last?.changes.insertedIDs == [])
    #expect(recorder.mistakes == [])
    #expect(union.source(of: "a") == 1)
  }

  @Test func revealedDuplicateOfTheSameContentIsReloaded() {
    let first = TransientStream([TestRow("a", 1)])
    let second = TransientStream([TestRow("a", 1)])
    let union = UnionStream([first, second], by: TestRow.byValue)
    let recorder = Recorder(union)
    first.reset()
    #expect(recorder.lastBatch?.reloadedRows == [ListIndexPath(section: 0, row: 0)])
    #expect(recorder.lastBatch?.movedRows == [])
  }

  @Test func newWinnerShadowsARowAndMovesIt() {
    let first = TransientStream<TestRow>()
    let second = TransientStream([TestRow("a", 1), TestRow("b", 2)])
    let union = UnionStream([first, second], by: TestRow.byValue)
    let recorder = Recorder(union)
    first.put(TestRow("a", 3))
    #expect(union.sections.text == [": b a"])
    #expect(recorder.lastBatch?.insertedRows == [])
    #expect(recorder.lastBatch?.movedRows.count == 1)
    #expect(recorder.mistakes == [])
  }

  @Test func rankPutsASourceBehindTheOthers() {
    let rows = TransientStream([TestRow("a", 5), TestRow("b", 7)])
    let pinned = TransientStream([TestRow("p", 1)])
    let union = UnionStream(
      [UnionStream.Source(pinned, rank: 1), UnionStream.Source(rows)], by: TestRow.byValue)
    #expect(union.sections.text == [": a b p"])
    rows.put(TestRow("c", 9))
    pinned.put(TestRow("q", 0))
    #expect(union.sections.text == [": a b c q p"])
  }

  @Test func eachRankMayBeASection() {
    let rows = TransientStream([TestRow("a", 5), TestRow("b", 7)])
    let pinned = TransientStream([TestRow("p", 9), TestRow("a", 1)])
    let union = UnionStream(
      [UnionStream.Source(pinned), UnionStream.Source(rows, rank: 1)],
      sectionIDs: ["pinned", "all"], by: TestRow.byValue)
    let recorder = Recorder(union)
    #expect(union.sections.text == ["pinned: a p", "all: b"])
    pinned.remove("a")
    #expect(union.sections.text == ["pinned: p", "all: a b"])
    let move = BatchUpdate.Move(
      from: ListIndexPath(section: 0, row: 0), to: ListIndexPath(section: 1, row: 0))
    #expect(recorder.lastBatch?.movedRows == [move])
    pinned.reset()
    #expect(union.sections.text == ["pinned: ", "all: a b"])
    #expect(union.items.map(\.id) == ["a", "b"])
    #expect(recorder.mistakes == [])
  }

  @Test func sectionsWithoutAnIdOfTheirOwnAreAFaultOfTheProgram() async {
    await #expect(processExitsWith: .failure) {
      _ = UnionStream<TestRow>(
        concatenating: [TransientStream<TestRow>(), TransientStream<TestRow>()], sectionIDs: ["a"])
    }
    await #expect(processExitsWith: .failure) {
      _ = UnionStream<TestRow>(
        concatenating: [TransientStream<TestRow>(), TransientStream<TestRow>()],
        sectionIDs: ["a", "a"])
    }
  }

  @Test func concatenatedSourcesKeepTheirOwnOrders() {
    let first = TransientStream([TestRow("a", 1), TestRow("b", 2)]) { $1.value < $0.value }
    let second = TransientStream([TestRow("d"), TestRow("a"), TestRow("c")])
    let union = UnionStream(concatenating: [first, second], sectionIDs: ["x", "y"])
    let recorder = Recorder(union)
    #expect(union.sections.text == ["x: b a", "y: d c"])
    second.put(TestRow("e"), at: .start)
    first.update(TestRow("b", 0))
    #expect(union.sections.text == ["x: a b", "y: e d c"])
    first.remove("a")
    #expect(union.sections.text == ["x: b", "y: e d a c"])
    let move = BatchUpdate.Move(
      from: ListIndexPath(section: 0, row: 0), to: ListIndexPath(section: 1, row: 2))
    #expect(recorder.lastBatch?.movedRows == [move])
    #expect(union.source(of: "a") == 1)
    #expect(recorder.mistakes == [])
  }

  @Test func randomChangesOfConcatenatedSourcesReplay() {
    for seed in Seeds.first(30) {
      var random = SeededRandom(seed: seed)
      let sources = [
        TransientStream<TestRow>(), TransientStream<TestRow>(order: TestRow.byValue),
        TransientStream<TestRow> { $1.value < $0.value },
      ]
      let union = UnionStream(concatenating: sources, sectionIDs: ["0", "1", "2"])
      let recorder = Recorder(union)
      for _ in 0..<80 {
        let source = sources[Int.random(in: 0..<3, using: &random)]
        let key = "k\(Int.random(in: 0..<20, using: &random))"
        switch Int.random(in: 0..<9, using: &random) {
        case 0...4:
          let end: ListEnd = Bool.random(using: &random) ? .start : .end
          source.put(TestRow(key, Int.random(in: 0..<9, using: &random)), at: end)
        case 5, 6: source.remove(key)
        case 7: source.predicate = Bool.random(using: &random) ? nil : { $0.value % 3 > 0 }
        default: source.reset(source.items.shuffled(using: &random))
        }
        var seen = Set<String>()
        let expected = sources.enumerated().map { index, source in
          let keys = source.items.map(\.id).filter { seen.insert($0).inserted }
          return "\(index): \(keys.joined(separator: " "))"
        }
        #expect(union.sections.text == expected, "seed \(seed)")
      }
      #expect(recorder.mistakes == [], "seed \(seed)")
    }
  }

  @Test func rowsAreTracedToTheirSourcesAndBack() {
    let first = TransientStream([TestRow("a", 5), TestRow("b", 7)])
    let second = TransientStream([TestRow("c", 6), TestRow("a", 1)])
    let union = UnionStream([first, second], by: TestRow.byValue)
    func path(_ row: Int) -> ListIndexPath { ListIndexPath(section: 0, row: row) }
    #expect(union.sections.text == [": a c b"])
    #expect(union.origin(of: path(1))?.source == 1)
    #expect(union.origin(of: path(1))?.path == path(0))
    #expect(union.origin(of: path(2))?.path == path(1))
    #expect(union.origin(of: path(3)) == nil)
    #expect(union.indexPath(of: path(0), inSource: 1) == path(1))
    #expect(union.indexPath(of: path(1), inSource: 1) == nil, "It is shadowed.")
    #expect(union.indexPath(of: path(5), inSource: 1) == nil)
  }

  @Test func placesAroundAnExemplarAreStrict() {
    let source = TransientStream((0..<9).map { TestRow("k\($0)", $0 / 2) })
    let union = UnionStream([source], by: TestRow.byValue)
    for value in -1...5 {
      let row = TestRow("x", value)
      #expect(
        union.firstIndexPath(after: row)?.row == union.items.firstIndex { $0.value > value })
      #expect(union.lastIndexPath(before: row)?.row == union.items.lastIndex { $0.value < value })
    }
  }

  @Test func rowsThatTheOrderDoesNotTellApartStandInTheOrderOfTheirSources() {
    let first = TransientStream([TestRow("z", 1)])
    let second = TransientStream([TestRow("b", 1), TestRow("a", 1)])
    let union = UnionStream([first, second], by: TestRow.byValue)
    #expect(union.sections.text == [": z a b"])
  }

  @Test func sourceMayBeAUnionOrAPartition() {
    let rows = TransientStream([TestRow("a", 1), TestRow("b", 2)])
    let inner = UnionStream([rows], by: TestRow.byValue)
    let parts = PartitionedStream(
      rows, sectionID: { "\($0)" }, partition: { $0.value % 2 })
    let union = UnionStream([parts, inner], by: TestRow.byValue)
    let recorder = Recorder(union)
    rows.put(TestRow("c", 3), TestRow("a", 4))
    rows.remove("b")
    #expect(union.sections.text == [": c a"])
    #expect(recorder.mistakes == [])
  }

  @Test func sourceChangedByAnObserverFollows() {
    let first = TransientStream<TestRow>()
    let second = TransientStream<TestRow>()
    let union = UnionStream([first, second], by: TestRow.byValue)
    let recorder = Recorder(union)
    recorder.onChange = { change in
      if change.sections[0].items.map(\.id) == ["a"] {
        second.put(TestRow("b", 2))
        first.remove("a")
      }
    }
    first.put(TestRow("a", 1))
    #expect(union.sections.text == [": b"])
    #expect(recorder.mistakes == [])
  }

  @Test func unionThatIsGoneLetsItsSourcesBe() {
    let source = TransientStream<TestRow>()
    var union: UnionStream<TestRow>? = UnionStream([source], by: TestRow.byValue)
    weak let watched = union
    union = nil
    #expect(watched == nil)
    source.put(TestRow("a"))
  }

  @Test func orderThatContradictsItselfLosesNoRow() {
    let source = TransientStream<TestRow>()
    let union = UnionStream([source], by: { $0.value % 3 < $1.value % 3 || $0.value > $1.value })
    let recorder = Recorder(union)
    for value in 0..<40 { source.put(TestRow("k\(value)", value * 7 % 11)) }
    for value in 0..<40 where value % 3 != 0 { source.remove("k\(value)") }
    #expect(Set(union.items.map(\.id)) == Set(source.items.map(\.id)))
    #expect(union.items.count == source.items.count)
    #expect(recorder.mistakes == [])
  }

  @Test func randomChangesReplayAndAgreeWithAUnionFromScratch() {
    for seed in 0..<150 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      let sources = (0..<3).map { _ in TransientStream<TestRow>() }
      let ranks = [0, seed % 2 == 0 ? 0 : 1, 0]
      let union = UnionStream(
        zip(sources, ranks).map { UnionStream.Source($0, rank: $1) }, by: TestRow.byValue)
      let recorder = Recorder(union)
      for _ in 0..<40 {
        let source = sources[Int.random(in: 0..<3, using: &random)]
        change(source, &random)
        #expect(Array(union.items) == expected(sources, ranks), "seed \(seed)")
      }
      #expect(recorder.mistakes == [], "seed \(seed)")
    }
  }

  private func change(_ source: TransientStream<TestRow>, _ random: inout SeededRandom) {
    let rows = (0..<Int.random(in: 1...3, using: &random)).map { _ in
      TestRow("k\(Int.random(in: 0..<9, using: &random))", Int.random(in: 0..<6, using: &random))
    }
    switch Int.random(in: 0..<5, using: &random) {
    case 0...2: source.put(contentsOf: rows)
    case 3: source.remove(rows[0].id)
    default: source.reset(rows)
    }
  }

  private func expected(_ sources: [TransientStream<TestRow>], _ ranks: [Int]) -> [TestRow] {
    var rows: [(row: TestRow, source: Int)] = []
    for (index, source) in sources.enumerated() {
      for row in source.items where !rows.contains(where: { $0.row.id == row.id }) {
        rows.append((row, index))
      }
    }
    return rows.sorted { left, right in
      (ranks[left.source], left.row.value, left.source, left.row.id)
        < (ranks[right.source], right.row.value, right.source, right.row.id)
    }.map(\.row)
  }
}
