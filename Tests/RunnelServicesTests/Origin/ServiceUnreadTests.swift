import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// Records that cannot be read before they are written, and creations that are answered by no record.
///
/// What others wrote is not overwritten unless the user says so.
///
/// Source: services protocol, section 11.5.
@Suite struct ServiceUnreadTests {
  private typealias Answer = Result<JSONValue, FeathersError>

  /// Makes a world with records that are shown, of which another has changed the first since.
  private func world(hasVersions: Bool = false) throws -> ServiceWorld {
    let world = try ServiceWorld()
    world.server.hasVersions = hasVersions
    for number in 1...3 {
      _ = world.server.handle(.create(data: ["a": .string("a\(number)"), "b": "b"]))
    }
    try world.connect()
    try world.listen(Query(Path("/notes")))
    try world.settle()
    _ = world.server.handle(.patch(id: 1, data: ["a": "theirs"]))
    world.server.log = []
    return world
  }

  private static let faults: [Answer] = [
    .failure(FeathersError(.generalError, "broken")), .success(.null), .success([:]),
    .success("<html>"), .failure(FeathersError(.generalError, "The answer is not JSON.")),
  ]

  private static let edits: [Write] = [
    .set(Path(unchecked: [key("notes"), key("1"), key("a")]), "mine"),
    .set(Path(unchecked: [key("notes"), key("1")]), .null),
  ]

  private static func key(_ text: String) -> Key { Key(unchecked: text) }

  @Test(arguments: faults.indices, edits.indices)
  func recordIsAskedForAgainAfterAFault(fault: Int, edit: Int) throws {
    let world = try world()
    world.server.getAnswers = Array(repeating: ServiceUnreadTests.faults[fault], count: 2)
    let id = try #require(try world.write(ServiceUnreadTests.edits[edit]))
    try world.settle()
    #expect(world.refused[id]?.code == .overwritten, "\(world.refused)")
    #expect(world.server.records.first?["a"] == "theirs")
  }

  @Test(arguments: faults.indices, edits.indices)
  func writeOfARecordThatStaysUnreadableIsRefused(fault: Int, edit: Int) throws {
    let world = try world()
    // Sent again, it is asked for again.
    world.server.getAnswers = Array(repeating: ServiceUnreadTests.faults[fault], count: 6)
    for _ in 0..<2 {
      let id = try #require(try world.write(ServiceUnreadTests.edits[edit]))
      try world.settle()
      let text = world.refused[id]?.message ?? ""
      #expect(text.hasPrefix("The record cannot be read, so it cannot be compared"), "\(text)")
      #expect(!text.contains("sent again"), "\(text)")
    }
    #expect(world.server.getAnswers.isEmpty && world.server.records.first?["a"] == "theirs")
  }

  @Test func writeWaitsForWhoSignsIn() throws {
    let world = try world()
    world.server.getAnswers = [.failure(FeathersError(.notAuthenticated, "jwt expired"))]
    let id = try #require(try world.write(ServiceUnreadTests.edits[0]))
    world.execute(0)
    try world.answer(0)
    #expect(world.signOutCount == 1 && world.refused.isEmpty && world.flights.isEmpty)
    #expect(world.session.pendingWrites.map(\.id) == [id])
    try world.settle()
    #expect(world.refused[id]?.code == .overwritten)
  }

