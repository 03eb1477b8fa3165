import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStreams

@Suite struct ResourcePlaceTests {
  private let registry: ResourceRegistry

  init() throws { registry = try ResourceWorld.chat() }

  private func place(_ path: String) throws -> ResourcePlace {
    registry.place(of: try Path(path))
  }

  private func key(_ text: String) throws -> Key { try Key(text) }

  @Test func aRecordAndWhatIsBelowItAreToldWithItsNames() throws {
    let message = ResourceIdentity(
      resource: "message", key: try key("m"), names: ["group": try key("g")])
    #expect(try place("/group_message/g/m") == .record(message, field: .root))
    #expect(try place("/group_message/g/m/a/b") == .record(message, field: Path("a/b")))
    let like = ResourceIdentity(
      resource: "like", key: try key("u"),
      names: ["group": try key("g"), "message": try key("m"), "user": try key("u")])
    #expect(try place("/message_like/g/m/u") == .record(like, field: .root))
  }

  @Test(arguments: [
    ("/", ["user", "group", "message", "like"]), ("/group", ["group"]),
    ("/group_message", ["message"]), ("/group_message/g", ["message"]),
    ("/message_like/g/m", ["like"]),
  ])
  func aPlaceAboveRecordsTellsTheirResources(path: String, resources: [String]) throws {
    #expect(try place(path) == .above(resources))
  }

  @Test func whatNothingDescribesIsFreeAndTheLogIsTheLog() throws {
    #expect(try place("/other/x") == .free)
    #expect(try place("/action") == .log)
    #expect(try place("/action/-K1/old") == .log)
  }

  @Test func aCopyIsNoPlaceToChangeARecord() throws {
    var registry = ResourceRegistry()
    try registry.resource(
      "note", paths: ["/note/@", "/note_of/$author/@"],
      schema: ResourceSchema([try FieldRule("author", .reference("user"))]))
    #expect(registry.place(of: try Path("/note_of/a/n/text")) == .copy(resource: "note"))
  }

  @Test func theResourceOfACollectionGivesItsRecordsNewKeys() throws {
    let found = registry.resource(ofChildrenOf: try Path("/group_message/g"))
    #expect(found?.definition.name == "message")
    #expect(found?.names == ["group": try key("g")])
    #expect(registry.resource(ofChildrenOf: try Path("/message_like/g/m")) == nil)
    #expect(registry.resource(ofChildrenOf: try Path("/group_message")) == nil)
    #expect(registry.resource(ofChildrenOf: .root) == nil)
  }

  @Test func aLikeIsToggledAtAMessageAndAtNothingElse() throws {
    let names = ["group": try key("g")]
    let message = ResourceIdentity(resource: "message", key: try key("m"), names: names)
    let like = ResourceIdentity(
      resource: "like", key: try key("zoe"),
      names: names.merging(["message": try key("m"), "user": try key("zoe")]) { _, new in new })
    #expect(registry.toggled(at: message, by: try key("zoe")) == [like])
    for resource in ["group", "user"] {
      let record = ResourceIdentity(resource: resource, key: try key("g"), names: [:])
      #expect(registry.toggled(at: record, by: try key("zoe")) == [])
    }
  }

  @Test func whatIsToggledAtARecordFollowsFromItsResourceAlone() throws {
    #expect(registry.toggledResources(of: "message") == ["like"])
    for resource in ["group", "user", "like", "nothing of the kind"] {
      #expect(registry.toggledResources(of: resource) == [])
    }
  }

  @Test func anOperationOnAnIdentityIsOnTheRecordOfThePlace() throws {
    for path in ["/user/u", "/group_message/g/m", "/message_like/g/m/u"] {
      let path = try Path(path)
      guard case .record(let identity, _) = registry.place(of: path) else {
        Issue.record("\(path) is no record")
        continue
      }
      let operation = registry.operation(.destroy, on: identity)
      #expect(try registry.path(of: operation.object, in: operation.context) == path)
    }
  }
}
