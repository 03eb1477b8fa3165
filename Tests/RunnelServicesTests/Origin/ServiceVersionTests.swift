import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// Writes of records that have a version: nobody's change is lost.
///
/// Source: services protocol, section 11.5.
@Suite struct ServiceVersionTests {
  private let world: ServiceWorld

  init() throws {
    world = try ServiceWorld()
    world.server.hasVersions = true
    for number in 0..<2 {
      _ = world.server.handle(.create(data: ["text": .string("t\(number)"), "rank": 0]))
    }
    world.server.log = []
    try world.connect()
    try world.listen(Query(Path("/notes")))
    try world.settle()
    world.server.log = []
  }

  /// Another client changes a record; of that no event arrives.
  private func change(_ id: ServiceID, _ data: JSONValue) {
    _ = world.server.handle(.patch(id: id, data: data))
    world.server.log = []
  }

  @Test func aWriteNamesTheVersionThatItChanges() throws {
    try world.write(.set(Path("/notes/1/text"), "mine"))
    try world.settle()
    #expect(world.server.log == [#"patch 1 {"version":1}"#])
    #expect(world.server.records[0]["version"] == 2)
    try world.write(.remove(Path("/notes/1")))
    try world.settle()
    #expect(world.server.log.last == #"remove 1 {"version":2}"#)
    #expect(world.server.records.count == 1)
  }

  @Test func changesOfDifferentFieldsAreMerged() throws {
    change(1, ["rank": 7])
    try world.write(.set(Path("/notes/1/text"), "mine"))
    try world.settle()
    #expect(world.server.records[0] == ["id": 1, "text": "mine", "rank": 7, "version": 3])
    #expect(world.refused.isEmpty)
    #expect(try world.shown().children.first?.node.json["rank"] == 7)
  }

  @Test func changesOfTheSameFieldRefuseTheLaterWrite() throws {
    change(1, ["text": "theirs"])
    let id = try #require(try world.write(.set(Path("/notes/1/text"), "mine")))
    let other = try #require(try world.write(.set(Path("/notes/1/rank"), 5)))
    try world.settle()
    #expect(world.refused[id]?.code == .overwritten)
    #expect(world.refused[id]?.message.contains(#"text is "theirs" now"#) == true)
    #expect(world.acknowledged.contains(other), "the other field is written")
    #expect(world.server.records[0]["text"] == "theirs")
    #expect(world.server.records[0]["rank"] == 5)
    #expect(try world.rows(Query(Path("/notes")).ordered(by: .key), "text") == ["theirs", "t1"])
  }

  @Test func theSameChangeByTwoIsNoConflict() throws {
    change(1, ["text": "same"])
    let id = try #require(try world.write(.set(Path("/notes/1/text"), "same")))
    try world.settle()
    #expect(world.acknowledged.contains(id) && world.refused.isEmpty)
  }

  @Test func aRecordThatOthersHaveChangedIsNotRemoved() throws {
    change(1, ["text": "theirs"])
    let id = try #require(try world.write(.remove(Path("/notes/1"))))
    try world.settle()
    #expect(world.refused[id]?.code == .overwritten)
    #expect(world.server.records.count == 2)
    // Whoever has seen the change can remove it.
    try world.write(.remove(Path("/notes/1")))
    try world.settle()
    #expect(world.server.records.count == 1)
  }

  @Test func aRecordThatIsGoneRefusesChangesAndIsRemovedOnce() throws {
    _ = world.server.handle(.remove(id: 1))
    _ = world.server.handle(.remove(id: 2))
    let id = try #require(try world.write(.set(Path("/notes/1/text"), "mine")))
    let removal = try #require(try world.write(.remove(Path("/notes/2"))))
    try world.settle()
    #expect(world.refused[id]?.code == .notFound)
    #expect(world.acknowledged.contains(removal))
    #expect(try world.shown().children.isEmpty)
  }

