import RunnelBase
import RunnelServices
import Testing

@Suite struct LiveListTests {
  /// A list with the answers of a service that the test gives.
  private struct Script {
    var list: LiveList
    var asked: [(number: Int, query: ServiceQuery)] = []
    var now: Int64 = 0

    init(
      _ query: ServiceQuery, _ mode: LiveList.Mode = .page, operators: Set<String> = []
    ) throws {
      list = try LiveList(query, mode: mode, operators: operators)
      take(list.load(now: 0))
    }

    mutating func take(_ effects: [LiveList.Effect]) {
      for case .find(let number, let query) in effects { asked.append((number, query)) }
    }

    mutating func answer(_ records: [JSONValue], total: Int) throws {
      let (number, _) = try #require(asked.isEmpty ? nil : asked.removeFirst())
      let page = ServicePage(total: total, limit: 3, skip: 0, records: records)
      take(list.answered(number, ServiceResult(page.json), now: now))
    }

    mutating func tell(_ event: ServiceEvent, _ record: JSONValue) {
      take(list.take(event, record, now: now))
    }

    var numbers: [Int] { list.rows.compactMap { $0["n"]?.int } }
  }

  private func record(_ n: Int64, id: Int64? = nil) -> JSONValue {
    ["id": .number(JSONNumber(id ?? n)), "n": .number(JSONNumber(n))]
  }

  private func loaded(_ query: ServiceQuery) throws -> Script {
    var script = try Script(query)
    try script.answer([record(1), record(3), record(5)], total: 5)
    #expect(script.numbers == [1, 3, 5] && script.list.total == 5 && script.list.hasMore)
    #expect(script.asked.isEmpty)
    return script
  }

  /// Case 40 of the specification.
  @Test func aPageIsKeptCurrent() throws {
    var script = try loaded(["$sort": ["n": 1], "$limit": 3])
    script.tell(.created, record(2))
    #expect(script.numbers == [1, 2, 3] && script.list.total == 6)
    script.tell(.created, record(8))
    #expect(script.numbers == [1, 2, 3] && script.list.total == 7)
    #expect(script.asked.isEmpty)
    script.tell(.removed, record(2))
    #expect(script.numbers == [1, 3] && script.list.total == 6)
    let text = """
      {"$sort":{"n":1,"id":1},"$or":[{"n":{"$gt":3}},{"n":3,"id":{"$gt":3}}],"$limit":1}
      """
    #expect(try script.asked.first?.query == ServiceQuery(text: text))
    try script.answer([record(5)], total: 4)
    #expect(script.numbers == [1, 3, 5])
    // Whether 6 or 7 comes next only the service knows.
    script.tell(.patched, ["id": 3, "n": 6])
    #expect(script.numbers == [1, 5])
    try script.answer([record(6, id: 3)], total: 3)
    #expect(script.numbers == [1, 5, 6])
    #expect(script.list.total == 6)
  }

  @Test func aServiceThatAnswersTheSameAgainAndAgainIsNotAskedForEver() throws {
    var script = try Script(["$sort": ["n": 1], "$limit": 9], .list)
    var answers = 0
    while !script.asked.isEmpty, answers < 50 {
      try script.answer([record(1), record(3), record(5)], total: 100)
      answers += 1
    }
    #expect(answers == 3 && script.numbers == [1, 3, 5] && script.list.hasMore)
    // Who wants more may ask again.
    script.take(script.list.fetchMore(3, now: 0))
    #expect(script.asked.count == 1)
    try script.answer([record(6)], total: 97)
    #expect(script.numbers == [1, 3, 5, 6])
  }

  @Test func anEventDuringTheQuestionIsAppliedToTheAnswer() throws {
    var script = try Script(["$sort": ["n": 1], "$limit": 3])
    script.tell(.created, record(0))
    script.tell(.removed, record(3))
    script.tell(.patched, ["id": 1, "n": 4])
    try script.answer([record(1), record(3), record(5)], total: 5)
    #expect(script.numbers.prefix(3) == [0, 4, 5])
    #expect(!script.list.isTotalExact)
  }

