import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// Writes of several records, as an import makes them: one record after the other is created, and what was
/// created is not created again.
@Suite struct ServiceImportTests {
  /// The most steps of an import at which a loss is tried: far more than there are.
  private static let stepsMax = 500

  /// How the connection is lost.
  enum Loss: CaseIterable {
    /// The session goes on.
    case connection
    /// The same, and the answers that have come are taken with the loss.
    case connectionAfterAnswers
    /// The program is killed.
    case program
    /// The connection stays, but the answer to a creation does not come; if none is under way, it is lost.
    case answer
  }

  private static let lost = FeathersError(.timeout, "no answer", data: ["isSent": true])
  private let notes: Path

  init() throws { notes = try Path("/notes") }

  /// A service with 20 records, of which the first five are shown.
  private func world(hasTextIDs: Bool = false) throws -> ServiceWorld {
    let world = try ServiceWorld()
    world.server.hasTextIDs = hasTextIDs
    for number in 0..<20 {
      _ = world.server.handle(
        .create(data: ["text": .string("t\(number)"), "rank": .number(JSONNumber(Int64(number)))]))
    }
    try world.connect()
    try world.listen(Query(notes).ordered(byChild: "rank"), page: 5)
    try world.settle()
    world.server.log = []
    return world
  }

  /// The write that imports a number of records, which are `new0`, `new1` and so on.
  private func write(_ count: Int) -> Write {
    .update(
      notes,
      (0..<count).map { number in
        let key = "-O" + String(repeating: "x", count: 14) + String(1000 + number)
        return JSONMember(key, ["text": .string("new\(number)"), "rank": 100])
      })
  }

  private func created(_ world: ServiceWorld) -> [String] {
    world.server.records.dropFirst(20).compactMap { $0["text"]?.string }
  }

  /// Does the next of what can happen: events arrive, a call is carried out, its answer arrives, or the next time
  /// comes.
  ///
  /// - Returns: false if nothing is left.
  private func step(_ world: ServiceWorld) throws -> Bool {
    if !world.events.isEmpty {
      try world.tellEvents()
    } else if let flight = world.flights.first {
      if flight.answer == nil { world.execute(0) } else { try world.answer(0) }
    } else if world.origin.deadline != nil {
      try world.tick()
    } else {
      return false
    }
    return true
  }

  /// The temporary keys under which records are shown.
  private func temporaryKeys(_ world: ServiceWorld) throws -> [String] {
    try world.shown().children.map(\.key.text).filter { $0.hasPrefix("-O") }
  }

  private func lose(_ world: ServiceWorld, _ loss: Loss) throws {
    switch loss {
    case .connection: try world.disconnect()
    case .connectionAfterAnswers: try world.disconnect(answered: true)
    case .program: try world.kill()
    case .answer:
      let creation = world.flights.firstIndex { $0.request.method == .create }
      guard let creation else {
        try world.disconnect()
        break
      }
      world.flights[creation].answer = .failure(ServiceImportTests.lost)
      try world.answer(creation)
    }
    world.server.log = []
    try world.connect()
  }

  // MARK: Losses

