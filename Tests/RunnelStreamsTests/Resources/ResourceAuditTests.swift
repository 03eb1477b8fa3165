import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStreams

@Suite struct ResourceAuditTests {
  private var world: ResourceWorld

  init() throws {
    world = try ResourceWorld()
    try world.perform(.create, "user", "ana", ["name": "Ana"])
    try world.perform(.create, "group", "g", ["name": "G"])
    let context = ["group": (resource: "group", key: "g")]
    for key in ["a", "b"] {
      try world.perform(.create, "message", key, ["text": "x", "from": "ana"], in: context)
    }
  }

  @Test func whatWasDoneByOperationsIsInStep() throws {
    let report = try world.report()
    #expect(report == ResourceReport(recordCount: 4))
    #expect(report.isInStep && report.repair == nil)
  }

  @Test mutating func whatWasWrittenBesidesIsFoundAndRepaired() throws {
    try world.set("/group/g/message_count", 7)
    try world.set("/group/g/pinned_count", "none")
    try world.set("/group_message/g/c", ["text": "y", "pinned": true])
    try world.set("/group_message/g/a/from_name", "Mallory")
    try world.set("/user/ana/message_count", nil)
    let report = try world.report()
    #expect(
      report.counters.map(\.path.description) == [
        "/user/ana/message_count", "/group/g/message_count", "/group/g/pinned_count",
      ])
    #expect(report.counters.map { $0.expected.json } == [2, 3, 1])
    #expect(report.copies.map(\.path.description) == ["/group_message/g/a/from_name"])
    try world.perform(try #require(report.repair))
    #expect(try world.report().isInStep)
  }

  @Test mutating func whatBelongsToNothingIsAnOrphan() throws {
    try world.set("/group_message/gone/m", ["from": "nobody"])
    let orphans = try world.report().orphans
    #expect(orphans.map(\.link.description) == ["$group", "from"])
    #expect(orphans.map(\.missing.description) == ["/group/gone", "/user/nobody"])
    #expect(orphans.allSatisfy { $0.path.description == "/group_message/gone/m" })
  }

  @Test mutating func anAuditEndsWhenItIsNotWanted() throws {
    let members = (0..<2500).map { JSONMember("k\($0)", ["text": "x"]) }
    try world.set("/group_message/h", .object(members))
    var calls = 0
    let stopped = ResourceAudit(registry: world.registry, reader: world.tree) { _, _ in
      calls += 1
      return calls < 2
    }
    #expect(try stopped.run() == nil)
    #expect(calls == 2)
  }
}
