import RunnelBase
import RunnelStreams
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// Writes of the history that operations on resources made, undone by their numbers.
@Suite struct ResourceUndoByNumberTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
  }

  /// Users, whose names messages carry; groups that count their messages, and take them along.
  private static func registry(hasLog: Bool = true) throws -> ResourceRegistry {
    var registry = ResourceRegistry()
    try registry.resource("user", path: "/user/@")
    try registry.resource("group", path: "/group/@")
    try registry.resource(
      "message", paths: ["/group_message/$group/@", "/user_message/$from/$group/@"],
      schema: ResourceSchema([try FieldRule("from", .reference("user"))]))
    try registry.resource("like", path: "/like/$group/$message/$user")
    try registry.counter("group", name: "count", counting: "message")
    try registry.counter(
      "group", name: "pinned", counting: "message",
      predicate: ChildPredicate(parsing: "pin == true"))
    try registry.counter("user", name: "written", counting: "message", link: "from")
    try registry.counter("message", name: "likes", counting: "like")
    try registry.copy(into: "message", from: "user", link: "from", fields: ["name": "from_name"])
    try registry.cascade(from: "group", to: "message")
    try registry.cascade(from: "message", to: "like")
    if hasLog { try registry.log(at: "/action") }
    return registry
  }

  /// Carries out an operation; returns the number of its write.
  @discardableResult
  private func perform(
    _ kind: ResourceOperation.Kind, _ resource: String, _ key: String, _ value: JSONValue = .null,
    in registry: ResourceRegistry
  ) throws -> Int64 {
    let object = try ResourceObject(resource, key: key, value: value)
    let operation = ResourceOperation(
      kind, object,
      in: [
        "group": try ResourceObject("group", key: "g"),
        "message": try ResourceObject("message", key: "m"),
      ])
    _ = try session.perform(operation, in: registry)
    return try #require(try session.history(count: 1).first).id
  }

  private func json(_ path: String) throws -> JSONValue {
    try session.node(at: Path(path)).exportJSON
  }

  private func operation(_ random: inout SeededRandom) throws -> ResourceOperation {
    func key(_ names: [String]) -> String { names[Int.random(in: 0..<names.count, using: &random)] }
    let kinds: [ResourceOperation.Kind] = [
      .create, .create, .update, .destroy, .toggle(), .createOrUpdate(),
    ]
    let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
    let group = try ResourceObject("group", key: key(["g", "h"]))
    let message = try ResourceObject("message", key: key(["m", "n", "o"]))
    let user = try ResourceObject("user", key: key(["ana", "bo"]))
    let context = ["group": group, "message": message, "user": user]
    var object = user
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: object.value = ["name": .string(key(["Ana", "Bo", "Cy"]))]
    case 2:
      object = group
      object.value = ["name": .string(key(["G", "H"]))]
    case 3, 4, 5:
      object = message
      object.value = [
        "from": .string(key(["ana", "bo"])), "pin": .bool(Bool.random(using: &random)),
        "text": .string(key(["x", "y"])),
      ]
    default: object = try ResourceObject("like", key: key(["ana", "bo"]), value: true)
    }
    if object.resource == "like" {
      let person = ResourceObject("user", key: object.key)
      return ResourceOperation(
        kind.isUpdate ? .create : kind, object,
        in: ["group": group, "message": message, "user": person])
    }
    return ResourceOperation(kind, object, in: context)
  }

  // MARK: Any order

  @Test(arguments: Seeds.first(6), [true, false])
  func countersAndCopiesAreThoseOfARecountWhateverIsUndone(seed: UInt64, hasLog: Bool) throws {
    var random = SeededRandom(seed: seed)
    let registry = try ResourceUndoByNumberTests.registry(hasLog: hasLog)
    var (numbers, undone): ([Int64], Int) = ([], 0)
    for step in 0..<90 {
      let newest = try session.history(count: 1).first?.id
      do {
        if !numbers.isEmpty, Int.random(in: 0..<5, using: &random) < 2 {
          let newer = numbers.suffix(8)
          let number = newer[Int.random(in: newer.indices, using: &random)]
          _ = try session.undo(number, in: registry)
          undone += 1
        } else {
          _ = try session.perform(operation(&random), in: registry)
        }
      } catch let error where error is ResourceError || (error as? DatabaseError)?.code == .changed
      {
        // What was changed since stays, and what is undone already: nothing was written.
        #expect(try session.history(count: 1).first?.id == newest, "seed \(seed), step \(step)")
      }
      if let written = try session.history(count: 1).first?.id, written != newest {
        numbers.append(written)
      }
      let report = try #require(try session.audit(registry))
      try #require(
        report.isInStep,
        "seed \(seed), step \(step): \(report.counters + report.copies)")
    }
    #expect(undone > 3, "seed \(seed): too few were undone to tell anything.")
  }

  @Test func whatWasCountedAndCopiedSinceFollowsTheUndo() throws {
    let registry = try ResourceUndoByNumberTests.registry()
    try perform(.create, "user", "ana", ["name": "Ana"], in: registry)
    let renamed = try perform(.update, "user", "ana", ["name": "Anna"], in: registry)
    let message = try perform(
      .create, "message", "m", ["from": "ana", "text": "x"], in: registry)
    try perform(.create, "group", "g", ["name": "G"], in: registry)
    #expect(try json("/group/g/count") == 1)
    _ = try session.undo(renamed, in: registry)
    #expect(try json("/group_message/g/m/from_name") == "Ana")
    #expect(try json("/user_message/ana/g/m") == json("/group_message/g/m"))
    _ = try session.undo(message, in: registry)
    #expect(try json("/group/g/count") == 0)
    #expect(try json("/user/ana/written") == 0)
    #expect(try session.audit(registry)?.isInStep == true)
  }

  @Test func aDestructionIsUndoneWithAllThatWentWithItInOneWriteAndRedone() throws {
    let registry = try ResourceUndoByNumberTests.registry()
    try perform(.create, "user", "ana", ["name": "Ana"], in: registry)
    try perform(.create, "group", "g", ["name": "G"], in: registry)
    try perform(.create, "message", "m", ["from": "ana", "pin": true], in: registry)
    try perform(.create, "message", "n", ["from": "ana"], in: registry)
    try perform(.create, "like", "ana", true, in: registry)
    let before = try session.node(at: .root).json
    let destroyed = try perform(.destroy, "group", "g", in: registry)
    try perform(.update, "user", "ana", ["name": "Anna"], in: registry)
    _ = try session.undo(destroyed, in: registry)
    let entry = try #require(try session.history(count: 1).first)
    #expect(entry.undoes == destroyed)
    #expect(try json("/group") == #require(before["group"]))
    #expect(try json("/like") == #require(before["like"]))
    #expect(try json("/group_message/g/m/from_name") == "Anna")
    #expect(try json("/user/ana/written") == 2)
    #expect(try session.audit(registry)?.isInStep == true)
    _ = try session.undo(entry.id, in: registry)
    #expect(try json("/group_message").isNull && json("/like").isNull)
    #expect(try json("/user/ana/written") == 0)
  }

  @Test func undoingIsLoggedAndRemovesNothingFromTheLog() throws {
    let registry = try ResourceUndoByNumberTests.registry()
    let number = try perform(.create, "group", "g", ["name": "G"], in: registry)
    _ = try session.undo(number, in: registry)
    let kinds = try session.node(at: Path("action")).children.map { $0.node.json["operation"] }
    #expect(kinds == ["create", "destroy"])
  }

  // MARK: Refusals

  @Test func withoutTheRegistryItSaysWhatIsMissing() throws {
    let registry = try ResourceUndoByNumberTests.registry(hasLog: false)
    let number = try perform(.create, "group", "g", ["name": "G"], in: registry)
    let error = try #require(throws: DatabaseError.self) { try session.undo(number) }
    #expect(error.code == .refused)
    #expect(error.message.contains("/group/g") && error.message.contains("undo(_:in:)"))
    #expect(try !json("/group/g").isNull)
  }

  @Test func whereNothingFollowsFromARecordNoRegistryIsNeeded() throws {
    var registry = ResourceRegistry()
    try registry.resource("group", path: "/group/@")
    let number = try perform(.create, "group", "g", ["name": "G"], in: registry)
    _ = try session.undo(number)
    #expect(try json("/group").isNull)
  }

  @Test func aFieldThatWasChangedSinceIsNotTakenBackAndIsNamed() throws {
    let registry = try ResourceUndoByNumberTests.registry()
    try perform(.create, "group", "g", ["name": "G"], in: registry)
    let number = try perform(.update, "group", "g", ["name": "H"], in: registry)
    try perform(.update, "group", "g", ["name": "I"], in: registry)
    let error = try #require(throws: ResourceError.self) {
      try session.undo(number, in: registry)
    }
    #expect(error.code == .cannotUndo)
    #expect(error.message.contains("/group/g/name was changed since, to \"I\""))
  }

  @Test func anOperationThatWasUndoneAlreadyIsRefusedAsSuch() async throws {
    let registry = try ResourceUndoByNumberTests.registry()
    let number = try perform(.create, "group", "g", ["name": "G"], in: registry)
    _ = try session.undo(number, in: registry)
    try perform(.create, "group", "g", ["name": "G"], in: registry)
    let error = try #require(throws: DatabaseError.self) {
      try session.undo(number, in: registry)
    }
    #expect(error.code == .changed)
    #expect(error.message.contains("was already undone by write \(number + 1)"))
    #expect(try json("/group/g/name") == "G")
    let hook = ResourceHook("all", for: ResourceScope(["group"]), .before { _ in .allow })
    let base = try ResourceBase(await folder.open(), registry, hooks: [hook])
    let told = await #expect(throws: DatabaseError.self) { try await base.undo(number) }
    #expect(told?.message == error.message)
  }

  @Test func recordsThatCameSinceAreNotDestroyed() throws {
    let registry = try ResourceUndoByNumberTests.registry()
    let number = try perform(.create, "group", "g", ["name": "G"], in: registry)
    try perform(.create, "message", "m", ["text": "x"], in: registry)
    let error = try #require(throws: ResourceError.self) {
      try session.undo(number, in: registry)
    }
    #expect(error.message.contains("1 record came since"))
    #expect(try json("/group/g/count") == 1)
  }

  @Test func aWriteOfAnotherKindIsUndoneByItsValues() throws {
    let registry = try ResourceUndoByNumberTests.registry()
    try session.set("/note", "1")
    let number = try #require(try session.history(count: 1).first).id
    _ = try session.undo(number, in: registry)
    #expect(try json("/note").isNull)
  }

  // MARK: With a base

  @Test func aBaseUndoesByItsOwnRegistryAndItsHooksAreAsked() async throws {
    let registry = try ResourceUndoByNumberTests.registry()
    let first = try perform(.create, "group", "g", ["name": "G"], in: registry)
    let message = try perform(.create, "message", "m", ["text": "x"], in: registry)
    let database = try await folder.open()
    let hook = ResourceHook(
      "keep", for: ResourceScope(["group"]), .before { _ in .veto("groups stay") })
    let base = try ResourceBase(database, registry, hooks: [hook])
    try await base.undo(message)
    #expect(try await database.reference(withPath: "group/g/count").get().value == 0)
    let error = await #expect(throws: ResourceError.self) { try await base.undo(first) }
    #expect(error?.message == "groups stay")
    try await database.undo(first, in: registry)
    #expect(try await database.reference(withPath: "group").get().value.isNull)
  }
}

extension ResourceOperation.Kind {
  fileprivate var isUpdate: Bool { self == .update || self == .createOrUpdate() }
}
