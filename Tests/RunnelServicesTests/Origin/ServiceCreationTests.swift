import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import TestSupport
import Testing

/// What becomes of a record that was sent to be created if the answer is lost.
@Suite struct ServiceCreationTests {
  private static let lost = FeathersError(.timeout, "no answer", data: ["isSent": true])
  private let world: ServiceWorld
  private let notes: Path

  init() throws {
    world = try ServiceWorld()
    notes = try Path("/notes")
  }

  private func fill(_ count: Int) {
    for number in 0..<count {
      let data: JSONValue = [
        "text": .string("t\(number)"), "rank": .number(JSONNumber(Int64(number))),
      ]
      _ = world.server.handle(.create(data: data))
    }
    world.server.log = []
  }

  /// Shows the first five by rank.
  private func listenToSome() throws {
    try world.connect()
    try world.listen(Query(notes).ordered(byChild: "rank"), page: 5)
    try world.settle()
  }

  private static func place(_ number: Int) throws -> Path {
    try Path("/notes/-O" + String(repeating: "x", count: 14) + String(1000 + number))
  }

  private func create(_ data: JSONValue, _ number: Int = 0) throws -> Int64 {
    try #require(try world.write(.set(ServiceCreationTests.place(number), data)))
  }

  /// What is read arrives, until a creation is under way; returns its number.
  private func reachCreation() throws -> Int {
    for _ in 0..<1000 {
      let index = world.flights.firstIndex { $0.request.method == .create }
      if let index { return index }
      try #require(!world.flights.isEmpty)
      world.execute(0)
      try world.answer(0)
    }
    throw StillWaiting()
  }

  /// The answer to a call is lost, and the connection stays.
  private func lose(_ index: Int, _ error: FeathersError = ServiceCreationTests.lost) throws {
    world.flights[index].answer = .failure(error)
    try world.answer(index)
  }

  private func creations() -> Int { world.server.log.count { $0.hasPrefix("create") } }

  private var texts: [String] { world.server.records.compactMap { $0["text"]?.string } }

  // MARK: The former key

  /// Who writes may not know yet that the record has an id.
  @Test func writesUnderTheFormerKeyReachTheRecord() throws {
    fill(2)
    try listenToSome()
    let id = try create(["text": "new", "rank": 7])
    try world.settle()
    #expect(world.acknowledged.contains(id) && texts == ["t0", "t1", "new"])
    let place = try ServiceCreationTests.place(0)
    _ = try world.write(.set(try place.appending(Path("text")), "newer"))
    try world.settle()
    #expect(texts == ["t0", "t1", "newer"])
    _ = try world.write(.set(place, .null))
    try world.settle()
    #expect(texts == ["t0", "t1"])
    #expect(try world.shown().children.count == 2)
    // What is made there anew is another record.
    _ = try create(["text": "again", "rank": 7])
    try world.settle()
    #expect(texts == ["t0", "t1", "again"])
    #expect(world.session.pendingWrites.isEmpty && world.refused.isEmpty)
  }

  /// The program ends before the write was sent: the next one knows no former keys.
  @Test func writeUnderTheFormerKeyIsKeptUnderTheNewOne() throws {
    fill(2)
    try listenToSome()
    _ = try create(["text": "new", "rank": 7])
    try world.settle()
    try world.disconnect()
    let place = try ServiceCreationTests.place(0)
    try world.write(.update(place, [JSONMember("text", "newer")]))
    #expect(world.session.pendingWrites.map(\.parts[0].path) == [try Path("/notes/3/text")])
    #expect(try world.shown()[Path("/\(place.keys[1].text)")].isEmpty)
    try world.kill()
    try world.connect()
    try world.settle()
    #expect(texts == ["t0", "t1", "newer"])
    #expect(world.session.pendingWrites.isEmpty && world.refused.isEmpty)
  }

