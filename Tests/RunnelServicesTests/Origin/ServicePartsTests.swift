import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// Writes of several records, some of which others have changed meanwhile: each record is written once, or is refused
/// in its turn, whatever becomes of those before it.
///
/// Source: services protocol, section 11.5.
@Suite struct ServicePartsTests {
  /// What the write of several does to its records.
  enum Kind: CaseIterable {
    case edit
    case removal

    /// The write that does it to records.
    func write(_ records: [Int], _ value: String = "mine") throws -> Write {
      .update(
        try Path("/notes"),
        records.map { number in
          switch self {
          case .edit: JSONMember("\(number)/a", .string(value))
          case .removal: JSONMember("\(number)", .null)
          }
        })
    }
  }

  /// Makes a world with records `{a, b}`, numbered from 1, that are shown: all, or the first of a window.
  static func world(hasVersions: Bool, records: Int, page: Int? = nil) throws -> ServiceWorld {
    let world = try ServiceWorld()
    world.server.hasVersions = hasVersions
    for number in 1...records {
      _ = world.server.handle(
        .create(data: ["a": .string("a\(number)"), "b": .string("b\(number)")]))
    }
    try world.connect()
    try world.listen(Query(Path("/notes")), page: page)
    try world.settle()
    return world
  }

  /// Another client changes a record; of that no event arrives.
  private func change(_ world: ServiceWorld, _ number: Int, _ data: JSONValue = ["a": "theirs"]) {
    _ = world.server.handle(.patch(id: ServiceID(Int64(number)), data: data))
    world.server.replaced = []
  }

  private func only(_ world: ServiceWorld) throws -> PendingWrite {
    let kept = try world.session.refusedWrites().map(\.write)
    try #require(kept.count == 1)
    return kept[0]
  }

  /// The records that a write is about, in its order.
  static func records(of write: PendingWrite) -> [Int] {
    guard case .update(_, let members) = write.write else { return [] }
    return members.compactMap { member in Int(member.name.prefix { $0 != "/" }) }
  }

  /// Goes on with a refused write without its first record.
  private func leaveOut(_ world: ServiceWorld, _ kept: PendingWrite) throws {
    let rest = try #require(kept.firstRecord).rest
    try world.write(rest, taking: RefusedTaking([kept.id], isRequired: true))
  }

  // MARK: What is left

  @Test(arguments: Kind.allCases, [false, true])
  func restBeginsAtTheRecordThatAnotherHasChanged(kind: Kind, hasVersions: Bool) throws {
    for refused in 1...4 {
      let world = try ServicePartsTests.world(hasVersions: hasVersions, records: 5)
      try world.disconnect()
      let id = try #require(try world.write(kind.write(Array(1...4))))
      change(world, refused)
      try world.connect()
      try world.settle()
      #expect(world.server.replaced.map(\.id) == Array(1..<refused), "record \(refused)")
      let message = try #require(world.refused[id]).message
      #expect(message.contains(" · record \(refused) of 4"), "\(message)")
      let kept = try only(world)
      #expect(ServicePartsTests.records(of: kept) == Array(refused...4), "record \(refused)")
      #expect(kept.doneCount == refused - 1, "record \(refused)")
    }
  }

  /// Nothing is left under the temporary key of the record that it made.
  @Test func writeWhoseLastRecordsNeedNoCallHasNothingLeft() throws {
    let world = try ServicePartsTests.world(hasVersions: true, records: 3)
    try world.disconnect()
    let key = "-O" + String(repeating: "x", count: 18)
    let id = try #require(
      try world.write(
        .update(
          Path("/notes"),
          [
            JSONMember(key, ["a": "new", "b": "new"]), JSONMember("1/a", "same"),
            JSONMember("2/a", "same"),
          ])))
    change(world, 1, ["a": "same"])
    change(world, 2, ["a": "same"])
    try world.connect()
    try world.settle()
    #expect(world.acknowledged.contains(id) && world.refused.isEmpty)
    #expect(try world.shown().children.map(\.key.text) == ["1", "2", "3", "4"])
  }

  // MARK: Leaving a record out

  @Test(arguments: Kind.allCases, [false, true])
  func recordsAfterTheOneThatIsLeftOutAreStillCompared(kind: Kind, isKilled: Bool) throws {
    for hasVersions in [false, true] {
      let world = try ServicePartsTests.world(hasVersions: hasVersions, records: 5)
      try world.disconnect()
      try world.write(kind.write(Array(1...4)))
      change(world, 1)
      change(world, 3)
      try world.connect()
      try world.settle()
      if isKilled { try world.kill() }
      try leaveOut(world, only(world))
      if isKilled {
        try world.kill()
        try world.connect()
      }
      try world.settle()
      #expect(world.server.replaced.map(\.id) == [2], "versions: \(hasVersions)")
      let kept = try only(world)
      #expect(ServicePartsTests.records(of: kept) == [3, 4] && kept.doneCount == 1)
      try world.connect()
      try leaveOut(world, kept)
      try world.settle()
      #expect(world.server.replaced.map(\.id) == [2, 4], "versions: \(hasVersions)")
      #expect(try world.session.refusedWrites().isEmpty)
      let theirs = world.server.records.filter { $0["a"] == "theirs" }
      #expect(theirs.compactMap { $0["id"]?.int } == [1, 3], "versions: \(hasVersions)")
    }
  }

  @Test(arguments: Kind.allCases) func recordsAfterOneThatTheServerRefusedAreStillCompared(
    kind: Kind
  ) throws {
    let world = try ServicePartsTests.world(hasVersions: true, records: 4)
    try world.disconnect()
    try world.write(kind.write(Array(1...3)))
    change(world, 3)
    world.server.refusals = [FeathersError(.forbidden, "no")]
    try world.connect()
    try world.settle()
    try leaveOut(world, only(world))
    try world.settle()
    #expect(world.server.replaced.map(\.id) == [2])
    #expect(try ServicePartsTests.records(of: only(world)) == [3])
  }

  /// Who has mended the refused record knows what stands there; of the others nobody was asked.
  @Test func recordsAfterTheOneThatIsMendedAreStillCompared() throws {
    let world = try ServicePartsTests.world(hasVersions: true, records: 4)
    try world.disconnect()
    try world.write(Kind.edit.write(Array(1...3)))
    change(world, 1)
    change(world, 3)
    try world.connect()
    try world.settle()
    let kept = try only(world)
    guard case .update(let place, var members) = kept.write else {
      Issue.record("it is no update: \(kept.write)")
      return
    }
    members[0].value = "mended"
    try world.write(
      .update(place, members), taking: RefusedTaking([kept.id], isRequired: false))
    try world.settle()
    #expect(world.server.records.map { $0["a"] } == ["mended", "mine", "theirs", "a4"])
    #expect(try ServicePartsTests.records(of: only(world)) == [3])
  }

  // MARK: A model

  /// Random writes of several records, random changes by others, losses and kills between the records, refusals by
  /// the server, and a user who leaves records out, mends them, tries again or drops the rest.
  @Test(arguments: UInt64(0)..<12) func eachRecordHasOneOutcomeAndNoChangeIsOverwritten(
    seed: UInt64
  ) throws {
    var model = try PartsModel(seed: seed)
    for round in 0..<2 { try model.play(round) }
  }
}
