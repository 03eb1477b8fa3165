import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStreams

/// Long chains of records that are destroyed with their owners.
@Suite struct CascadeTests {
  // MARK: Chains by path

  /// `/r0/@`, `/r1/$r0/@`, `/r2/$r0/$r1/@` and so on: each counts the next, and takes it along.
  private static func chain(_ depth: Int) throws -> ResourceRegistry {
    var registry = ResourceRegistry()
    for level in 0..<depth {
      let names = (0..<level).map { "/$r\($0)" }.joined()
      try registry.resource("r\(level)", path: "/r\(level)\(names)/@")
    }
    for level in 1..<depth {
      try registry.counter(
        "r\(level - 1)", name: "count", counting: "r\(level)", link: "$r\(level - 1)")
      try registry.cascade(from: "r\(level - 1)", to: "r\(level)", link: "$r\(level - 1)")
    }
    try registry.log(at: "/action")
    return registry
  }

  private static func context(
    _ keys: ArraySlice<String>
  ) -> [String: (resource: String, key: String)] {
    var context: [String: (resource: String, key: String)] = [:]
    for (level, key) in keys.enumerated() { context["r\(level)"] = ("r\(level)", key) }
    return context
  }

  /// A record of each chain of keys, and the keys of all of them.
  private static func fill(
    _ world: inout ResourceWorld, depth: Int, width: Int
  ) throws -> [[String]] {
    var all: [[String]] = []
    var row: [[String]] = [[]]
    for level in 0..<depth {
      row = row.flatMap { above in (0..<width).map { above + ["k\($0)"] } }
      for keys in row {
        try world.perform(
          .create, "r\(level)", keys[level], ["x": 1], in: context(keys[..<level]))
      }
      all += row
    }
    return all
  }

  @Test(arguments: [(2, 3), (4, 2), (6, 2), (12, 1)])
  func destroyingAnOwnerTakesAllGenerationsAndNothingElse(depth: Int, width: Int) throws {
    var world = try ResourceWorld(CascadeTests.chain(depth))
    let all = try CascadeTests.fill(&world, depth: depth, width: width)
    for level in 0..<depth - 1 {
      var world = world
      let keys = Array(repeating: "k0", count: level + 1)
      let plan = try world.perform(
        .destroy, "r\(level)", "k0", in: CascadeTests.context(keys[..<level]))
      let gone = all.filter { $0.starts(with: keys) }
      #expect(plan.changes.count == gone.count)
      #expect(plan.changes.count(where: \.isCascaded) == gone.count - 1)
      for record in all {
        let path = "/r\(record.count - 1)/" + record.joined(separator: "/")
        #expect(try (world.json(path) == .null) == gone.contains(record), "\(path)")
      }
      let report = try world.report()
      #expect(report.isInStep && report.orphans.isEmpty)
      #expect(try world.log().count == all.count + gone.count)
    }
  }

  @Test func aChainThatIsTakenBackEntryByEntryIsAsItWas() throws {
    var world = try ResourceWorld(CascadeTests.chain(5))
    _ = try CascadeTests.fill(&world, depth: 5, width: 2)
    let before = try (0..<5).map { try world.json("/r\($0)") }
    let logged = try world.log().count
    try world.perform(.destroy, "r0", "k1")
    for entry in try world.log()[logged...] {
      try world.perform(world.registry.undoing(entry, reader: world.tree))
    }
    #expect(try (0..<5).map { try world.json("/r\($0)") } == before)
    #expect(try world.report().isInStep)
  }

  @Test func aChainThatIsTooLongForOneWriteIsRefusedAsAWhole() throws {
    var world = try ResourceWorld(CascadeTests.chain(6))
    _ = try CascadeTests.fill(&world, depth: 6, width: 2)
    let before = world.tree.root
    // 2 and 4 and 8 and 16 and 32 belong to one of the first level.
    world.recordsMax = 61
    let error = try resourceError { try world.perform(.destroy, "r0", "k0") }
    #expect(error.code == .tooMany)
    #expect(world.tree.root == before)
    world.recordsMax = 62
    try world.perform(.destroy, "r0", "k0")
    #expect(try world.report().isInStep)
  }

  // MARK: Chains by reference

  /// Comments that answer others: each counts its answers, and takes them along.
  private static func comments() throws -> ResourceRegistry {
    var registry = ResourceRegistry()
    try registry.resource(
      "comment", path: "/comment/@",
      schema: ResourceSchema([try FieldRule("parent", .reference("comment"))]))
    try registry.counter("comment", name: "answers", counting: "comment", link: "parent")
    try registry.cascade(from: "comment", to: "comment", link: "parent")
    try registry.log(at: "/action")
    return registry
  }

  @Test func aLongChainOfAnswersGoesWithItsBeginning() throws {
    var world = try ResourceWorld(CascadeTests.comments())
    try world.perform(.create, "comment", "c0", ["text": "x"])
    for number in 1..<120 {
      try world.perform(
        .create, "comment", "c\(number)", ["parent": .string("c\(number - 1)")])
    }
    let plan = try world.perform(.destroy, "comment", "c40")
    #expect(plan.changes.count == 80)
    #expect(try world.json("/comment/c39/answers") == 0)
    #expect(try world.json("/comment/c38/answers") == 1)
    #expect(try world.report().isInStep)
  }

  @Test func aCircleOfRecordsIsDestroyedOnce() throws {
    var world = try ResourceWorld(CascadeTests.comments())
    for key in ["a", "b", "c"] { try world.perform(.create, "comment", key, ["text": "x"]) }
    for (key, parent) in [("a", "c"), ("b", "a"), ("c", "b")] {
      try world.perform(.update, "comment", key, ["parent": .string(parent)])
    }
    #expect(try world.report().isInStep)
    let plan = try world.perform(.destroy, "comment", "b")
    #expect(plan.changes.count == 3)
    #expect(try world.json("/comment") == .null)
  }

  @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
  func forestsAreWhatANaiveReadingSays(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for _ in 0..<6 {
      var world = try ResourceWorld(CascadeTests.comments())
      // The oracle: who answers whom.
      var parents: [String: String] = [:]
      var living: Set<String> = []
      for number in 0..<40 {
        let key = "c\(number)"
        if number > 0, let parent = living.sorted().randomElement(using: &random),
          Int.random(in: 0..<4, using: &random) > 0
        {
          try world.perform(.create, "comment", key, ["parent": .string(parent)])
          parents[key] = parent
        } else {
          try world.perform(.create, "comment", key, ["text": "x"])
        }
        living.insert(key)
        guard Int.random(in: 0..<8, using: &random) == 0,
          let victim = living.sorted().randomElement(using: &random)
        else { continue }
        try world.perform(.destroy, "comment", victim)
        var gone: Set<String> = [victim]
        while let next = living.first(where: {
          !gone.contains($0) && gone.contains(parents[$0] ?? "")
        }) { gone.insert(next) }
        living.subtract(gone)
      }
      let stored = world.tree.root[try Path("/comment")].children.map(\.key.text)
      #expect(Set(stored) == living, "seed \(seed)")
      for key in living {
        let count = living.count { parents[$0] == key }
        #expect(try world.json("/comment/\(key)/answers") == .number(JSONNumber(Int64(count))))
      }
      #expect(try world.report().isInStep)
    }
  }
}
