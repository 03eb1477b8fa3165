import RunnelBase
import RunnelTree

/// Random nodes, paths and writes from a seed, small enough that they often meet.
struct RandomTree {
  var random: SeededRandom
  /// The names of children: integers of every kind, and texts that order tells apart.
  static let names = ["a", "b", "c", "1", "2", "10", "01", "-0", "00", "é", "e\u{301}"]

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  mutating func key() throws -> Key { try Key(pick(RandomTree.names)) }

  mutating func path(depth: Range<Int> = 0..<4) throws -> Path {
    let count = number(depth)
    return try Path((0..<count).map { _ in try key() })
  }

  mutating func leaf() -> Leaf {
    switch number(0..<6) {
    case 0: .bool(chance(50))
    case 1, 2: .number(JSONNumber(Int64(number(-2..<4))))
    case 3: .number(JSONNumber(Double(number(0..<4)) + 0.5) ?? 0)
    default: .string(pick(["", "x", "y", "é", "\u{1F600}", "\u{FFFD}"]))
    }
  }

  mutating func priority() -> Leaf? {
    switch number(0..<8) {
    case 0: .number(JSONNumber(Int64(number(0..<3))))
    case 1: .string(pick(["p", "q"]))
    default: nil
    }
  }

  mutating func node(depth: Int = 3) throws -> Node {
    if chance(8) { return .empty }
    if depth == 0 || chance(35) { return Node(leaf(), priority: priority()) }
    let children = try (0..<number(1..<5)).map { _ in
      Child(key: try key(), node: try node(depth: depth - 1))
    }
    return Node(children: children, priority: priority())
  }

  /// A set, an update of several places, or a change of a priority.
  mutating func write() throws -> Write {
    switch number(0..<10) {
    case 0:
      return .update(
        try path(), [JSONMember(".priority", priority()?.json ?? .null)])
    case 1...3:
      var members: [JSONMember] = []
      for name in RandomTree.names where chance(35) {
        let deeper = chance(30) ? "/" + pick(RandomTree.names) : ""
        members.append(JSONMember(name + deeper, try node(depth: 2).exportJSON))
      }
      return .update(try path(depth: 0..<3), members)
    case 4: return .remove(try path())
    default: return .set(try path(), try node(depth: 2).exportJSON)
    }
  }

  /// A query whose bounds often cut through what is there.
  mutating func query(_ path: Path) throws -> Query {
    if chance(50) { return try naiveQuery().query(at: path) }
    let index = pick(
      try [
        QueryIndex.priority, .key, .value, .child(Path("a")), .child(Path("b/1")),
      ])
    var query = try Query(path).ordered(by: index)
    if chance(35), let bound = try bound(index) {
      query = try query.starting(at: bound.value, key: bound.key, isInclusive: chance(60))
    }
    if chance(35), let bound = try bound(index) {
      query = try query.ending(at: bound.value, key: bound.key, isInclusive: chance(60))
    }
    if chance(40) { query = try query.limited(to: number(1..<4), from: pick([.first, .last])) }
    return query
  }

  private mutating func bound(_ index: QueryIndex) throws -> (value: IndexValue, key: Key?)? {
    let key = chance(40) ? try key() : nil
    switch index {
    case .key: return (.leaf(.string(pick(RandomTree.names))), nil)
    case .priority: return (priority().map(IndexValue.leaf) ?? .null, key)
    case .value, .child, .compound: return (chance(20) ? .null : .leaf(leaf()), key)
    }
  }
}
