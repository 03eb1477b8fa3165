import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// Writes that wait while others change the same records: nothing is overwritten in silence.
///
/// Source: services protocol, section 11.5.
@Suite struct ServiceConflictTests {
  /// Makes a world with records `{a, b, c}` that are shown: all, or the first of a window.
  private func world(hasVersions: Bool, records: Int = 2, page: Int? = nil) throws -> ServiceWorld {
    let world = try ServiceWorld()
    world.server.hasVersions = hasVersions
    for number in 1...records {
      _ = world.server.handle(
        .create(data: [
          "a": .string("a\(number)"), "b": .string("b\(number)"), "c": .string("c\(number)"),
        ]))
    }
    try world.connect()
    try world.listen(Query(Path("/notes")), page: page)
    try world.settle()
    world.server.log = []
    return world
  }

  /// Another client changes a record; of that no event arrives.
  private func change(_ world: ServiceWorld, _ id: ServiceID, _ data: JSONValue) {
    _ = world.server.handle(.patch(id: id, data: data))
    world.server.log = []
  }

  @Test(arguments: [false, true], [nil, 5])
  func aFieldThatBothHaveChangedOfflineIsRefused(hasVersions: Bool, page: Int?) throws {
    let world = try world(hasVersions: hasVersions, page: page)
    try world.disconnect()
    let id = try #require(try world.write(.set(Path("/notes/1/a"), "mine")))
    let other = try #require(try world.write(.set(Path("/notes/1/b"), "mine")))
    change(world, 1, ["a": "theirs", "c": "theirs"])
    try world.kill()
    try world.connect()
    try world.settle()
    #expect(world.refused[id]?.code == .overwritten)
    #expect(world.refused[id]?.message.contains(#"a is "theirs" now"#) == true)
    #expect(world.acknowledged.contains(other))
    let record = world.server.records[0]
    #expect(record["a"] == "theirs" && record["b"] == "mine" && record["c"] == "theirs")
  }

  @Test(arguments: [false, true]) func whatWasTypedOverARefusedWriteIsRefused(
    hasVersions: Bool
  ) throws {
    let world = try world(hasVersions: hasVersions)
    try world.disconnect()
    let first = try #require(try world.write(.set(Path("/notes/1/a"), "one")))
    let second = try #require(try world.write(.set(Path("/notes/1/a"), "two")))
    change(world, 1, ["a": "theirs"])
    try world.connect()
    try world.settle()
    #expect(world.refused[first]?.code == .overwritten)
    #expect(world.refused[second]?.code == .overwritten)
    #expect(world.server.records[0]["a"] == "theirs")
  }

  /// The removal is what is wanted of the record: without it nothing is sent.
  @Test(arguments: [false, true]) func anEditBeforeARemovalIsNotSentWithoutIt(
    hasVersions: Bool
  ) throws {
    let world = try world(hasVersions: hasVersions)
    try world.disconnect()
    let edits = try ["a", "c"].map { field in
      try #require(try world.write(.set(Path("/notes/1/\(field)"), "mine")))
    }
    let removal = try #require(try world.write(.remove(Path("/notes/1"))))
    change(world, 1, ["b": "theirs"])
    try world.connect()
    try world.settle()
    for id in edits + [removal] { #expect(world.refused[id]?.code == .overwritten) }
    let record = world.server.records[0]
    #expect(record["a"] == "a1" && record["b"] == "theirs" && record["c"] == "c1")
    #expect(!world.server.log.contains { $0.hasPrefix("patch") || $0.hasPrefix("remove") })
  }

  /// Nobody else has changed it.
  @Test func anEditBeforeARemovalIsTheRemoval() throws {
    let world = try world(hasVersions: false)
    try world.disconnect()
    try world.write(.set(Path("/notes/1/a"), "mine"))
    try world.write(.remove(Path("/notes/1")))
    try world.connect()
    try world.settle()
    #expect(
      world.server.log.filter { !$0.hasPrefix("find") && !$0.hasPrefix("get") } == ["remove 1 {}"])
    #expect(world.session.pendingWrites.isEmpty && world.refused.isEmpty)
  }

