import RunnelTree
import Testing

@testable import RunnelStreams

@Suite struct ResourceContextTests {
  private func object(_ key: String) throws -> ResourceObject {
    try ResourceObject("thing", key: key)
  }

  @Test func aLevelAboveMasksAndLeavesTheOneBelow() throws {
    let low = ResourceContext(["a": try object("1"), "b": try object("2")])
    let high = low.push(["a": try object("3"), "c": try object("4")])
    #expect(high.get("a")?.key?.text == "3")
    #expect(high.get("b")?.key?.text == "2")
    #expect(low.get("a")?.key?.text == "1")
    #expect(low.get("c") == nil)
    #expect(high.map(\.name) == ["a", "c", "b"])
    #expect(high.map { $0.object.key?.text } == ["3", "4", "2"])
    #expect(high.objects.mapValues { $0.key?.text } == ["a": "3", "b": "2", "c": "4"])
  }

  @Test func aResetReplacesOneLevelAndIsSeenAbove() throws {
    let low = ResourceContext(["a": try object("1")])
    let high = low.push(["b": try object("2")])
    high.reset(["c": try object("3")])
    #expect(high.map(\.name) == ["c", "a"])
    low.reset()
    #expect(high.map(\.name) == ["c"])
    low.reset(["b": try object("5")])
    #expect(high.get("b")?.key?.text == "5")
  }

  @Test func aLevelKeepsThoseBelowAlive() throws {
    let high = ResourceContext(["a": try object("1")]).push().push(["b": try object("2")])
    #expect(high.get("a")?.key?.text == "1")
    #expect(high.levels.count == 3)
  }

  @Test func theDescriptionHasTheLowestLevelFirst() throws {
    let context = ResourceContext(["b": try object("1"), "a": try object("2")])
      .push().push(["c": ResourceObject("thing")])
    #expect(context.debugDescription == "a: thing 2, b: thing 1\n  (empty)\n    c: thing (new)")
  }
}
