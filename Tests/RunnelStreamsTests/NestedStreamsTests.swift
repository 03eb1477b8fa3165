import RunnelBase
import RunnelStreams
import TestSupport
import Testing

/// Streams of streams of streams, beside the same made from scratch.
@Suite struct NestedStreamsTests {
  /// A partition of a union of a partition, of a union and of transient rows.
  private final class Nest {
    let sources = (0..<4).map { _ in TransientStream<TestRow>(order: TestRow.byValue) }
    let inner: UnionStream<TestRow>
    let parts: PartitionedStream<TestRow, Int>
    let union: UnionStream<TestRow>
    let top: PartitionedStream<TestRow, Int>
    var divisor = 3

    init() {
      inner = UnionStream([sources[0], sources[1]], by: TestRow.byValue)
      parts = PartitionedStream(
        sources[2], sectionID: { "p\($0)" }, partition: { $0.word == "b" ? nil : $0.value % 2 })
      union = UnionStream([parts, inner, sources[3]], by: TestRow.byValue)
      var divisor: () -> Int = { 3 }
      top = PartitionedStream(
        union, sectionID: { "t\($0)" }, partition: { $0.value % divisor() })
      divisor = { [unowned self] in self.divisor }
    }

    /// What the top shows if it is made of what the sources show now.
    var expected: [String] {
      var rows: [(row: TestRow, source: Int)] = []
      var keys = Set<String>()
      for (source, stream) in [(0, sources[2]), (1, sources[0]), (2, sources[1]), (3, sources[3])] {
        for row in stream.items where source != 0 || row.word != "b" {
          if keys.insert(row.id).inserted {
            rows.append((row, min(source, source == 2 ? 1 : source)))
          }
        }
      }
      rows.sort { left, right in
        (left.row.value, left.source, left.row.id) < (right.row.value, right.source, right.row.id)
      }
      let sections = Dictionary(grouping: rows.map(\.row)) { $0.value % divisor }
      return sections.keys.sorted().map { key in
        "t\(key): " + (sections[key] ?? []).map(\.id).joined(separator: " ")
      }
    }

    func act(_ random: inout SeededRandom) {
      let source = sources[Int.random(in: 0..<4, using: &random)]
      let rows = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        TestRow(
          "k\(Int.random(in: 0..<10, using: &random))", Int.random(in: 0..<8, using: &random),
          Bool.random(using: &random) ? "a" : "b")
      }
      switch Int.random(in: 0..<8, using: &random) {
      case 0...3: source.put(contentsOf: rows)
      case 4: source.remove(contentsOf: rows.map(\.id))
      case 5: source.predicate = rows[0].value < 3 ? { $0.value != rows[0].value } : nil
      case 6:
        divisor = Int.random(in: 1...4, using: &random)
        top.repartition()
      default: source.reset(rows)
      }
    }
  }

  @Test func threeDeepAgreesWithStreamsFromScratch() {
    for seed in Seeds.first(60) {
      var random = SeededRandom(seed: seed)
      let nest = Nest()
      let recorders = [Recorder(nest.inner), Recorder(nest.union)]
      let others = [Recorder(nest.parts), Recorder(nest.top)]
      for _ in 0..<40 {
        nest.act(&random)
        #expect(nest.top.sections.text == nest.expected, "seed \(seed)")
      }
      #expect((recorders + others).flatMap(\.mistakes) == [], "seed \(seed)")
    }
  }

  @Test func changesFromInsideCallbacksFollowOneAnother() {
    for seed in Seeds.first(30) {
      var random = SeededRandom(seed: seed)
      let nest = Nest()
      let recorder = Recorder(nest.top)
      var depth = 0
      recorder.onChange = { _ in
        depth += 1
        if depth % 3 == 1 {
          nest.sources[depth % 4].put(TestRow("k\(depth % 7)", depth % 8, "a"))
        }
      }
      for _ in 0..<30 { nest.act(&random) }
      #expect(nest.top.sections.text == nest.expected, "seed \(seed)")
      #expect(recorder.mistakes == [], "seed \(seed)")
    }
  }
}