  /// Writes race with answers, losses and ends of the program.
  ///
  /// Who writes knows the former key only, as long as the program runs that has shown it.
  @Test(arguments: UInt64(1)...40) func noWriteStaysAtAFormerKey(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    fill(2)
    try listenToSome()
    var (made, fields): (Int, [Int: Set<String>]) = (0, [:])
    var expected: [Int: Set<String>] = [:]
    for step in 0..<60 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1:
        _ = try world.write(
          .set(
            ServiceCreationTests.place(made),
            ["text": .string("new\(made)"), "rank": .number(JSONNumber(Int64(made)))]))
        fields[made] = []
        made += 1
      case 2...4:
        guard let number = fields.keys.sorted().randomElement(using: &random) else { continue }
        let place = try ServiceCreationTests.place(number)
        try world.write(.update(place, [JSONMember("f\(step)", .number(JSONNumber(Int64(step))))]))
        fields[number]?.insert("f\(step)")
      case 5: try world.disconnect(answered: Bool.random(using: &random))
      case 6, 7: try world.connect()
      case 8 where Int.random(in: 0..<3, using: &random) == 0:
        try world.kill()
        let kept = try world.shown()
        // What is in hand is gone, except where the record still has its key.
        for number in fields.keys.sorted()
        where kept[Path(unchecked: [try ServiceCreationTests.place(number).keys[1]])].isEmpty {
          expected[number] = fields.removeValue(forKey: number)
        }
      case 8, 9: if !world.events.isEmpty { try world.tellEvents() }
      default:
        guard !world.flights.isEmpty else { continue }
        world.execute(0)
        try world.answer(0)
      }
    }
    try world.connect()
    try world.settle()
    #expect(world.refused.isEmpty && world.session.pendingWrites.isEmpty, "seed \(seed)")
    for (number, names) in expected.merging(fields, uniquingKeysWith: { $1 }) {
      let records = world.server.records.filter { $0["text"] == .string("new\(number)") }
      #expect(records.count == 1, "seed \(seed), record \(number)")
      for name in names.sorted() {
        #expect(records.first?[name] != nil, "seed \(seed), record \(number), \(name)")
      }
    }
  }

  // MARK: Twins that were there

  @Test func oldTwinThatNobodyLoadedIsNotTakenForTheNewRecord() throws {
    fill(20)
    try listenToSome()
    let id = try create(["text": "t17", "rank": 17])
    _ = try reachCreation()
    // The server never gets it.
    try world.disconnect()
    try world.connect()
    try world.settle()
    #expect(texts.count { $0 == "t17" } == 2)
    #expect(world.acknowledged.contains(id))
    #expect(world.session.pendingWrites.isEmpty && world.refused.isEmpty)
  }

  @Test func newRecordIsTakenAlthoughThereAreOldTwins() throws {
    fill(20)
    for _ in 0..<12 { _ = world.server.handle(.create(data: ["text": "t17", "rank": 17])) }
    try listenToSome()
    _ = try create(["text": "t17", "rank": 17])
    world.execute(try reachCreation())
    try world.disconnect()
    world.server.log = []
    try world.connect()
    try world.settle()
    #expect(creations() == 0 && texts.count { $0 == "t17" } == 14)
    #expect(world.session.pendingWrites.isEmpty && world.refused.isEmpty)
  }

  @Test func twinThatCannotBeToldLeavesTheOutcomeUnknown() throws {
    world.server.hasTextIDs = true
    fill(20)
    try listenToSome()
    let id = try create(["text": "t17", "rank": 17])
    _ = try reachCreation()
    try world.disconnect()
    try world.connect()
    try world.settle()
    #expect(world.origin.unknownWrites == [id])
    #expect(world.session.pendingWrites.map(\.id) == [id])
    #expect(world.server.records.count == 20)
    // It stays so, whatever happens.
    try world.kill()
    try world.connect()
    try world.settle()
    #expect(world.origin.unknownWrites == [id] && world.server.records.count == 20)
    // The user knows better.
    try world.sendAgain(id)
    try world.settle()
    #expect(texts.count { $0 == "t17" } == 2)
    #expect(world.session.pendingWrites.isEmpty && world.origin.unknownWrites.isEmpty)
  }

  @Test func recordOfUnknownOutcomeCanBeGivenUp() throws {
    world.server.hasTextIDs = true
    fill(20)
    try listenToSome()
    let id = try create(["text": "t17", "rank": 17])
    _ = try reachCreation()
    try world.disconnect()
    try world.connect()
    try world.settle()
    try world.drop(id)
    let next = try create(["text": "other", "rank": 50], 1)
    try world.settle()
    #expect(world.acknowledged.contains(next) && !world.acknowledged.contains(id))
    #expect(world.server.records.count == 21 && world.origin.unknownWrites.isEmpty)
  }

  @Test func idsOfTextsAreToldByTheTimeOfTheirCreation() throws {
    world.server.hasTextIDs = true
    for number in 0..<20 {
      _ = world.server.handle(
        .create(data: [
          "text": .string("t\(number)"), "rank": .number(JSONNumber(Int64(number))),
          "createdAt": .string("2026-01-01T00:00:\(10 + number).000Z"),
        ]))
    }
    try listenToSome()
    _ = try create(["text": "t17", "rank": 17])
    _ = try reachCreation()
    try world.disconnect()
    try world.connect()
    try world.settle()
    #expect(texts.count { $0 == "t17" } == 2)
    #expect(world.session.pendingWrites.isEmpty && world.origin.unknownWrites.isEmpty)
  }

  // MARK: Records that others change

  /// A search does not find it, so it would be made twice.
  @Test(arguments: [false, true])
  func recordThatAnotherMayHaveChangedIsNotSentAgain(isWhole: Bool) throws {
    fill(20)
    try world.connect()
    if isWhole {
      try world.listen(Query(notes))
    } else {
      try world.listen(Query(notes).ordered(byChild: "rank"), page: 5)
    }
    try world.settle()
    let id = try create(["text": "mine", "rank": 50])
    world.execute(try reachCreation())
    try world.disconnect()
    _ = world.server.handle(.patch(id: 21, data: ["text": "theirs"]))
    try world.connect()
    try world.settle()
    #expect(world.origin.unknownWrites == [id] && world.server.records.count == 21)
    #expect(world.session.pendingWrites.map(\.id) == [id])
    #expect(world.doubles.count == 1 && world.doubles.first?.hasPrefix("21 may be") == true)
    // The user knows better.
    try world.sendAgain(id)
    try world.settle()
    #expect(world.server.records.count == 22 && world.acknowledged.contains(id))
  }

  @Test func recordWithTheIDThatWasSentIsNotSentAgain() throws {
    fill(2)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    let id = try #require(try world.write(.set(Path("/notes/50"), ["id": 50, "text": "mine"])))
    _ = try reachCreation()
    world.server.records.append(["id": 50, "text": "theirs"])
    try world.disconnect()
    try world.connect()
    try world.settle()
    #expect(world.origin.unknownWrites == [id] && world.server.records.count == 3)
  }

  @Test func newRecordsOfOthersAreToldFromOneThatIsNotThere() throws {
    fill(20)
    try listenToSome()
    let id = try create(["text": "mine", "rank": 50])
    _ = try reachCreation()
    try world.disconnect()
    _ = world.server.handle(.create(data: ["text": "other", "rank": 3]))
    _ = world.server.handle(.create(data: ["title": "mine", "rank": 50]))
    try world.connect()
    try world.settle()
    #expect(world.acknowledged.contains(id) && world.origin.unknownWrites.isEmpty)
    #expect(texts.count { $0 == "mine" } == 1 && world.server.records.count == 23)
  }

  @Test(arguments: [false, true])
  func ownNewRecordsAreToldFromOneThatIsNotThere(isKilled: Bool) throws {
    fill(1)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    for number in 0..<3 { _ = try create(["text": .string("m\(number)")], number) }
    _ = try reachCreation()
    for index in 0..<2 { world.execute(index) }
    if isKilled {
      for _ in 0..<2 { try world.answer(0) }
      try world.kill()
    } else {
      try world.disconnect(answered: true)
    }
    try world.connect()
    try world.settle()
    #expect(texts == ["t0", "m0", "m1", "m2"])
    #expect(world.origin.unknownWrites.isEmpty && world.session.pendingWrites.isEmpty)
  }

  // MARK: Events

  @Test func eventSettlesACreationWhoseAnswerIsLost() throws {
    fill(3)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    let id = try create(["text": "mine", "rank": 9])
    let index = try reachCreation()
    world.execute(index)
    try world.tellEvents()
    // After a moment, it is one row, under the key of the server.
    try world.tick()
    #expect(world.acknowledged.contains(id))
    #expect(try world.shown().children.map(\.key.text) == ["1", "2", "3", "4"])
    // Another changes it, then the call ends without an answer.
    let (_, event) = world.server.handle(.patch(id: 4, data: ["text": "theirs"]))
    if let event { world.events.append(("notes", event.0, event.1)) }
    try lose(index)
    try world.settle()
    #expect(world.server.records.count == 4 && texts.last == "theirs")
    #expect(try world.rows(Query(notes), "text").last == "theirs")
  }

  @Test func deletedRecordWhoseAnswerWasLostDoesNotComeBack() throws {
    fill(1)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    _ = try create(["text": "mine", "rank": 9])
    let index = try reachCreation()
    world.execute(index)
    try world.tellEvents(twice: true)
    try world.tick()
    try world.write(.remove(Path("/notes/2")))
    try lose(index)
    try world.settle()
    #expect(texts == ["t0"] && creations() == 1)
    #expect(try world.shown().children.map(\.key.text) == ["1"])
  }

  @Test func errorOfAServerThatHasCreatedItMakesNoSecondOne() throws {
    fill(1)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    for (number, code) in [502, 503, 504, 408].enumerated() {
      for isTold in [true, false] {
        let place = number * 2 + (isTold ? 1 : 0)
        let data: JSONValue = ["text": .string("mine\(place)"), "rank": 9]
        let id = try create(data, place)
        let index = try reachCreation()
        world.execute(index)
        if isTold { try world.tellEvents() }
        try lose(index, FeathersError(status: code, body: []))
        try world.settle()
        #expect(world.acknowledged.contains(id), "\(code)")
        #expect(texts.count { $0 == "mine\(place)" } == 1, "\(code)")
      }
    }
    #expect(world.session.pendingWrites.isEmpty && world.refused.isEmpty)
  }

  /// Over REST, a proxy may answer with any number.
  @Test func answerOfSomethingElseMakesNoSecondRecord() throws {
    fill(1)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    var error = FeathersError(status: 520, body: [])
    error.data = ["isSent": true]
    let id = try create(["text": "mine", "rank": 9])
    let index = try reachCreation()
    world.execute(index)
    world.events = []
    try lose(index, error)
    #expect(world.refused.isEmpty)
    try world.settle()
    #expect(world.acknowledged.contains(id) && texts == ["t0", "mine"] && creations() == 1)
  }

  @Test func errorThatTheServiceTellsIsARefusal() throws {
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    let id = try create(["text": "mine", "rank": 9])
    try lose(try reachCreation(), FeathersError(.generalError, "no"))
    try world.settle()
    #expect(world.refused[id] != nil && world.session.pendingWrites.isEmpty)
  }

  @Test func callThatWasNotSentIsSentWithoutASearch() throws {
    fill(1)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    _ = try create(["text": "mine", "rank": 9])
    world.server.log = []
    try lose(
      try reachCreation(), FeathersError(.unavailable, "too many wait", data: ["isSent": false]))
    try world.settle()
    #expect(world.server.log.count { $0.hasPrefix("find") } == 0, "\(world.server.log)")
    #expect(texts == ["t0", "mine"])
  }

  @Test func eventBeforeTheLossOfTheConnectionSettlesACreation() throws {
    fill(20)
    try listenToSome()
    let id = try create(["text": "mine", "rank": 2])
    world.execute(try reachCreation())
    try world.tellEvents()
    try world.disconnect()
    // Another changes it, so that no search would find it.
    _ = world.server.handle(.patch(id: 21, data: ["text": "theirs"]))
    try world.connect()
    try world.settle()
    #expect(world.server.records.count == 21 && world.acknowledged.contains(id))
  }

  @Test func eventOfAnOldRecordThatComesAgainIsNoProof() throws {
    fill(3)
    try world.connect()
    try world.listen(Query(notes))
    try world.settle()
    let (_, event) = world.server.handle(.create(data: ["text": "same", "rank": 1]))
    let told = try #require(event)
    world.events = [("notes", told.0, told.1)]
    try world.tellEvents()
    _ = try create(["text": "same", "rank": 1])
    let index = try reachCreation()
    world.events = [("notes", told.0, told.1)]
    try world.tellEvents(twice: true)
    try lose(index)
    try world.settle()
    #expect(texts.count { $0 == "same" } == 2)
    #expect(world.session.pendingWrites.isEmpty && world.origin.unknownWrites.isEmpty)
  }

  @Test(arguments: [0, 1, 2]) func equalRecordsThatWereSentTogetherAreAllCreated(done: Int) throws {
    fill(20)
    try listenToSome()
    for number in 0..<2 { _ = try create(["text": "same", "rank": 3], number) }
    _ = try reachCreation()
    let sent = world.flights.indices.filter { world.flights[$0].request.method == .create }
    #expect(sent.count == 2)
    for index in sent.prefix(done) { world.execute(index) }
    try world.disconnect()
    try world.connect()
    try world.settle()
    #expect(texts.count { $0 == "same" } == 2)
    #expect(world.session.pendingWrites.isEmpty && world.origin.unknownWrites.isEmpty)
  }

  // MARK: The model

  /// Whatever is lost, repeated, killed or done by others, each creation has one outcome: its record was made
  /// once, or it was refused, or it is called unknown; and no record is taken that was there before.
  @Test(arguments: UInt64(0)..<24) func creationsHaveOneOutcome(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    world.server.pageMax = [nil, 3, 50][Int(seed % 3)]
    world.server.hasTextIDs = seed % 4 == 3
    let names = ["a", "b", "c"]
    for index in 0..<Int.random(in: 0...9, using: &random) {
      _ = world.server.handle(.create(data: ["text": .string(names[index % 3]), "rank": 1]))
    }
    let isWhole = seed % 2 == 0
    let query = try isWhole ? Query(notes) : Query(notes).ordered(byChild: "rank")
    try world.listen(query, page: isWhole ? nil : 2)
    var made: [Int64: String] = [:]
    let old = texts
    for step in 0..<70 {
      switch Int.random(in: 0..<14, using: &random) {
      case 0, 1, 2: try world.connect()
      case 3: try world.disconnect()
      case 4 where step % 3 == 0: try world.kill()
      case 5, 6:
        let name = names[Int.random(in: 0..<3, using: &random)]
        if let id = try world.write(
          .set(ServiceCreationTests.place(step), ["text": .string(name), "rank": 1]))
        {
          made[id] = name
        }
      case 7:
        // Another creates a record with other fields.
        let (_, event) = world.server.handle(
          .create(data: ["title": .string("o\(step)"), "rank": 1]))
        if world.isConnected, let event { world.events.append(("notes", event.0, event.1)) }
      case 8, 9: if !world.events.isEmpty { try world.tellEvents(twice: step % 2 == 0) }
      case 10:
        if !world.flights.isEmpty {
          world.execute(Int.random(in: 0..<world.flights.count, using: &random))
        }
      case 11:
        let done = world.flights.indices.filter { world.flights[$0].answer != nil }
        if let index = done.randomElement(using: &random) { try world.answer(index) }
      case 12:
        let writes = world.flights.indices.filter { world.flights[$0].request.method == .create }
        if let index = writes.randomElement(using: &random) { try lose(index) }
      default: try world.tick()
      }
    }
    try world.connect()
    try world.settle()
    let unknown = Set(world.origin.unknownWrites)
    #expect(Set(world.session.pendingWrites.map(\.id)) == unknown, "seed \(seed)")
    for name in names {
      let ids = made.filter { $0.value == name }.map(\.key)
      let settled = ids.count { world.acknowledged.contains($0) }
      let open = ids.count { unknown.contains($0) }
      let refused = ids.count { world.refused[$0] != nil }
      #expect(ids.count == settled + open + refused, "seed \(seed): \(name)")
      let new = texts.count { $0 == name } - old.count { $0 == name }
      // One of unknown outcome may have been done.
      #expect(
        (settled...settled + open).contains(new),
        "seed \(seed): \(new) of \(name) for \(settled) acknowledged and \(open) unknown")
      // Where ids grow, the outcome is found out.
      if !world.server.hasTextIDs { #expect(open == 0, "seed \(seed): \(name)") }
    }
    let keys = Set(try world.shown().children.map(\.key.text))
    let there = Set(
      world.server.records.compactMap { $0["id"].flatMap { ServiceID(json: $0)?.text } })
    var pending: Set<String> = []
    for write in world.session.pendingWrites {
      if case .set(let path, _) = write.write, let key = path.keys.last { pending.insert(key.text) }
    }
    #expect(keys.isSubset(of: there.union(pending)), "seed \(seed): \(keys)")
    if isWhole { #expect(there.isSubset(of: keys), "seed \(seed): \(keys)") }
  }
}
