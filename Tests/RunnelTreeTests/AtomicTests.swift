import RunnelBase
import Testing

@testable import RunnelTree

/// What fails leaves every window and listener as it was.
@Suite struct AtomicTests {
  private struct Stop: Error {}

  /// A tree that cannot be read after so many questions.
  private final class FailingReader: TreeReader {
    var tree: MemoryTree
    var left: Int

    init(_ tree: MemoryTree, left: Int = .max) {
      self.tree = tree
      self.left = left
    }

    private func ask() throws(TreeError) {
      if left == 0 { throw TreeError(.storage, "The reader fails.") }
      left -= 1
    }

    func node(at path: Path) throws(TreeError) -> Node {
      try ask()
      return try tree.node(at: path)
    }

    func summary(at path: Path) throws(TreeError) -> NodeSummary {
      try ask()
      return try tree.summary(at: path)
    }

    func row(
      _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
    ) throws(TreeError) -> TreeRow? {
      try ask()
      return try tree.row(key, of: path, in: slice, detail: detail)
    }

    func rows(
      of path: Path, in slice: RowSlice, detail: TreeRow.Detail
    ) throws(TreeError) -> [TreeRow] {
      try ask()
      return try tree.rows(of: path, in: slice, detail: detail)
    }
  }

  /// What listeners would be told if the whole tree were read again: nothing, if they know it.
  private func difference(
    _ engine: TreeEngine, _ tree: MemoryTree
  ) throws -> [String] {
    var copy = engine
    return try copy.apply(touched: [.root], reader: tree).map { "\($0.event)" }
  }

  /// An engine with windows of every kind over a random tree.
  private func makeEngine(
    _ random: inout RandomTree, _ tree: MemoryTree
  ) throws -> TreeEngine {
    var engine = TreeEngine()
    for number in 0..<8 {
      let path = try random.path(depth: 0..<3)
      var request = ListenRequest(query: try random.query(path), events: .all)
      if number.isMultiple(of: 3), request.query.limit == nil {
        request.paging = Paging(anchor: random.pick([.first, .last]), count: 2)
      }
      _ = try engine.listen(ListenerID(number), request, reader: tree)
    }
    return engine
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func anApplyThatFailsAtAnyQuestionChangesNothing(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var tree = MemoryTree(try random.node())
    var engine = try makeEngine(&random, tree)
    for _ in 0..<6 {
      var next = tree
      let parts = try random.write().assignments(now: 0, reader: tree)
      for part in parts { next.perform(part) }
      for count in 0..<200 {
        let reader = FailingReader(next, left: count)
        do {
          _ = try engine.apply(touched: parts.map(\.path), reader: reader)
          break
        } catch {
          engine.checkInvariants()
          #expect(try difference(engine, tree) == [], "seed \(seed), question \(count)")
        }
      }
      tree = next
      engine.checkInvariants()
      #expect(try difference(engine, tree) == [], "seed \(seed)")
    }
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func whatIsTakenBackWasNever(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let tree = MemoryTree(try random.node())
    var engine = try makeEngine(&random, tree)
    let query = try random.query(Path("a"))
    var next = tree
    #expect(throws: Stop.self) {
      try engine.atomically { engine in
        for round in 0..<5 {
          let parts = try random.write().assignments(now: 0, reader: next)
          for part in parts { next.perform(part) }
          _ = try engine.apply(touched: parts.map(\.path), reader: next)
          for number in 0..<8 { _ = try? engine.extend(ListenerID(number), by: 1, reader: next) }
          _ = try engine.listen(
            ListenerID(100 + round), ListenRequest(query: query, events: .all), reader: next)
        }
        throw Stop()
      }
    }
    engine.checkInvariants()
    #expect(try difference(engine, tree) == [], "seed \(seed)")
    // The names of those who were registered meanwhile are free again.
    _ = try engine.listen(
      ListenerID(100), ListenRequest(query: query, events: .all), reader: tree)
    #expect(try difference(engine, tree) == [], "seed \(seed)")
  }

  @Test func aTouchedRowIsReadOnceForAllViewsOfAPlace() throws {
    var tree = MemoryTree(try Node(json: JSONValue(parsing: #"{"l":{"a":1,"b":2,"c":3}}"#)))
    var engine = TreeEngine()
    let place = try Path("l")
    for number in 0..<20 {
      let query = try Query(place).ordered(by: .key)
        .starting(at: .leaf(.string("a" + String(repeating: "a", count: number))))
      _ = try engine.listen(ListenerID(number), ListenRequest(query: query), reader: tree)
    }
    for part in try Write.set(Path("l/b"), 5).assignments(now: 0, reader: tree) {
      tree.perform(part)
    }
    let reader = FailingReader(tree, left: 1)
    let told = try engine.apply(touched: [Path("l/b")], reader: reader)
    #expect(told.count == 20)
    #expect(reader.left == 0)
  }
}
