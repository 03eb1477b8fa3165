import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

/// Limits, collapsing, headings, rules and time of partitions.
@Suite struct PartitionLookTests {
  private let source = TransientStream((0..<6).map { TestRow("k\($0)", $0 % 2) })

  private func partition(fixed: [Int] = []) -> PartitionedStream<TestRow, Int> {
    PartitionedStream(source, fixed: fixed, sectionID: { "s\($0)" }, partition: { $0.value })
  }

  @Test func limitedSectionCountsWhatItHides() {
    let stream = partition()
    let recorder = Recorder(stream)
    stream.sectionLimit = RowLimit(2)
    #expect(stream.sections.text == ["s0: k0 k2", "s1: k1 k3"])
    #expect(stream.sections.map(\.hiddenCount) == [1, 1])
    #expect(stream.sections.map(\.totalCount) == [3, 3])
    #expect(recorder.lastBatch?.reloadedSections == [0, 1])
    #expect(stream.item(forID: "k4") == nil && stream.section(ofID: "k4") == 0)
    source.remove("k0")
    #expect(stream.sections.text == ["s0: k2 k4", "s1: k1 k3"])
    #expect(recorder.lastBatch?.reloadedSections == [0])
    stream.setLimit(RowLimit(1, at: .end), for: 1)
    #expect(stream.sections.text == ["s0: k2 k4", "s1: k5"])
    stream.setLimit(nil, for: 1)
    stream.sectionLimit = nil
    #expect(stream.sections.text == ["s0: k2 k4", "s1: k1 k3 k5"])
    #expect(recorder.mistakes == [])
  }

  @Test func collapsedSectionStaysSoWhileItIsAway() {
    let stream = partition()
    let recorder = Recorder(stream)
    stream.setCollapsed(true, for: 1)
    #expect(stream.sections.text == ["s0: k0 k2 k4", "s1: "])
    #expect(stream.sections[1].isCollapsed && stream.sections[1].hiddenCount == 3)
    source.remove("k1", "k3", "k5")
    #expect(stream.sections.text == ["s0: k0 k2 k4"])
    source.put(TestRow("x", 1))
    #expect(stream.sections.text == ["s0: k0 k2 k4", "s1: "])
    #expect(recorder.changes.last?.changes.arrivedIDs == [])
    stream.setCollapsed(false, for: 1)
    #expect(stream.sections.text == ["s0: k0 k2 k4", "s1: x"])
    #expect(recorder.mistakes == [])
  }

  @Test func headingsAreToldWhenTheyChange() {
    let stream = partition()
    let recorder = Recorder(stream)
    stream.setTitles { "number \($0)" }
    #expect(recorder.lastBatch?.reloadedSections == [0, 1])
    stream.setFooters { _, total, hidden in "\(total - hidden) of \(total)" }
    #expect(stream.sections.map(\.footer) == ["3 of 3", "3 of 3"])
    source.put(TestRow("x", 1))
    #expect(recorder.lastBatch?.reloadedSections == [1])
    #expect(stream.sections.map(\.title) == ["number 0", "number 1"])
    #expect(recorder.mistakes == [])
  }

  @Test func emptyFixedSectionsAreShownOrHidden() {
    let stream = partition(fixed: [1, 2])
    let recorder = Recorder(stream)
    #expect(stream.sections.map(\.id) == ["s0", "s1", "s2"])
    stream.hidesEmptySections = true
    #expect(recorder.lastBatch?.deletedSections == [2])
    source.put(TestRow("x", 2))
    #expect(recorder.lastBatch?.insertedSections == [2])
    source.remove("x")
    stream.hidesEmptySections = false
    #expect(stream.sections.map(\.id) == ["s0", "s1", "s2"])
    #expect(recorder.mistakes == [])
  }

  @Test func textsAreSectionsAndTheirTitles() {
    let rows = TransientStream([
      TestRow("a", 1, "red"), TestRow("b", 2, "blue"), TestRow("c", 3, "red"),
    ])
    let stream = PartitionedStream(rows, fixed: ["green"]) { $0.word.isEmpty ? nil : $0.word }
    #expect(stream.sections.map(\.title) == ["blue", "green", "red"])
    #expect(stream.sections.map(\.id) == ["blue", "green", "red"])
    #expect(stream.items.map(\.id) == ["b", "a", "c"])
    rows.put(TestRow("a", 1))
    #expect(stream.items.map(\.id) == ["b", "c"])
  }

