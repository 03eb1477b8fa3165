import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStreams

@Suite struct ResourceUndoTests {
  private var world: ResourceWorld

  init() throws {
    world = try ResourceWorld()
    try world.perform(.create, "user", "ana", ["name": "Ana"])
    try world.perform(.create, "group", "g", ["name": "Garden"])
    try world.perform(
      .create, "message", "m", ["text": "hi", "from": "ana"], in: ["group": ("group", "g")])
  }

  private mutating func undo(_ entry: ActionLogEntry) throws {
    try world.perform(world.registry.undoing(entry, reader: world.tree))
  }

  private func newest() throws -> ActionLogEntry { try #require(try world.log().last) }

  private mutating func update(_ value: JSONValue) throws {
    try world.perform(.update, "message", "m", value, in: ["group": ("group", "g")])
  }

  @Test mutating func takingACreationBackDestroysAndCounts() throws {
    try undo(try newest())
    #expect(try world.json("/group_message") == .null)
    #expect(try world.json("/group/g/message_count") == 0)
    #expect(try newest().kind == .destroy)
  }

  @Test mutating func takingAChangeBackWritesTheOldValuesOfItsFieldsOnly() throws {
    try update(["text": "hello", "pinned": true])
    let entry = try newest()
    try update(["note": "kept"])
    try undo(entry)
    #expect(try world.json("/group_message/g/m/text") == "hi")
    #expect(try world.json("/group_message/g/m/pinned") == .null)
    #expect(try world.json("/group_message/g/m/note") == "kept")
    #expect(try world.json("/group/g/pinned_count") == 0)
  }

  @Test mutating func takingADestructionBackCreatesAndCountsAgain() throws {
    let before = try world.json("/group_message/g/m")
    try world.perform(.destroy, "message", "m", in: ["group": ("group", "g")])
    try undo(try newest())
    #expect(try world.json("/group_message/g/m") == before)
    #expect(try world.json("/group/g/message_count") == 1)
    #expect(try world.report().isInStep)
  }

  @Test mutating func whatWasChangedSinceIsNotTakenBack() throws {
    try update(["text": "hello"])
    let entry = try newest()
    try update(["text": "other"])
    let error = try resourceError { _ = try world.registry.undoing(entry, reader: world.tree) }
    #expect(error.code == .cannotUndo)
    #expect(error.message == "This cannot be taken back: `text` was changed since, to \"other\".")
  }

  @Test mutating func aCounterThatWentOnDoesNotCountAsAChange() throws {
    try world.perform(
      .create, "like", nil, ["at": 1],
      in: ["group": ("group", "g"), "message": ("message", "m"), "user": ("user", "ana")])
    let creation = try #require(try world.log().first { $0.resource == "message" })
    let operation = try world.registry.undoing(creation, reader: world.tree)
    #expect(operation.kind == .destroy)
    // The like came since: it would be destroyed too, which nobody asked for.
    let planner = ResourcePlanner(
      registry: world.registry, reader: world.tree, now: world.now, author: "",
      newKey: { Key(unchecked: "-K") })
    let error = try resourceError { _ = try planner.plan(undoing: creation) }
    #expect(error.message.contains("1 record came since"))
  }

  @Test mutating func anEntryIsTakenBackOnce() throws {
    let creation = try newest()
    try undo(creation)
    let error = try resourceError { _ = try world.registry.undoing(creation, reader: world.tree) }
    #expect(error.message.contains("the record is gone already"))
    let destruction = try newest()
    try undo(destruction)
    let again = try resourceError {
      _ = try world.registry.undoing(destruction, reader: world.tree)
    }
    #expect(again.message.contains("there is a record again"))
  }

  @Test mutating func whatBelongedToAnOwnerThatIsGoneComesBackAfterIt() throws {
    let before = try world.json("/")
    try world.perform(.destroy, "group", "g")
    let entries = try world.log().suffix(2)
    let (group, message) = (try #require(entries.first), try #require(entries.last))
    #expect(message.isCascaded)
    let error = try resourceError { _ = try world.registry.undoing(message, reader: world.tree) }
    #expect(error.message.contains("the `group` at /group/g"))
    try undo(group)
    try undo(message)
    #expect(try world.json("/group") == before["group"])
    #expect(try world.json("/group_message") == before["group_message"])
    #expect(try world.report().isInStep)
  }

  @Test mutating func whatWasTooLargeForTheLogIsNotTakenBack() throws {
    var entry = try newest()
    entry.isCut = true
    let error = try resourceError { _ = try world.registry.undoing(entry, reader: world.tree) }
    #expect(error.message.contains("too large"))
  }
}
