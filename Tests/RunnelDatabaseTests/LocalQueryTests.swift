import RunnelBase
import RunnelStorage
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// A window as its listener knows it, by its last value.
private struct LiveWindow {
  let question: NaiveQuery
  var paging: Paging?
  private var children: [Child] = []
  private var hasMore = false

  init(_ question: NaiveQuery) { self.question = question }

  mutating func take(_ deliveries: [Delivery], _ listener: ListenerID) {
    for delivery in deliveries where delivery.listener == listener {
      switch delivery.event {
      case .value(let node): children = node.children
      case .page(let more): hasMore = more
      case .pending, .answered: break
      default: break
      }
    }
  }

  /// True if the window is that of the question, or its end as far as it was paged.
  func isRight(_ list: Node) -> Bool {
    var expected = question.children(of: list)
    if let paging, hasMore {
      expected =
        paging.anchor == .last
        ? expected.suffix(children.count) : Array(expected.prefix(children.count))
    }
    return expected.sorted { $0.key < $1.key } == children
  }
}

/// Orders of several components, predicates and reports over the file.
@Suite struct LocalQueryTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
  }

  private func definition(_ pattern: String, _ order: String) throws -> IndexDefinition {
    try IndexDefinition(checkedPattern: pattern, serving: QueryIndex(SortKey.list(order)))
  }

  private func query(_ order: String, _ filter: String? = nil) throws -> Query {
    let query = try Query(Path("l")).ordered(by: SortKey.list(order))
    return try filter.map { try query.filtered(by: ChildPredicate(parsing: $0)) } ?? query
  }

  /// Makes `/l` a list of `count` children `k0`, `k1` and so on, with a few values of `s` and `t`.
  private func fill(_ count: Int) throws {
    let members = (0..<count).map { index in
      #""k\#(index)":{"s":\#(index % 7),"t":"x\#(index % 3)","n":\#(index),"pad":"\#(pad)"}"#
    }
    try session.set("/l", "{" + members.joined(separator: ",") + "}")
  }

  private var pad: String { String(repeating: "p", count: 100) }

  // MARK: Against the plainest way

  /// Random lists, some children split, and questions in orders that have an index or not.
  @Test(arguments: Seeds.first(8))
  func randomQuestionsAreAnsweredAsByTheOracle(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let inspector = try FileInspector(folder.file())
    let path = try Path("l/m")
    let questions = try (0..<12).map { _ in try random.naiveQuery() }
    for round in 0..<4 {
      for _ in 0..<3 {
        let key = try random.key()
        try session.set("/l/m/\(key)", try random.node(depth: 3).exportJSON.jsonText())
      }
      try session.set("/l/m/pad", #""\#(String(repeating: "p", count: 5000))""#)
      if round == 1 {
        // Half of the orders have an index from now on.
        try session.declareIndexes(
          try questions.prefix(6).compactMap {
            IndexDefinition(pattern: "/l/$any", serving: try QueryIndex($0.keys))
          })
      }
      let list = try session.node(at: path)
      try #require(try inspector.report().faults == [], "seed \(seed), round \(round)")
      for question in questions {
        for detail in [TreeRow.Detail.full, .shallow] {
          try expectSame(question, list, detail, "seed \(seed), round \(round), \(question)")
        }
      }
    }
  }

  /// Live windows over the file, sliding and paged, that are told nothing but values.
  @Test(arguments: Seeds.first(8))
  func randomWritesKeepEveryWindowThatOfTheOracle(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let path = try Path("l/m")
    try session.set("/l/m/pad", #""\#(String(repeating: "p", count: 5000))""#)
    var windows: [LiveWindow] = []
    for number in 0..<10 {
      var window = LiveWindow(try random.naiveQuery())
      if window.question.limit == nil, random.chance(70) {
        window.paging = Paging(anchor: random.pick([.first, .last]), count: random.number(1..<4))
      }
      windows.append(window)
      let request = ListenRequest(
        query: try window.question.query(at: path), paging: window.paging, events: .value)
      windows[number].take(try session.listen(ListenerID(number), request), ListenerID(number))
    }
    for step in 0..<15 {
      let key = try random.key()
      let json = try random.node(depth: 3).exportJSON.jsonText()
      var deliveries = try session.set("/l/m/\(key)", json)
      let extended = windows.indices.filter { windows[$0].paging != nil }.randomElement(
        using: &random.random)
      if let extended, random.chance(40) {
        deliveries += try session.extend(ListenerID(extended), by: random.number(1..<3))
      }
      let list = try session.node(at: path)
      for number in windows.indices {
        windows[number].take(deliveries, ListenerID(number))
        let place = "seed \(seed), step \(step), \(windows[number])"
        try #require(windows[number].isRight(list), "\(place)")
      }
    }
  }

  private func expectSame(
    _ question: NaiveQuery, _ list: Node, _ detail: TreeRow.Detail, _ place: String
  ) throws {
    let query = try question.query(at: Path("l/m"))
    let (rows, report) = try session.scan(query, detail: detail)
    let expected = question.children(of: list)
      .map { TreeRow($0, index: query.index, detail: detail) }
    try #require(rows == expected, "\(place), \(report)")
    try #require(try session.rows(query, detail: detail) == expected)
    #expect(report.shownCount == expected.count)
    #expect(report.scannedCount >= expected.count)
    // An index of the mirrored order reads the rows of equal values together.
    if case .index(let index) = report.way, index.order != query.index.forward { return }
    if question.filter == nil, report.way != .scan, report.way != .record {
      #expect(report.scannedCount == expected.count, "\(place), \(report)")
    }
  }

  @Test func anIndexServesTheOrderWithOppositeDirectionsToo() throws {
    try fill(60)
    var queries: [Query] = []
    for order in ["n", "n:desc", "s", "s:desc", "s:desc,t", "s,t:desc", "s:desc,$key:desc"] {
      for side in [Query.Side.first, .last] {
        queries += try [1, 3, 30, 90].map { try query(order).limited(to: $0, from: side) }
      }
    }
    // Pages go on from the key of a row, among rows of equal values.
    for query in queries {
      guard let row = try session.rows(query, detail: .full).dropFirst().last else { continue }
      let child = Child(key: row.key, node: row.node ?? .empty)
      let values = query.index.sortKeys.filter { $0.field != .key }
        .map { $0.field.index.value(of: child) }
      queries.append(try query.starting(at: values, key: row.key, isInclusive: false))
      queries.append(try query.ending(at: values, key: row.key))
      queries.append(try query.starting(at: Array(values.prefix(1))))
    }
    let expected = try queries.map { try session.rows($0, detail: .full) }
    for orders in [["n", "s", "s,t:desc"], ["n:desc", "s:desc", "s:desc,t"]] {
      let definitions = try orders.map { try definition("/l", $0) }
      try session.declareIndexes(definitions)
      for (query, rows) in zip(queries, expected) {
        let found = try session.scan(query)
        #expect(found.rows == rows, "\(query), \(found.report)")
        #expect(found.report.way != .scan, "\(query)")
      }
      _ = try session.removeIndexes(Set(definitions))
    }
    try session.declareIndexes([try definition("/l", "n")])
    #expect(
      try "\(session.scan(query("n:desc").limited(to: 2, from: .first)).report)"
        == "scanned 2, shown 2, by the index /l n")
  }

  // MARK: Reports

  @Test func aReportTellsTheWayAndTheNumbers() throws {
    try fill(60)
    func report(_ query: Query) throws -> String { try "\(session.scan(query).report)" }
    #expect(try report(query("$key")) == "scanned 60, shown 60, in the order of keys")
    #expect(try report(query("$key:desc")) == "scanned 60, shown 60, in the order of keys")
    #expect(try report(Query(Path("l"))) == "scanned 60, shown 60, in the order of keys")
    #expect(
      try report(query("s").limited(to: 2, from: .last)) == "scanned 60, shown 2, without an index")
    try session.declareIndexes([try definition("/$any", "s"), try definition("/l", "s:desc,t")])
    for order in ["s", "s:desc,$key:desc"] {
      #expect(
        try report(query(order).limited(to: 2, from: .last))
          == "scanned 2, shown 2, by the index /$any s")
    }
    for order in ["s:desc,t", "s,t:desc,$key:desc"] {
      #expect(
        try report(query(order).limited(to: 2, from: .first))
          == "scanned 2, shown 2, by the index /l s:desc,t")
    }
    #expect(try report(query("s:desc")) == "scanned 60, shown 60, without an index")
    #expect(try report(query("s,t")) == "scanned 60, shown 60, without an index")
    try session.set("/r", #"{"a":1,"b":2}"#)
    #expect(
      try report(Query(Path("r")).limited(to: 1, from: .first))
        == "scanned 2, shown 1, within one record")
    #expect(try report(Query(Path("nothing"))) == "scanned 0, shown 0, within one record")
  }

  @Test func childrenAreReadAlongTheOrderUntilTheLimitIsFilled() throws {
    try fill(70)
    try session.declareIndexes([try definition("/l", "n")])
    func scanned(_ query: Query) throws -> [Int] {
      let report = try session.scan(query).report
      return [report.scannedCount, report.shownCount]
    }
    // Every third child has this value of `t`, the first one among them.
    let filter = #"t == "x0""#
    #expect(try scanned(query("n", filter).limited(to: 1, from: .first)) == [1, 1])
    #expect(try scanned(query("n", filter).limited(to: 4, from: .first)) == [10, 4])
    #expect(try scanned(query("n:desc,$key:desc", filter).limited(to: 4, from: .first)) == [10, 4])
    #expect(try scanned(query("n", filter).limited(to: 1, from: .last)) == [1, 1])
    #expect(try scanned(query("n", filter).limited(to: 24, from: .first)) == [70, 24])
    #expect(try scanned(query("n", filter).limited(to: 25, from: .first)) == [70, 24])
    #expect(try scanned(query("$key", "n == 0").limited(to: 1, from: .first)) == [1, 1])
    #expect(try scanned(query("$key", "missing n")) == [70, 0])
  }

  @Test func aPredicateReadsNoMoreOfASplitChildThanItAsksFor() throws {
    try session.set("/l/big", #"{"s":{"deep":5},"rest":\#(largeObject(60))}"#)
    try session.set("/l/small", "5")
    #expect(try session.rows(query("$key", "s/deep == 5")).map(\.key.text) == ["big"])
    #expect(try session.rows(query("$key", "exists rest and missing s/x")).count == 1)
    #expect(try session.rows(query("$key", "$value == 5")).map(\.key.text) == ["small"])
    // What a record below holds is damaged: it is read only if it is in the answer.
    try FileEditor.execute(
      "UPDATE node SET json = x'7B' WHERE length(json) > 90 AND split IS NULL", in: folder.file())
    #expect(try session.rows(query("$key", "s/deep != 5 and exists rest")).isEmpty)
    #expect(try session.rows(query("s/deep", "s/deep == 5"), detail: .shallow).count == 1)
    #expect(throws: DatabaseError.self) { try session.rows(query("$key", "s/deep == 5")) }
  }

  // MARK: Advice

  @Test func anIndexIsAdvisedOnceEnoughChildrenWereRead() throws {
    let least = IndexAdvice.scannedCountMin
    try fill(least - 1)
    let query = try query("s:desc,t").limited(to: 1, from: .first)
    #expect(try session.scan(query).report.advice == nil)
    #expect(session.takeIndexAdvice() == [])
    try session.set("/l/one", #"{"s":1}"#)
    let definition = try definition("/l", "s:desc,t")
    let advice = IndexAdvice(definition: definition, scannedCount: least)
    #expect(try session.scan(query).report.advice == advice)
    let opposite = try self.query("s,t:desc,$key:desc").equal(to: .leaf(.number(9)))
    #expect(try session.scan(opposite).report.advice == advice)
    #expect(session.takeIndexAdvice() == [advice], "The opposite order needs the same index.")
    #expect(session.takeIndexAdvice() == [])
    #expect(try session.scan(self.query("s", "s == 1")).report.advice == nil, "All are asked for.")
    let none = try self.query("$key:desc", "missing n").limited(to: 1, from: .first)
    #expect(try session.scan(none).report.advice == nil, "Keys need no index.")
    try session.declareIndexes([definition])
    #expect(try session.scan(query).report.advice == nil)
    #expect(session.takeIndexAdvice() == [])
  }

  @Test func whatAListenerScansIsAdvisedToo() throws {
    try fill(IndexAdvice.scannedCountMin)
    let query = try query("t:desc").limited(to: 3, from: .first)
    _ = try session.listen(ListenerID(1), ListenRequest(query: query))
    #expect(session.takeIndexAdvice().map(\.definition) == [try definition("/l", "t:desc")])
    try session.set("/l/new", #"{"t":"z"}"#)
    #expect(session.takeIndexAdvice().map(\.scannedCount) == [IndexAdvice.scannedCountMin + 1])
  }

  // MARK: Definitions

  @Test(arguments: [
    "s", "s/t", "$value", "$priority", "s:desc", "s:desc,t", "$value:desc,s", "s,$priority:desc",
    #"a\,b:desc,c\\d"#, "x:desc:asc,y",
  ])
  func aDefinitionIsReadBackFromTheFile(order: String) throws {
    let definition = try definition("/l/$any", order)
    #expect(definition.order.description == order)
    try session.declareIndexes([definition])
    try session.close()
    let reopened = try folder.session()
    #expect(reopened.declaredIndexes == [definition])
    #expect(try reopened.removeIndexes([definition]) == [definition])
    #expect(reopened.declaredIndexes == [])
    try reopened.close()
    #expect(try folder.session().declaredIndexes == [])
  }

  @Test func anOrderAndItsOppositeHaveOneDefinition() throws {
    #expect(try definition("/l", "s:desc,$key:desc") == definition("l/", "s"))
    #expect(
      try definition("/l", "s,t:desc,$key:desc") == definition("/l", "s:desc,t"))
    #expect(try definition("/l", "s") == IndexDefinition(pattern: "/l", child: Path("s")))
  }

  @Test func whatCannotBeDeclaredIsRefused() throws {
    func code(_ pattern: String, _ order: String) -> TreeError.Code? {
      #expect(throws: TreeError.self) { try definition(pattern, order) }?.code
    }
    #expect(code("/l", "$key") == .invalidQuery)
    #expect(code("/l", "$key:desc") == .invalidQuery)
    #expect(code("/l/a.b", "s") == .invalidKey)
    #expect(code("/l/$", "s") == .invalidKey)
    #expect(code("/l/$$a", "s") == .invalidKey)
    #expect(code(String(repeating: "/a", count: 33), "s") == .invalidPath)
    #expect(throws: Never.self) { try definition(String(repeating: "/a", count: 32), "s") }
    #expect(throws: Never.self) { try definition("/", "s") }
  }

  @Test func removingAnIndexTakesItsEntriesOnly() throws {
    try fill(60)
    let (first, second) = (try definition("/l", "s"), try definition("/l", "s:desc,t"))
    try session.declareIndexes([first, second])
    let inspector = try FileInspector(folder.file())
    #expect(try inspector.number("SELECT count(*) FROM index_entry") == 120)
    let missing = try definition("/l", "t")
    #expect(try session.removeIndexes([first, missing]) == [first])
    #expect(session.declaredIndexes == [second])
    #expect(try inspector.number("SELECT count(*) FROM index_entry") == 60)
    #expect(try inspector.report().faults == [])
    #expect(try session.removeIndexes([missing]) == [])
    let query = try query("s")
    #expect(try session.rows(query).count == 60)
  }

  @Test func anIndexThatAnotherSessionRemovedIsNotRead() throws {
    try fill(60)
    let definition = try definition("/l", "s")
    try session.declareIndexes([definition])
    let query = try query("s").limited(to: 5, from: .first)
    for isReadOnly in [true, false] {
      let other = try folder.session(isReadOnly: isReadOnly)
      let before = try other.scan(query)
      #expect(before.report.way == .index(definition))
      try session.removeIndexes([definition])
      let after = try other.scan(query)
      #expect(after.report.way == .scan)
      #expect(after.rows == before.rows)
      // The number of the one that is gone is given to another index.
      try session.declareIndexes([try self.definition("/l", "t:desc")])
      #expect(try other.scan(query).rows == before.rows)
      try session.removeIndexes([try self.definition("/l", "t:desc")])
      try session.declareIndexes([definition])
      #expect(try other.scan(query).report.way == .index(definition))
      try other.close()
    }
  }

  @Test func aDefinitionThatCannotBeReadIsDamage() throws {
    for child in ["#", "#$key", "#$key:desc", "#a,a", "#$nothing", "a.b"] {
      try session.close()
      try FileEditor.execute(
        "DELETE FROM index_definition; INSERT INTO index_definition (pattern, child) "
          + "VALUES ('/l', '\(child)')", in: folder.file())
      #expect(throws: DatabaseError.self, "\(child)") { try folder.session() }
    }
  }
}
