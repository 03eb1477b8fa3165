import RunnelBase
import Testing

@testable import RunnelTree

@Suite struct QueryWireTests {
  private static let path = Path(unchecked: [Key(unchecked: "list")])

  private func read(_ json: String) throws -> Query {
    try Query(wire: JSONValue(parsing: json), at: QueryWireTests.path)
  }

  private func number(_ value: Int64) -> IndexValue { .leaf(.number(JSONNumber(value))) }

  private func text(_ value: String) -> IndexValue { .leaf(.string(value)) }

  private func ordered(by index: QueryIndex) throws -> Query {
    try Query(QueryWireTests.path).ordered(by: index)
  }

  // MARK: The examples of section 5.2

  @Test func theExamplesHaveTheirIdentifiers() throws {
    let score = QueryIndex.child(try Path("score"))
    #expect(
      try ordered(by: score).equal(to: number(5)).limited(to: 2, from: .last).identifier()
        == #"{"ein":true,"ep":5,"i":"score","l":2,"sin":true,"sp":5,"vf":"r"}"#)
    #expect(try ordered(by: .key).identifier() == #"{"i":".key"}"#)
    #expect(
      try ordered(by: .value).starting(at: number(5), isInclusive: false)
        .ending(at: number(9), key: Key("k"), isInclusive: false).identifier()
        == #"{"ein":false,"en":"k","ep":9,"i":".value","sin":false,"sn":"[MAX_NAME]","sp":5}"#)
    #expect(
      try Query(QueryWireTests.path).starting(at: .null).identifier()
        == #"{"sin":true,"sp":null}"#)
    #expect(try Query(QueryWireTests.path).identifier() == "default")
    #expect(try ordered(by: .priority).identifier() == "default")
    #expect(try ordered(by: .child(Path("p/q"))).identifier() == #"{"i":"p/q"}"#)
  }

  @Test(arguments: [
    #"{"ein":true,"ep":5,"i":"score","l":2,"sin":true,"sp":5,"vf":"r"}"#, #"{"i":".key"}"#,
    #"{"ein":false,"en":"k","ep":9,"i":".value","sin":false,"sn":"[MAX_NAME]","sp":5}"#,
    #"{"sin":true,"sp":null}"#, #"{"ein":false,"en":"[MIN_NAME]","ep":5}"#,
    #"{"l":2,"vf":"l"}"#, #"{"i":".key","sin":true,"sp":"a"}"#, #"{"i":"a/b"}"#,
    #"{"ein":true,"en":"k","ep":"v","i":"a","sin":true,"sn":"k","sp":false}"#,
  ])
  func whatIsCanonicalIsReadAndWrittenAlike(json: String) throws {
    #expect(try read(json).identifier() == json)
    #expect(try read(json).wireJSON().jsonText() == json)
  }

  @Test(arguments: 0..<400 as Range<UInt64>)
  func aQueryIsReadBack(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let query = try QueryWireTests.query(&random)
    let text = try query.wireJSON().jsonText()
    #expect(try read(text) == query, "seed \(seed): \(text)")
    let identifier = try query.identifier()
    #expect(identifier == (text == "{}" ? "default" : text))
  }

  /// A random query that the wire has words for.
  private static func query(_ random: inout RandomTree) throws -> Query {
    while true {
      let query = try random.query(path)
      if query.asked(.ranges) == query || query.loadsAllData, query.index.isOnWire { return query }
    }
  }

  @Test func whatOnlyALocalTreeAnswersIsRefused() throws {
    let filtered = try Query(QueryWireTests.path).filtered(by: ChildPredicate(parsing: "a == 1"))
    #expect(throws: TreeError.self) { try filtered.wireJSON() }
    let key = SortKey(try RowField("a"), isDescending: true)
    let compound = try Query(QueryWireTests.path).ordered(by: [key])
    #expect(throws: TreeError.self) { try compound.wireJSON() }
  }

  @Test func identifiersTellQueriesApart() throws {
    var seen: [[UInt8]: Query] = [:]
    for seed in 0..<600 as Range<UInt64> {
      var random = RandomTree(seed: seed)
      let query = try QueryWireTests.query(&random)
      let other = seen.updateValue(query, forKey: Array(try query.identifier().utf8))
      #expect(other == nil || other == query, "seed \(seed)")
    }
    #expect(Set(seen.values).count == seen.count)
  }

  // MARK: What other clients send

