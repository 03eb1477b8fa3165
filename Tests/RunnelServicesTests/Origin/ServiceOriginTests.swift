import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// A replica whose origin is a service of a Feathers server.
@Suite struct ServiceOriginTests {
  private let world: ServiceWorld
  private let notes: Path

  init() throws {
    world = try ServiceWorld()
    notes = try Path("/notes")
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

  private func finds() -> Int { world.server.log.count { $0.hasPrefix("find") } }

  @Test func collectionIsReadPageByPage() throws {
    fill(23)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    #expect(try world.shown().children.count == 23)
    // One for the name of the id; the pages of five overlap by two.
    #expect(finds() < 12, "\(world.server.log)")
  }

  @Test func windowAsksForItsOrderAndNoMoreThanItShows() throws {
    fill(40)
    world.server.pageMax = 50
    try world.connect()
    let query = try Query(notes).ordered(byChild: "rank")
    try world.listen(query, page: 5)
    try world.settle()
    #expect(world.server.log.contains { $0.contains("\"$sort\":{\"rank\":1,\"id\":1}") })
    let first = finds()
    #expect(
      try world.rows(query.limited(to: 5, from: .first), "text") == [
        "t0", "t7", "t14", "t21", "t28",
      ])
    try world.extend(by: 5)
    try world.settle()
    #expect(finds() <= first + 2)
    #expect(
      try world.rows(query.limited(to: 8, from: .first), "text")
        == ["t0", "t7", "t14", "t21", "t28", "t35", "t1", "t8"])
  }

  @Test func eventsKeepWhatWasReadCurrent() throws {
    fill(3)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    let before = finds()
    for request in [
      ServiceRequest.create(data: ["text": "new"]), .patch(id: 1, data: ["text": "changed"]),
      .remove(id: 2),
    ] {
      let (_, event) = world.server.handle(request)
      if let event { world.events.append(("notes", event.0, event.1)) }
    }
    try world.tellEvents(twice: true)
    #expect(try world.shown().children.map(\.key.text) == ["1", "3", "4"])
    #expect(try world.rows(Query(notes).ordered(by: .key), "text") == ["changed", "t2", "new"])
    #expect(finds() == before)
  }

  /// What was read before, for a list that nobody looks at any more, would show them without a connection.
  @Test func removedRecordsAreGoneFromAllThatWasReadBefore() throws {
    fill(12)
    try world.connect()
    try world.listen(Query(notes).limited(to: 5, from: .first))
    try world.settle()
    try world.listen(Query(notes).ordered(byChild: "rank").limited(to: 8, from: .first))
    try world.settle()
    try world.unlisten()
    let gone: Set = ["1", "2", "8"]
    try world.write(.update(notes, gone.sorted().map { JSONMember($0, .null) }))
    try world.settle()
    #expect(world.server.records.count == 9)
    #expect(try gone.isDisjoint(with: world.shown().children.map(\.key.text)))
    let (_, event) = world.server.handle(.remove(id: 3))
    if let event { world.events.append(("notes", event.0, event.1)) }
    try world.tellEvents()
    #expect(try !world.shown().children.map(\.key.text).contains("3"))
  }

  @Test func writeIsPendingUntilTheServerHasAnswered() throws {
    fill(1)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    let id = try #require(try world.write(.set(Path("/notes/1/text"), "mine")))
    #expect(world.session.pendingWrites.map(\.id) == [id])
    try world.reachWrite()
    world.execute(0)
    #expect(world.acknowledged.isEmpty)
    try world.answer(0)
    #expect(world.acknowledged == [id])
    #expect(world.server.records[0]["text"] == "mine")
    #expect(world.server.log.last?.hasPrefix("patch 1") == true)
  }

  @Test func newRecordGetsTheIDOfTheServer() throws {
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    try world.write(.set(Path("/notes/-OaBcDeFgHiJkLmNoPqR"), ["text": "hello"]))
    #expect(try world.shown().children.map(\.key.text) == ["-OaBcDeFgHiJkLmNoPqR"])
    try world.settle()
    #expect(try world.shown().children.map(\.key.text) == ["1"])
    #expect(world.server.records == [["id": 1, "text": "hello"]])
  }

  @Test func refusedWriteIsTakenBackWithTheErrorOfTheServer() throws {
    fill(1)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    world.server.refusals = [
      FeathersError(.unprocessable, "no", errors: ["text": "is too rude"])
    ]
    let id = try #require(try world.write(.set(Path("/notes/1/text"), "rude")))
    try world.settle()
    #expect(world.refused[id]?.message == "no (Unprocessable): text: is too rude")
    #expect(try world.rows(Query(notes), "text") == ["t0"])
    #expect(world.session.pendingWrites.isEmpty)
  }

  @Test func refusalOfASchemaNamesTheFields() throws {
    fill(1)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    world.server.refusals = [
      FeathersError(
        .badRequest, "validation failed",
        data: [["instancePath": "/text", "message": "is no mail"], ["message": "is odd"]])
    ]
    let id = try #require(try world.write(.set(Path("/notes/1/text"), "x")))
    try world.settle()
    #expect(
      world.refused[id]?.message == "validation failed (BadRequest): text: is no mail; is odd")
  }

  @Test func waitingWritesOfARecordBecomeOneCall() throws {
    fill(1)
    let key = "-OaBcDeFgHiJkLmNoPqR"
    try world.write(.set(Path("/notes/\(key)"), ["text": "a"]))
    try world.write(.set(Path("/notes/\(key)/rank"), 3))
    try world.write(.set(Path("/notes/\(key)/text"), "b"))
    try world.write(.set(Path("/notes/-OaBcDeFgHiJkLmNoPqS"), ["text": "never seen"]))
    try world.write(.remove(Path("/notes/-OaBcDeFgHiJkLmNoPqS")))
    try world.connect()
    try world.settle()
    let writes = world.server.log.filter { !$0.hasPrefix("find") && !$0.hasPrefix("get") }
    #expect(writes.count == 1, "\(writes)")
    #expect(world.server.records.last == ["id": 2, "rank": 3, "text": "b"])
    #expect(world.session.pendingWrites.isEmpty && world.refused.isEmpty)
  }

  @Test func fieldThatGoesReplacesTheRecord() throws {
    fill(1)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    try world.write(.remove(Path("/notes/1/rank")))
    try world.settle()
    #expect(world.server.records == [["text": "t0", "id": 1]])
  }

  @Test func lostAnswerToACreationMakesNoSecondRecord() throws {
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    let id = try #require(
      try world.write(.set(Path("/notes/-OaBcDeFgHiJkLmNoPqR"), ["text": "once"])))
    world.execute(0)
    try world.kill()
    #expect(world.session.pendingWrites.map(\.id) == [id])
    try world.connect()
    try world.settle()
    #expect(world.server.records == [["id": 1, "text": "once"]])
    #expect(try world.shown().children.map(\.key.text) == ["1"])
    #expect(world.session.pendingWrites.isEmpty && world.refused.isEmpty)
  }

  @Test func additionOfUnknownOutcomeIsNotRepeated() throws {
    fill(1)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    let id = try #require(
      try world.write(.set(Path("/notes/1/rank"), [".sv": ["increment": 1]])))
    try world.reachWrite()
    world.execute(0)
    try world.disconnect()
    try world.connect()
    try world.settle()
    #expect(world.server.records[0]["rank"] == 1)
    #expect(world.origin.unknownWrites == [id])
    #expect(world.session.pendingWrites.map(\.id) == [id])
    try world.sendAgain(id)
    try world.settle()
    #expect(world.server.records[0]["rank"] == 2)
    #expect(world.session.pendingWrites.isEmpty && world.origin.unknownWrites.isEmpty)
  }

  @Test func writesThatWereDoneAreKeptOnDiskUntilTheReplicaWasTold() throws {
    var origin = ServiceOrigin()
    origin.connected(pending: [])
    let commands = try (1...100).map { number in
      let digits = String(number)
      let key = "-O" + String(repeating: "0", count: 18 - digits.count) + digits
      return OriginCommand.write(
        id: Int64(number), .set(try Path("/notes/\(key)"), ["text": .string("t\(number)")]))
    }
    func answers(_ effects: [ServiceOrigin.Effect]) -> [ServiceOriginTests.Answer] {
      effects.compactMap { effect in
        guard case .call(let number, _, let request) = effect, let data = request.data else {
          return nil
        }
        return (number, .success(data.setting("id", to: .string("id\(number)"))))
      }
    }
    // Before a record is created, it is asked what is there.
    let asked = origin.send(commands, now: 0).compactMap { effect in
      if case .call(let number, _, _) = effect { number } else { nil }
    }
    #expect(asked.count == 1)
    let begun = answers(origin.answered(asked[0], .success([]), now: 0))
    #expect(begun.count == 64)
    let effects = origin.answered(Array(begun.prefix(40)), now: 0)
    var (saved, told): ([SentWrites], [[OriginMessage]]) = ([], [])
    for effect in effects {
      if case .save(let sent) = effect { saved.append(sent) }
      if case .tell(let messages) = effect { told.append(messages) }
    }
    // All in one step, and the disk still has them, should the program end before it is done.
    #expect(saved.map { Set($0.creations.keys) } == [Set(1...100)])
    let done = told.flatMap(\.self).compactMap { message in
      if case .acknowledged(let id) = message { id } else { nil }
    }
    #expect(told.count == 1 && done == Array(1...40))
    let later = origin.answered(Array(begun.suffix(24)) + Array(answers(effects).prefix(4)), now: 0)
    for case .save(let sent) in later { #expect(sent.creations.keys.allSatisfy { $0 > 40 }) }
  }

  private typealias Answer = (number: Int, answer: Result<JSONValue, FeathersError>)

  @Test func rootIsRefusedSinceServersDoNotListServices() throws {
    try world.connect()
    try world.listen(Query(.root))
    #expect(world.flights.isEmpty)
  }

  /// Whatever is lost, repeated or killed: each record that was made is on the server once, or was
  /// refused in words, and the replica shows what the server has.
  @Test(arguments: UInt64(0)..<12) func queueAgreesWithAModel(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var made: [Int64: String] = [:]
    world.server.pageMax = [nil, 3, 50][Int(seed % 3)]
    fill(Int.random(in: 0...6, using: &random))
    try world.listen(Query(notes))
    for step in 0..<60 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1: try world.connect()
      case 2: try world.disconnect()
      case 3: try world.kill()
      case 4, 5:
        let key = "-O" + String(repeating: "x", count: 14) + String(1000 + step)
        if let id = try world.write(
          .set(Path("/notes/\(key)"), ["text": .string("new\(step)")]))
        {
          made[id] = "new\(step)"
        }
      case 6, 7:
        let keys = try world.shown().children.map(\.key.text)
        guard let key = keys.randomElement(using: &random) else { continue }
        try world.write(.set(Path("/notes/\(key)/mark"), .string("m\(step)")))
      case 8: if !world.events.isEmpty { try world.tellEvents(twice: step % 2 == 0) }
      case 9:
        if !world.flights.isEmpty {
          world.execute(Int.random(in: 0..<world.flights.count, using: &random))
        }
      case 10:
        let done = world.flights.indices.filter { world.flights[$0].answer != nil }
        if let index = done.randomElement(using: &random) { try world.answer(index) }
      default: try world.tick()
      }
    }
    try world.connect()
    try world.settle()
    let texts = world.server.records.compactMap { $0["text"]?.string }
    for (id, text) in made {
      let count = texts.count { $0 == text }
      let isRefused = world.refused[id] != nil
      #expect(count == 1 || isRefused, "seed \(seed): \(text) is there \(count) times")
      #expect(count <= 1, "seed \(seed): \(text) is there \(count) times")
    }
    #expect(world.session.pendingWrites.isEmpty, "seed \(seed)")
    let ids = Set(world.server.records.compactMap { $0["id"]?.jsonText() })
    #expect(Set(try world.shown().children.map(\.key.text)) == ids, "seed \(seed)")
    for record in world.server.records {
      let id = record["id"]?.jsonText() ?? ""
      let node = try world.shown()[Key(id)]
      let mark = try Key("mark")
      #expect(node[mark].leaf?.json == record["mark"], "seed \(seed): \(id)")
    }
  }
}