  @Test(arguments: [false, true], [nil, 5])
  func aRecordThatOthersHaveChangedIsNotRemoved(hasVersions: Bool, page: Int?) throws {
    let world = try world(hasVersions: hasVersions, page: page)
    try world.disconnect()
    let id = try #require(try world.write(.remove(Path("/notes/1"))))
    let other = try #require(try world.write(.remove(Path("/notes/2"))))
    change(world, 1, ["c": "theirs"])
    try world.connect()
    try world.settle()
    #expect(world.refused[id]?.code == .overwritten)
    #expect(world.acknowledged.contains(other))
    #expect(world.server.records.map { $0["id"] } == [1])
  }

  @Test(arguments: [false, true]) func aRecordThatIsReplacedKeepsWhatOthersHaveChanged(
    hasVersions: Bool
  ) throws {
    let world = try world(hasVersions: hasVersions)
    var record = try world.shown()[Key("1")].json
    record = record.setting("a", to: "mine")
    try world.disconnect()
    let id = try #require(try world.write(.set(Path("/notes/1"), record)))
    change(world, 1, ["b": "theirs"])
    try world.connect()
    try world.settle()
    #expect(world.acknowledged.contains(id), "\(world.refused)")
    #expect(world.server.records[0]["a"] == "mine" && world.server.records[0]["b"] == "theirs")
  }

  @Test func aFieldThatGoesTakesNoOtherFieldBack() throws {
    let world = try world(hasVersions: false)
    change(world, 1, ["b": "theirs"])
    try world.write(.remove(Path("/notes/1/a")))
    try world.settle()
    #expect(world.server.records[0] == ["b": "theirs", "c": "c1", "id": 1])
    #expect(try world.shown()[Key("1")][Key("b")].json == "theirs")
  }

  @Test func aServiceThatGivesNoSingleRecordsIsWrittenAsItsListSays() throws {
    let world = try world(hasVersions: false)
    world.server.hasNoGet = true
    let id = try #require(try world.write(.set(Path("/notes/1/a"), "mine")))
    try world.settle()
    #expect(world.acknowledged.contains(id) && world.refused.isEmpty)
    #expect(world.server.records[0]["a"] == "mine")
    #expect(try world.shown().children.count == 2)
  }

  @Test func whatTheServerMakesOfAWriteIsNoChangeOfAnother() throws {
    let world = try world(hasVersions: false)
    world.server.uppercases = true
    let first = try #require(try world.write(.set(Path("/notes/1/a"), "one")))
    try world.reachWrite()
    let second = try #require(try world.write(.set(Path("/notes/1/a"), "two")))
    try world.settle()
    #expect(world.acknowledged.isSuperset(of: [first, second]), "\(world.refused)")
    #expect(world.server.records[0]["a"] == "TWO")
  }

  @Test func writesWhoseAnswerWasLostAreNoChangesOfAnother() throws {
    let world = try world(hasVersions: false)
    try world.disconnect()
    let first = try #require(try world.write(.set(Path("/notes/1/a"), "one")))
    let second = try #require(try world.write(.set(Path("/notes/1/a"), "two")))
    try world.connect()
    for _ in 0..<10 where !world.flights.isEmpty {
      try world.reachWrite()
      if world.flights.isEmpty { continue }
      world.execute(0)
      break
    }
    #expect(world.server.records[0]["a"] == "two")
    try world.kill()
    try world.connect()
    try world.settle()
    #expect(world.acknowledged.isSuperset(of: [first, second]), "\(world.refused)")
  }

  // MARK: A model

  /// A write that was made here without a connection.
  private struct Made {
    var id: Int64
    var record: Int
    /// The fields that it sets, or removes; nil for the whole record.
    var fields: [String: String?]?
  }

  private static let names = ["a", "b", "c", "d"]