  @Test(arguments: [
    // No flags: both bounds belong to the range.
    (#"{"sp":3,"i":"h"}"#, #"{"i":"h","sin":true,"sp":3}"#),
    (#"{"ep":3,"en":"k","i":"h"}"#, #"{"ein":true,"en":"k","ep":3,"i":"h"}"#),
    // The default order by its name.
    (#"{"i":".priority"}"#, "{}"),
    // A limit without a side counts from the start, if there is one.
    (#"{"l":2}"#, #"{"l":2,"vf":"r"}"#),
    (#"{"l":2,"sp":1}"#, #"{"l":2,"sin":true,"sp":1,"vf":"l"}"#),
    (#"{"l":2,"ep":1}"#, #"{"ein":true,"ep":1,"l":2,"vf":"r"}"#),
    // A start that was moved to its successor, and an end to its predecessor.
    (#"{"i":".value","sp":5,"sn":"abc-"}"#, #"{"i":".value","sin":true,"sn":"abc-","sp":5}"#),
    (
      #"{"i":".value","sp":5,"sn":"[MAX_NAME]"}"#,
      #"{"i":".value","sin":false,"sn":"[MAX_NAME]","sp":5}"#
    ),
    (
      #"{"i":".value","ep":5,"en":"[MIN_NAME]"}"#,
      #"{"ein":false,"en":"[MIN_NAME]","ep":5,"i":".value"}"#
    ),
    // Bounds that say what none says.
    (#"{"i":".value","sp":5,"sn":"[MIN_NAME]","sin":false}"#, #"{"i":".value","sin":true,"sp":5}"#),
    (#"{"i":".value","ep":5,"en":"[MAX_NAME]"}"#, #"{"ein":true,"ep":5,"i":".value"}"#),
    (#"{"i":".key","sp":"[MIN_NAME]","ep":"[MAX_NAME]"}"#, #"{"i":".key"}"#),
    // An exclusive bound without a key leaves all of the value's rows out.
    (
      #"{"i":".value","sp":5,"sin":false}"#, #"{"i":".value","sin":false,"sn":"[MAX_NAME]","sp":5}"#
    ),
    (
      #"{"i":".value","ep":5,"ein":false}"#, #"{"ein":false,"en":"[MIN_NAME]","ep":5,"i":".value"}"#
    ),
  ])
  func isReadAs(row: (String, String)) throws {
    #expect(try read(row.0).wireJSON().jsonText() == row.1)
  }

  /// The keys that a range in key order lets through.
  private func keys(_ json: String, of names: [String]) throws -> [String] {
    let children = try names.map { Child(key: try Key($0), node: Node(.bool(true))) }
    let query = try read(json)
    return RowSlice(query).rows(among: children, detail: .full).map(\.key.text)
  }

  @Test func aBoundBeyondAllKeysLeavesNothing() throws {
    let names = ["-2147483648", "0", "a", String(repeating: "\u{FFFF}", count: 256)]
    #expect(try keys(#"{"i":".key","sp":"[MAX_NAME]"}"#, of: names).isEmpty)
    #expect(try keys(#"{"i":".key","ep":"[MIN_NAME]"}"#, of: names).isEmpty)
    #expect(try keys(#"{"i":".key","sp":"[MIN_NAME]"}"#, of: names) == names)
    #expect(try keys(#"{"i":".key","ep":"[MAX_NAME]"}"#, of: names) == names)
  }

  @Test(arguments: [
    (IndexPosition.KeyBound.maximum, true, #"{"i":".key","sin":false,"sp":"[MAX_NAME]"}"#),
    (IndexPosition.KeyBound.minimum, true, #"{"i":".key","sin":true,"sp":"[MIN_NAME]"}"#),
    (IndexPosition.KeyBound.maximum, false, #"{"ein":true,"ep":"[MAX_NAME]","i":".key"}"#),
    (IndexPosition.KeyBound.minimum, false, #"{"ein":false,"ep":"[MIN_NAME]","i":".key"}"#),
  ])
  func aBoundBeyondAllKeysIsWritten(
    key: IndexPosition.KeyBound, isStart: Bool, json: String
  ) throws {
    let names = ["-2147483648", "0", "a", String(repeating: "z", count: 256)]
    let children = try names.map { Child(key: try Key($0), node: Node(.bool(true))) }
    for isInclusive in [true, false] {
      let bound = Query.Bound(
        IndexPosition(value: .null, key: key), isInclusive: isInclusive)
      let query = try ordered(by: .key)
        .part(from: isStart ? bound : nil, to: isStart ? nil : bound)
      #expect(try query.identifier() == json)
      let rows = RowSlice(query).rows(among: children, detail: .full).map(\.key.text)
      #expect(try keys(json, of: names) == rows)
    }
  }

  /// The far end of a list is reached from there.
  @Test func aBoundBeyondAllValuesIsWritten() throws {
    let place = IndexPosition(value: .children, key: .maximum)
    let query = try ordered(by: .child(Path("score")))
    #expect(try query.clipped(at: place, keeping: .first).identifier() == #"{"i":"score"}"#)
    let beyond = try query.clipped(at: place, keeping: .last).wireJSON()
    let scores: [JSONValue] = [.null, true, 5, "z", "\u{FFFF}"]
    let children = try scores.enumerated().map { number, score in
      Child(key: Key(unchecked: "k\(number)"), node: try Node(json: ["score": score, "x": 1]))
    }
    let read = try Query(wire: beyond, at: QueryWireTests.path)
    #expect(RowSlice(read).rows(among: children, detail: .full).isEmpty)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func aLongBoundCutsAsItselfWould(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let scalars = [
      "a", "z", "~", "\u{E9}", "\u{7FF}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{1F600}",
    ]
    var long = "k" + String(repeating: random.pick(["a", "\u{FFFF}"]), count: 300)
    while long.utf8.count <= 768 { long += random.pick(scalars) }
    let bound = Key(unchecked: long + random.pick(scalars))
    var names: Set<String> = []
    for _ in 0..<40 {
      // What shares most of the bound, and goes its own way in the last few bytes.
      var name = String(
        String.UnicodeScalarView(
          long.unicodeScalars.prefix(long.unicodeScalars.count - random.number(0..<4))))
      while name.utf8.count < 768, random.chance(70) { name += random.pick(scalars) }
      while name.utf8.count > 768 { name.unicodeScalars.removeLast() }
      names.insert(name)
    }
    let json = JSONValue.string(bound.text).jsonText()
    let below = names.filter { Key(unchecked: $0) < bound }
    let end = try Set(keys(#"{"i":".key","ep":\#(json)}"#, of: Array(names)))
    let start = try Set(keys(#"{"i":".key","sp":\#(json)}"#, of: Array(names)))
    #expect(end == below, "seed \(seed)")
    #expect(start == names.subtracting(below), "seed \(seed)")
  }

  // MARK: What is refused

  @Test(arguments: [
    (#"{"sp":[1]}"#, "sp"), (#"{"ep":{}}"#, "ep"), (#"{"sp":true}"#, "sp"),
    (#"{"sn":"a"}"#, "sn"), (#"{"sin":true}"#, "sin"), (#"{"en":"a"}"#, "en"),
    (#"{"ein":false}"#, "ein"), (#"{"sp":1,"sn":1}"#, "sn"), (#"{"sp":1,"sin":1}"#, "sin"),
    (#"{"sp":1,"sn":"a.b"}"#, "sn"), (#"{"ep":1,"en":""}"#, "en"), (#"{"ep":1,"ein":"t"}"#, "ein"),
    (#"{"l":0}"#, "l"), (#"{"l":-1}"#, "l"), (#"{"l":1.5}"#, "l"), (#"{"l":"2"}"#, "l"),
    (#"{"l":null}"#, "l"), (#"{"l":1e300}"#, "l"), (#"{"l":2,"vf":"x"}"#, "vf"),
    (#"{"l":2,"vf":1}"#, "vf"), (#"{"vf":"l"}"#, "vf"), (#"{"i":1}"#, "i"), (#"{"i":""}"#, "i"),
    (#"{"i":".other"}"#, "i"), (#"{"i":"a.b"}"#, "i"), (#"{"i":".key","sp":1}"#, "sp"),
    (#"{"i":".key","sp":"a","sn":"b"}"#, "sn"), (#"{"i":".key","ep":"a$"}"#, "ep"),
    (#"{"what":1}"#, "what"), (#"{"i":".key","sp":null}"#, "sp"),
  ])
  func aMalformedMemberIsNamed(row: (String, String)) throws {
    let error = #expect(throws: TreeError.self) { try read(row.0) }
    #expect(error?.code == .invalidQuery)
    #expect(
      error?.message.hasPrefix("\"\(row.1)\" of a query: ") == true, "\(error?.message ?? "")")
    #expect(error?.path == "/list")
  }

  @Test(arguments: ["null", "[]", #""default""#, "1"])
  func whatIsNoObjectIsRefused(json: String) throws {
    let error = #expect(throws: TreeError.self) { try read(json) }
    #expect(error?.code == .invalidQuery)
  }

  @Test func aLongRowOfDigitsIsNoBound() throws {
    let digits = String(repeating: "0", count: 800)
    for text in [digits, digits + "a"] {
      let error = #expect(throws: TreeError.self) { try read(#"{"i":".key","sp":"\#(text)"}"#) }
      #expect(error?.code == .invalidQuery)
    }
  }
}

extension QueryIndex {
  fileprivate var isOnWire: Bool {
    if case .compound = self { false } else { true }
  }
}
