import RunnelBase
import Testing

@testable import RunnelTree

@Suite struct OnDisconnectTests {
  /// Carries all out over a tree, at the time 7, and gives what is left.
  private func execute(_ operations: OnDisconnect, over root: String) throws -> String {
    var operations = operations
    var tree = MemoryTree(try node(root))
    for write in operations.execute() {
      for part in try write.assignments(now: 7, reader: tree) { tree.perform(part) }
    }
    #expect(operations.isEmpty)
    return tree.root.exportJSON.jsonText()
  }

  private func members(_ json: String) throws -> [JSONMember] {
    guard case .object(let members) = try JSONValue(parsing: json) else { return [] }
    return members
  }

  @Test func aCancelledChildOfASetKeepsWhatItHas() throws {
    // As production does it.
    var operations = OnDisconnect()
    try operations.set(Path("p"), ["a": 1, "b": 2])
    operations.cancel(try Path("p/a"))
    #expect(
      try execute(operations, over: #"{"p":{"a":"kept","b":"old","c":"unlisted"}}"#)
        == #"{"p":{"a":"kept","b":2,"c":"unlisted"}}"#)
  }

  @Test func aLaterRegistrationRefinesAnEarlierOne() throws {
    var operations = OnDisconnect()
    try operations.set(Path("p"), ["a": 1, "b": 2])
    operations.remove(try Path("p/a"))
    try operations.update(Path("p"), members(#"{"c/d":3,"b":null}"#))
    #expect(try execute(operations, over: #"{"p":{"z":9}}"#) == #"{"p":{"c":{"d":3}}}"#)
    try operations.set(Path("p"), "all")
    #expect(operations.isEmpty == false)
    #expect(try execute(operations, over: "null") == #"{"p":"all"}"#)
  }

  @Test func serverValuesAreResolvedWhenItIsExecuted() throws {
    var operations = OnDisconnect()
    try operations.set(Path("seen"), [".sv": "timestamp"])
    try operations.update(
      .root, members(#"{"count":{".sv":{"increment":2}},"p/.priority":{".sv":"timestamp"}}"#))
    let writes = operations.execute()
    #expect(writes.contains(.set(try Path("seen"), [".sv": "timestamp"])))
    #expect(operations.isEmpty)
    #expect(operations.execute().isEmpty)
    try operations.set(Path("seen"), [".sv": "timestamp", ".priority": [".sv": "timestamp"]])
    try operations.update(
      .root, members(#"{"count":{".sv":{"increment":2}},"p/.priority":{".sv":"timestamp"}}"#))
    #expect(
      try execute(operations, over: #"{"count":40,"p":1}"#)
        == #"{"count":42,"p":{".value":1,".priority":7},"#
        + #""seen":{".value":7,".priority":7}}"#)
  }

  @Test func aServerValueInsideASetIsRefinedAndExpanded() throws {
    var operations = OnDisconnect()
    try operations.set(Path("p"), ["at": [".sv": "timestamp"], "by": "ana", "to": ["x": 1]])
    operations.cancel(try Path("p/by"))
    try operations.set(Path("p/to/y"), 2)
    #expect(
      try execute(operations, over: #"{"p":{"by":"old"}}"#)
        == #"{"p":{"at":7,"by":"old","to":{"x":1,"y":2}}}"#)
  }

  @Test func aPriorityIsRegisteredAlone() throws {
    var operations = OnDisconnect()
    try operations.update(Path("p"), members(#"{".priority":4}"#))
    #expect(try execute(operations, over: #"{"p":{"a":1}}"#) == #"{"p":{"a":1,".priority":4}}"#)
    try operations.update(Path("p"), members(#"{".priority":4,"b":1}"#))
    #expect(
      try execute(operations, over: #"{"p":{"a":1}}"#) == #"{"p":{"a":1,"b":1,".priority":4}}"#)
  }

  @Test(arguments: [
    #"{"a":1,"a/b":2}"#, #"{"a.b":1}"#, #"{"x":1,"a":{"b$":1}}"#, #"{"a":{".sv":"unknown"}}"#,
    #"{"a/.priority":true}"#, #"{"":1}"#,
  ])
  func whatAWriteWouldRefuseIsNotRegistered(json: String) throws {
    var operations = OnDisconnect()
    try operations.set(Path("k"), 1)
    let before = operations
    #expect(throws: TreeError.self) { try operations.update(Path("p"), members(json)) }
    #expect(throws: TreeError.self) { try operations.set(Path("p"), [".sv": "unknown"]) }
    #expect(operations == before)
  }

  @Test func cancellingAtTheRootCancelsAll() throws {
    var operations = OnDisconnect()
    try operations.set(Path("a"), 1)
    operations.remove(try Path("b"))
    operations.cancel(.root)
    #expect(operations.isEmpty)
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func oneSetIsExecutedAsTheWriteItIs(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let root = try random.node().exportJSON.jsonText()
    let (path, json) = (try random.path(), try random.node().exportJSON)
    var operations = OnDisconnect()
    try operations.set(path, json)
    let expected = try node(root).replacing(path, with: Node(json: json))
    #expect(try execute(operations, over: root) == expected.exportJSON.jsonText(), "seed \(seed)")
    #expect(DeferredNode(accepted: json).json == json)
  }
}