  @Test func rowOfNoSectionIsNotShown() {
    let stream = PartitionedStream(source, titles: ["even"]) { $0.value == 7 ? nil : $0.value }
    let recorder = Recorder(stream)
    #expect(stream.sections.text == ["0: k0 k2 k4"])
    #expect(stream.sections[0].title == "even")
    source.update(TestRow("k2", 1))
    #expect(recorder.changes.last?.changes.removedIDs == ["k2"])
    source.update(TestRow("k1", 0))
    #expect(stream.sections.text == ["0: k0 k1 k4"])
    #expect(recorder.mistakes == [])
  }

  @Test func timeMovesRowsThatAreDue() {
    let stream = PartitionedStream<TestRow, Int>(
      source, now: 0, sectionID: { "s\($0)" },
      partition: { row, now in
        let due = Int64(row.id.utf8.last ?? 0) - 48
        return now < due ? TimedSection(1, until: due) : TimedSection(0)
      })
    let recorder = Recorder(stream)
    #expect(stream.sections.text == ["s0: k0", "s1: k1 k2 k3 k4 k5"])
    #expect(stream.nextChange == 1)
    stream.advance(to: 0)
    #expect(recorder.later.isEmpty)
    source.remove("k1")
    stream.advance(to: 3)
    #expect(stream.sections.text == ["s0: k0 k2 k3", "s1: k4 k5"])
    #expect(recorder.lastBatch?.movedRows.count == 2)
    source.put(TestRow("a2"), TestRow("a9"))
    #expect(stream.sections.text == ["s0: k0 k2 k3 a2", "s1: k4 k5 a9"])
    #expect(stream.nextChange == 4)
    stream.advance(to: 9)
    #expect(stream.sections.text == ["s0: k0 k2 k3 k4 k5 a2 a9"])
    #expect(stream.nextChange == nil)
    #expect(recorder.mistakes == [])
  }

  @Test func aTimeThatHasPassedAsksForNoCallButIsLookedAtAgain() {
    let stream = PartitionedStream<TestRow, Int>(
      source, now: 10, sectionID: { "s\($0)" },
      partition: { row, now in
        TimedSection(now < 30 ? 1 : 0, until: row.id == "k0" ? 20 : 5)
      })
    let recorder = Recorder(stream)
    #expect(stream.nextChange == 20)
    var rounds = 0
    while let next = stream.nextChange, rounds < 9 {
      stream.advance(to: next)
      rounds += 1
    }
    #expect(rounds == 1 && stream.now == 20)
    #expect(stream.sections.text == ["s1: k0 k1 k2 k3 k4 k5"])
    stream.advance(to: 30)
    #expect(stream.sections.text == ["s0: k0 k1 k2 k3 k4 k5"])
    #expect(stream.nextChange == nil)
    #expect(recorder.mistakes == [])
  }

  @Test func daysAreWithinTheCalendar() {
    for number in [Int.max, .min, 73_000_002] {
      #expect(abs(DaySection(dayNumber: number).dayNumber ?? 0) == 73_000_001)
      #expect(DaySection(dayNumber: number).text?.isEmpty == false)
    }
    #expect(DaySection(dayNumber: .max) > DaySection(dayNumber: 73_000_000))
    #expect(DaySection(dayNumber: 5).dayNumber == 5 && DaySection(dayNumber: nil).text == nil)
    let latest = DaySection(milliseconds: .max) { _ in 86_400 }
    #expect(latest == DaySection(dayNumber: latest.dayNumber))
  }

  @Test func daysAreThoseOfTheZone() {
    let hour: Int64 = 3_600_000
    let rows = TransientStream(
      [("a", 0), ("b", 21), ("c", 22), ("d", 46)].map { TestRow($0.0, $0.1) } + [TestRow("x", -1)])
    let stream = PartitionedStream(
      rows, byDayOf: { $0.value < 0 ? nil : Int64($0.value) * hour },
      offsetSeconds: { $0 < 24 * hour ? 7200 : 3600 })
    #expect(stream.sections.text == ["1970-01-01: a b", "1970-01-02: c d", ": x"])
    #expect(stream.sections.map(\.title) == ["Thu 1 Jan 1970", "Fri 2 Jan 1970", nil])
  }

