import RunnelBase
import RunnelSync
import RunnelTree
import TestSupport
import Testing

/// Who is told what of a write, against a naive reading of the tree before and after.
@Suite struct AudiencesTests {
  /// What each member shows: its query's window at first, and then what it was told.
  private struct Shown {
    var query: Query
    var node: Node

    /// Does what was told, as a client does it.
    mutating func take(_ change: AudienceChange) throws {
      switch change {
      case .put(let path, let target): try apply(target, at: path)
      case .patch(let base, let parts):
        for part in parts { try apply(part.target, at: base.appending(part.path)) }
      }
    }

    private mutating func apply(_ target: Assignment.Target, at path: Path) throws {
      let below = try #require(path.relative(to: query.path), "\(path) is not below \(query.path)")
      var tree = MemoryTree(node)
      switch target {
      case .node(let new): tree.root = tree.root.replacing(below, with: new)
      case .priority(let priority):
        tree.root = tree.root.replacing(below, with: tree.root[below].with(priority: priority))
      }
      node = tree.root
    }
  }

  @Test(arguments: Seeds.first(150))
  func whatIsToldMakesTheWindow(seed: UInt64) throws {
    var world = RandomWrites(seed: seed)
    var audiences = Audiences()
    var tree = MemoryTree(try world.start())
    var shown: [Audiences.Member: Shown] = [:]
    var count: Int64 = 0
    for _ in 0..<60 {
      if world.number(4) == 0, shown.count < 12 {
        count += 1
        let member = Audiences.Member(connection: count % 3, listen: ListenNumber(count))
        let query = try world.query()
        try audiences.join(member, query, reader: tree)
        shown[member] = Shown(query: query, node: try tree.window(of: query))
      } else if world.number(8) == 0, let member = shown.keys.sorted().first {
        audiences.leave(member)
        shown[member] = nil
      } else {
        let write = try world.write()
        try step(write, &tree, &audiences, &shown, seed)
      }
    }
    for member in shown.keys { audiences.leave(member) }
    #expect(audiences.count == 0)
    #expect(audiences.memberCount == 0)
  }

  private func step(
    _ write: Write, _ tree: inout MemoryTree, _ audiences: inout Audiences,
    _ shown: inout [Audiences.Member: Shown], _ seed: UInt64
  ) throws {
    let before = tree
    let parts = try write.assignments(now: 1, reader: before)
    for part in parts { tree.root = applied(part, tree.root) }
    let told = try audiences.apply(CommittedWrite(write, parts), before: before, after: tree)
    var toldMembers: Set<Audiences.Member> = []
    for change in told {
      for member in change.members {
        #expect(toldMembers.insert(member).inserted, "one change a write")
        try shown[member]?.take(change.change)
      }
    }
    for (member, window) in shown {
      let expected = try tree.window(of: window.query)
      #expect(window.node == expected, "seed \(seed): \(write) at \(window.query)")
      let isChanged = try before.window(of: window.query) != expected
      #expect(toldMembers.contains(member) == isChanged, "seed \(seed): \(write)")
    }
  }

  private func applied(_ part: Assignment, _ root: Node) -> Node {
    switch part.target {
    case .node(let node): root.replacing(part.path, with: node)
    case .priority(let priority):
      root.replacing(part.path, with: root[part.path].with(priority: priority))
    }
  }

  @Test func aChangeIsWorkedOutOnceForAllWhoAskTheSame() throws {
    var audiences = Audiences()
    let tree = MemoryTree()
    let path = try Path("/a")
    for number in 1...100 {
      let member = Audiences.Member(connection: Int64(number), listen: ListenNumber(1))
      try audiences.join(member, Query(path), reader: tree)
    }
    #expect(audiences.count == 1)
    let write = Write.set(path, 1)
    let after = MemoryTree(try Node(json: ["a": 1]))
    let committed = CommittedWrite(write, try write.assignments(now: 0, reader: tree))
    let told = try audiences.apply(committed, before: tree, after: after)
    #expect(told.count == 1)
    #expect(told.first?.members.count == 100)
  }

