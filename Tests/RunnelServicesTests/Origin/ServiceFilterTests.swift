import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// Filters, orders and pages of a replica, as queries of a service.
@Suite struct ServiceFilterTests {
  private let world: ServiceWorld
  private let notes: Path

  init() throws {
    world = try ServiceWorld()
    notes = try Path("/notes")
    world.server.pageMax = 50
  }

  private func fill(_ count: Int) {
    for number in 0..<count {
      _ = world.server.handle(
        .create(data: [
          "text": .string("t\(number)"), "rank": .number(JSONNumber(Int64(number % 7))),
        ]))
    }
    world.server.log = []
  }

  private var finds: [String] { world.server.log.filter { $0.hasPrefix("find") } }

  private func open(_ query: Query, page: Int? = nil) throws {
    try world.connect()
    try world.listen(query, page: page)
    try world.settle()
  }

  private func texts(_ query: Query) throws -> [String] { try world.rows(query, "text") }

  private func predicate(_ text: String) throws -> ChildPredicate {
    try ChildPredicate(parsing: text)
  }

  /// Another client makes a call, and its event arrives.
  private func others(_ request: ServiceRequest) throws {
    let (_, event) = world.server.handle(request)
    if let event { world.events.append(("notes", event.0, event.1)) }
    try world.tellEvents()
  }

  // MARK: What the server is asked

  @Test func serverFindsWhatFitsAndNothingElseIsLoaded() throws {
    fill(300)
    let query = try Query(notes).ordered(by: .key)
      .filtered(by: predicate("rank == 3 and text != \"t10\""))
    try open(query, page: 5)
    #expect(finds.count == 2, "\(finds)")
    #expect(finds.last?.contains("\"rank\":3,\"$or\":[{\"text\":{\"$ne\":\"t10\"}},") == true)
    #expect(try texts(query.limited(to: 5, from: .first)) == ["t3", "t17", "t24", "t31", "t38"])
    #expect(try world.shown().children.count < 20)
    try world.extend(by: 20)
    try world.settle()
    #expect(finds.count <= 4, "\(finds)")
    #expect(try texts(query.limited(to: 12, from: .first)).last == "t87")
  }

  @Test func orderOfSeveralFieldsIsAskedForByPages() throws {
    fill(300)
    let order = try QueryIndex([SortKey("rank", isDescending: true), SortKey("text")])
    let query = try Query(notes).ordered(by: order)
    try open(query, page: 4)
    #expect(finds.last?.contains("\"$sort\":{\"rank\":-1,\"text\":1,\"id\":1}") == true)
    #expect(try texts(query.limited(to: 4, from: .first)) == ["t104", "t111", "t118", "t125"])
    #expect(try world.shown().children.count < 30)
  }

  @Test func largeServiceIsOpenedByItsFirstPage() throws {
    fill(2_000)
    world.server.pageMax = 1_000
    let query = try Query(notes).ordered(by: .key)
    try open(query, page: 50)
    #expect(finds.count == 2, "\(finds)")
    #expect(try world.shown().children.count < 100)
    // A record that is asked for by its key is got alone.
    try world.listen(query.equal(to: .leaf(.string("1900"))))
    try world.settle()
    #expect(world.server.log.last?.hasPrefix("get 1900") == true)
    #expect(try world.shown().children.count < 101)
    try world.listen(query.equal(to: .leaf(.string("9000"))))
    try world.settle()
    #expect(finds.count == 2)
  }

  @Test(arguments: [
    ("rank == 3", "{\"rank\":3}"),
    ("rank > 1 and rank <= 4", "{\"rank\":{\"$gt\":1,\"$lte\":4}}"),
    ("rank == 1 or rank == 2 or rank == 5", "{\"rank\":{\"$in\":[1,2,5]}}"),
    ("rank == 1 or text == \"a\"", "{\"$or\":[{\"rank\":1},{\"text\":\"a\"}]}"),
    ("not (rank != 1 or a/b != \"x\")", "{\"rank\":1,\"a.b\":\"x\"}"),
    ("missing done", "{\"done\":null}"), ("done", "{\"done\":true}"),
    ("$key == \"7\"", "{\"id\":{\"$in\":[7,\"7\"]}}"), ("$key == \"ab\"", "{\"id\":\"ab\"}"),
    ("rank == 3 and text contains \"t\"", "{\"rank\":3} in part"),
    (
      "(rank == 1 or done) and (rank == 2 or text == \"a\")",
      "{\"$or\":[{\"rank\":1},{\"done\":true}],\"$and\":[{\"$or\":[{\"rank\":2},{\"text\":\"a\"}]}]}"
    ),
    ("text contains \"t\"", "here"), ("rank == 3 or text begins \"t\"", "here"),
    ("exists done", "here"), ("not rank > 3", "here"), ("$priority == 3", "here"),
  ])
  func predicateIsSaidAsAQuery(_ text: String, _ expected: String) throws {
    let found = FindCondition(try predicate(text), idField: "id", isTextual: false)
    let words = found.map { $0.query.json.jsonText() + ($0.isWhole ? "" : " in part") } ?? "here"
    #expect(words == expected)
  }

