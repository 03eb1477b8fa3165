import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStreams

/// What operations come to.
///
/// Tests of what the origin gets wrong name the section of `origins`.
@Suite struct ResourcePlannerTests {
  private var world: ResourceWorld
  private let inG = ["group": (resource: "group", key: "g")]
  private let likes = [
    "group": (resource: "group", key: "g"), "message": (resource: "message", key: "m"),
    "user": (resource: "user", key: "ana"),
  ]

  init() throws {
    world = try ResourceWorld()
    try world.perform(.create, "user", "ana", ["name": "Ana"])
    try world.perform(.create, "group", "g", ["name": "G"])
    try world.perform(.create, "message", "m", ["text": "hi", "from": "ana"], in: inG)
  }

  private func refusal(
    _ kind: ResourceOperation.Kind, _ resource: String, _ key: String?, _ value: JSONValue = .null,
    in context: [String: (resource: String, key: String)] = [:]
  ) throws -> ResourceError {
    var world = world
    let error = try resourceError {
      try world.perform(kind, resource, key, value, in: context)
    }
    #expect(world.tree == self.world.tree)
    return error
  }

  @Test func oneWriteHasTheRecordItsCountersItsCopyAndItsEntry() throws {
    var world = world
    let plan = try world.plan(
      ResourceWorld.operation(.create, "message", "n", ["text": "x", "from": "ana"], in: inG))
    guard case .update(.root, let members)? = plan.write else {
      Issue.record("It is no update of several places.")
      return
    }
    let names = members.map(\.name)
    #expect(names.count == 4 && names[0].hasPrefix("/action/"))
    #expect(
      names.dropFirst() == [
        "/group/g/message_count", "/group_message/g/n", "/user/ana/message_count",
      ])
    #expect(members[1].value == [".sv": ["increment": 1]])
    #expect(
      members[2].value == ["text": "x", "from": "ana", "from_name": "Ana", "like_count": 0])
  }

  @Test func createMakesAKeyThatIsOneForAllMarks() throws {
    var registry = ResourceRegistry()
    try registry.resource("pair", path: "/left/@/right/@")
    var world = try ResourceWorld(registry)
    let plan = try world.perform(.create, "pair", nil, ["x": 1])
    let key = plan.identity.key.text
    #expect(plan.path.description == "/left/\(key)/right/\(key)")
    #expect(try world.json("/left/\(key)/right/\(key)/x") == 1)
  }

  /// Origins 2.2: the key is the last piece there, wherever `@` is.
  @Test func theKeyIsWhereTheMarkIs() throws {
    var registry = ResourceRegistry()
    try registry.resource("user", path: "/user/@")
    try registry.resource("like", path: "/like/@/$user")
    var world = try ResourceWorld(registry)
    let plan = try world.perform(
      .create, "like", "m", true, in: ["user": (resource: "user", key: "zoe")])
    #expect(plan.identity.key.text == "m")
    #expect(try world.json("/like/m/zoe") == true)
  }

  // MARK: Owners that are needed

  @Test mutating func withoutAnOwnerARecordIsCreatedUnlessItIsNeeded() throws {
    try world.perform(.destroy, "group", "g")
    var free = world
    try free.perform(.create, "message", "n", ["text": "late"], in: inG)
    #expect(try free.json("/group_message/g/n/text") == "late")
    try world.registry.require("group", for: "message")
    let error = try refusal(.create, "message", "n", ["text": "late"], in: inG)
    #expect(error.code == .ownerNotFound && error.resource == "message")
    #expect(error.missing == "group" && error.message.contains("/group/g"))
    for kind: ResourceOperation.Kind in [.createOrUpdate(), .toggle()] {
      #expect(try refusal(kind, "message", nil, ["text": "x"], in: inG).code == .ownerNotFound)
    }
    try world.perform(.create, "group", "g", ["name": "again"])
    try world.perform(.create, "message", "n", ["text": "in time"], in: inG)
    #expect(try world.json("/group/g/message_count") == 1)
  }

  @Test mutating func whatStandsAlreadyIsChangedAndDestroyedWithoutItsOwner() throws {
    try world.registry.require("message", for: "like")
    try world.perform(.create, "like", nil, true, in: likes)
    try world.set("/group_message/g/m", .null)
    try world.perform(.create, "like", nil, ["again": true], in: likes)
    try world.perform(.update, "like", nil, ["more": true], in: likes)
    try world.perform(.toggle(), "like", nil, true, in: likes)
    #expect(try world.json("/message_like/g/m/ana") == .null)
    let error = try refusal(.toggle(), "like", nil, true, in: likes)
    #expect(error.code == .ownerNotFound)
  }

  @Test mutating func anOwnerThatAFieldNamesIsNeededWhereTheFieldChanges() throws {
    var registry = ResourceRegistry()
    try registry.resource("user", path: "/user/@")
    try registry.resource("note", path: "/note/@")
    try registry.require("user", for: "note", link: "by")
    world = try ResourceWorld(registry)
    try world.perform(.create, "user", "ana", ["x": 1])
    try world.perform(.create, "note", "n", ["by": "ana"])
    try world.perform(.create, "note", "free", ["text": "of nobody"])
    #expect(try refusal(.update, "note", "n", ["by": "bo"]).code == .ownerNotFound)
    try world.perform(.destroy, "user", "ana")
    try world.perform(.update, "note", "n", ["text": "still here"])
    #expect(try refusal(.create, "note", "o", ["by": "ana"]).code == .ownerNotFound)
  }

  /// Origins 2.2.
  @Test mutating func anOverwritingCreateCountsOnce() throws {
    try world.perform(.create, "message", "m", ["text": "again", "from": "ana"], in: inG)
    #expect(try world.json("/group/g/message_count") == 1)
    #expect(try world.json("/user/ana/message_count") == 1)
    #expect(try world.json("/group_message/g/m/text") == "again")
  }

  @Test mutating func anOverwrittenOwnerKeepsItsCounters() throws {
    try world.perform(.create, "group", "g", ["name": "New", "message_count": 77])
    #expect(
      try world.json("/group/g") == ["message_count": 1, "name": "New", "pinned_count": 0])
    try world.perform(.update, "group", "g", ["message_count": 5, "pinned_count/x": 1])
    #expect(try world.json("/group/g/message_count") == 1)
    #expect(try world.report().isInStep)
  }

  /// Origins 2.4: there the object in memory is asked, not what is stored.
  @Test mutating func predicatesLookAtWhatIsStored() throws {
    try world.perform(.update, "message", "m", ["pinned": true], in: inG)
    #expect(try world.json("/group/g/pinned_count") == 1)
    try world.perform(.destroy, "message", "m", ["pinned": false], in: inG)
    #expect(try world.json("/group/g/pinned_count") == 0)
    #expect(try world.json("/group/g/message_count") == 0)
  }

  /// Origins 2.4 and 2.5.
  @Test mutating func destroyingWhatIsGoneDoesNothing() throws {
    try world.perform(.destroy, "message", "m", in: inG)
    let after = world.tree
    let plan = try world.perform(.destroy, "message", "m", in: inG)
    #expect(plan.write == nil && plan.changes.isEmpty)
    #expect(world.tree == after)
    #expect(try world.json("/group/g/message_count") == 0)
  }

  /// Origins 2.3: an update of what is not there makes a record that is not counted.
  @Test func anUpdateOfNothingIsRefused() throws {
    let error = try refusal(.update, "message", "none", ["text": "x"], in: inG)
    #expect(error.code == .notFound)
    #expect(
      try refusal(.createOrUpdate(exists: true), "user", "x", ["name": "X"]).code == .notFound)
  }

  @Test mutating func anUpdateReplacesItsFieldsAndNullRemoves() throws {
    try world.perform(.update, "message", "m", ["text": nil, "pinned": true], in: inG)
    #expect(
      try world.json("/group_message/g/m") == [
        "from": "ana", "from_name": "Ana", "like_count": 0, "pinned": true,
      ])
  }

  @Test mutating func anUnchangedPredicateGivesNoIncrement() throws {
    let plan = try world.perform(.update, "message", "m", ["text": "other"], in: inG)
    guard case .update(_, let members)? = plan.write else { return }
    #expect(!members.contains { $0.name.contains("_count") })
  }

  @Test mutating func aReferenceThatChangesMovesTheCount() throws {
    try world.perform(.create, "user", "bo", ["name": "Bo"])
    try world.perform(.update, "message", "m", ["from": "bo"], in: inG)
    #expect(try world.json("/user/ana/message_count") == 0)
    #expect(try world.json("/user/bo/message_count") == 1)
    #expect(try world.json("/group_message/g/m/from_name") == "Bo")
    try world.perform(.update, "message", "m", ["from": nil], in: inG)
    #expect(try world.json("/user/bo/message_count") == 0)
    #expect(try world.json("/group_message/g/m/from_name") == nil)
  }

  @Test mutating func copiesFollowTheirOwner() throws {
    try world.perform(.update, "user", "ana", ["name": "Anna"])
    #expect(try world.json("/group_message/g/m/from_name") == "Anna")
    try world.perform(.update, "message", "m", ["from_name": "Mallory"], in: inG)
    #expect(try world.json("/group_message/g/m/from_name") == "Anna")
    try world.perform(.destroy, "user", "ana")
    #expect(try world.json("/group_message/g/m/from_name") == nil)
  }

  @Test mutating func toggleGoesByWhatIsStoredOrBySaying() throws {
    try world.perform(.toggle(), "like", nil, ["at": 1], in: likes)
    #expect(try world.json("/message_like/g/m/ana/at") == 1)
    #expect(try world.json("/group_message/g/m/like_count") == 1)
    try world.perform(.toggle(exists: false), "like", nil, ["at": 2], in: likes)
    #expect(try world.json("/group_message/g/m/like_count") == 1)
    try world.perform(.toggle(), "like", "ana", in: likes)
    #expect(try world.json("/group_message/g/m/like_count") == 0)
    let plan = try world.perform(.toggle(exists: true), "like", "ana", in: likes)
    #expect(plan.write == nil)
  }

  @Test func aKeyThatIsNotTheOneOfThePlaceIsRefused() throws {
    #expect(try refusal(.create, "like", "bo", ["at": 1], in: likes).code == .keyMismatch)
  }

  @Test mutating func whatIsDestroyedTakesItsMembersAlong() throws {
    try world.perform(.toggle(), "like", nil, ["at": 1], in: likes)
    let plan = try world.perform(.destroy, "group", "g")
    #expect(
      plan.changes.map(\.path.description) == [
        "/group/g", "/group_message/g/m", "/message_like/g/m/ana",
      ])
    #expect(plan.changes.map(\.isCascaded) == [false, true, true])
    #expect(try world.json("/group_message") == nil)
    #expect(try world.json("/message_like") == nil)
    #expect(try world.json("/group") == nil)
    #expect(try world.json("/user/ana/message_count") == 0)
    #expect(try world.report().isInStep)
  }

  @Test mutating func anOwnerThatComesLateCountsWhatIsThere() throws {
    try world.set("/group_message/late", ["a": ["text": "x"], "b": ["text": "y", "pinned": true]])
    try world.perform(.create, "group", "late", ["name": "Late"])
    #expect(try world.json("/group/late/message_count") == 2)
    #expect(try world.json("/group/late/pinned_count") == 1)
  }

  @Test mutating func anOwnerWithoutTheFieldIsCountedFromItsMembers() throws {
    try world.set("/group/old", ["name": "Old", "pinned_count": "many"])
    try world.set(
      "/group_message/old", ["a": ["text": "x", "pinned": true], "b": ["text": "y"]])
    let context = ["group": (resource: "group", key: "old")]
    try world.perform(.create, "message", "c", ["text": "z", "pinned": true], in: context)
    #expect(try world.json("/group/old/message_count") == 3)
    #expect(try world.json("/group/old/pinned_count") == 2)
    try world.set("/group/old/message_count", .null)
    try world.perform(.destroy, "message", "a", in: context)
    #expect(try world.json("/group/old/message_count") == 2)
    #expect(try world.json("/group/old/pinned_count") == 1)
  }

  @Test mutating func aCascadeCountsEachMemberOnceWhereTheFieldIsMissing() throws {
    for key in ["a", "b", "c"] {
      try world.set("/group_message/\(key == "c" ? "h" : "i")/\(key)", ["text": "x", "from": "bo"])
    }
    try world.set("/group/i", ["name": "I"])
    try world.set("/user/bo", ["name": "Bo"])
    try world.perform(.destroy, "group", "i")
    #expect(try world.json("/user/bo/message_count") == 1)
  }

  @Test mutating func nothingIsCountedForAnOwnerThatIsNotThere() throws {
    let context = ["group": (resource: "group", key: "none")]
    try world.perform(.create, "message", "a", ["text": "x"], in: context)
    #expect(try world.json("/group/none") == nil)
    #expect(try world.report().orphans.map(\.missing.description) == ["/group/none"])
  }

  @Test func theRulesOfFieldsAreToldByField() throws {
    let error = try refusal(.create, "message", nil, ["text": 5, "from": "nobody"], in: inG)
    #expect(error.code == .invalidFields)
    #expect(error.fields.map(\.code) == [.kind, .reference])
    #expect(try refusal(.update, "user", "ana", ["name": nil]).fields.map(\.code) == [.required])
  }

  /// The rule of a field may be newer than a record.
  @Test mutating func aFieldCanBeChangedWhereAnotherBreaksARule() throws {
    try world.set("/user/old", ["email": 5])
    try world.perform(.update, "user", "old", ["note": "kept"])
    #expect(try world.json("/user/old/email") == 5)
    #expect(try refusal(.update, "user", "old", ["name": 7]).fields.map(\.code) == [.kind])
    try world.perform(.update, "user", "old", ["name": "Olga"])
    #expect(try world.json("/user/old/name") == "Olga")
  }

  @Test func whatCannotBeStoredIsRefused() throws {
    #expect(try refusal(.create, "like", nil, .null, in: likes).code == .invalidRecord)
    #expect(try refusal(.create, "group", "x", true).code == .invalidRecord)
    #expect(try refusal(.update, "group", "g", 5).code == .invalidRecord)
    #expect(try refusal(.create, "group", "x", ["a.b": 1]).tree?.code == .invalidKey)
    #expect(try refusal(.create, "room", "x", 1).code == .unknownResource)
    #expect(try refusal(.create, "message", nil, ["text": "x"]).missing == "group")
    #expect(try refusal(.destroy, "message", nil, in: inG).code == .missingKey)
  }

  @Test mutating func initialValuesAreThoseOfNewRecordsOnlyAndNotOfThoseTakenBack() throws {
    var registry = ResourceRegistry()
    try registry.resource(
      "task", path: "/task/@",
      schema: ResourceSchema([
        try FieldRule("state", .text(), initial: "open"),
        try FieldRule("made", .time, initial: [".sv": "timestamp"]),
      ]))
    try registry.log(at: "/action")
    var world = try ResourceWorld(registry)
    try world.perform(.create, "task", "t", ["title": "x", "state": nil])
    let made = JSONValue.number(JSONNumber(world.now))
    #expect(try world.json("/task/t") == ["made": made, "state": "open", "title": "x"])
    try world.perform(.update, "task", "t", ["state": nil])
    #expect(try world.json("/task/t/state") == nil)
    let before = try world.json("/task/t")
    try world.perform(.destroy, "task", "t")
    let entry = try #require(try world.log().last)
    try world.perform(world.registry.undoing(entry, reader: world.tree))
    #expect(try world.json("/task/t") == before)
  }

  @Test mutating func everyPlaceOfARecordHoldsIt() throws {
    var registry = ResourceRegistry()
    try registry.resource("user", path: "/user/@")
    try registry.resource(
      "message", paths: ["/message/@", "/user_message/$from/@"],
      schema: ResourceSchema([try FieldRule("from", .reference("user"))]))
    try registry.resource("like", path: "/like/$message/@")
    try registry.counter("message", name: "likes", counting: "like")
    var world = try ResourceWorld(registry)
    for user in ["ana", "bo"] { try world.perform(.create, "user", user, ["name": "x"]) }
    try world.perform(.create, "message", "m", ["text": "x", "from": "ana"])
    try world.perform(
      .create, "like", "l", true, in: ["message": (resource: "message", key: "m")])
    #expect(try world.json("/user_message/ana/m/likes") == 1)
    try world.perform(.update, "message", "m", ["text": "y", "from": "bo"])
    #expect(try world.json("/user_message/ana") == nil)
    #expect(try world.json("/user_message/bo/m") == world.json("/message/m"))
    try world.perform(.update, "message", "m", ["from": nil])
    #expect(try world.json("/user_message") == nil)
    #expect(try world.report().isInStep)
  }

  @Test func tooManyMembersAreRefusedAndNotCut() throws {
    var world = world
    let count = 50
    world.recordsMax = count
    let members = (0..<count).map { JSONMember("k\($0)", ["text": "x"]) }
    try world.set("/group_message/g", .object(members))
    #expect(
      try world.plan(ResourceWorld.operation(.destroy, "group", "g")).changes.count == count + 1)
    try world.set("/group_message/g/more", ["text": "x"])
    let error = try resourceError {
      _ = try world.plan(ResourceWorld.operation(.destroy, "group", "g"))
    }
    #expect(error.code == .tooMany)
  }

  @Test mutating func aRecordMayBelongToItself() throws {
    var registry = ResourceRegistry()
    try registry.resource(
      "comment", path: "/comment/@",
      schema: ResourceSchema([try FieldRule("parent", .reference("comment"))]))
    try registry.counter("comment", name: "replies", counting: "comment", link: "parent")
    try registry.cascade(from: "comment", to: "comment", link: "parent")
    var world = try ResourceWorld(registry)
    try world.perform(.create, "comment", "a", ["text": "x"])
    try world.perform(.update, "comment", "a", ["parent": "a"])
    #expect(try world.json("/comment/a/replies") == 1)
    try world.perform(.create, "comment", "b", ["parent": "a"])
    #expect(try world.json("/comment/a/replies") == 2)
    #expect(try world.report().isInStep)
    try world.perform(.create, "comment", "a", ["text": "again"])
    #expect(try world.json("/comment/a/replies") == 1)
    try world.perform(.destroy, "comment", "a")
    #expect(try world.json("/comment") == nil)
  }

  // MARK: Rules

  @Test mutating func rulesAreAskedInOrderUntilOneForbidsIt() throws {
    world.registry.before(
      ResourceRule("capital", for: ResourceScope(["user"], kinds: [.create])) { change in
        .write(["name": change.new["name"] == "bo" ? "Bo" : "?", "seen": true])
      })
    world.registry.before(
      ResourceRule("later") { $0.new["seen"] == true ? .veto("seen") : .allow })
    #expect(try refusal(.create, "user", "bo", ["name": "bo"]).message == "seen")
    try world.perform(.create, "group", "h", ["name": "H"])
    world.registry.before(ResourceRule("never") { _ in .veto("never") })
    #expect(try refusal(.update, "user", "ana", ["seen": true]).message == "seen")
    #expect(try refusal(.update, "user", "ana", ["x": 1]).message == "never")
  }

  @Test mutating func aRuleForAMemberForbidsTheWholeCascade() throws {
    let scope = ResourceScope(["message"], kinds: [.destroy])
    world.registry.before(ResourceRule("keep", for: scope) { .veto("\($0.old["text"] ?? nil)") })
    let error = try refusal(.destroy, "group", "g")
    #expect(error.code == .vetoed && error.resource == "message")
  }
}