  @Test(
    arguments: [FeathersError.Kind.forbidden, .badRequest, .paymentError], edits.indices)
  func recordThatNobodyMayReadIsWrittenOnlyIfTheSameIsSentAgain(
    kind: FeathersError.Kind, edit: Int
  ) throws {
    let world = try world()
    world.server.getAnswers = Array(repeating: .failure(FeathersError(kind, "no")), count: 3)
    let other = try #require(try world.write(.set(Path("/notes/1/b"), "other")))
    try world.settle()
    let first = try #require(try world.write(ServiceUnreadTests.edits[edit]))
    try world.settle()
    #expect(world.server.records.first?["a"] == "theirs" && world.server.records.count == 3)
    for id in [other, first] {
      let text = world.refused[id]?.message ?? ""
      #expect(
        text.contains("no (\(kind.name)) · sent again, it is written all the same"), "\(text)")
    }
    let again = try #require(try world.write(ServiceUnreadTests.edits[edit]))
    try world.settle()
    #expect(world.acknowledged.contains(again), "\(world.refused)")
    #expect(world.server.records.first { $0["id"] == 1 }?["a"] == (edit == 0 ? "mine" : nil))
  }

  /// Such a service has lists only.
  @Test(arguments: [FeathersError.Kind.methodNotAllowed, .notImplemented])
  func recordOfAServiceWithoutGetIsWrittenAsItIs(kind: FeathersError.Kind) throws {
    let world = try world()
    world.server.getAnswers = [.failure(FeathersError(kind, "no get"))]
    let id = try #require(try world.write(ServiceUnreadTests.edits[0]))
    try world.settle()
    #expect(world.acknowledged.contains(id) && world.server.records[0]["a"] == "mine")
  }

  @Test func restOfAWriteIsSentAgainWithItsFirstRecord() throws {
    let world = try world()
    let forbidden = Answer.failure(FeathersError(.forbidden, "no"))
    func members(_ numbers: ClosedRange<Int>) -> [JSONMember] {
      numbers.map { JSONMember("\($0)/a", "mine") }
    }
    world.server.getAnswers = [forbidden, forbidden]
    let first = try #require(try world.write(.update(Path("/notes"), members(1...3))))
    try world.settle()
    #expect(world.refused[first]?.message.contains("and so are later ones") == true)
    // The first record is left out.
    let rest = try #require(try world.write(.update(Path("/notes"), members(2...3))))
    try world.settle()
    #expect(world.refused[rest] != nil && world.server.records.allSatisfy { $0["a"] != "mine" })
    world.server.getAnswers = [forbidden, forbidden, forbidden]
    let again = try #require(try world.write(.update(Path("/notes"), members(1...3))))
    try world.settle()
    #expect(world.acknowledged.contains(again), "\(world.refused)")
    #expect(world.server.records.allSatisfy { $0["a"] == "mine" })
  }

  /// The write found no record of its version, so the record is read.
  @Test func versionIsNotForgottenSinceTheRecordCannotBeRead() throws {
    let world = try world(hasVersions: true)
    world.server.getAnswers = [
      .failure(FeathersError(.unavailable, "busy")), .failure(FeathersError(.generalError, "x")),
    ]
    let id = try #require(try world.write(ServiceUnreadTests.edits[0]))
    try world.settle()
    #expect(world.refused[id]?.code == .overwritten, "\(world.refused)")
    #expect(world.server.records[0]["a"] == "theirs")
  }

  @Test func recordWithAVersionIsWrittenWithoutItOnlyIfSentAgain() throws {
    let world = try world(hasVersions: true)
    let forbidden = Answer.failure(FeathersError(.forbidden, "no"))
    world.server.getAnswers = [forbidden, forbidden]
    let id = try #require(try world.write(ServiceUnreadTests.edits[0]))
    try world.settle()
    #expect(world.refused[id] != nil && world.server.records[0]["a"] == "theirs")
    let again = try #require(try world.write(ServiceUnreadTests.edits[0]))
    try world.settle()
    #expect(world.acknowledged.contains(again) && world.server.records[0]["a"] == "mine")
  }

  // MARK: Creations

  private func create(_ world: ServiceWorld) throws -> Int64 {
    world.server.createsInSilence = true
    let place = try Path("/notes/-O" + String(repeating: "x", count: 18))
    let id = try #require(try world.write(.set(place, ["text": "new"])))
    try world.settle()
    return id
  }

  private func createCount(_ world: ServiceWorld) -> Int {
    world.server.log.count { $0.hasPrefix("create") }
  }

  @Test func recordThatACreationDidNotTellIsFound() throws {
    let world = try world()
    let id = try create(world)
    #expect(world.acknowledged.contains(id) && createCount(world) == 1)
    #expect(try world.shown()[Key("4")][Key("text")].json == "new")
    #expect(try world.shown().children.count == 4)
  }

  /// It may have done at each call what it did, such as sending a mail.
  @Test func creationWithoutARecordIsNotRepeated() throws {
    let world = try world()
    world.server.keepsNothing = true
    let id = try create(world)
    #expect(world.origin.unknownWrites == [id] && !world.acknowledged.contains(id))
    #expect(createCount(world) == 1)
    try world.restart()
    try world.connect()
    try world.settle()
    #expect(world.origin.unknownWrites == [id] && createCount(world) == 1)
    try world.sendAgain(id)
    try world.settle()
    #expect(createCount(world) == 2 && world.origin.unknownWrites == [id])
    try world.drop(id)
    #expect(world.session.pendingWrites.isEmpty)
  }
}
