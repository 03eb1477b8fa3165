import RunnelBase
import RunnelTree
import Testing

@Suite struct MergeTests {
  /// What stands after a merge into a node.
  private func merged(_ json: JSONValue, into node: JSONValue) throws -> JSONValue {
    let path = try Path("/a")
    let old = try Node(json: node, at: path)
    guard case .update(_, let members) = try Write.merge(json, at: path) else { return "no update" }
    var result = old
    for member in members {
      result = result.replacing(try Path(member.name), with: try Node(json: member.value))
    }
    return result.exportJSON
  }

  @Test(
    arguments: [
      (["b": ["c": 1]], ["b": ["c": 1, "d": 2], "e": 3]),
      (["b": ["c": nil]], ["b": ["d": 2], "e": 3]),
      (["b": [:]], ["e": 3]),
      (["b": nil, "e": 4], ["e": 4]),
      (["b": ["d": ["x": 1]]], ["b": ["d": ["x": 1]], "e": 3]),
      (["b/d": 5, "f": ["g/h": 6]], ["b": ["d": 5], "e": 3, "f": ["g": ["h": 6]]]),
      (["e": [7, 8]], ["b": ["d": 2], "e": ["0": 7, "1": 8]]),
      (["b": [".value": 5, ".priority": 1]], ["b": [".value": 5, ".priority": 1], "e": 3]),
      ([:], ["b": ["d": 2], "e": 3]),
    ] as [(JSONValue, JSONValue)])
  func leavesThatAreNamedChangeAndNoOthers(merge: JSONValue, result: JSONValue) throws {
    #expect(try merged(merge, into: ["b": ["d": 2], "e": 3]) == result)
  }

  @Test func serverValuesAndPrioritiesAreParts() throws {
    let json: JSONValue = ["a": [".priority": 1, "t": [".sv": "timestamp"]]]
    let expected: [JSONMember] = [
      JSONMember("a/.priority", 1), JSONMember("a/t", [".sv": "timestamp"]),
    ]
    #expect(try Write.merge(json, at: .root) == .update(.root, expected))
  }

  @Test(arguments: [nil, 5, "x", [1], [".value": 1], [".sv": "timestamp"]] as [JSONValue])
  func onlyAnObjectIsMerged(json: JSONValue) {
    #expect {
      try Write.merge(json, at: .root)
    } throws: { ($0 as? TreeError)?.code == .invalidValue }
  }
}
