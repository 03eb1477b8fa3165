import RunnelBase
import Testing

@testable import RunnelTree

@Suite struct SparseTreeTests {
  /// What is remembered, as short text: `/a=1`, `/a!=2` for a priority.
  private func text(_ tree: SparseTree) -> [String] {
    tree.entries.map { entry in
      switch entry.target {
      case .node(let node): "\(entry.path)=\(node.json.jsonText())"
      case .priority(let json): "\(entry.path)!=\(json.jsonText())"
      }
    }
  }

  private func tree(_ entries: (String, String)...) throws -> SparseTree {
    var tree = SparseTree()
    for (path, json) in entries { tree.remember(try Path(path), try node(json)) }
    return tree
  }

  // MARK: Remembering

  @Test func whatIsRememberedAtAPlaceReplacesWhatIsBelow() throws {
    #expect(try text(tree(("a/b", "1"), ("a/c/d", "2"), ("a", "3"))) == ["/a=3"])
    #expect(try text(tree(("a/b", "1"), ("a", "null"))) == ["/a=null"])
  }

  @Test func aValuedPlaceAboveIsChangedInstead() throws {
    #expect(
      try text(tree(("a", #"{"b":1,"c":2}"#), ("a/b/x", "3"))) == [#"/a={"b":{"x":3},"c":2}"#])
    #expect(try text(tree(("a", #"{"b":1,"c":2}"#), ("a/b", "null"))) == [#"/a={"c":2}"#])
    #expect(try text(tree(("a", #"{"b":1}"#), ("a/b", "null"))) == ["/a=null"])
    #expect(try text(tree(("a", "null"), ("a/b", "1"))) == [#"/a={"b":1}"#])
    #expect(try text(tree(("", "1"), ("a", "2"))) == [#"/={"a":2}"#])
  }

  @Test func aValueInsideGivesWayAndKeepsItsPriority() throws {
    #expect(
      try text(tree(("a", #"{".value":1,".priority":2}"#), ("a/b", "3")))
        == [#"/a={"b":3,".priority":2}"#])
    #expect(try text(tree(("a", "1"), ("a/b", "null"))) == ["/a=1"])
  }

  @Test func entriesComeInPathOrderAndPrioritiesAfterWhatIsBelow() throws {
    var tree = try tree(("b", "1"), ("10", "2"), ("9", "3"), ("a/z", "4"))
    tree.remember(try Path("a"), priority: 5)
    tree.remember(.root, priority: "p")
    #expect(text(tree) == ["/9=3", "/10=2", "/a/z=4", "/a!=5", "/b=1", #"/!="p""#])
  }

  @Test func aPriorityOfAValuedPlaceIsPutIntoItsNode() throws {
    var tree = try tree(("a", #"{"b":1}"#), ("c", "null"))
    tree.remember(try Path("a"), priority: 5)
    tree.remember(try Path("a/b"), priority: 6)
    tree.remember(try Path("c"), priority: 7)
    tree.remember(try Path("c/d"), priority: 7)
    #expect(text(tree) == [#"/a={"b":{".value":1,".priority":6},".priority":5}"#, "/c=null"])
    tree.remember(try Path("a"), priority: .null)
    #expect(text(tree) == [#"/a={"b":{".value":1,".priority":6}}"#, "/c=null"])
  }

  // MARK: Forgetting

  @Test func forgettingTakesWhatIsAtAPlaceAndBelow() throws {
    var tree = try tree(("a/b", "1"), ("a/c/d", "2"), ("e", "3"))
    tree.forget(try Path("a/c"))
    #expect(text(tree) == ["/a/b=1", "/e=3"])
    tree.forget(.root)
    #expect(tree.isEmpty)
  }

  @Test func aValuedPlaceAboveGivesWayToItsChildren() throws {
    var tree = try tree(("a", #"{"b":{"x":1,"y":2},"c":3}"#))
    tree.forget(try Path("a/b/x"))
    #expect(text(tree) == ["/a/b/y=2", "/a/c=3"])
  }

  @Test func thePriorityOfAPlaceThatGivesWayIsKeptBesideItsChildren() throws {
    var tree = try tree(("a", #"{"b":1,"c":{".value":2,".priority":5},".priority":4}"#))
    tree.forget(try Path("a/b"))
    #expect(text(tree) == [#"/a/c={".value":2,".priority":5}"#, "/a!=4"])
  }

  @Test func nothingBelowAValueIsForgotten() throws {
    var tree = try tree(("a", "1"))
    tree.forget(try Path("a/b"))
    #expect(text(tree) == ["/a=1"])
  }

  @Test func aRemovalAboveGivesWayToNothing() throws {
    var tree = try tree(("a", "null"))
    tree.forget(try Path("a/b"))
    #expect(tree.isEmpty)
  }

  @Test func whatIsNotRememberedIsForgottenWithoutATrace() throws {
    var tree = try tree(("a/b", "1"))
    tree.forget(try Path("x/y"))
    tree.forget(try Path("a/b/c"))
    #expect(try tree == self.tree(("a/b", "1")))
    tree.forget(try Path("a/b"))
    #expect(tree == SparseTree())
  }

  // MARK: Against the definition

  @Test(arguments: 0..<200 as Range<UInt64>)
  func randomStepsGiveWhatAListOfPlacesGives(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var tree = SparseTree()
    var model = PlaceModel()
    for step in 0..<40 {
      let path = try random.path()
      switch random.number(0..<10) {
      case 0...2:
        tree.forget(path)
        model.forget(path)
      case 3, 4:
        let priority = random.priority()?.json ?? .null
        tree.remember(path, priority: priority)
        model.remember(path, priority: priority)
      default:
        let node = try random.node(depth: 2)
        tree.remember(path, node)
        model.remember(path, node)
      }
      try #require(text(tree) == model.text, "seed \(seed), step \(step)")
      try #require(tree.isEmpty == model.text.isEmpty)
    }
  }
}

/// A sparse tree as a list of places, of which every question looks at all.
private struct PlaceModel {
  private var nodes: [Path: Node] = [:]
  private var priorities: [Path: JSONValue] = [:]

  private func valued(above path: Path) -> Path? { nodes.keys.first { $0.contains(path) } }

  mutating func remember(_ path: Path, _ node: Node) {
    if let above = valued(above: path), let rest = path.relative(to: above) {
      nodes[above] = nodes[above]?.replacing(rest, with: node)
    } else {
      nodes = nodes.filter { !path.contains($0.key) }
      priorities = priorities.filter { !path.contains($0.key) }
      nodes[path] = node
    }
  }

  mutating func remember(_ path: Path, priority: JSONValue) {
    if let above = valued(above: path), let rest = path.relative(to: above), let node = nodes[above]
    {
      nodes[above] = node.replacing(rest, with: node[rest].with(priority: Leaf(priority)))
    } else {
      priorities[path] = priority
    }
  }

  mutating func forget(_ path: Path) {
    while let above = valued(above: path), above != path, let node = nodes[above] {
      if node.leaf != nil { return }
      nodes[above] = nil
      priorities[above] = node.priority?.json
      for child in node.children {
        nodes[Path(unchecked: above.keys + [child.key])] = child.node
      }
    }
    nodes = nodes.filter { !path.contains($0.key) }
    priorities = priorities.filter { !path.contains($0.key) }
  }

  var text: [String] {
    let nodes = nodes.map {
      (key: $0.key.keys, text: "\($0.key)=\($0.value.exportJSON.jsonText())")
    }
    // After what lies below: no key is greater than this one.
    let last = Key(unchecked: String(repeating: "\u{FFFF}", count: 300))
    let priorities = priorities.map {
      (key: $0.key.keys + [last], text: "\($0.key)!=\($0.value.jsonText())")
    }
    return (nodes + priorities).sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.text)
  }
}
