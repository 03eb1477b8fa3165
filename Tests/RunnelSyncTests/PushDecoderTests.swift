import RunnelBase
import RunnelSync
import RunnelTree
import Testing

/// What an origin pushes, as it stands on the wire, and what is read of it.
@Suite struct PushDecoderTests {
  private func read(_ action: String, _ body: String) throws -> [OriginMessage] {
    try PushDecoder().messages(action: action, body: JSONValue(parsing: body))
  }

  private func node(_ json: String) throws -> Node { try Node(json: JSONValue(parsing: json)) }

  @Test func dataReplaceWhatStandsAtAPlace() throws {
    let told = try read("d", #"{"p":"list","d":{"a":1,"b":2}}"#)
    #expect(told == [.push(.set(try node(#"{"a":1,"b":2}"#)), try Path("/list"), tag: nil)])
  }

  @Test func dataOfAQueryHaveItsTag() throws {
    let told = try read("d", #"{"p":"/list","d":{"b":2},"t":1}"#)
    #expect(told == [.push(.set(try node(#"{"b":2}"#)), try Path("list"), tag: 1)])
  }

  @Test func nullSaysThatNothingStandsThere() throws {
    #expect(
      try read("d", #"{"p":"/a","d":null}"#) == [.push(.set(.empty), try Path("a"), tag: nil)])
  }

  @Test func dataMayHavePriorities() throws {
    let told = try read("d", #"{"p":"a","d":{".value":5,".priority":"x"}}"#)
    let expected = try node(#"{".value":5,".priority":"x"}"#)
    #expect(told == [.push(.set(expected), try Path("a"), tag: nil)])
  }

  @Test(arguments: [("2", Leaf.number(JSONNumber(2))), ("\"x\"", .string("x")), ("null", nil)])
  func aPathThatEndsInAPrioritySaysThePriorityAlone(json: String, priority: Leaf?) throws {
    let told = try read("d", #"{"p":"/list/a/.priority","d":\#(json)}"#)
    #expect(told == [.push(.priority(priority), try Path("list/a"), tag: nil)])
  }

  @Test func thePriorityOfTheRootIsToldLikeOthers() throws {
    let told = try read("d", #"{"p":"/.priority","d":1}"#)
    #expect(told == [.push(.priority(.number(JSONNumber(1))), .root, tag: nil)])
  }

  @Test func aMergeHasDeepPathsAndPriorities() throws {
    let told = try read(
      "m", #"{"p":"list","d":{"a":9,"b/.priority":1,"c/d/e":{"f":2},"g":null,".priority":3}}"#)
    let parts = [
      Assignment(path: try Path("a"), target: .node(try node("9"))),
      Assignment(path: try Path("b"), target: .priority(.number(JSONNumber(1)))),
      Assignment(path: try Path("c/d/e"), target: .node(try node(#"{"f":2}"#))),
      Assignment(path: try Path("g"), target: .node(.empty)),
      Assignment(path: .root, target: .priority(.number(JSONNumber(3)))),
    ]
    #expect(told == [.push(.merge(parts), try Path("list"), tag: nil)])
  }

  @Test func aMergeOfAQueryHasItsTag() throws {
    let told = try read("m", #"{"p":"list","d":{"d":4,"b":null},"t":7}"#)
    let parts = [
      Assignment(path: try Path("d"), target: .node(try node("4"))),
      Assignment(path: try Path("b"), target: .node(.empty)),
    ]
    #expect(told == [.push(.merge(parts), try Path("list"), tag: 7)])
  }

  @Test func rangesHaveEndsOrNone() throws {
    let told = try read(
      "rm", #"{"p":"l","d":[{"e":"b","m":{"a":1}},{"s":"b/.priority","m":null}]}"#)
    let merges = [
      RangeMerge(after: nil, through: try LeafPosition("b"), node: try node(#"{"a":1}"#)),
      RangeMerge(after: try LeafPosition("b/.priority"), through: nil, node: .empty),
    ]
    #expect(told == [.ranges(merges, try Path("l"), tag: nil)])
  }

  private static let denied = "Permission denied"

  @Test func aRevocationNamesThePlace() throws {
    let error = TreeError(.permissionDenied, PushDecoderTests.denied, path: "/list")
    #expect(try read("c", #"{"p":"/list"}"#) == [.listenRevoked(Query(try Path("list")), error)])
  }

  @Test func aRevocationNamesItsQueries() throws {
    let error = TreeError(.permissionDenied, PushDecoderTests.denied, path: "/list")
    let keys = try Query(Path("list")).ordered(by: .key)
    let (last, first) = (
      try keys.limited(to: 2, from: .last), try keys.limited(to: 1, from: .first)
    )
    let told = try read(
      "c", #"{"p":"/list","q":[{"l":2,"vf":"r","i":".key"},{"l":1,"vf":"l","i":".key"}]}"#)
    #expect(told == [.listenRevoked(last, error), .listenRevoked(first, error)])
    let one = try read("c", #"{"p":"/list","q":{"l":2,"vf":"r","i":".key"}}"#)
    #expect(one == [.listenRevoked(last, error)])
  }

  @Test func whatWasDecodedIsTakenByAReplica() throws {
    var (engine, storage) = (ReplicaEngine(), MemoryReplicaStorage())
    _ = try engine.connect(now: 0, &storage)
    let list = try Path("list")
    _ = try engine.listen(
      ListenerID(1), ListenRequest(query: Query(list)), now: 0, &storage)
    let pushes = [
      ("d", #"{"p":"list","d":{"a":1,"b":2}}"#),
      ("m", #"{"p":"list","d":{"a":9,"b/.priority":1,"c/d":5}}"#),
      ("d", #"{"p":"list/a/.priority","d":"x"}"#),
    ]
    for (action, body) in pushes {
      for message in try read(action, body) {
        _ = try engine.receive(message, now: 0, &storage)
      }
    }
    let expected = #"{"a":{".value":9,".priority":"x"},"b":{".value":2,".priority":1},"c":{"d":5}}"#
    #expect(storage.shown.root[list] == (try node(expected)))
  }

  @Test(arguments: [
    ("x", "{}", "invalid_message", "\"x\""),
    ("d", "7", "invalid_message", "\"p\""),
    ("d", #"{"d":1}"#, "invalid_message", "\"p\""),
    ("d", #"{"p":5,"d":1}"#, "invalid_message", "\"p\""),
    ("d", #"{"p":"a"}"#, "invalid_message", "\"d\""),
    ("d", #"{"p":"a","d":1,"t":"x"}"#, "invalid_message", "\"t\""),
    ("d", #"{"p":"a","d":1,"t":1.5}"#, "invalid_message", "\"t\""),
    ("d", #"{"p":"a.b","d":1}"#, "invalid_key", "a.b"),
    ("d", #"{"p":"a/.priority/b","d":1}"#, "invalid_key", ".priority"),
    ("d", #"{"p":"a","d":{"x#":1}}"#, "invalid_key", "x#"),
    ("d", #"{"p":"a/.priority","d":true}"#, "invalid_value", "priority"),
    ("m", #"{"p":"a","d":[1]}"#, "invalid_message", "\"d\""),
    ("m", #"{"p":"a/.priority","d":{}}"#, "invalid_message", ".priority"),
    ("m", #"{"p":"a","d":{"b/.priority":{}}}"#, "invalid_value", "priority"),
    ("rm", #"{"p":"a","d":{}}"#, "invalid_message", "\"d\""),
    ("rm", #"{"p":"a","d":[{"s":1,"m":1}]}"#, "invalid_message", "path"),
    ("rm", #"{"p":"a","d":[{"s":"b"}]}"#, "invalid_message", "\"m\""),
    ("c", #"{"p":"a","q":[{"l":0}]}"#, "invalid_query", "l"),
  ])
  func whatCannotBeReadIsNamed(action: String, body: String, code: String, word: String) throws {
    let error = #expect(throws: TreeError.self) { _ = try read(action, body) }
    #expect(error?.code.rawValue == code)
    #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
  }

  @Test func pathsThatAreTooDeepAreRefused() throws {
    let deep = Array(repeating: "a", count: TreeLimits.depthMax).joined(separator: "/")
    #expect(try read("d", #"{"p":"\#(deep)","d":1}"#).count == 1)
    #expect(throws: TreeError.self) { try read("d", #"{"p":"\#(deep)/a","d":1}"#) }
    #expect(throws: TreeError.self) { try read("d", #"{"p":"\#(deep)","d":{"a":1}}"#) }
    #expect(throws: TreeError.self) { try read("m", #"{"p":"\#(deep)","d":{"a":1}}"#) }
  }

  /// Nothing that is JSON makes the decoder or the replica fail otherwise than by an error.
  @Test(arguments: UInt64(0)..<20)
  func anyJSONIsReadOrRefused(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var (engine, storage) = (ReplicaEngine(), MemoryReplicaStorage())
    _ = try engine.connect(now: 0, &storage)
    _ = try engine.listen(ListenerID(1), ListenRequest(query: Query(.root)), now: 0, &storage)
    for _ in 0..<300 {
      let action = ["d", "m", "rm", "c", "x"].randomElement(using: &random) ?? "d"
      let body = randomBody(&random)
      guard let told = try? PushDecoder().messages(action: action, body: body) else { continue }
      for message in told { _ = try? engine.receive(message, now: 0, &storage) }
    }
  }

  private func randomBody(_ random: inout SeededRandom) -> JSONValue {
    var members: [JSONMember] = []
    for name in ["p", "d", "t", "q"] where Int.random(in: 0..<5, using: &random) > 0 {
      members.append(JSONMember(name, randomJSON(depth: 3, &random)))
    }
    return .object(members)
  }

  private func randomJSON(depth: Int, _ random: inout SeededRandom) -> JSONValue {
    let names = [
      "a", "b/c", ".priority", "a/.priority", ".value", ".sv", "", "/", "s", "e", "m", "#",
    ]
    switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
    case 0: return .null
    case 1: return .bool(true)
    case 2: return .number(JSONNumber(Int64.random(in: -2...2, using: &random)))
    case 3, 4: return .string(names.randomElement(using: &random) ?? "")
    case 5: return .array((0..<2).map { _ in randomJSON(depth: depth - 1, &random) })
    default:
      let chosen = names.shuffled(using: &random).prefix(3)
      return .object(chosen.map { JSONMember($0, randomJSON(depth: depth - 1, &random)) })
    }
  }
}
