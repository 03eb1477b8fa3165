import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStreams

@Suite struct PlanDraftTests {
  /// What is put one after the other, and written at once, is what writing each in turn gives.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func oneWriteDoesWhatEachInTurnWould(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var tree = MemoryTree(
      try Node(json: ["a": ["x": 1, "y": ["z": 2]], "b": ["x": 3]]))
    var draft = PlanDraft()
    var expected = tree
    let places = try ["a", "a/x", "a/y", "a/y/z", "b", "b/x", "c/x"].map { try Path($0) }
    for step in 0..<Int.random(in: 1...6, using: &random) {
      let place = places[Int.random(in: 0..<places.count, using: &random)]
      let values: [JSONValue] = [.null, ["x": 5], ["y": ["z": .number(JSONNumber(Int64(step)))]]]
      let json = values[Int.random(in: 0..<3, using: &random)]
      draft.put(json, at: place)
      for part in try Write.set(place, json).assignments(now: 0, reader: expected) {
        expected.perform(part)
      }
    }
    let write = try #require(draft.write())
    for part in try write.assignments(now: 0, reader: tree) { tree.perform(part) }
    #expect(tree == expected, "seed \(seed)")
  }

  @Test func countsAreAddedUpAndJoinWhatIsPutAbove() throws {
    var draft = PlanDraft()
    draft.count(2, at: try Path("a/n"))
    draft.count(-1, at: try Path("a/n"))
    draft.count(1, at: try Path("b/n"))
    draft.count(-1, at: try Path("b/n"))
    draft.count(1, at: try Path("c/n"))
    draft.put(["n": 4], at: try Path("c"))
    draft.count(1, at: try Path("d/n"))
    draft.put(nil, at: try Path("d"))
    let expected: [JSONMember] = [
      JSONMember("/a/n", [".sv": ["increment": 1]]), JSONMember("/c", ["n": 5]),
      JSONMember("/d", nil),
    ]
    #expect(draft.write() == .update(.root, expected))
    #expect(PlanDraft().write() == nil)
  }
}
