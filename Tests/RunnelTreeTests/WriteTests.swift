import RunnelBase
import RunnelTree
import Testing

@Suite struct WriteTests {
  private func update(
    _ path: String, _ json: String, over root: String = "null"
  ) throws -> String {
    var harness = try EngineHarness(root)
    _ = try harness.update(path, json)
    return harness.tree.root.exportJSON.jsonText()
  }

  private func refusal(_ path: String, _ json: String) -> TreeError? {
    #expect(throws: TreeError.self) { try update(path, json) }
  }

  // MARK: Update (section 8.2)

  @Test func anUpdateReplacesEachTargetAndLeavesTheRest() throws {
    #expect(
      try update("/l", #"{"a/x":1,"b":null,"/c/":{"y":2}}"#, over: #"{"l":{"a":{"z":9},"b":1}}"#)
        == #"{"l":{"a":{"x":1,"z":9},"c":{"y":2}}}"#)
  }

  @Test func anUpdateKeepsThePriorityOfItsPlaceAndClearsThoseOfItsTargets() throws {
    let root = #"{"l":{"a":{".value":1,".priority":1},"b":2,".priority":9}}"#
    #expect(try update("/l", #"{"a":3}"#, over: root) == #"{"l":{"a":3,"b":2,".priority":9}}"#)
  }

  @Test func anUpdateThatExchangesAllChildrenKeepsThePriorityOfTheirPlace() throws {
    let root = #"{"l":{"a":1,".priority":9}}"#
    #expect(try update("/l", #"{"a":null,"b":3}"#, over: root) == #"{"l":{"b":3,".priority":9}}"#)
    #expect(
      try update("/", #"{"l/a":null,"l/0":3}"#, over: root) == #"{"l":{"0":3,".priority":9}}"#)
    #expect(try update("/l", #"{"a":null}"#, over: root) == "null")
  }

  @Test(arguments: [
    #"{"a":1,"a/b":2}"#, #"{"a/b":2,"a":1}"#, #"{"a/b/c":1,"x":1,"a/b":2}"#, #"{"a":1,"/a":2}"#,
    #"{"a":1,"a/.priority":2}"#, #"{"a/.priority":1,"a//.priority":2}"#, #"{"a":1,"a!":2,"a/b":3}"#,
  ])
  func aPathAboveAnotherIsRefused(json: String) {
    #expect(refusal("/l", json)?.code == .conflictingPaths)
  }

  /// It took minutes when each part was compared with all members.
  @Test(.timeLimit(.minutes(1))) func anUpdateOfManyPlacesTakesTimeInProportionToThem() throws {
    let members = (0..<30_000).map { JSONMember("k\($0)", .number(JSONNumber(Int64($0)))) }
    let parts = try Write.update(Path("l"), members).assignments(now: 0, reader: MemoryTree())
    #expect(parts.count == members.count)
  }

  @Test func theConflictNamesBothPaths() {
    let message = refusal("/l", #"{"b":1,"a/x":1,"a":1}"#)?.message
    #expect(message?.contains("/l/a ") == true)
    #expect(message?.contains("/l/a/x") == true)
  }

  @Test(arguments: [
    (#"{"":1}"#, TreeError.Code.invalidPath), (#"{"/":1}"#, .invalidPath),
    (#"{"a.b":1}"#, .invalidKey), (#"{"a/.priority/b":1}"#, .invalidKey),
    (#"{".value":1}"#, .invalidKey), (#"{"a/.sv":1}"#, .invalidKey),
    (#"{"a/.priority":true}"#, .invalidValue), (#"{"a/.priority":{"b":1}}"#, .invalidValue),
  ])
  func aBadTargetIsRefused(row: (String, TreeError.Code)) {
    #expect(refusal("/l", row.0)?.code == row.1)
  }

  @Test func aTargetMayBeginWithACombiningMark() throws {
    #expect(try update("/", "{\"a/\u{301}b\":1}") == "{\"a\":{\"\u{301}b\":1}}")
  }

  @Test func aRefusedPartLeavesTheTreeAsItWas() throws {
    var harness = try EngineHarness(#"{"a":1}"#)
    #expect(throws: TreeError.self) { try harness.update("/", #"{"a":2,"b":{"c.d":1}}"#) }
    #expect(harness.tree.root.exportJSON.jsonText() == #"{"a":1}"#)
  }

  @Test func anUpdateOfNothingChangesNothing() throws {
    #expect(try update("/l", "{}", over: #"{"l":1}"#) == #"{"l":1}"#)
  }

  @Test func anUpdateSetsAPriorityBesideTheChildrenThatItNeeds() throws {
    // The priority is written last: when the update began there was no node to take it.
    #expect(try update("/l", #"{".priority":5,"a":1}"#) == #"{"l":{"a":1,".priority":5}}"#)
    #expect(
      try update("/l", #"{"a/.priority":5,"a/b":1}"#) == #"{"l":{"a":{"b":1,".priority":5}}}"#)
    #expect(try update("/l", #"{".priority":5,"a":null}"#, over: #"{"l":{"a":1}}"#) == "null")
  }

  @Test func aPriorityAloneIsSetAndClearedAndNothingTakesNone() throws {
    #expect(
      try update("/l", #"{".priority":"p"}"#, over: #"{"l":1}"#)
        == #"{"l":{".value":1,".priority":"p"}}"#)
    #expect(
      try update("/", #"{"l/.priority":null}"#, over: #"{"l":{".value":1,".priority":"p"}}"#)
        == #"{"l":1}"#)
    #expect(try update("/l", #"{".priority":1}"#) == "null")
  }

  // MARK: Set

  @Test func aSetClearsThePriorityAndWhatItDoesNotMention() throws {
    var harness = try EngineHarness(#"{"l":{"a":1,"b":2,".priority":3}}"#)
    _ = try harness.set("/l", #"{"a":9}"#)
    #expect(harness.tree.root.exportJSON.jsonText() == #"{"l":{"a":9}}"#)
    _ = try harness.write(.remove(Path("l")))
    #expect(harness.tree.root == .empty)
    _ = try harness.write(.remove(Path("l/x/y")))
    #expect(harness.tree.root == .empty)
  }
}