  /// Random edits here without a connection, and random edits there: each field of both sides is merged, or its
  /// write is refused in words; no answer that is lost changes that.
  @Test(arguments: UInt64(0)..<30) func eachFieldIsMergedOrRefused(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let world = try world(
      hasVersions: seed % 2 == 0, records: 4, page: seed % 3 == 0 ? 10 : nil)
    for round in 0..<4 {
      let before = world.server.records
      try world.disconnect()
      var made: [Made] = []
      for step in 0..<Int.random(in: 1...6, using: &random) {
        if let write = try write(world, "m\(round).\(step)", &random) { made.append(write) }
        if Int.random(in: 0..<8, using: &random) == 0 { try world.kill() }
      }
      for step in 0..<Int.random(in: 0...4, using: &random) {
        changeThere(world, before, "t\(round).\(step)", &random)
      }
      let theirs = world.server.records
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        try world.connect()
        for _ in 0..<Int.random(in: 0...12, using: &random) { try step(world, &random) }
        if Bool.random(using: &random) { try world.disconnect() } else { try world.kill() }
      }
      try world.connect()
      try world.settle()
      check(world, made, before, theirs, "seed \(seed), round \(round)")
    }
  }

  /// Something of a connection happens.
  private func step(_ world: ServiceWorld, _ random: inout SeededRandom) throws {
    if world.flights.isEmpty { return }
    let index = Int.random(in: 0..<world.flights.count, using: &random)
    if world.flights[index].answer == nil { return world.execute(index) }
    try world.answer(index)
  }

  private func write(
    _ world: ServiceWorld, _ value: String, _ random: inout SeededRandom
  ) throws -> Made? {
    guard let record = try world.shown().children.randomElement(using: &random),
      let number = Int(record.key.text)
    else { return nil }
    let path = try Path("/notes/\(number)")
    let names = ServiceConflictTests.names.shuffled(using: &random)
    var fields: [String: String?]? = [names[0]: value]
    let write: Write
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      (write, fields) = (.remove(path), nil)
    case 1:
      if try record.node[Key(names[0])].isEmpty { return nil }
      fields = [names[0]: String?.none]
      write = .remove(try path.appending(Path(names[0])))
    case 2:
      fields = [names[0]: value, names[1]: value]
      write = .update(
        path, [JSONMember(names[0], .string(value)), JSONMember(names[1], .string(value))])
    case 3:
      // The whole record, as an editor leaves it.
      write = .set(path, record.node.json.setting(names[0], to: .string(value)))
    default: write = .set(try path.appending(Path(names[0])), .string(value))
    }
    return try world.write(write).map { Made(id: $0, record: number, fields: fields) }
  }

  private func changeThere(
    _ world: ServiceWorld, _ before: [JSONValue], _ value: String, _ random: inout SeededRandom
  ) {
    guard let number = before.randomElement(using: &random)?["id"]?.int else { return }
    let id = ServiceID(Int64(number))
    if Int.random(in: 0..<6, using: &random) == 0 {
      _ = world.server.handle(.remove(id: id))
    } else {
      let name = ServiceConflictTests.names[Int.random(in: 0..<4, using: &random)]
      _ = world.server.handle(
        .patch(id: id, data: .object([JSONMember(name, .string(value))])))
    }
  }

  private func check(
    _ world: ServiceWorld, _ made: [Made], _ before: [JSONValue], _ theirs: [JSONValue],
    _ hint: Comment
  ) {
    func record(_ number: Int?, _ records: [JSONValue]) -> JSONValue? {
      records.first { $0["id"]?.int == number }
    }
    #expect(world.session.pendingWrites.isEmpty, hint)
    for write in made {
      let isDone = world.acknowledged.contains(write.id)
      #expect(isDone != (world.refused[write.id] != nil), "\(hint): \(write)")
    }
    for old in before {
      let number = old["id"]?.int
      let new = record(number, world.server.records)
      let done = made.filter { $0.record == number && world.acknowledged.contains($0.id) }
      guard let other = record(number, theirs) else {
        #expect(new == nil, "\(hint): others removed \(old)")
        continue
      }
      let isChanged = ServiceConflictTests.names.contains { other[$0] != old[$0] }
      if done.contains(where: { $0.fields == nil }) {
        #expect(new == nil && !isChanged, "\(hint): \(old) was removed, others left \(other)")
        continue
      }
      for name in ServiceConflictTests.names {
        let mine = done.compactMap { $0.fields?[name] }.last
        if other[name] != old[name] {
          #expect(new?[name] == other[name], "\(hint): \(name) of \(other), \(done)")
          #expect(mine == nil, "\(hint): \(name) of \(other), \(done)")
        } else if let mine {
          #expect(new?[name]?.string == mine, "\(hint): \(name), \(done)")
        } else {
          #expect(new?[name] == old[name], "\(hint): \(name) of \(old)")
        }
      }
      // What touches no field of the others is done, unless it was made upon what is gone.
      for write in made where write.record == number && !isChanged {
        #expect(world.refused[write.id] == nil, "\(hint): \(write)")
      }
    }
  }
}
