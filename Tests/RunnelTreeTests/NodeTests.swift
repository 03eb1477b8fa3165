import RunnelBase
import RunnelTree
import Testing

@Suite struct NodeTests {
  private func replacing(_ root: String, _ path: String, _ value: String) throws -> String {
    try node(root).replacing(Path(path), with: node(value)).exportJSON.jsonText()
  }

  @Test(arguments: [
    // The empty path: the result is the value.
    (#"{"a":1}"#, "/", "2", "2"),
    // Nothing below a leaf can be deleted.
    (#"7"#, "/x", "null", "7"),
    (#"7"#, "/x/y", "null", "7"),
    (#"{"a":7}"#, "/a/x", "null", #"{"a":7}"#),
    // A leaf on the way gives its place to children and keeps its priority.
    (#"{".value":7,".priority":4}"#, "/a", "1", #"{"a":1,".priority":4}"#),
    (#"{"x":{".value":7,".priority":4}}"#, "/x/a/b", "1", #"{"x":{"a":{"b":1},".priority":4}}"#),
    // Children come and go, and empty parents with them, and with these their priority.
    (#"{"a":1}"#, "/b", "2", #"{"a":1,"b":2}"#),
    (#"{"a":1,"b":2}"#, "/a", "null", #"{"b":2}"#),
    (#"{"a":{"b":{"c":1},".priority":5}}"#, "/a/b/c", "null", "null"),
    (#"{"a":{"b":1,".priority":5},"z":1}"#, "/a/b", "null", #"{"z":1}"#),
    (#"{"a":{"b":1,".priority":5}}"#, "/a/c", "2", #"{"a":{"b":1,"c":2,".priority":5}}"#),
    // What is not there stays so.
    (#"{"a":1}"#, "/b/c", "null", #"{"a":1}"#),
    ("null", "/a/b", "1", #"{"a":{"b":1}}"#),
    ("null", "/a/b", "null", "null"),
  ])
  func replacingFollowsTheUpdateRules(row: (String, String, String, String)) throws {
    #expect(try replacing(row.0, row.1, row.2) == row.3)
  }

  @Test func aPriorityIsReplacedAndAnEmptyNodeTakesNone() throws {
    #expect(try node("1").with(priority: .number(2)).exportJSON.jsonText().contains("2"))
    #expect(Node.empty.with(priority: .number(2)) == .empty)
    #expect(try node(#"{".value":1,".priority":2}"#).with(priority: nil) == node("1"))
  }

  @Test func readingBelowALeafOrNothingGivesNothing() throws {
    #expect(try node("7")[Key("x")] == .empty)
    #expect(try node("7")[Path("x/y")] == .empty)
    #expect(try Node.empty[Path("x")] == .empty)
    #expect(try node(#"{"a":{"b":1}}"#)[Path("a/b")] == node("1"))
  }

  @Test func equalityIsStructural() throws {
    #expect(try node("1") == node("1.0"))
    #expect(try node("0") == node("-0"))
    #expect(try node(#"{"a":1,"b":2}"#) == node(#"{"b":2,"a":1}"#))
    #expect(try node("1") != node("true"))
    #expect(try node("1") != node(#""1""#))
    #expect(try node(#""é""#) != node("\"e\u{301}\""))
    #expect(try node("1") != node(#"{".value":1,".priority":1}"#))
    #expect(try node("9007199254740993") != node("9007199254740992"))
  }

  @Test func childrenInAnyOrderAreSortedAndTheLaterOfTwoCounts() throws {
    let children = try ["b", "10", "a", "9", "b"].enumerated().map { offset, name in
      Child(key: try Key(name), node: Node(.number(JSONNumber(Int64(offset)))))
    }
    #expect(
      Node(children: children).exportJSON.jsonText() == #"{"9":3,"10":1,"a":2,"b":4}"#)
    let withoutB = Node(children: children + [Child(key: try Key("b"), node: .empty)])
    #expect(withoutB.exportJSON.jsonText() == #"{"9":3,"10":1,"a":2}"#)
    #expect(Node(children: [], priority: .number(1)) == .empty)
  }

  @Test func aThousandChildrenAreFound() throws {
    let children = try (0..<1000).map {
      Child(key: try Key(String($0)), node: Node(.number(JSONNumber(Int64($0)))))
    }
    let node = Node(children: children.reversed())
    for index in [0, 1, 9, 10, 99, 100, 500, 999] {
      #expect(try node[Key(String(index))].leaf == .number(JSONNumber(Int64(index))))
    }
    #expect(try node[Key("1000")].isEmpty)
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func randomReplacesGiveWhatAFlatModelGives(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var root = Node.empty
    var model = FlatModel()
    for step in 0..<60 {
      let (path, value) = (try random.path(), try random.node(depth: 2))
      root = root.replacing(path, with: value)
      model.replace(path, with: value)
      try #require(FlatModel(root) == model, "seed \(seed), step \(step)")
      try #require(violation(in: root) == nil, "seed \(seed), step \(step)")
      try #require(try Node(json: root.exportJSON) == root, "seed \(seed), step \(step)")
    }
  }

  /// Which of I1-I3 does not hold, if any.
  private func violation(in node: Node, isRoot: Bool = true) -> String? {
    switch node.content {
    case .empty: return isRoot && node.priority == nil ? nil : "I1 or I2: an empty node"
    case .leaf: return nil
    case .children(let children):
      if children.isEmpty { return "I1: children without a child" }
      for (left, right) in zip(children, children.dropFirst()) where !(left.key < right.key) {
        return "I3: \(left.key) before \(right.key)"
      }
      return children.lazy.compactMap { violation(in: $0.node, isRoot: false) }.first
    }
  }
}

/// A tree as two dictionaries: the leaves by path, and the priorities by path.
private struct FlatModel: Equatable {
  private var leaves: [Path: Leaf] = [:]
  private var priorities: [Path: Leaf] = [:]

  init() {}

  init(_ root: Node) { add(root, at: .root) }

  mutating func replace(_ path: Path, with node: Node) {
    let isBelowLeaf = leaves.keys.contains { $0 != path && $0.contains(path) }
    if isBelowLeaf, node.isEmpty { return }
    leaves = leaves.filter { !$0.key.contains(path) && !path.contains($0.key) }
    priorities = priorities.filter { !path.contains($0.key) }
    add(node, at: path)
    let holders = leaves.keys
    priorities = priorities.filter { entry in holders.contains { entry.key.contains($0) } }
  }

  private mutating func add(_ node: Node, at path: Path) {
    if let priority = node.priority { priorities[path] = priority }
    if let leaf = node.leaf { leaves[path] = leaf }
    for child in node.children { add(child.node, at: Path(unchecked: path.keys + [child.key])) }
  }
}