  /// What was asked in two ways has two tags, and one push.
  @Test func aPushIsEncodedOnceForAllTags() throws {
    let push = EncodedPush(.put(try Path("/a/b"), .node(try Node(json: "x"))))
    let texts = [nil, 1, 22].map { String(decoding: push.message(tag: $0), as: UTF8.self) }
    #expect(
      texts == [
        #"{"t":"d","d":{"a":"d","b":{"p":"a/b","d":"x"}}}"#,
        #"{"t":"d","d":{"a":"d","b":{"p":"a/b","d":"x","t":1}}}"#,
        #"{"t":"d","d":{"a":"d","b":{"p":"a/b","d":"x","t":22}}}"#,
      ])
  }

  /// What is encoded is read back as the same change.
  @Test func aPushIsReadAsWhatItSays() throws {
    let parts = [
      Assignment(path: try Path("b/c"), target: .node(try Node(json: 1))),
      Assignment(path: try Path("d"), target: .priority(.string("x"))),
      Assignment(path: .root, target: .priority(nil)),
    ]
    let push = EncodedPush(.patch(try Path("/a"), parts)).message(tag: 3)
    guard case .push(let action, let body) = try ServerMessage(push) else {
      Issue.record("it is a push")
      return
    }
    let read = try PushDecoder().messages(action: action, body: body)
    #expect(read == [.push(.merge(parts), try Path("/a"), tag: 3)])
  }
}

/// Writes and queries at few places, from a seed.
private struct RandomWrites {
  private var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private mutating func pick<Value>(_ values: [Value]) -> Value { values[number(values.count)] }

  func start() throws -> Node {
    try Node(json: JSONValue(parsing: #"{"l":{"a":{"s":1},"b":{"s":2},"c":3},"m":{"x":1}}"#))
  }

  private mutating func value() throws -> JSONValue {
    let texts = [
      "null", "1", "2", "3", #""x""#, #"{"s":1}"#, #"{"s":3,"t":{"u":1}}"#,
      #"{".value":2,".priority":1}"#, #"{"s":2,".priority":"p"}"#, "true",
    ]
    return try JSONValue(parsing: pick(texts))
  }

  mutating func write() throws -> Write {
    switch number(5) {
    case 0:
      let names = [
        ["a", "b/s"], ["a/s", "d"], ["c", "a/t/u", "b"], ["a/.priority", "b"], ["e"],
      ]
      var members: [JSONMember] = []
      for name in pick(names) {
        let isPriority = name.hasSuffix(".priority")
        members.append(JSONMember(name, isPriority ? pick([1, "z", nil]) : try value()))
      }
      return .update(try Path("/l"), members)
    case 1:
      return .update(.root, [JSONMember("l/a/s", try value()), JSONMember("m/x", try value())])
    case 2:
      let path = try Path(pick(["/l", "/l/a", "/l/b", ""]))
      return .update(path, [JSONMember(".priority", pick([1, "q", nil]))])
    case 3: return .set(try Path(pick(["/l", "/", "/m", "/l/a/t"])), try value())
    default:
      return .set(
        try Path(pick(["/l/a", "/l/b", "/l/c", "/l/d", "/l/a/s", "/l/b/s/k"])), try value())
    }
  }

  mutating func query() throws -> Query {
    var query = Query(try Path(pick(["/l", "/l", "/l", "/", "/m", "/l/a", "/l/a/s"])))
    switch number(4) {
    case 0: query = try query.ordered(by: .key)
    case 1: query = try query.ordered(by: .child(Path("s")))
    case 2: query = try query.ordered(by: .value)
    default: break
    }
    if query.index != .key, number(3) == 0 {
      query = try query.starting(at: .leaf(.number(JSONNumber(Int64(number(3))))))
    }
    if number(2) == 0 { query = try query.limited(to: 1 + number(3), from: pick([.first, .last])) }
    return query
  }
}