  @Test func theAlternativesOfAQueryDecideAboutEvents() throws {
    var script = try loaded([
      "$or": [["kind": "a"], ["n": ["$lt": 10]]], "$sort": ["n": 1], "$limit": 3,
    ])
    script.tell(.created, ["id": 20, "n": 20, "kind": "b"])
    #expect(script.list.total == 5)
    script.tell(.created, ["id": 2, "n": 2, "kind": "b"])
    #expect(script.numbers == [1, 2, 3])
    script.tell(.removed, record(1))
    // The query has an `$or` of its own: both have to hold.
    let asked = try #require(script.asked.first?.query)
    #expect(asked["$or"]?.array?.count == 2 && asked["$and"]?.array?.count == 1)
  }

  @Test func afterAReconnectionRowsThatStayAreTheSame() throws {
    var script = try loaded(["$sort": ["n": 1], "$limit": 3])
    script.now = 10_000
    script.take(script.list.reconnected(now: script.now))
    #expect(script.numbers == [1, 3, 5], "nothing flickers")
    try script.answer([record(1), record(4), record(5)], total: 5)
    #expect(script.numbers == [1, 4, 5])
  }

  @Test func whatCannotBeDecidedIsAskedOnceInAWhile() throws {
    var script = try Script(["text": ["$like": "a%"], "$limit": 3], operators: ["$like"])
    try script.answer([record(1)], total: 1)
    for _ in 0..<1000 { script.tell(.created, record(7)) }
    #expect(script.asked.isEmpty)
    #expect(script.list.deadline == 500)
    script.now = 500
    script.take(script.list.tick(now: 500))
    #expect(script.asked.count == 1)
    for _ in 0..<1000 { script.tell(.created, record(7)) }
    try script.answer([record(1), record(7)], total: 2)
    #expect(script.asked.isEmpty && script.list.deadline == 1000)
  }

  @Test func moreRowsAreFetchedBehindTheLast() throws {
    var script = try Script(["$sort": ["n": -1], "$limit": 2], .list)
    try script.answer([record(9), record(7)], total: 4)
    script.take(script.list.fetchMore(2, now: 0))
    let text = """
      {"$sort":{"n":-1,"id":1},"$or":[{"n":{"$lt":7}},{"n":7,"id":{"$gt":7}}],"$limit":2}
      """
    #expect(try script.asked.first?.query == ServiceQuery(text: text))
    // One that comes in before the window repeats no row.
    script.tell(.created, record(10))
    try script.answer([record(5), record(3)], total: 2)
    #expect(script.numbers == [10, 9, 7, 5, 3] && !script.list.hasMore)
  }

  @Test func aFailedQuestionIsAskedAgain() throws {
    var script = try Script(["$limit": 3])
    let error = FeathersError(.unavailable, "gone")
    let number = try #require(script.asked.first?.number)
    script.asked = []
    script.take(script.list.failed(number, error, now: 0))
    #expect(script.list.error == error && script.list.deadline == 5_000)
    script.now = 5_000
    script.take(script.list.tick(now: 5_000))
    try script.answer([record(1)], total: 1)
    #expect(script.numbers == [1] && script.list.error == nil)
  }
}

/// A service, a list of its records, and answers and events that take their time.
@Suite struct LiveListOracleTests {
  private struct World {
    private enum Delivery {
      case question(Int, ServiceQuery)
      case answer(Int, ServiceResult)
      case failure(Int)
      case event(ServiceEvent, JSONValue)
    }

    var random: RandomQueries
    var list: LiveList
    var records: [Int: JSONValue] = [:]
    var now: Int64 = 0
    private var underway: [(time: Int64, order: Int, delivery: Delivery)] = []
    private var order = 0
    private var lastEventTime: Int64 = 0
    var isFaulty = true
    var questionCount = 0

    init(seed: UInt64, _ query: ServiceQuery, _ mode: LiveList.Mode) throws {
      random = RandomQueries(seed: seed)
      list = try LiveList(query, mode: mode)
      for id in 0..<random.number(0..<12) { records[id] = made(id) }
      take(list.load(now: 0))
    }

    private mutating func made(_ id: Int) -> JSONValue {
      var members = [JSONMember("id", .number(JSONNumber(Int64(id))))]
      if !random.chance(8) {
        members.append(JSONMember("n", .number(JSONNumber(Int64(random.number(0..<6))))))
      }
      members.append(JSONMember("kind", .string(random.pick(["a", "b", "c"]))))
      return .object(members)
    }

