import RunnelBase
import Testing

@testable import RunnelTree

@Suite struct TreeDiffTests {
  private func text(_ differences: [TreeDifference]) -> [String] {
    differences.map { difference in
      let change =
        switch difference.change {
        case .added(let node): "+\(node.exportJSON.jsonText())"
        case .removed(let node): "-\(node.exportJSON.jsonText())"
        case .changed(let old, let new):
          "\(old.exportJSON.jsonText())>\(new.exportJSON.jsonText())"
        case .priority(let old, let new):
          "!\((old?.json ?? .null).jsonText())>\((new?.json ?? .null).jsonText())"
        }
      return "\(difference.path) \(change)"
    }
  }

  /// All that a comparison of two stored trees gives.
  private func streamed(_ old: TreeDiff.Side, _ new: TreeDiff.Side) throws -> [TreeDifference] {
    var diff = TreeDiff(from: old, to: new)
    var differences: [TreeDifference] = []
    while let difference = try diff.next() { differences.append(difference) }
    return differences
  }

  @Test(
    arguments: [
      ("1", "1", []), ("null", "null", []), ("1", "2", ["/ 1>2"]), ("1", #""1""#, [#"/ 1>"1""#]),
      ("null", #"{"a":1}"#, [#"/ +{"a":1}"#]), (#"{"a":1}"#, "null", [#"/ -{"a":1}"#]),
      (#"{"a":1,"b":2}"#, #"{"b":3,"c":4}"#, ["/a -1", "/b 2>3", "/c +4"]),
      (#"{"a":{"x":1},"b":1}"#, #"{"a":5,"b":{"y":1}}"#, [#"/a {"x":1}>5"#, #"/b 1>{"y":1}"#]),
      (#"{"a":{"x":{"y":1,"z":2}}}"#, #"{"a":{"x":{"y":1,"z":3}}}"#, ["/a/x/z 2>3"]),
      // Priorities alone, of values and of parents.
      ("1", #"{".value":1,".priority":2}"#, ["/ !null>2"]),
      (
        #"{"a":{"x":1,".priority":1}}"#, #"{"a":{"x":2,".priority":"p"}}"#,
        [#"/a !1>"p""#, "/a/x 1>2"]
      ),
      (
        #"{"a":{".value":1,".priority":1}}"#, #"{"a":{".value":2,".priority":1}}"#,
        [#"/a {".value":1,".priority":1}>{".value":2,".priority":1}"#]
      ),
      // In the order of keys.
      (#"{"10":1,"9":1,"a":1}"#, #"{"b":1}"#, ["/9 -1", "/10 -1", "/a -1", "/b +1"]),
    ] as [(String, String, [String])])
  func theDifferencesAre(row: (String, String, [String])) throws {
    let (old, new) = (try node(row.0), try node(row.1))
    #expect(text(old.differences(to: new)) == row.2)
    #expect(try text(streamed(.init(old), .init(new))) == row.2)
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func theDifferencesMakeTheNewFromTheOld(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let old = try random.node(depth: 4)
    var new = random.chance(30) ? try random.node(depth: 4) : old
    for _ in 0..<random.number(0..<4) {
      new = new.replacing(try random.path(), with: try random.node(depth: 2))
    }
    let differences = old.differences(to: new)
    #expect(old.applying(differences) == new, "seed \(seed): \(text(differences))")
    #expect(old.applying(differences.reversed()) == new, "seed \(seed): \(text(differences))")
    #expect(differences.isEmpty == (old == new), "seed \(seed)")
    #expect(differences.map(\.path) == differences.map(\.path).sorted(), "seed \(seed)")
    #expect(Set(differences.map(\.path)).count == differences.count, "seed \(seed)")
  }

  @Test(arguments: 0..<150 as Range<UInt64>)
  func readingChildByChildGivesTheSame(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let (old, new) = (try random.node(depth: 4), try random.node(depth: 4))
    let path = try random.path(depth: 0..<3)
    let stored = (MemoryTree(old), MemoryTree(new))
    let expected = old[path].differences(to: new)
    #expect(
      try streamed(.init(stored.0, at: path), .init(stored.1, at: .root)) == expected,
      "seed \(seed)")
    #expect(try streamed(.init(stored.0, at: path), .init(new)) == expected, "seed \(seed)")
    #expect(try streamed(.init(old[path]), .init(stored.1, at: .root)) == expected, "seed \(seed)")
  }

  @Test func nodesOfSeveralPagesAreCompared() throws {
    func tree(_ numbers: [Int]) -> Node {
      Node(
        children: numbers.map {
          Child(key: Key(unchecked: String($0)), node: Node(.number(JSONNumber(Int64($0 % 10)))))
        })
    }
    let old = tree(Array(0..<1500))
    let new = tree((0..<1700).filter { !$0.isMultiple(of: 511) })
    let differences = try streamed(
      .init(MemoryTree(old), at: .root), .init(MemoryTree(new), at: .root))
    #expect(differences == old.differences(to: new))
    #expect(differences.count == 3 + 199)
  }
}
