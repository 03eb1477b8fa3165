import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

/// Everything that can be done with one stream, mixed at random: pages and cancelled pages,
/// conditions and limits, other queries, stops and starts, observers that come late and leave.
@Suite struct MixedUseTests {
  private final class World {
    let tree = TestTree()
    let stream: QueryStream<Record>
    /// All observers, also those that left.
    private(set) var observers: [Recorder<Record>] = []
    /// Those that are still there.
    private var present: [Recorder<Record>] = []
    private(set) var mistakes: [String] = []
    /// The most rows that were compared with the tree.
    private(set) var rowCountMax = 0
    private var field = "at"

    init() throws {
      stream = QueryStream(
        request: try messages(paging: Paging(anchor: .first, count: 3)), source: tree)
      observe()
      stream.start()
    }

    func observe() {
      let observer = Recorder(stream)
      observer.onChange = { [unowned self] in check($0) }
      observers.append(observer)
      present.append(observer)
    }

    /// Checks what an observer is told, while it is told.
    private func check(_ change: StreamChange<Record>) {
      if !stream.isStarted { mistakes.append("told while it is stopped") }
      // While another query is loading, the rows stand in the order of the one before.
      guard change.loadState == .loaded else { return }
      let places = change.sections.flatMap(\.items).map { (number($0, field), $0.row.key) }
      let ordered = stream.isDescending ? places.reversed() : places
      for (left, right) in zip(ordered, ordered.dropFirst()) where left >= right {
        mistakes.append("\(left) stands before \(right)")
      }
    }

    func act(_ random: inout SeededRandom) throws {
      let end: ListEnd = Bool.random(using: &random) ? .start : .end
      let rest = Int64.random(in: 0..<4, using: &random)
      switch Int.random(in: 0..<16, using: &random) {
      case 0...4: try tree.writeAtRandom(&random)
      case 5: stream.fetchMore(Int.random(in: 1...3, using: &random), at: end)
      case 6: stream.cancelFetch(at: end)
      case 7: stream.predicate = rest == 3 ? nil : { number($0, "day") != rest }
      case 8: stream.limit = rest > 1 ? nil : RowLimit(Int(rest) * 3, at: end)
      case 9: try swap(&random)
      case 10: stream.stop()
      case 11: stream.start()
      case 12: observe()
      case 13: if present.count > 1 { present.removeFirst().cancel() }
      default: try settle()
      }
    }

    private func swap(_ random: inout SeededRandom) throws {
      field = Bool.random(using: &random) ? "at" : "day"
      let anchor: Query.Side = Bool.random(using: &random) ? .first : .last
      let isPaged = Bool.random(using: &random)
      stream.swap(
        to: try messages(by: field, paging: isPaged ? Paging(anchor: anchor, count: 3) : nil),
        isDescending: Bool.random(using: &random))
    }

    /// Lets all answers come, and compares the stream with the tree, and its observers with it.
    func settle() throws {
      try tree.settle([stream])
      guard stream.isStarted else { return }
      if stream.loadState != .loaded { mistakes.append("\(stream.loadState) when all is quiet") }
      for observer in present {
        let last = observer.changes.last
        if last?.sections != stream.sections || last?.loadState != stream.loadState {
          mistakes.append("an observer was told less than another")
        }
      }
      if let wanted = try wantedRows() {
        if stream.names != wanted { mistakes.append("\(stream.names), not \(wanted)") }
        rowCountMax = max(rowCountMax, wanted.count)
      }
    }

    /// The keys that the stream has to show; nil if that cannot be known from outside, because a
    /// limit hides how many rows of a page are there.
    private func wantedRows() throws -> [String]? {
      let paging = stream.request.paging
      guard stream.limit == nil || paging == nil else { return nil }
      var rows = try tree.rows(stream.request.query).map { Record($0, in: try Path("m")) }
      if let predicate = stream.predicate { rows = rows.filter(predicate) }
      switch paging?.anchor {
      case nil: break
      case .first: rows = Array(rows.prefix(stream.items.count))
      case .last: rows = Array(rows.suffix(stream.items.count))
      }
      if stream.isDescending { rows.reverse() }
      if let limit = stream.limit {
        rows = Array(limit.end == .start ? rows.prefix(limit.count) : rows.suffix(limit.count))
      }
      return rows.map(\.row.key.text)
    }
  }

  @Test func anyMixKeepsTheOrderAndAgreesWithTheTree() throws {
    var rowCountMax = 0
    for seed in Seeds.first(40) {
      var random = SeededRandom(seed: seed)
      let world = try World()
      for _ in 0..<80 { try world.act(&random) }
      world.stream.start()
      try world.settle()
      world.stream.limit = nil
      try world.settle()
      #expect(world.mistakes == [], "seed \(seed)")
      #expect(world.observers.flatMap(\.mistakes) == [], "seed \(seed)")
      rowCountMax = max(rowCountMax, world.rowCountMax)
    }
    #expect(rowCountMax > 5)
  }
}
