import RunnelBase
import RunnelTree
import Testing

@Suite struct ServerValuesTests {
  private static let now = "1700000000000"

  private func set(
    _ path: String, _ json: String, over root: String = "null"
  ) throws -> String {
    var harness = try EngineHarness(root)
    _ = try harness.set(path, json)
    return harness.tree.root.exportJSON.jsonText()
  }

  @Test func aTimestampIsTheTimeOfTheWriteEverywhere() throws {
    let now = ServerValuesTests.now
    #expect(
      try set("/", #"{"a":{".sv":"timestamp"},"b":{"c":{".sv":"timestamp"}}}"#)
        == #"{"a":\#(now),"b":{"c":\#(now)}}"#)
    #expect(try set("/a", #"{".sv":"timestamp"}"#) == #"{"a":\#(now)}"#)
    #expect(try set("/a", #"[{".sv":"timestamp"}]"#) == #"{"a":{"0":\#(now)}}"#)
  }

  @Test(arguments: [
    ("5", "2", "7"), ("5", "-2", "3"), ("1.5", "0.25", "1.75"), ("null", "3", "3"),
    (#""5""#, "3", "3"), ("true", "3", "3"), (#"{"x":1}"#, "3", "3"),
    ("9007199254740992", "1", "9007199254740993"),
    ("9223372036854775807", "1", "9223372036854775808"), ("5", "0", "5"),
  ])
  func anIncrementAddsToTheNumberThatStandsThere(row: (String, String, String)) throws {
    let result = try set("/n", #"{".sv":{"increment":\#(row.1)}}"#, over: #"{"n":\#(row.0)}"#)
    #expect(try JSONValue(parsing: result) == JSONValue(parsing: #"{"n":\#(row.2)}"#))
  }

  @Test func anIncrementKnowsItsPlaceWithinTheValue() throws {
    #expect(
      try set(
        "/", #"{"a":{"b":[{".sv":{"increment":1}},{".sv":{"increment":1}}]}}"#,
        over: #"{"a":{"b":{"0":10,"1":20}}}"#) == #"{"a":{"b":{"0":11,"1":21}}}"#)
  }

  @Test func anIncrementOfAPriorityAddsToThePriority() throws {
    let root = #"{"a":{".value":100,".priority":5}}"#
    #expect(
      try set("/a", #"{".value":1,".priority":{".sv":{"increment":2}}}"#, over: root)
        == #"{"a":{".value":1,".priority":7}}"#)
    var harness = try EngineHarness(root)
    _ = try harness.update("/", #"{"a/.priority":{".sv":{"increment":3}}}"#)
    #expect(harness.tree.root.exportJSON.jsonText() == #"{"a":{".value":100,".priority":8}}"#)
  }

  @Test func aServerValueMayBeAPriorityAndMayHaveOne() throws {
    let now = ServerValuesTests.now
    #expect(
      try set("/a", #"{"b":1,".priority":{".sv":"timestamp"}}"#)
        == #"{"a":{"b":1,".priority":\#(now)}}"#)
    #expect(
      try set("/a", #"{".sv":"timestamp",".priority":4}"#)
        == #"{"a":{".value":\#(now),".priority":4}}"#)
    #expect(
      try set("/a", #"{".value":{".sv":"timestamp"},".priority":4}"#)
        == #"{"a":{".value":\#(now),".priority":4}}"#)
  }

  @Test(arguments: [
    #"{".sv":"now"}"#, #"{".sv":1}"#, #"{".sv":{"increment":"1"}}"#, #"{".sv":{}}"#,
    #"{".sv":null}"#, #"{"a":{".sv":{"decrement":1}}}"#, #"{".sv":{"increment":null}}"#,
  ])
  func anUnknownServerValueIsRefused(json: String) {
    let error = #expect(throws: TreeError.self) { try set("/x", json) }
    #expect(error?.code == .invalidValue)
    #expect(error?.path?.hasPrefix("/x") == true)
  }

  @Test(arguments: [
    #"{".sv":"timestamp","x":1}"#, #"{"x":1,".sv":{"increment":1}}"#,
    #"{"in":{".sv":"timestamp","x":{"y":1}}}"#, #"[{".sv":"timestamp","x":1}]"#,
  ])
  func whatStandsBesideAServerValueIsNotLostSilently(json: String) throws {
    let error = #expect(throws: TreeError.self) { try set("/x", json) }
    #expect(error?.code == .invalidValue)
    #expect(error?.message.contains("beside \".sv\"") == true)
    #expect(try set("/a", #"{".sv":{"increment":1},"x":null}"#) == #"{"a":1}"#)
  }

  @Test(arguments: [
    #"{".sv":{"increment":1,"timestamp":1}}"#, #"{".sv":{"timestamp":1,"increment":1}}"#,
    #"{".value":1,".priority":{".sv":{"increment":1,"by":2}}}"#,
    #"{".value":1,".priority":{".sv":"timestamp","x":1}}"#,
    #"{".value":1,".priority":{".sv":"timestamp",".priority":1}}"#,
  ])
  func aServerValueIsOneOperation(json: String) throws {
    let error = #expect(throws: TreeError.self) { try set("/x", json) }
    #expect(error?.code == .invalidValue)
    #expect(error?.message.contains("would be lost") == true)
    #expect(try set("/a", #"{".sv":{"increment":1,"x":null}}"#) == #"{"a":1}"#)
  }

  @Test func aSumBeyondEveryNumberIsRefused() throws {
    let error = #expect(throws: TreeError.self) {
      try set("/n", #"{".sv":{"increment":1e308}}"#, over: #"{"n":1e308}"#)
    }
    #expect(error?.code == .invalidValue)
  }

  @Test func incrementsOfOneUpdateReadTheStateBeforeIt() throws {
    var harness = try EngineHarness(#"{"a":1,"b":10}"#)
    _ = try harness.update(
      "/", #"{"a":{".sv":{"increment":1}},"b":{".sv":{"increment":1}}}"#)
    #expect(harness.tree.root.exportJSON.jsonText() == #"{"a":2,"b":11}"#)
  }
}
