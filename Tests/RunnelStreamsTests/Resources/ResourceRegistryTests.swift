import RunnelTree
import Testing

@testable import RunnelStreams

@Suite struct ResourceRegistryTests {
  private var registry = ResourceRegistry()

  init() throws {
    try registry.resource("group", path: "/group/@")
    try registry.resource("message", path: "/group_message/$group/@")
    try registry.resource(
      "note", path: "/note/@",
      schema: ResourceSchema([
        try FieldRule("by", .reference("group")), try FieldRule("to", .reference("group")),
      ]))
  }

  /// Tries `body`, which must be refused, and must leave everything as it is.
  private func refusal(_ body: (inout ResourceRegistry) throws -> Void) throws -> ResourceError {
    var changed = registry
    let error = try resourceError { try body(&changed) }
    #expect(changed.definitions == registry.definitions)
    #expect(changed.counters == registry.counters)
    #expect(changed.copies == registry.copies)
    #expect(changed.cascades == registry.cascades)
    return error
  }

  @Test func aNameIsRegisteredOnce() throws {
    let error = try refusal { try $0.resource("group", path: "/other/@") }
    #expect(error.message.contains("registered twice"))
  }

  @Test(arguments: [
    ["/group/@/member/@"], ["/group"], ["/$any/@"], ["/group_message/$group/@/x"], ["/@"],
    ["/new/@", "/new/$group"], [],
  ])
  func placesOfTwoPatternsNeverMeet(paths: [String]) throws {
    let error = try refusal { try $0.resource("new", paths: paths) }
    #expect(error.code == .invalidDefinition)
    #expect(error.resource == "new")
  }

  @Test func theLogIsWhereNoRecordStands() throws {
    #expect(try refusal { try $0.log(at: "/group/log") }.code == .invalidDefinition)
    #expect(try refusal { try $0.log(at: "/") }.code == .invalidDefinition)
    var registry = registry
    try registry.log(at: "/action")
    #expect(throws: ResourceError.self) { try registry.resource("action", path: "/action/@") }
  }

  @Test func aFurtherPathTellsItsNamesByTheFirstOrByReferences() throws {
    var registry = registry
    let schema = ResourceSchema([try FieldRule("user", .reference("group"))])
    try registry.resource("entry", paths: ["/a/$group/@", "/b/$user/$group/@"], schema: schema)
    let error = try refusal {
      try $0.resource("entry", paths: ["/a/$group/@", "/b/$user/@"])
    }
    #expect(error.message.contains("`$user`"))
    #expect(try refusal { try $0.resource("x", paths: ["/a/@", "/b"]) }.code == .invalidDefinition)
  }

  @Test func aCounterNeedsBothResourcesAndAWayToTheOwner() throws {
    let unknown = try refusal { try $0.counter("room", name: "n", counting: "message") }
    #expect(unknown.code == .unknownResource && unknown.resource == "room")
    let member = try refusal { try $0.counter("group", name: "n", counting: "post") }
    #expect(member.code == .unknownResource && member.resource == "post")
    let none = try refusal { try $0.counter("note", name: "n", counting: "message") }
    #expect(none.message.contains("nothing in /group_message/$group/@"))
    let several = try refusal { try $0.counter("group", name: "n", counting: "note") }
    #expect(several.message.contains("by by or to"))
    var registry = registry
    try registry.counter("group", name: "n", counting: "note", link: "to")
    try registry.counter("group", name: "m", counting: "message")
    #expect(registry.counters.map(\.relation.link.description) == ["to", "$group"])
  }

  @Test func theOwnerIsToldByThePathOfTheMember() throws {
    var registry = registry
    try registry.resource("like", path: "/like/$message/@")
    let error = try resourceError {
      try registry.counter("message", name: "likes", counting: "like")
    }
    #expect(error.message.contains("`$group` of /group_message/$group/@ is missing"))
    #expect(throws: ResourceError.self) {
      try registry.counter("message", name: "likes", counting: "like", link: "$other")
    }
  }

  @Test func aFieldIsCountedOrCopiedIntoOnce() throws {
    var registry = registry
    try registry.counter("group", name: "n", counting: "message")
    #expect(throws: ResourceError.self) {
      try registry.counter("group", name: "n", counting: "message")
    }
    #expect(throws: ResourceError.self) {
      try registry.copy(into: "group", from: "group", link: "x", fields: ["a": "n"])
    }
    #expect(throws: ResourceError.self) {
      try registry.copy(into: "note", from: "group", link: "to", fields: ["a": "c", "b": "c"])
    }
  }

  @Test func aReferenceToNothingIsFound() throws {
    try registry.checkReferences()
    var registry = registry
    try registry.resource(
      "x", path: "/x/@", schema: ResourceSchema([try FieldRule("y", .reference("z"))]))
    let error = try resourceError { try registry.checkReferences() }
    #expect(error.missing == "z" && error.resource == "x")
  }

  @Test func placesAreThoseOfTheContext() throws {
    let context = ["group": try ResourceObject("group", key: "g")]
    let message = try ResourceObject("message", key: "m")
    #expect(try registry.path(of: message, in: context).description == "/group_message/g/m")
    #expect(
      try registry.collection(of: "message", in: context).description == "/group_message/g")
    let nameless = try resourceError { _ = try registry.path(of: message, in: [:]) }
    #expect(nameless.code == .missingName && nameless.missing == "group")
    let unsaved = try resourceError {
      _ = try registry.path(of: message, in: ["group": ResourceObject("group")])
    }
    #expect(unsaved.code == .missingName && unsaved.message.contains("create it first"))
    let keyless = try resourceError {
      _ = try registry.path(of: ResourceObject("message"), in: context)
    }
    #expect(keyless.code == .missingKey && keyless.resource == "message")
  }

  @Test func anObjectOfAnotherResourceIsRefusedByBothNames() throws {
    var registry = registry
    try registry.resource("memo", path: "/memo/$owner/$other/@", parents: ["owner": "group"])
    let (group, message) = (ResourceObject("group", key: try Key("g")), ResourceObject("message"))
    let memo = try ResourceObject("memo", key: "n")
    let wrong = try resourceError {
      _ = try registry.path(of: memo, in: ["owner": message, "other": group])
    }
    #expect(wrong.code == .wrongResource && wrong.missing == "owner")
    #expect(wrong.message.contains("is a `group`") && wrong.message.contains("has a `message`"))
    let list = try resourceError {
      _ = try registry.collection(of: "memo", in: ["owner": message, "other": group])
    }
    #expect(list.code == .wrongResource)
    // A name that stands for no resource takes any.
    let path = try registry.path(of: memo, in: ["owner": group, "other": group])
    #expect(path.description == "/memo/g/g/n")
  }
}
