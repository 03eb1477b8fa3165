import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

@Suite struct ImportTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
  }

  private func faults() throws -> [String] { try FileInspector(folder.file()).report().faults }

  // MARK: The same as a set

  private static let padding = String(repeating: "x", count: 5000)

  @Test(arguments: [
    "null", "1", #""text""#, "[]", "{}", #"{"a":null}"#, #"{"a":1,"b":[1,null,3]}"#,
    "\"\(padding)\"", #"{"a":"\#(padding)"}"#, #"["\#(padding)",null,{"x":"\#(padding)"}]"#,
    #"{".value":"\#(padding)",".priority":3}"#, #"{".priority":3,".value":"\#(padding)"}"#,
    #"{"a":{".value":"\#(padding)",".priority":"p"},"b":1,".priority":7}"#,
    #"{".priority":7,"a":"\#(padding)","b":{".priority":8,"c":"\#(padding)"}}"#,
    #"{"a":"\#(padding)","a":1}"#, #"{"a":1,"a":"\#(padding)"}"#,
    #"{"a":"\#(padding)","b":2,"a":null}"#, #"{"a":{"b":"\#(padding)"},"a":{"c":"\#(padding)"}}"#,
    #"{"z":"\#(padding)","a":1,"z":2,"10":3,"9":4,"-0":5,"00":6}"#,
    #"{".value":null,"a":"\#(padding)"}"#, #"{".priority":1,".priority":2,"a":"\#(padding)"}"#,
    #"{"a":"\#(padding)",".priority":null}"#, "{\"é\":\"\(padding)\",\"e\\u0301\":1}",
  ])
  func aDocumentIsImportedAsItWouldBeSet(json: String) throws {
    for path in ["/", "/a", "/l/m/n"] {
      try session.set("/", #"{"l":{"k":1,".priority":2},"old":3}"#)
      let expected = try session.node(at: .root).replacing(
        Path(path), with: Node(json: JSONValue(parsing: json)))
      try session.importJSON(json, at: path)
      #expect(try session.node(at: .root) == expected)
      #expect(try faults() == [])
    }
  }

  @Test(arguments: Seeds.first(30))
  func aRandomDocumentIsImportedAsItWouldBeSet(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var document = Document(random: random)
    let (first, second) = (try document.json(depth: 4), try document.json(depth: 4))
    try session.declareIndexes([
      IndexDefinition(pattern: "/$any", child: try Path("a")),
      IndexDefinition(pattern: "/", child: .root),
    ])
    var root = Node.empty
    for json in [first, second] {
      let path = try random.path(depth: 0..<3)
      root = root.replacing(path, with: try Node(json: JSONValue(parsing: json), at: path))
      try session.importJSON(json, at: path.description)
      let report = try FileInspector(folder.file()).report()
      #expect(report.faults == [], "seed \(seed)")
      #expect(report.root == root, "seed \(seed)")
    }
  }

  @Test func alongTheWayToADeepPlaceAllIsSplitAndCounted() throws {
    try session.set("/", #"{"a":{"b":{"x":1},"y":2},"z":3}"#)
    try session.importJSON(largeObject(60), at: "/a/b/c")
    #expect(try session.summary(at: Path("a/b")).kind == .children(count: 2))
    #expect(try session.summary(at: Path("a/b/c")).kind == .children(count: 60))
    #expect(try session.node(at: Path("a/b/c")) == node(largeObject(60)))
    #expect(try faults() == [])
  }

  @Test func aLargeDocumentThatHoldsNothingRemovesThePlaceAndKeepsALeafAboveIt() throws {
    let empty = "{" + (0..<900).map { #""k\#($0)":null"# }.joined(separator: ",") + "}"
    try session.set("/", #"{"a":{"b":1},"c":5}"#)
    try session.importJSON(empty, at: "/a/b")
    #expect(try session.export() == #"{"c":5}"#)
    try session.importJSON(empty, at: "/c/d/e")
    #expect(try session.export() == #"{"c":5}"#)
    try session.importJSON("{\(String(repeating: " ", count: 5000))}", at: "/")
    #expect(try session.export() == "null")
    #expect(try faults() == [])
  }

  @Test func theParentKeepsItsPriorityWhenItsOnlyChildIsReplaced() throws {
    try session.set("/", #"{"a":{"b":1,".priority":5}}"#)
    try session.importJSON(largeObject(60), at: "/a/b")
    #expect(try session.summary(at: Path("a")).priority == .number(5))
  }

  @Test func listenersAreToldOnce() throws {
    _ = try session.listen(
      ListenerID(1), ListenRequest(query: Query(Path("l")), detail: .shallow, events: .children))
    let deliveries = try session.importJSON(largeObject(60), at: "/l")
    #expect(deliveries.count == 60)
  }

  // MARK: Failures

  @Test(arguments: [
    ("", DatabaseError.Code.malformedJSON), ("{", .malformedJSON), ("[1,2", .malformedJSON),
    (#"{"a":1}{"#, .malformedJSON), (#"{"big":"\#(padding)","a":}"#, .malformedJSON),
    (#"{"big":"\#(padding)"} x"#, .malformedJSON), (#"{"big":"\#(padding)","a.b":1}"#, .refused),
    (#"{"big":"\#(padding)",".priority":true}"#, .refused),
    (#"{".value":"\#(padding)","a":1}"#, .refused),
    (#"{".value":"\#(padding)","a":null}"#, .refused),
    (#"{".value":{"a":"\#(padding)"}}"#, .refused), (#"{"a.b":1}"#, .refused),
    (#"{"big":"\#(padding)","a":{".sv":"timestamp"}}"#, .refused),
    (#"{"big":"\#(padding)",".sv":"timestamp"}"#, .refused),
    (
      #"{"big":"\#(padding)","d":\#(String(repeating: #"{"a":"#, count: 33))1\#(String(repeating: "}", count: 33))}"#,
      .refused
    ),
  ])
  func aBadDocumentLeavesEverythingAsItWas(row: (String, DatabaseError.Code)) throws {
    let before = #"{"a":{"b":1},"l":\#(largeObject(60))}"#
    try session.set("/", before)
    let root = try session.node(at: .root)
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(.root), events: .all))
    for path in ["/", "/l", "/l/k5/x", "/a/b/c"] {
      let error = #expect(throws: DatabaseError.self) {
        try session.importJSON(row.0, at: path)
      }
      #expect(error?.code == row.1)
      #expect(try session.node(at: .root) == root)
    }
    #expect(try session.catchUp().isEmpty)
    #expect(try faults() == [])
  }

  @Test func malformedJSONIsReportedWithItsLine() {
    let error = #expect(throws: DatabaseError.self) {
      try session.importJSON("{\"a\": 1,\n \"b\": tru}")
    }
    #expect(error?.message.contains("line 2") == true)
  }

  @Test func aCancelledImportLeavesNothing() throws {
    try session.set("/", #"{"a":1}"#)
    var reports: [Int] = []
    let error = #expect(throws: DatabaseError.self) {
      try session.importJSON(largeObject(9000), at: "/l") { bytes in
        reports.append(bytes)
        return reports.count < 3
      }
    }
    #expect(error?.code == .cancelled)
    #expect(reports.count == 3)
    #expect(reports == reports.sorted())
    #expect(try session.export() == #"{"a":1}"#)
    #expect(try faults() == [])
  }
}

/// Random JSON text, with what a set would have to tidy up: names twice, nulls, arrays, empty
/// objects, priorities, and members out of order.
private struct Document {
  var random: RandomTree

  mutating func json(depth: Int) throws -> String {
    switch random.number(0..<10) {
    case 0: return "null"
    case 1, 2: return random.leaf().json.jsonText()
    case 3:
      guard let priority = random.priority() else { return "{}" }
      let value = random.chance(20) ? "null" : random.leaf().json.jsonText()
      return #"{".priority":\#(priority.json.jsonText()),".value":\#(value)}"#
    case 4, 5:
      if depth == 0 { return "[]" }
      return "["
        + (try (0..<random.number(0..<6)).map { _ in try json(depth: depth - 1) })
        .joined(separator: ",") + "]"
    default:
      if depth == 0 { return "{ }" }
      var members = try (0..<random.number(0..<9)).map { _ in
        #""\#(random.pick(RandomTree.names))" : \#(try json(depth: depth - 1))"#
      }
      if let priority = random.priority() {
        members.insert(
          #"".priority":\#(priority.json.jsonText())"#, at: random.number(0..<members.count + 1))
      }
      return "{" + members.joined(separator: " ,\n") + "}"
    }
  }
}