  /// An import of five records, with one loss at each step of it: each record is created once, and of those that
  /// were sent only the one without an answer is looked for.
  @Test(arguments: Loss.allCases) func recordsAreCreatedOnceWhereverTheLossComes(
    _ loss: Loss
  ) throws {
    var place = 0
    while place < ServiceImportTests.stepsMax {
      let world = try world()
      let id = try #require(try world.write(write(5)))
      var rest = place
      while rest > 0, try step(world) { rest -= 1 }
      if world.acknowledged.contains(id) { break }
      let before = created(world)
      try lose(world, loss)
      try world.settle()
      #expect(created(world) == (0..<5).map { "new\($0)" }, "\(loss) at step \(place)")
      #expect(world.acknowledged.contains(id), "\(loss) at step \(place)")
      #expect(
        world.session.pendingWrites.isEmpty && world.origin.unknownWrites.isEmpty
          && world.refused.isEmpty, "\(loss) at step \(place)")
      let searches = world.server.log.filter { $0.hasPrefix("find") && $0.contains("\"text\"") }
      #expect(Set(searches).count <= 1, "\(loss) at step \(place): \(searches)")
      for search in searches {
        let names = [before.count - 1, before.count].map { "\"new\($0)\"" }
        #expect(names.contains(where: search.contains), "\(loss) at step \(place): \(search)")
      }
      place += 1
    }
    #expect(place > 10 && place < ServiceImportTests.stepsMax)
  }

  /// The same at a slow server, where what is kept on disk is behind when a record is done.
  ///
  /// Before each record the newest one is asked for. Once the record after the done one was taken for it, and
  /// never created.
  @Test(arguments: Loss.allCases) func recordsAreCreatedOnceAtASlowServer(_ loss: Loss) throws {
    var place = 0
    while place < ServiceImportTests.stepsMax {
      let world = try world()
      let id = try #require(try world.write(write(5)))
      var rest = place
      while rest > 0, try step(world) {
        rest -= 1
        world.now += 40_000
      }
      if world.acknowledged.contains(id) { break }
      try lose(world, loss)
      try world.settle()
      #expect(created(world) == (0..<5).map { "new\($0)" }, "\(loss) at step \(place)")
      #expect(world.acknowledged.contains(id), "\(loss) at step \(place)")
      place += 1
    }
    #expect(place > 10 && place < ServiceImportTests.stepsMax)
  }

  /// The same with several losses one after the other, some of them while the record is looked for.
  @Test(arguments: UInt64(0)..<16) func recordsAreCreatedOnceAfterSeveralLosses(
    seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    let world = try world()
    let id = try #require(try world.write(write(5)))
    for _ in 0..<Int.random(in: 2...5, using: &random) {
      var rest = Int.random(in: 0...7, using: &random)
      while rest > 0, try step(world) { rest -= 1 }
      guard let loss = Loss.allCases.randomElement(using: &random) else { continue }
      try lose(world, loss)
    }
    try world.settle()
    #expect(created(world) == (0..<5).map { "new\($0)" }, "seed \(seed)")
    #expect(world.acknowledged.contains(id) && world.origin.unknownWrites.isEmpty, "seed \(seed)")
    #expect(try temporaryKeys(world) == [], "seed \(seed)")
  }

  /// Of a long import, few records are shown twice: under their temporary keys, too.
  @Test func aLongImportShowsItsRecordsOnce() throws {
    let world = try world()
    let id = try #require(try world.write(write(60)))
    while !world.acknowledged.contains(id), try step(world) {
      let left = try temporaryKeys(world).count
      #expect(created(world).count + left <= 60 + left / 10 + 2)
    }
    #expect(try temporaryKeys(world) == [] && created(world).count == 60)
  }

  /// Where the server's ids do not tell which record is new, one may be called doubtful, but none is created twice.
  ///
  /// Who has it sent again gets the rest.
  @Test(arguments: Loss.allCases) func doubtfulRecordIsToldAndNothingIsRepeated(
    _ loss: Loss
  ) throws {
    var place = 0
    while place < ServiceImportTests.stepsMax {
      let world = try world(hasTextIDs: true)
      let id = try #require(try world.write(write(5)))
      var rest = place
      while rest > 0, try step(world) { rest -= 1 }
      if world.acknowledged.contains(id) { break }
      try lose(world, loss)
      try world.settle()
      let texts = created(world)
      #expect(Set(texts).count == texts.count, "\(loss) at step \(place): \(texts)")
      if world.origin.unknownWrites.isEmpty {
        #expect(texts.count == 5 && world.acknowledged.contains(id), "\(loss) at step \(place)")
      } else {
        #expect(world.origin.unknownWrites == [id], "\(loss) at step \(place)")
        // What is in the queue is the doubtful record and those after it.
        let left = try #require(world.session.pendingWrites.first)
        #expect([texts.count, texts.count - 1].contains(left.doneCount))
        #expect(left.doneCount + left.parts.count == 5, "\(loss) at step \(place)")
        try world.sendAgain(id)
        try world.settle()
        #expect(Set(created(world)).count == 5 && world.session.pendingWrites.isEmpty)
      }
      place += 1
    }
    #expect(place > 10 && place < ServiceImportTests.stepsMax)
  }

  /// Another session takes the write over when this one has gone offline.
  @Test func progressIsOnDisk() throws {
    let world = try world()
    let id = try #require(try world.write(write(5)))
    while created(world).count < 3, try step(world) {}
    try world.disconnect(answered: true)
    try world.kill()
    world.server.log = []
    try world.connect()
    try world.settle()
    #expect(created(world) == (0..<5).map { "new\($0)" } && world.acknowledged.contains(id))
    #expect(world.server.log.count { $0.hasPrefix("create") } == 2)
  }

  // MARK: Refusals

  /// What was created stays created; the rest can be tried again, and the list is whole then.
  @Test(arguments: 0..<5) func refusedImportGoesOnAtTheRefusedRecord(refused: Int) throws {
    let world = try world()
    world.server.refusedTexts = ["new\(refused)"]
    let id = try #require(try world.write(write(5)))
    try world.settle()
    #expect(created(world) == (0..<refused).map { "new\($0)" })
    let message = try #require(world.refused[id]).message
    #expect(message.contains("\(refused) of 5 records were changed before") == (refused > 0))
    #expect(message.contains(" · record \(refused + 1) of 5 (new\(refused))"))
    let rest = try #require(world.rests[id])
    #expect(rest.doneCount == refused && rest.parts.count == 5 - refused)
    #expect(world.session.pendingWrites.isEmpty)
    // It is kept in a file between two runs.
    #expect(PendingWrite(id: rest.id, json: rest.json) == rest)
    world.server.refusedTexts = []
    let again = try #require(try world.write(rest.write))
    try world.settle()
    #expect(created(world) == (0..<5).map { "new\($0)" } && world.acknowledged.contains(again))
    // No row is left of what was refused.
    #expect(try temporaryKeys(world) == [])
  }

  /// The rest is sent again, and is refused again at a later record, also after the program has ended in between.
  @Test(arguments: [false, true]) func restThatIsRefusedAgainCountsAllThatWasDone(
    isKilled: Bool
  ) throws {
    let world = try world()
    world.server.refusedTexts = ["new1"]
    _ = try world.write(write(5))
    try world.settle()
    let kept = try #require(try world.session.refusedWrites().first)
    #expect(kept.write.doneCount == 1)
    world.server.refusedTexts = ["new3"]
    if isKilled { try world.disconnect() }
    let again = try #require(
      try world.write(kept.write.write, taking: RefusedTaking([kept.write.id], isRequired: true)))
    #expect(world.session.pendingWrites.map(\.doneCount) == [1])
    if isKilled {
      try world.kill()
      try world.connect()
    }
    try world.settle()
    let message = try #require(world.refused[again]).message
    #expect(message.contains("record 4 of 5 (new3) · 3 of 5 records were changed before"))
    let rest = try #require(try world.session.refusedWrites().first)
    #expect(rest.write.doneCount == 3 && rest.write.parts.count == 2 && rest.tries == 2)
    #expect(created(world) == (0..<3).map { "new\($0)" })
  }

  /// The first of the rest is the refused record: it can be mended, or left out.
  @Test func restIsSplitAtTheRefusedRecord() throws {
    let world = try world()
    world.server.refusedTexts = ["new2"]
    _ = try world.write(write(5))
    try world.settle()
    let kept = try #require(try world.session.refusedWrites().first).write
    let (record, first, rest) = try #require(kept.firstRecord)
    guard case .update(notes, let members) = kept.write else {
      Issue.record("it is no update: \(kept.write)")
      return
    }
    #expect(record.lastKey?.text == members[0].name && first.parts.map(\.path) == [record])
    #expect(first.write == .set(record, members[0].value))
    #expect(rest == .update(notes, Array(members.dropFirst())))
    var single = first
    single.write = .update(record, [JSONMember("a", 1), JSONMember("b", 2)])
    #expect(single.firstRecord == nil && first.firstRecord == nil)
    _ = try world.write(rest, taking: RefusedTaking([kept.id], isRequired: true))
    try world.settle()
    #expect(created(world) == ["new0", "new1", "new3", "new4"])
    #expect(try world.session.refusedWrites().isEmpty)
  }

  @Test func importThatIsGivenUpEndsWithTheRecordUnderWay() throws {
    let world = try world()
    let id = try #require(try world.write(write(5)))
    while created(world).count < 3, try step(world) {}
    try world.drop(id)
    try world.settle()
    #expect(created(world) == (0..<3).map { "new\($0)" })
    #expect(world.session.pendingWrites.isEmpty && world.origin.sent.progress.isEmpty)
    // Others are written as before.
    let next = try #require(try world.write(write(1)))
    try world.settle()
    #expect(world.acknowledged.contains(next) && created(world).count == 4)
  }

  // MARK: Work

  /// The bytes kept on disk for a record do not depend on how many others the import has.
  @Test func aRecordOfALargeImportCostsAsMuchAsOneOfASmallOne() throws {
    var costs: [Int] = []
    for count in [25, 100] {
      let world = try world()
      let before = world.savedBytes
      _ = try world.write(write(count))
      try world.settle()
      #expect(created(world).count == count)
      costs.append((world.savedBytes - before) / count)
    }
    #expect(costs[1] <= costs[0] + 20, "\(costs) bytes for a record")
  }
}
