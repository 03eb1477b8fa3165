import RunnelBase
import RunnelSync
import RunnelTree
import TestSupport
import Testing

/// Random rules and random operations, decided by the engine and by a naive evaluator.
@Suite struct RulesRandomTests {
  /// The rules of a place.
  private final class Place {
    var rules: [RuleKind: RulesSample] = [:]
    var children: [String: Place] = [:]
    var wildcard: (name: String, place: Place)?

    var json: JSONValue {
      var members = rules.map { JSONMember($0.key.rawValue, .string($0.value.text)) }
      members += children.map { JSONMember($0.key, $0.value.json) }
      if let wildcard { members.append(JSONMember(wildcard.name, wildcard.place.json)) }
      return .object(members.sorted { $0.name < $1.name })
    }
  }

  private static let keys = ["a", "b", "c"]

  private func rules(
    _ random: inout SeededRandom, level: Int = 0, captures: [String] = []
  ) -> Place {
    let place = Place()
    for kind in RuleKind.allCases where Int.random(in: 0..<3, using: &random) < 2 {
      var sampler = RulesSampler(random: random, captures: captures, isRead: kind == .read)
      place.rules[kind] = sampler.bool(Int.random(in: 0...4, using: &random))
      random = sampler.random
      // Else hardly anything is ever allowed.
      if Int.random(in: 0..<3, using: &random) == 0 { place.rules[kind] = .bool(true) }
    }
    if level == 3 { return place }
    for key in RulesRandomTests.keys where Int.random(in: 0..<3, using: &random) == 0 {
      place.children[key] = rules(&random, level: level + 1, captures: captures)
    }
    if Int.random(in: 0..<2, using: &random) == 0 {
      let name = "$k\(level)"
      place.wildcard = (name, rules(&random, level: level + 1, captures: captures + [name]))
    }
    return place
  }

  private func json(_ random: inout SeededRandom, depth: Int) -> JSONValue {
    if depth > 0, Int.random(in: 0..<3, using: &random) > 0 {
      return .object(
        RulesRandomTests.keys.filter { _ in Int.random(in: 0..<2, using: &random) == 0 }
          .map { JSONMember($0, json(&random, depth: depth - 1)) })
    }
    let leaves: [JSONValue] = [
      true, false, 0, 1, 2, "a", "b", "ab", "", .null, [".value": "b", ".priority": 2],
    ]
    return leaves.randomElement(using: &random) ?? .null
  }

  private func path(_ random: inout SeededRandom, count: ClosedRange<Int>) -> String {
    let count = Int.random(in: count, using: &random)
    return (0..<count).map { _ in RulesRandomTests.keys.randomElement(using: &random) ?? "a" }
      .joined(separator: "/")
  }

  // MARK: Deciding naively

  /// The rules from the root to a place, with the keys that their wildcards stand for.
  private func chain(
    _ rules: Place, _ keys: [String]
  ) -> [(place: Place, captures: [String: String])] {
    var chain = [(rules, [String: String]())]
    for key in keys {
      let (place, captures) = chain[chain.count - 1]
      if let next = place.children[key] {
        chain.append((next, captures))
      } else if let wildcard = place.wildcard {
        chain.append((wildcard.place, captures.merging([wildcard.name: key]) { $1 }))
      } else {
        return chain
      }
    }
    return chain
  }

  private func isGranted(
    _ kind: RuleKind, _ rules: Place, _ keys: [String], _ naive: RulesNaive
  ) -> Bool {
    chain(rules, keys).enumerated().contains { level, link in
      holds(link.place.rules[kind], keys.prefix(level), link.captures, naive) ?? false
    }
  }

  private func holds(
    _ rule: RulesSample?, _ keys: ArraySlice<String>, _ captures: [String: String],
    _ naive: RulesNaive
  ) -> Bool? {
    var naive = naive
    (naive.place, naive.captures) = (Array(keys), captures)
    return rule.map(naive.holds)
  }

  private func isValid(_ rules: Place, _ keys: [String], _ naive: RulesNaive) -> Bool {
    let node = keys.reduce(naive.after) { node, key in
      node.children.first { $0.key.text == key }?.node ?? .empty
    }
    if node.isEmpty { return true }
    let links = chain(rules, keys)
    for (level, link) in links.enumerated()
    where holds(link.place.rules[.validate], keys.prefix(level), link.captures, naive) == false {
      return false
    }
    return links.count <= keys.count || isValid(below: node, rules, keys, naive)
  }

  private func isValid(
    below node: Node, _ rules: Place, _ keys: [String], _ naive: RulesNaive
  ) -> Bool {
    node.children.allSatisfy { child in
      let keys = keys + [child.key.text]
      let links = chain(rules, keys)
      guard links.count == keys.count + 1, let link = links.last else { return true }
      return holds(link.place.rules[.validate], keys[...], link.captures, naive) != false
        && isValid(below: child.node, rules, keys, naive)
    }
  }

  // MARK: Operations

  private static let identities: [JSONValue] = [
    .null, ["uid": "a", "token": ["level": 2, "tags": ["x": true]]],
    ["uid": "b", "token": ["level": "ab"]],
  ]

