import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Synchronization
import Testing

/// Typed operations, their hooks, and the consumer of the log.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct ResourceBaseTests {
  private struct Group: Resource, Equatable {
    var key: String?
    var name: String?
    var messageCount: Int?
    var colour: String?
  }

  private struct Message: Resource, Equatable {
    var key: String?
    var text: String
  }

  private let folder: TemporaryFolder
  private let database: Database
  private let log = EventLog()

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
  }

  private static func registry() throws -> ResourceRegistry {
    var registry = ResourceRegistry()
    try registry.resource(Group.self, path: "/group/@")
    try registry.resource(Message.self, path: "/group_message/$group/@")
    try registry.counter(Group.self, name: "messageCount", countingType: Message.self)
    try registry.cascade(from: Group.self, to: Message.self)
    try registry.log(at: "/action")
    return registry
  }

  private func base(_ hooks: [ResourceHook] = []) throws -> ResourceBase {
    try ResourceBase(database, ResourceBaseTests.registry(), hooks: hooks)
  }

  private func json(_ path: String) async throws -> JSONValue {
    try await database.reference(withPath: path).get().value
  }

  // MARK: Typed objects

  @Test func anObjectIsCreatedUpdatedAndDestroyed() async throws {
    let root = try base().context()
    let group = try await root.create(Group(name: "Garden", colour: "green")).object
    let key = try #require(group.key)
    let here = try root.push(["group": group])
    let message = try await here.create(Message(text: "Tea?"))
    #expect(message.reference == (try here.ref(of: message.object)))
    #expect(try here.collection(of: Message.self).path.description == "/group_message/\(key)")
    let stored = try await root.ref(of: group).get().resource(Group.self)
    #expect(stored == Group(key: key, name: "Garden", messageCount: 1, colour: "green"))
    let result = try await root.update(Group(key: key, name: "Allotment", messageCount: 50))
    #expect(result.kind == .update && !result.receipt.isPending)
    #expect(try await json("group/\(key)") == ["messageCount": 1, "name": "Allotment"])
    #expect(try await root.destroy(group).changes.map(\.isCascaded) == [false, true])
    #expect(try await root.destroy(group).kind == nil)
    #expect(try await json("group_message") == nil)
    #expect(try await root.ref(of: group).get().resource(Group.self) == nil)
  }

  @Test func anUpdateLeavesWhatTheTypeDoesNotHave() async throws {
    let root = try base().context()
    try await database.reference(withPath: "group/g")
      .setValue(["name": "G", "other": true, "colour": "red"])
    try await root.update(Group(key: "g", name: nil))
    #expect(try await json("group/g") == ["other": true])
    #expect(throws: ResourceError.self) { try root.ref(of: Message(text: "x")) }
  }

  @Test func whatIsStoredDecidesBetweenBoth() async throws {
    let root = try base().context()
    let group = Group(key: "g", name: "G")
    #expect(try await root.createOrUpdate(group).kind == .create)
    #expect(try await root.createOrUpdate(Group(key: "g", colour: "red")).kind == .update)
    #expect(try await json("group/g") == ["colour": "red", "messageCount": 0])
    #expect(try await root.toggle(group).kind == .destroy)
    #expect(try await root.toggle(group, exists: true).kind == nil)
    #expect(try await root.toggle(group).kind == .create)
  }

  @Test func objectsOfAContextAreReadBack() async throws {
    let here = try base().context(["group": Group(key: "g", name: "G")])
    #expect(try here.get("group", as: Group.self) == Group(key: "g", name: "G"))
    let above = try here.push(["group": Group(key: "h")])
    #expect(try above.ref(of: Message(key: "m", text: "")).path.description == "/group_message/h/m")
    try above.reset()
    #expect(try above.ref(of: Message(key: "m", text: "")).path.description == "/group_message/g/m")
    #expect(try above.get("none", as: Group.self) == nil)
  }

  // MARK: Hooks

  /// Hooks of each moment that note their name and the record's key.
  private func notingHooks() -> [ResourceHook] {
    let log = log
    return ["1", "2"].flatMap { name in
      [
        ResourceHook(
          name, .acknowledged { log.note("acknowledged \(name) \($0.identity.key)") }),
        ResourceHook(
          name, .rejected { change, _ in log.note("rejected \(name) \(change.identity.key)") }),
        ResourceHook(name, .committed { log.note("committed \(name) \($0.identity.key)") }),
        ResourceHook(
          name,
          .before {
            log.note("before \(name) \($0.identity.key)")
            return .allow
          }),
      ]
    }
  }

  @Test func hooksAreCalledByMomentThenByChangeThenInTheirOrder() async throws {
    let root = try base().context()
    let group = try await root.create(Group(key: "g", name: "G")).object
    try await root.push(["group": group]).create(Message(key: "m", text: "x"))
    try await base(notingHooks()).context().destroy(group)
    #expect(
      log.taken()
        == ["before", "committed", "acknowledged"].flatMap { moment in
          ["g", "m"].flatMap { key in ["1", "2"].map { "\(moment) \($0) \(key)" } }
        })
  }

  @Test func aVetoEndsItBeforeAnythingIsWritten() async throws {
    let no = ResourceHook("no", .before { _ in .veto("It is closed.") })
    let root = try base([notingHooks()[3], no] + notingHooks()).context()
    let error = try await #require(throws: ResourceError.self) {
      try await root.create(Group(key: "g", name: "G"))
    }
    #expect(error.code == .vetoed && error.message == "It is closed." && error.resource == "Group")
    #expect(log.taken() == ["before 1 g"])
    #expect(try await json("/") == nil)
  }

  @Test func aHookMayHaveSomethingElseWrittenAndThoseAfterItSeeThat() async throws {
    let log = log
    let change = ResourceHook(
      "capital", for: ResourceScope(["Group"], kinds: [.create]),
      .before { _ in .write(["name": "X"]) })
    let see = ResourceHook(
      "see",
      .before {
        log.note("\($0.identity.key) \($0.new.jsonText())")
        return .allow
      })
    let result = try await base([see, change, see]).context().create(Group(name: "x"))
    let key = try #require(result.object.key)
    #expect(
      log.taken() == [
        #"\#(key) {"messageCount":0,"name":"x"}"#, #"\#(key) {"messageCount":0,"name":"X"}"#,
      ])
    #expect(try await json("group/\(key)") == ["messageCount": 0, "name": "X"])
    #expect(result.object == Group(key: key, name: "X", messageCount: 0))
  }

  @Test func theObjectOfAResultIsWhatIsStored() async throws {
    let root = try base().context()
    let group = try await root.create(Group(key: "g", name: "G", messageCount: 77)).object
    #expect(group.messageCount == 0)
    try await root.push(["group": group]).create(Message(text: "x"))
    let given = Group(key: "g", name: "H", messageCount: 77)
    #expect(
      try await root.createOrUpdate(given).object == Group(key: "g", name: "H", messageCount: 1))
    #expect(try await root.destroy(given).object == given)
    #expect(try await root.destroy(given).object == given)
  }

  @Test func anObjectThatAHookChangedBeyondItsTypeIsTheGivenOne() async throws {
    let hook = ResourceHook(
      "number", for: ResourceScope(["Message"], kinds: [.create]),
      .before { _ in .write(["text": 7]) })
    let root = try base([hook]).context(["group": Group(key: "g")])
    let result = try await root.create(Message(key: "m", text: "x"))
    #expect(result.object == Message(key: "m", text: "x"))
    #expect(try await json("group_message/g/m") == ["text": 7])
  }

  @Test func hooksAreToldTheOldAndTheNewValueAndTheContext() async throws {
    let seen = Mutex<[ResourceHookContext]>([])
    let hook = ResourceHook(
      "see", .committed { change in seen.withLock { $0.append(change) } })
    let root = try base([hook]).context(["group": Group(key: "g")])
    try await root.create(Message(key: "m", text: "a"))
    try await root.update(Message(key: "m", text: "b"))
    try await root.destroy(Message(key: "m", text: ""))
    let changes = seen.withLock { $0 }
    #expect(changes.map(\.kind) == [.create, .update, .destroy])
    #expect(changes.map(\.old) == [nil, ["text": "a"], ["text": "b"]])
    #expect(changes.map(\.new) == [["text": "a"], ["text": "b"], nil])
    #expect(changes.allSatisfy { $0.context["group"]?.key?.text == "g" })
  }

  @Test func onAReplicaHooksWaitForTheAnswerOfTheOrigin() async throws {
    let session = try folder.session("replica.db")
    try session.becomeReplica(ofOrigin: "home")
    try session.close()
    let replica = try await folder.open("replica.db")
    let root = try ResourceBase(
      replica, ResourceBaseTests.registry(), hooks: notingHooks()
    ).context()
    replica.submit(.connectOrigin())
    let first = try await root.create(Group(name: "A"))
    let second = try await root.create(Group(name: "B"))
    #expect(first.receipt.isPending && second.receipt.isPending)
    replica.submit(.receive(.acknowledged(id: 0)))
    try await log.wait(for: "acknowledged 2 \(first.object.key ?? "")")
    replica.submit(.receive(.rejected(id: 1, TreeError(.permissionDenied, "no"))))
    try await log.wait(for: "rejected 2 \(second.object.key ?? "")")
    #expect(log.texts.count { $0.hasPrefix("acknowledged") } == 2)
    replica.close()
    let file = try folder.session("replica.db")
    #expect(try file.node(at: second.reference.path).isEmpty)
    #expect(try !file.node(at: first.reference.path).isEmpty)
  }

  // MARK: The log

  @Test func aConsumerHandlesEachEntryAtLeastOnceOverRestarts() async throws {
    struct Failure: Error {}
    let root = try base().context()
    for key in ["a", "b", "c"] { try await root.create(Group(key: key, name: "x")) }
    let cursor = ActionLogCursor(log: try Path("action"), checkpoint: try Path("consumer/mail"))
    let consumer = ActionLogConsumer(database, cursor)
    let log = log
    await #expect(throws: Failure.self) {
      try await consumer.drain { entry in
        log.note(entry.key.text)
        if entry.key.text == "b" { throw Failure() }
      }
    }
    #expect(log.taken() == ["a", "b"])
    let task = Task { try await consumer.run { log.note($0.key.text) } }
    try await root.create(Group(key: "d", name: "x"))
    try await log.wait(for: "d")
    task.cancel()
    _ = await task.result
    #expect(log.taken() == ["b", "c", "d"])
  }
}
