import RunnelBase
import Testing

@testable import RunnelTree

@Suite struct RangeMergeTests {
  private func merge(
    _ old: String, _ start: String?, _ end: String?, _ new: String
  ) throws -> String {
    let merge = RangeMerge(
      after: try start.map { try LeafPosition($0) }, through: try end.map { try LeafPosition($0) },
      node: try node(new))
    return merge.applied(to: try node(old)).exportJSON.jsonText()
  }

  @Test(
    arguments: [
      // Both ends open: everything.
      (#"{"a":1,"b":2}"#, nil, nil, #"{"c":3}"#, #"{"c":3}"#),
      ("1", nil, nil, "2", "2"),
      // The start does not belong to the range, the end does.
      (#"{"a":1,"b":2,"c":3}"#, "a", "b", #"{"b":9}"#, #"{"a":1,"b":9,"c":3}"#),
      (#"{"a":1,"b":2,"c":3}"#, "a", "b", "null", #"{"a":1,"c":3}"#),
      (#"{"a":1,"b":2,"c":3}"#, nil, "b", #"{"a1":0}"#, #"{"a1":0,"c":3}"#),
      (#"{"a":1,"b":2,"c":3}"#, "b", nil, #"{"d":4}"#, #"{"a":1,"b":2,"d":4}"#),
      // Ends in the depth.
      (
        #"{"a":{"x":1,"y":2},"b":{"x":3,"y":4}}"#, "a/x", "b/x", #"{"a":{"z":5},"b":{"x":6}}"#,
        #"{"a":{"x":1,"z":5},"b":{"x":6,"y":4}}"#
      ),
      // Leaves and children give way to each other.
      (#"{"a":1,"c":3}"#, nil, "a", "null", #"{"c":3}"#),
      (#"{"a":{"x":1},"c":3}"#, nil, "b", #"{"a":7}"#, #"{"a":7,"c":3}"#),
      (#"{"a":{"x":1,"y":2}}"#, nil, "a/x", #"{"a":7}"#, #"{"a":7}"#),
      (#"{"a":7}"#, nil, "a", #"{"a":{"x":1}}"#, "null"),
      (#"{"a":{"x":1}}"#, nil, "a", "null", #"{"a":{"x":1}}"#),
      // Priorities.
      (
        #"{"a":{"x":1,".priority":1},"b":2}"#, "a/!", "a/x", #"{"a":{"x":5,".priority":2}}"#,
        #"{"a":{"x":5,".priority":2},"b":2}"#
      ),
      (
        #"{"a":{".value":1,".priority":1},"b":2}"#, "a", "b", #"{"b":3}"#,
        #"{"a":{".value":1,".priority":1},"b":3}"#
      ),
    ] as [(String, String?, String?, String, String)])
  func aMergeReplacesTheLeavesOfItsRange(
    row: (String, String?, String?, String, String)
  ) throws {
    #expect(try merge(row.0, row.1, row.2, row.3) == row.4)
  }

  // MARK: Against the definition

  @Test(arguments: 0..<400 as Range<UInt64>)
  func aMergeIsWhatReplacingLeafByLeafGives(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let (old, new) = (try random.node(depth: 3), try random.node(depth: 3))
    let ends = try [
      random.chance(20) ? nil : random.position(), random.chance(20) ? nil : random.position(),
    ].sorted { left, right in left.map { left in right.map { left < $0 } ?? true } ?? false }
    let (start, end) = random.chance(30) ? (ends[0], nil) : (ends[0], ends[1])
    let merge = RangeMerge(after: start, through: end, node: new)
    let expected = LeafModel(old).merged(with: LeafModel(new), after: start, through: end)
    #expect(
      merge.applied(to: old) == expected,
      "seed \(seed): \(old.exportJSON.jsonText()), \(new.exportJSON.jsonText()), \(merge)")
  }

  @Test(arguments: 0..<400 as Range<UInt64>)
  func theMergesOfTheRangesThatDifferGiveTheOtherTree(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let held = try random.node(depth: 4)
    var wanted = held
    for _ in 0..<random.number(0..<4) {
      wanted = wanted.replacing(try random.path(), with: try random.node(depth: 2))
    }
    if random.chance(20) { wanted = try random.node(depth: 4) }
    let hash = CompoundHash(held) { position, _ in
      !position.isPriority && random.chance(50)
    }
    let merges = RangeMerge.merges(updating: hash, to: wanted)
    let result = merges.reduce(held) { $1.applied(to: $0) }
    #expect(
      result == wanted,
      "seed \(seed): \(held.exportJSON.jsonText()), \(wanted.exportJSON.jsonText()), \(merges)")
    if wanted == held { #expect(merges.isEmpty, "seed \(seed)") }
  }

  @Test func onlyTheRangesThatDifferAreSent() throws {
    // The example of the wire protocol: `10` changes and `11` comes.
    let hash = CompoundHash(try node(#"{"1":"one","2":"two","10":"ten"}"#)) { position, _ in
      position.description == "2"
    }
    let merges = RangeMerge.merges(
      updating: hash, to: try node(#"{"1":"one","2":"two","10":"TEN","11":"eleven"}"#))
    #expect(merges.map { $0.start?.description } == ["2", "10"])
    #expect(merges.map { $0.end?.description } == ["10", nil])
    #expect(
      merges.map { $0.node.exportJSON.jsonText() } == [#"{"10":"TEN"}"#, #"{"11":"eleven"}"#])
  }

  @Test func aPriorityWithoutAChildInItsRangeIsSentWithTheWhole() throws {
    let hash = CompoundHash(try node(#"{"a":{"!":1,"x":2},"b":3}"#)) { position, _ in
      position.description == "a/!"
    }
    let wanted = try node(#"{"a":{"!":1,".priority":5},"b":3}"#)
    let merges = RangeMerge.merges(updating: hash, to: wanted)
    #expect(merges == [RangeMerge(after: nil, through: nil, node: wanted)])
  }
}

extension RandomTree {
  fileprivate mutating func position() throws -> LeafPosition {
    LeafPosition(try path(), isPriority: chance(15))
  }
}

/// A tree as its leaves by position, those of priorities among them.
private struct LeafModel {
  /// What stands at a position: a leaf with its own priority, or the priority of a parent.
  private var leaves: [LeafPosition: Node] = [:]

  init(_ node: Node) { add(node, at: .root) }

  private mutating func add(_ node: Node, at path: Path) {
    if node.leaf != nil {
      leaves[LeafPosition(path)] = node
      return
    }
    if let priority = node.priority {
      leaves[LeafPosition(path, isPriority: true)] = Node(priority)
    }
    for child in node.children { add(child.node, at: Path(unchecked: path.keys + [child.key])) }
  }

  /// The tree with the leaves of the range replaced, one after the other.
  func merged(with new: LeafModel, after start: LeafPosition?, through end: LeafPosition?) -> Node {
    func isInRange(_ position: LeafPosition) -> Bool {
      (start.map { $0 < position } ?? true) && (end.map { position <= $0 } ?? true)
    }
    var root = Node.empty
    let kept = leaves.filter { !isInRange($0.key) }
    let added = new.leaves.filter { isInRange($0.key) }
    for (position, leaf) in kept where !position.isPriority {
      root = root.replacing(position.path, with: leaf)
    }
    for (position, leaf) in added.sorted(by: { $0.key < $1.key }) where !position.isPriority {
      root = root.replacing(position.path, with: leaf)
    }
    return LeafModel.withPriorities(root, at: .root) { path in
      let position = LeafPosition(path, isPriority: true)
      if isInRange(position) { return added[position]?.leaf }
      // A leaf that stays and gets children leaves its priority to them.
      return kept[position]?.leaf ?? kept[LeafPosition(path)]?.priority
    }
  }

  /// The node with other priorities for all that has children.
  private static func withPriorities(
    _ node: Node, at path: Path, _ priority: (Path) -> Leaf?
  ) -> Node {
    if node.children.isEmpty { return node }
    let children = node.children.map { child in
      let place = Path(unchecked: path.keys + [child.key])
      return Child(key: child.key, node: withPriorities(child.node, at: place, priority))
    }
    return Node(children: children, priority: priority(path))
  }
}