  @Test func anAnswerThatIsLostMakesNoConflict() throws {
    let id = try #require(try world.write(.set(Path("/notes/1/text"), "mine")))
    world.execute(0)
    try world.disconnect()
    try world.connect()
    try world.settle()
    #expect(world.acknowledged.contains(id) && world.refused.isEmpty)
    #expect(world.server.records[0]["text"] == "mine")
  }

  @Test func aServerThatFindsNoVersionIsWrittenWithout() throws {
    world.server.readsTextsOnly = true
    try world.write(.set(Path("/notes/1/text"), "mine"))
    try world.settle()
    try world.write(.set(Path("/notes/2/text"), "too"))
    try world.settle()
    #expect(world.server.records.map { $0["text"] } == ["mine", "too"])
    let patches = world.server.log.filter { $0.hasPrefix("patch") }
    #expect(patches == [#"patch 1 {"version":1}"#, "patch 1 {}", "patch 2 {}"])
    #expect(world.refused.isEmpty)
  }

  @Test func aServerThatRefusesTheConditionIsWrittenWithout() throws {
    world.server.refusedNames = ["version"]
    try world.write(.set(Path("/notes/1/text"), "mine"))
    try world.settle()
    #expect(world.server.records[0]["text"] == "mine")
    #expect(world.refused.isEmpty)
  }

  @Test func aRefusalForAnotherReasonKeepsTheVersions() throws {
    let no = FeathersError(.badRequest, "no")
    world.server.refusals = [no, no]
    let id = try #require(try world.write(.set(Path("/notes/1/text"), "rude")))
    try world.settle()
    #expect(world.refused[id]?.message == "no (BadRequest)")
    try world.write(.set(Path("/notes/2/text"), "kind"))
    try world.settle()
    #expect(world.server.log.last == #"patch 2 {"version":1}"#)
  }

  /// Two clients change fields of few records at random: each write that is acknowledged is on the server
  /// unless a later one was made of the same field, and no write of the other is lost.
  @Test(arguments: UInt64(0)..<8) func noChangeOfAnotherIsLost(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var written: [Int64: (field: String, value: String)] = [:]
    var theirs: [String: String] = [:]
    for step in 0..<40 {
      let record = Int.random(in: 0..<2, using: &random)
      let (mine, other) = ("m\(Int.random(in: 0..<3, using: &random))", "o\(record)")
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        if let id = try world.write(
          .set(Path("/notes/\(record + 1)/\(mine)"), .string("s\(step)")))
        {
          written[id] = ("\(record)/\(mine)", "s\(step)")
        }
      case 2:
        // The other client writes fields of its own; sometimes its event is late or lost.
        let request = ServiceRequest.patch(
          id: ServiceID(Int64(record + 1)), data: .object([JSONMember(other, .string("s\(step)"))]))
        let (_, event) = world.server.handle(request)
        theirs["\(record)/\(other)"] = "s\(step)"
        if let event, step % 3 > 0 { world.events.append(("notes", event.0, event.1)) }
      case 3: if !world.flights.isEmpty { world.execute(0) }
      case 4: if world.flights.first?.answer != nil { try world.answer(0) }
      default: try world.tellEvents(twice: step % 2 == 0)
      }
    }
    try world.settle()
    #expect(world.refused.isEmpty, "seed \(seed): \(world.refused)")
    func value(_ place: String) -> String? {
      let parts = place.split(separator: "/").map(String.init)
      return Int(parts[0]).flatMap { world.server.records[$0][parts[1]]?.string }
    }
    for (place, text) in theirs { #expect(value(place) == text, "seed \(seed): \(place)") }
    var last: [String: String] = [:]
    for (_, write) in written.sorted(by: { $0.key < $1.key }) { last[write.field] = write.value }
    for (place, text) in last { #expect(value(place) == text, "seed \(seed): \(place)") }
    #expect(world.session.pendingWrites.isEmpty, "seed \(seed)")
  }
}