  @Test func recordsStandByWhatIsInAField() throws {
    let collection = try Path("m")
    func record(_ key: String, _ json: JSONValue) throws -> Record {
      let child = Child(key: try Key(key), node: try Node(json: json))
      return Record(TreeRow(child, index: .key, detail: .full), in: collection)
    }
    let rows = TransientStream([
      try record("a", ["is": "later"]), try record("b", ["is": 10]), try record("c", ["is": 9]),
      try record("d", ["x": 1]), try record("e", ["is": "later"]), try record("f", ["is": "10"]),
    ])
    let stream = PartitionedStream(rows, by: try RowField("is"))
    let keys = stream.sections.map { $0.items.map(\.row.key.text).joined() }
    #expect(keys == ["d", "c", "b", "f", "ae"])
    #expect(stream.sections.map(\.title) == [nil, "9", "10", "10", "later"])
  }
}

// MARK: Oracle

extension PartitionLookTests {
  @Test func randomLooksAndChangesAgreeWithAPartitionFromScratch() {
    for seed in Seeds.first(30) {
      var random = SeededRandom(seed: seed)
      let inner = TransientStream<TestRow>()
      // A source with sections of its own that come, go and move.
      let source = PartitionedStream<TestRow, Int>(
        inner, sectionID: { "w\($0)" }, partition: { $0.word.isEmpty ? nil : $0.word.count })
      var rest = 3
      let stream = PartitionedStream<TestRow, Int>(
        source, fixed: [0], sectionID: { "s\($0)" }, partition: { $0.value % rest })
      let recorder = Recorder(stream)
      var limits: [Int: RowLimit] = [:]
      var collapsed: Set<Int> = []
      for _ in 0..<30 {
        change(inner, &random)
        let section = Int.random(in: 0..<3, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: stream.hidesEmptySections.toggle()
        case 1:
          limits[section] = RowLimit(
            Int.random(in: 0..<4, using: &random), at: section == 1 ? .end : .start)
          stream.setLimit(limits[section], for: section)
        case 2:
          collapsed.formSymmetricDifference([section])
          stream.setCollapsed(collapsed.contains(section), for: section)
        case 3:
          rest = Int.random(in: 1..<4, using: &random)
          stream.repartition()
        default: break
        }
        var groups = Dictionary(grouping: source.sections.flatMap(\.items)) { $0.value % rest }
        if !stream.hidesEmptySections { groups[0, default: []] += [] }
        let expected = groups.keys.sorted().map { key -> StreamSection<TestRow> in
          let rows = groups[key] ?? []
          let limit = collapsed.contains(key) ? RowLimit(0) : limits[key] ?? RowLimit(.max)
          let shown = limit.end == .start ? rows.prefix(limit.count) : rows.suffix(limit.count)
          var section = StreamSection(id: "s\(key)", items: shown)
          section.hiddenCount = rows.count - shown.count
          section.isCollapsed = collapsed.contains(key)
          return section
        }
        #expect(stream.sections == expected, "seed \(seed)")
        for (section, content) in expected.enumerated() {
          for (row, item) in content.items.enumerated() {
            let path = ListIndexPath(section: section, row: row)
            #expect(stream.indexPath(forID: item.id) == path, "seed \(seed)")
          }
        }
      }
      #expect(recorder.mistakes == [], "seed \(seed)")
    }
  }

  private func change(_ source: TransientStream<TestRow>, _ random: inout SeededRandom) {
    let rows = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      TestRow(
        "k\(Int.random(in: 0..<14, using: &random))", Int.random(in: 0..<9, using: &random),
        ["", "a", "bb", "ccc"][Int.random(in: 0..<4, using: &random)])
    }
    switch Int.random(in: 0..<8, using: &random) {
    case 0...3: source.put(contentsOf: rows)
    case 4: source.put(contentsOf: rows, at: .start)
    case 5, 6: source.remove(contentsOf: rows.map(\.id))
    default: source.reset(Array(source.items).shuffled(using: &random))
    }
  }
}