  @Test func overTextsOnlyTextsAreSaid() throws {
    for (text, isSaid) in [
      ("rank == 3", false), ("text == \"a\"", true), ("text > \"a\"", true),
      ("missing done", false),
    ] {
      let found = FindCondition(try predicate(text), idField: "id", isTextual: true)
      #expect((found != nil) == isSaid, "\(text)")
    }
  }

  /// What the server finds has to be all of which the predicate holds.
  @Test(arguments: UInt64(0)..<4) func serverFindsAllThatFits(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    func leaf() -> Leaf {
      [.number(1), .number(2), .string("a"), .string("b"), .bool(true)]
        .randomElement(using: &random) ?? .number(1)
    }
    func made(_ depth: Int) throws -> ChildPredicate {
      let field = try RowField(["a", "b", "c/d"].randomElement(using: &random) ?? "a")
      switch Int.random(in: 0..<(depth > 0 ? 6 : 3), using: &random) {
      case 0: return .exists(field)
      case 1, 2:
        let ways = ChildPredicate.Comparison.allCases
        return .compare(field, ways.randomElement(using: &random) ?? .equal, leaf())
      case 3: return .not(try made(depth - 1))
      case 4: return .all([try made(depth - 1), try made(depth - 1)])
      default: return .any([try made(depth - 1), try made(depth - 1)])
      }
    }
    func value() -> JSONValue {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: .null
      case 1: ["x": 1]
      default: leaf().json
      }
    }
    var saidCount = 0
    for _ in 0..<300 {
      let predicate = try made(3)
      guard let found = FindCondition(predicate, idField: "id", isTextual: false) else { continue }
      saidCount += 1
      let reading = try QueryReading(
        found.query, rules: QueryRules(operators: ["$and"]))
      for _ in 0..<20 {
        var record: JSONValue = ["id": "k"]
        for name in ["a", "b"] where Bool.random(using: &random) {
          record = record.setting(name, to: value())
        }
        if Bool.random(using: &random) { record = record.setting("c", to: ["d": value()]) }
        let stored = try ServiceRecordCoding.stored(record, key: "k", idField: "id")
        let child = Child(key: try Key("k"), node: try Node(json: stored))
        if predicate.holds(of: child) {
          #expect(
            try reading.matches(record),
            "seed \(seed): \(predicate) as \(found.query.json) of \(record.jsonText())")
          #expect(found.predicate.holds(of: child), "seed \(seed): \(predicate)")
        }
      }
    }
    #expect(saidCount > 50)
  }

  @Test func fieldThatIsNullIsMissing() throws {
    for (text, place) in [("a", JSONValue?.some("shelf")), ("b", .some(.null)), ("c", nil)] {
      var data: JSONValue = ["text": .string(text)]
      if let place { data = data.setting("place", to: place) }
      _ = world.server.handle(.create(data: data))
    }
    let (without, with) = (
      try predicate("missing place").countingNull, try predicate("exists place").countingNull
    )
    // A replica keeps its queries as texts.
    for made in [without, with] { #expect(try predicate(made.description) == made) }
    #expect(try predicate("not exists place").countingNull == without)
    try open(Query(notes).ordered(by: .key).filtered(by: without), page: 5)
    #expect(finds.last?.contains("{\"place\":null,") == true, "\(finds)")
    #expect(try texts(Query(notes).ordered(by: .key).filtered(by: without)) == ["b", "c"])
    try world.listen(Query(notes).ordered(by: .key).filtered(by: with))
    try world.settle()
    #expect(finds.last?.contains("{\"place\":{\"$ne\":null},") == true, "\(finds)")
    #expect(try texts(Query(notes).ordered(by: .key).filtered(by: with)) == ["a"])
  }

  // MARK: What stays here

  @Test func whatTheServerRefusesIsFilteredHere() throws {
    fill(60)
    world.server.refusedNames = ["rank"]
    let query = try Query(notes).ordered(by: .key).filtered(by: predicate("rank == 3"))
    try open(query, page: 5)
    #expect(try texts(query.limited(to: 5, from: .first)) == ["t3", "t10", "t17", "t24", "t31"])
    #expect(finds.count { $0.contains("rank") } == 1, "\(finds)")
  }

  @Test func whatNoQuerySaysIsReadUntilEnoughFits() throws {
    fill(400)
    let query = try Query(notes).ordered(by: .key).filtered(by: predicate("text contains \"9\""))
    try open(query, page: 3)
    #expect(try texts(query.limited(to: 3, from: .first)) == ["t9", "t19", "t29"])
    #expect(try world.shown().children.count < 100)
  }

  @Test func eventsMoveRecordsIntoAFilteredListAndOut() throws {
    fill(30)
    let query = try Query(notes).ordered(by: .key).filtered(by: predicate("rank == 3"))
    try open(query)
    #expect(try texts(query) == ["t3", "t10", "t17", "t24"])
    let before = finds.count
    try others(.patch(id: 4, data: ["rank": 5]))
    try others(.patch(id: 6, data: ["rank": 3]))
    try others(.create(data: ["text": "new", "rank": 3]))
    try others(.remove(id: 25))
    #expect(try texts(query) == ["t5", "t10", "t17", "new"])
    #expect(finds.count == before)
  }

  @Test func filteredListIsShownWithoutTheServerAfterARestart() throws {
    fill(30)
    let order = try QueryIndex([SortKey("rank", isDescending: true), SortKey("text")])
    let query = try Query(notes).ordered(by: order).filtered(by: predicate("rank > 4"))
    try open(query, page: 3)
    let shown = try texts(query.limited(to: 3, from: .first))
    #expect(shown == ["t13", "t20", "t27"])
    try world.kill()
    #expect(try texts(query.limited(to: 3, from: .first)) == shown)
    try world.connect()
    try world.settle()
    #expect(try texts(query.limited(to: 3, from: .first)) == shown)
  }

  // MARK: Pages

  @Test func pageAfterChangesIsAskedForByValues() throws {
    fill(200)
    let query = try Query(notes).ordered(byChild: "rank")
    try open(query, page: 10)
    for id in 1...8 { try others(.remove(id: ServiceID(Int64(id * 7 - 6)))) }
    world.server.log = []
    try world.extend(by: 30)
    try world.settle()
    #expect(
      finds.first?.contains("\"$or\":[{\"rank\":{\"$gt\":0}},{\"rank\":0,\"id\":{\"$gt\":") == true)
    #expect(!finds.contains { $0.contains("$skip\":0") })
    let expected = world.server.records.filter { $0["rank"]?.int == 0 || $0["rank"]?.int == 1 }
    let texts = try texts(query.limited(to: 28, from: .first))
    let wanted = expected.sorted {
      ($0["rank"]?.int ?? 0, $0["id"]?.int ?? 0) < ($1["rank"]?.int ?? 0, $1["id"]?.int ?? 0)
    }
    #expect(texts == wanted.prefix(28).compactMap { $0["text"]?.string })
  }

  @Test func serverThatRefusesToBeAskedByValuesIsAskedBySkipping() throws {
    fill(100)
    world.server.refusedNames = ["$or"]
    let query = try Query(notes).ordered(byChild: "rank")
    try open(query, page: 5)
    try others(.remove(id: 1))
    try world.extend(by: 20)
    try world.settle()
    #expect(finds.count { $0.contains("$or") } == 1, "\(finds)")
    #expect(try texts(query.limited(to: 20, from: .first)).count == 20)
  }

  /// Whatever others do between the pages, a list has each record once, in its order.
  @Test(arguments: UInt64(0)..<6) func pagesHaveEachRecordOnce(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    fill(42)
    world.server.pageMax = [4, 9, 50][Int(seed % 3)]
    var query = try Query(notes).ordered(byChild: "rank")
    if seed % 2 == 1 { query = try query.filtered(by: predicate("rank > 1 or text == \"new\"")) }
    try open(query, page: 3)
    for step in 0..<20 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        try others(.create(data: ["text": "new", "rank": .number(JSONNumber(Int64(step % 7)))]))
      case 1, 2:
        if let id = world.server.records.randomElement(using: &random)?["id"] {
          try others(.remove(id: ServiceID(json: id)))
        }
      case 3:
        if let id = world.server.records.randomElement(using: &random)?["id"] {
          try others(
            .patch(id: ServiceID(json: id), data: ["rank": .number(JSONNumber(Int64(step % 9)))]))
        }
      default:
        try world.extend(by: 5)
        try world.settle()
      }
    }
    try world.extend(by: 100)
    try world.settle()
    let wanted = world.server.records.filter { record in
      seed % 2 == 0 || (record["rank"]?.int ?? 0) > 1 || record["text"] == "new"
    }.sorted {
      ($0["rank"]?.int ?? 0, $0["id"]?.int ?? 0) < ($1["rank"]?.int ?? 0, $1["id"]?.int ?? 0)
    }
    let shown = try world.rows(query, "text")
    #expect(shown == wanted.compactMap { $0["text"]?.string }, "seed \(seed)")
  }
}