  private func checkRead(
    _ engine: RulesEngine, _ rules: Place, _ data: Node, _ random: inout SeededRandom
  ) throws -> Bool {
    let path = path(&random, count: 0...3)
    var query = Query(try Path(path))
    var expected: [String: JSONValue] = [
      "orderByKey": true, "orderByPriority": false, "orderByValue": false,
    ]
    if Int.random(in: 0..<3, using: &random) == 0 {
      query = try query.ordered(by: .value).equal(to: .leaf(.number(1)))
      expected["orderByKey"] = false
      expected["orderByValue"] = true
      for name in ["equalTo", "startAt", "endAt"] { expected[name] = 1 }
    }
    if Int.random(in: 0..<2, using: &random) == 0 {
      query = try query.limited(to: 2, from: .first)
      expected["limitToFirst"] = 2
    }
    let auth = RulesRandomTests.identities.randomElement(using: &random) ?? .null
    let naive = RulesNaive(auth: auth, now: 3, query: expected, before: data, after: data)
    let verdict = try engine.decide(.read(query), as: auth, now: 3, before: MemoryTree(data))
    let keys = path.split(separator: "/").map(String.init)
    #expect(
      verdict.isAllowed == isGranted(.read, rules, keys, naive),
      "read /\(path) as \(auth.jsonText()) of \(data.json.jsonText()), \(rules.json.jsonText())")
    return verdict.isAllowed
  }

  private func checkWrite(
    _ engine: RulesEngine, _ rules: Place, _ data: Node, _ random: inout SeededRandom
  ) throws -> Bool {
    let write: Write
    if Int.random(in: 0..<3, using: &random) > 0 {
      write = .set(try Path(path(&random, count: 0...3)), json(&random, depth: 2))
    } else {
      let names = Set([path(&random, count: 1...2), path(&random, count: 1...2)]).sorted()
      write = .update(
        try Path(path(&random, count: 0...1)),
        names.map { JSONMember($0, json(&random, depth: 1)) })
    }
    let before = MemoryTree(data)
    // One path above another is refused before rules are asked.
    guard let parts = try? write.assignments(now: 3, reader: before) else { return false }
    var after = before
    for part in parts { after.perform(part) }
    let auth = RulesRandomTests.identities.randomElement(using: &random) ?? .null
    let naive = RulesNaive(
      auth: auth, now: 3,
      query: ["orderByKey": true, "orderByPriority": false, "orderByValue": false],
      before: data, after: after.root)
    let verdict = try engine.decide(.write(parts), as: auth, now: 3, before: before)
    let keys = parts.map { $0.path.keys.map(\.text) }
    let expected =
      keys.allSatisfy { isGranted(.write, rules, $0, naive) }
      && keys.allSatisfy { isValid(rules, $0, naive) }
    #expect(
      verdict.isAllowed == expected,
      "\(write) as \(auth.jsonText()) of \(data.json.jsonText()), \(rules.json.jsonText())")
    let told = try engine.decide(.write(parts), as: auth, now: 3, before: before, after: after)
    #expect(told == verdict, "The tree after the write is given.")
    let explained = try engine.explain(.write(parts), as: auth, now: 3, before: before)
    #expect(explained.verdict == verdict)
    return verdict.isAllowed
  }

  @Test(arguments: Seeds.first(8))
  func theEngineAgreesWithTheNaiveEvaluator(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var allowedCount = 0
    var deniedCount = 0
    for _ in 0..<60 {
      let rules = rules(&random)
      let engine = try RulesEngine(json: ["rules": rules.json])
      let data = try Node(json: json(&random, depth: 3))
      for _ in 0..<12 {
        let isAllowed =
          try Bool.random(using: &random)
          ? checkRead(engine, rules, data, &random) : checkWrite(engine, rules, data, &random)
        if isAllowed { allowedCount += 1 } else { deniedCount += 1 }
      }
    }
    #expect(allowedCount > 50, "seed \(seed)")
    #expect(deniedCount > 50, "seed \(seed)")
  }

  /// The tree after a write that was not carried out, beside one in which it was.
  @Test(arguments: Seeds.first(8))
  func aWrittenTreeIsWhatTheWriteLeaves(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for _ in 0..<400 {
      let before = MemoryTree(try Node(json: json(&random, depth: 3)))
      let count = Int.random(in: 1...4, using: &random)
      var members = (0..<count).map { _ in
        JSONMember(path(&random, count: 1...3), json(&random, depth: 2))
      }
      if Bool.random(using: &random) {
        members.append(JSONMember(path(&random, count: 1...2) + "/.priority", 7))
      }
      let write = Write.update(.root, members)
      guard let parts = try? write.assignments(now: 0, reader: before) else { continue }
      var after = before
      for part in parts { after.perform(part) }
      let written = WrittenTree(before, parts)
      for _ in 0..<10 {
        let place = try Path(path(&random, count: 0...4))
        let expected = try after.summary(at: place)
        #expect(try written.summary(at: place) == expected, "\(write) of \(before.root.exportJSON)")
        #expect(try written.node(at: place) == after.node(at: place), "\(write), \(place)")
      }
    }
  }
}
