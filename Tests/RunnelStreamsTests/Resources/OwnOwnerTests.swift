import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelStreams

/// Records whose owner is of the same resource, or the record itself.
@Suite struct OwnOwnerTests {
  private var world: ResourceWorld

  init() throws {
    var registry = ResourceRegistry()
    try registry.resource(
      "node", path: "/node/@",
      schema: ResourceSchema([try FieldRule("parent", .reference("node"))]))
    try registry.counter("node", name: "replies", counting: "node", link: "parent")
    try registry.copy(
      into: "node", from: "node", link: "parent", fields: ["title": "parent_title"])
    try registry.cascade(from: "node", to: "node", link: "parent")
    try registry.log(at: "/action")
    world = try ResourceWorld(registry)
    try world.perform(.create, "node", "a", ["title": "t1"])
  }

  @Test mutating func aRecordThatBecomesItsOwnOwnerCopiesWhatTheSameWriteGivesIt() throws {
    try world.perform(.update, "node", "a", ["parent": "a", "title": "t3"])
    #expect(
      try world.json("/node/a")
        == ["parent": "a", "parent_title": "t3", "replies": 1, "title": "t3"])
  }

  @Test mutating func aRecordThatCeasesToBeItsOwnOwnerKeepsNoCopy() throws {
    try world.perform(.update, "node", "a", ["parent": "a"])
    try world.perform(.update, "node", "a", ["parent": .null, "title": "t4"])
    #expect(try world.json("/node/a") == ["replies": 0, "title": "t4"])
  }

  @Test mutating func aRecordThatIsItsOwnOwnerComesBackWithItsCount() throws {
    try world.perform(.update, "node", "a", ["parent": "a"])
    let before = try world.json("/node/a")
    #expect(before["replies"] == 1)
    try world.perform(.destroy, "node", "a")
    #expect(try world.json("/node") == .null)
    let destruction = try #require(try world.log().last)
    try world.perform(world.registry.undoing(destruction, reader: world.tree))
    #expect(try world.json("/node/a") == before)
  }

  @Test mutating func aRecordMayBeCreatedAsItsOwnOwner() throws {
    try world.perform(.create, "node", "b", ["parent": "b", "title": "t"])
    #expect(
      try world.json("/node/b")
        == ["parent": "b", "parent_title": "t", "replies": 1, "title": "t"])
  }

  @Test mutating func aMemberThatMovesInTheWriteOfItsNewOwnerGetsTheCopy() throws {
    try world.perform(.create, "node", "b", ["parent": "a", "title": "t"])
    try world.perform(.update, "node", "a", ["parent": "b", "title": "t2"])
    #expect(try world.json("/node/a/parent_title") == "t")
    #expect(try world.json("/node/b/parent_title") == "t2")
    #expect(try world.report().isInStep)
  }

  @Test(arguments: Seeds.first(8))
  func countersAndCopiesAreThoseOfARecountInAnyOrder(seed: UInt64) throws {
    var (world, random) = (world, SeededRandom(seed: seed))
    let keys = ["a", "b", "c"]
    func key() -> String { keys[Int.random(in: 0..<3, using: &random)] }
    for step in 0..<120 {
      var value: [JSONMember] = []
      if Bool.random(using: &random) { value.append(JSONMember("title", .string(key()))) }
      switch Int.random(in: 0..<4, using: &random) {
      case 0: value.append(JSONMember("parent", .null))
      case 1, 2: value.append(JSONMember("parent", .string(key())))
      default: break
      }
      do {
        switch Int.random(in: 0..<8, using: &random) {
        case 0...3: try world.perform(.update, "node", key(), .object(value))
        case 4, 5: try world.perform(.create, "node", key(), .object(value))
        case 6: try world.perform(.destroy, "node", key())
        default:
          let log = try world.log().suffix(4)
          guard let entry = log.randomElement(using: &random) else { continue }
          try world.perform(world.registry.undoing(entry, reader: world.tree))
        }
      } catch is ResourceError {
        // Refused, so nothing was written.
      }
      #expect(try world.report().isInStep, "seed \(seed), step \(step)")
    }
  }
}