    private mutating func send(_ delivery: Delivery, at time: Int64) {
      order += 1
      underway.append((time, order, delivery))
    }

    mutating func take(_ effects: [LiveList.Effect]) {
      for case .find(let number, let query) in effects {
        questionCount += 1
        send(.question(number, query), at: now + Int64(random.number(1..<200)))
      }
    }

    mutating func change() {
      let id = random.number(0..<16)
      let event: ServiceEvent
      let record: JSONValue
      switch (records[id], random.number(0..<3)) {
      case (nil, _):
        record = made(id)
        (event, records[id]) = (.created, record)
      case (let old?, 0):
        record = old
        (event, records[id]) = (.removed, nil)
      default:
        record = made(id)
        (event, records[id]) = (.updated, record)
      }
      // Events keep their order.
      lastEventTime = max(lastEventTime, now + Int64(random.number(1..<150)))
      send(.event(event, record), at: lastEventTime)
    }

    private var sorted: [JSONValue] { records.keys.sorted().compactMap { records[$0] } }

    func answer(_ query: ServiceQuery) throws -> ServiceResult {
      let rules = QueryRules(pages: PageRules(standard: 5, max: 50))
      return ServiceResult(
        try QueryReading(query, rules: rules).answer(over: sorted, idField: "id", isPaged: true))
    }

    /// True if something is still to come.
    var isBusy: Bool { !underway.isEmpty || list.deadline != nil }

    mutating func step() throws {
      let next = underway.indices.min {
        (underway[$0].time, underway[$0].order) < (underway[$1].time, underway[$1].order)
      }
      let arrival = next.map { underway[$0].time } ?? .max
      let deadline = list.deadline ?? .max
      now = max(now, min(arrival, deadline))
      guard let next, arrival <= deadline else { return take(list.tick(now: now)) }
      switch underway.remove(at: next).delivery {
      case .question(let number, let query):
        let time = now + Int64(random.number(1..<200))
        if isFaulty, random.chance(12) { return send(.failure(number), at: time) }
        send(.answer(number, try answer(query)), at: time)
      case .answer(let number, let result): take(list.answered(number, result, now: now))
      case .failure(let number):
        take(list.failed(number, FeathersError(.unavailable, "lost"), now: now))
      case .event(let event, let record): take(list.take(event, record, now: now))
      }
    }
  }

  @Test(arguments: 0..<400 as Range<UInt64>)
  func afterQuietTheListIsTheAnswerOfTheService(seed: UInt64) throws {
    var choice = RandomQueries(seed: seed ^ 0x5EED)
    let isPage = choice.chance(2)
    var query = ServiceQuery()
    if choice.chance(2) { query = query.or(["kind": "a"], ["n": ["$gt": 2]]) }
    if !choice.chance(4) {
      query = query.sort(choice.pick(["n", "kind"]), choice.chance(2) ? .ascending : .descending)
    }
    if !choice.chance(5) { query = query.limit(choice.number(1..<6)) }
    if isPage, choice.chance(2) { query = query.skip(choice.number(1..<4)) }
    var world = try World(seed: seed, query, isPage ? .page : .list)
    for _ in 0..<150 {
      switch choice.number(0..<4) {
      case 0: world.change()
      case 1 where !isPage && choice.chance(6):
        world.take(world.list.fetchMore(2, now: world.now))
      default: if world.isBusy { try world.step() }
      }
      #expect(world.list.rows.count <= 20)
    }
    world.isFaulty = false
    var steps = 0
    while world.isBusy, steps < 2000 {
      try world.step()
      steps += 1
    }
    #expect(steps < 2000, "seed \(seed): it is never quiet")
    var expected = query
    if query["$sort"]?["id"] == nil { expected = expected.sort("id") }
    if !isPage { expected = expected.limit(max(world.list.rows.count, 1)) }
    let answer = try world.answer(expected)
    #expect(world.list.rows == answer.records, "seed \(seed): \(query.json)")
    #expect(world.list.total == answer.page?.total, "seed \(seed)")
    let total = answer.page?.total ?? 0
    #expect(world.list.hasMore == (world.list.skip + world.list.rows.count < total), "seed \(seed)")
  }
}
