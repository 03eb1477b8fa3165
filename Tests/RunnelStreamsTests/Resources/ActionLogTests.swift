import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStreams

@Suite struct ActionLogTests {
  private var world: ResourceWorld

  init() throws {
    var registry = ResourceRegistry()
    try registry.resource("group", path: "/group/@")
    try registry.resource("message", path: "/group_message/$group/@")
    try registry.log(at: "/action")
    world = try ResourceWorld(registry)
  }

  private func context() -> [String: (resource: String, key: String)] {
    ["group": (resource: "group", key: "g"), "device": (resource: "device", key: "d")]
  }

  @Test mutating func anEntryTellsWhatStoodThereBeforeAndSince() throws {
    try world.perform(.create, "message", "m", ["text": "a"], in: context())
    let created = world.now
    try world.perform(.update, "message", "m", ["text": "b"], in: context())
    try world.perform(.destroy, "message", "m", in: context())
    let log = try world.log()
    #expect(log.map(\.kind) == [.create, .update, .destroy])
    #expect(log.map(\.old) == [nil, ["text": "a"], ["text": "b"]])
    #expect(log.map(\.new) == [["text": "a"], ["text": "b"], nil])
    #expect(log[0].at == created && log[0].author == "zoe")
    #expect(log.allSatisfy { $0.path.description == "/group_message/g/m" && $0.key.text == "m" })
    #expect(!log.contains { $0.isCascaded || $0.isCut })
  }

  /// Origins 2.6: nothing is filtered there.
  @Test mutating func theContextOfAnEntryIsWhatThePathDoesNotTell() throws {
    try world.perform(.create, "message", "m", ["text": "a"], in: context())
    #expect(try world.log()[0].context.mapValues(\.text) == ["device": "d"])
  }

  @Test mutating func aValueThatIsTooLargeIsLeftOut() throws {
    let text = String(repeating: "x", count: ResourceLimits.logValueBytesMax)
    try world.perform(.create, "group", "g", ["text": .string(text)])
    try world.perform(.update, "group", "g", ["text": "short"])
    let log = try world.log()
    #expect(log.map(\.isCut) == [true, true])
    #expect(log.map(\.old) == [nil, nil])
    #expect(log.map(\.new) == [nil, ["text": "short"]])
  }

  @Test mutating func anEntryComesAfterThoseThatAreThereWhateverTheClockSays() throws {
    let ahead = "Pzzzzzzzzzzzzzzzzzzz"
    try world.set("/action/\(ahead)", ["x": 1])
    try world.perform(.create, "group", "g", ["a": 1])
    try world.perform(.create, "group", "h", ["a": 1])
    let keys = world.tree.root[try Path("action")].children.map(\.key.text)
    #expect(keys == [ahead, "Q-------------------", "Q------------------0"])
  }

  @Test func theKeyAfterAPushIDIsTheNextInItsAlphabet() throws {
    let generator = PushIDGenerator.following
    #expect(generator(try Key("-OwOuJ0SVn2ipBEmoBLr")).text == "-OwOuJ0SVn2ipBEmoBLs")
    #expect(generator(try Key("-OwOuJ0SVn2ipBEmoBzz")).text == "-OwOuJ0SVn2ipBEmoC--")
    #expect(generator(try Key(String(repeating: "z", count: 20))).text.count == 21)
    for text in ["short", "5", "ä23456789012345678901"] {
      #expect(try Key(text) < generator(try Key(text)))
    }
  }

  @Test mutating func aConsumerReadsEachEntryInOrderAndGoesOnAfterTheLast() throws {
    let cursor = ActionLogCursor(log: try Path("action"), checkpoint: try Path("done/mail"))
    #expect(try cursor.next(from: world.tree).end == nil)
    for number in 0..<ActionLogCursor.batchMax + 5 {
      try world.perform(.create, "group", "g\(number)", ["a": 1])
    }
    var seen: [String] = []
    var batches = 0
    while batches < 9 {
      let batch = try cursor.next(from: world.tree)
      guard let end = batch.end else { break }
      seen += batch.entries.map(\.key.text)
      batches += 1
      try world.perform(cursor.acknowledging(end))
    }
    #expect(seen == (0..<ActionLogCursor.batchMax + 5).map { "g\($0)" })
    #expect(batches == 2)
    try world.set("/action/zz", ["no": "entry"])
    let batch = try cursor.next(from: world.tree)
    #expect(batch.entries.isEmpty && batch.end?.text == "zz")
  }

  @Test mutating func aCheckpointThatIsNoKeyIsNamed() throws {
    let cursor = ActionLogCursor(log: try Path("action"), checkpoint: try Path("done"))
    for json in [5, "a.b"] as [JSONValue] {
      try world.set("/done", json)
      #expect(throws: TreeError.self) { try cursor.next(from: world.tree) }
    }
  }
}
