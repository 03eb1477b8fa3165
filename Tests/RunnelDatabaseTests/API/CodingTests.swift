import Foundation
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

@Suite struct CodingTests {
  private func encoded(
    _ value: some Encodable, _ encoder: NodeEncoder = NodeEncoder()
  ) throws
    -> String
  {
    try encoder.encode(value).exportJSON.jsonText()
  }

  private func decoded<Value: Decodable>(
    _ type: Value.Type, _ json: String, _ decoder: NodeDecoder = NodeDecoder()
  ) throws -> Value {
    try decoder.decode(type, from: node(json), at: Path("at"))
  }

  /// The error of decoding, in short.
  private func error<Value: Decodable>(_ type: Value.Type, _ json: String) -> String {
    do {
      return "none: \(try decoded(type, json))"
    } catch let error as DataCodingError {
      return "\(error.code.rawValue) \(error.path) \(error.expected)"
    } catch {
      return "\(error)"
    }
  }

  // MARK: Names

  @Test func keysThatSwiftTakesForOneAreNoDictionary() throws {
    let json = "{\"caf\u{e9}\":{\"n\":1},\"cafe\u{301}\":{\"n\":2},\"tea\":{\"n\":3}}"
    struct Menu: Decodable { var tea: [String: Int] }
    struct Free: Decodable { var all: JSONValue }
    #expect(
      error([String: [String: Int]].self, json)
        == "mismatch /at Dictionary<String, Dictionary<String, Int>>")
    #expect(
      error([String: [String: [String: Int]]].self, "{\"menu\":\(json)}").hasPrefix(
        "mismatch /at/menu "))
    #expect(try decoded(Menu.self, json).tea == ["n": 3])
    #expect(try decoded(Free.self, "{\"all\":\(json)}").all["cafe\u{301}"]?["n"] == 2)
    let accents = "{\"\u{e9}\":1,\"e\":2,\"\u{e8}\":3}"
    #expect(try decoded([String: Int].self, accents) == ["\u{e9}": 1, "e": 2, "\u{e8}": 3])
  }

  @Test func errorsSayTheSameAsLocalizedText() {
    let refused: any Error = DatabaseError(.refused, "No.")
    #expect(refused.localizedDescription == "No.")
    let misfit: any Error = DataCodingError(
      .notEncodable, path: "/a", type: Int.self, reason: "it is too large")
    #expect(misfit.localizedDescription == "\(misfit)")
  }

  // MARK: Round trips

  @Test(arguments: 0..<300) func whatIsWrittenIsReadBack(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let value = random.everything(depth: 2)
    let node = try NodeEncoder().encode(value)
    #expect(try NodeDecoder().decode(Everything.self, from: node) == value, "seed \(seed)")
  }

  /// Foundation's encoder is the oracle: the same JSON means the same node.
  @Test(arguments: 0..<300) func whatIsWrittenIsWhatFoundationWrites(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let value = random.everything(depth: 2)
    let oracle = JSONEncoder()
    oracle.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
    let json = try JSONValue(
      parsing: String(decoding: try oracle.encode(value), as: UTF8.self))
    #expect(
      try encoded(value) == Node(json: json).exportJSON.jsonText(), "seed \(seed)")
  }

  @Test func everyNumberOfEveryWidthIsExact() throws {
    func holds<Number: FixedWidthInteger & Codable>(_ type: Number.Type) throws {
      for number in [type.min, 0, 1, type.max] where Int64(exactly: number) != nil {
        #expect(try NodeDecoder().decode(type, from: NodeEncoder().encode(number)) == number)
        #expect(
          try NodeDecoder().decode([Number].self, from: NodeEncoder().encode([number])) == [number])
      }
    }
    try holds(Int.self)
    try holds(Int8.self)
    try holds(Int16.self)
    try holds(Int32.self)
    try holds(Int64.self)
    try holds(UInt.self)
    try holds(UInt8.self)
    try holds(UInt16.self)
    try holds(UInt32.self)
    try holds(UInt64.self)
    for number in [0.1, -1e300, .leastNonzeroMagnitude, 0x1p53 + 2, 1e18] {
      #expect(try NodeDecoder().decode(Double.self, from: NodeEncoder().encode(number)) == number)
    }
    #expect(try NodeDecoder().decode(Float.self, from: NodeEncoder().encode(Float(0.1))) == 0.1)
  }

  @Test func whatInheritsIsReadBack() throws {
    let derived = Derived()
    (derived.a, derived.b) = (1, "x")
    let node = try NodeEncoder().encode(derived)
    #expect(node.exportJSON == ["b": "x", "super": ["a": 1]])
    let back = try NodeDecoder().decode(Derived.self, from: node)
    #expect(back.a == 1 && back.b == "x")
  }

  @Test func containersMayBeNestedByHand() throws {
    let nested = ByHand(numbers: [[1, 2], [], [3]], name: "x")
    let node = try NodeEncoder().encode(nested)
    #expect(
      node.exportJSON == ["list": ["0": ["0": 1, "1": 2], "2": ["0": 3]], "o": ["name": "x"]])
    #expect(try NodeDecoder().decode(ByHand.self, from: node) == nested)
  }

  // MARK: Rules

  @Test func whatIsNilOrEmptyIsAbsentAndReadAsSuch() throws {
    struct Holder: Codable, Equatable {
      var name: String?
      var list: [Int] = []
      var map: [String: Int] = [:]
      var set: Set<Int> = []
      var inner: Inner = Inner()
    }
    struct Inner: Codable, Equatable { var x: Int? }
    #expect(try encoded(Holder()) == "null")
    #expect(try decoded(Holder.self, "null") == Holder())
    #expect(try decoded(Holder.self, #"{"name":"a"}"#) == Holder(name: "a"))
    #expect(try encoded([1, nil, 3]) == #"{"0":1,"2":3}"#)
    #expect(try decoded([Int?].self, #"{"0":1,"2":3}"#) == [1, nil, 3])
    #expect(try decoded(Int?.self, "null") == nil)
  }

  @Test func arraysAreReadByTheRuleOfArrays() throws {
    #expect(try decoded([Int].self, "[1,2]") == [1, 2])
    #expect(try decoded([Int?].self, #"{"1":1}"#) == [nil, 1])
    #expect(error([Int].self, #"{"1":1}"#) == "missing /at/0 Int")
    #expect(error([Int?].self, #"{"1000":1}"#) == "mismatch /at Array<Optional<Int>>")
    #expect(error([Int].self, #"{"a":1}"#) == "mismatch /at Array<Int>")
    #expect(error([Int].self, #"{"01":1}"#) == "mismatch /at Array<Int>")
    #expect(error([Int].self, #"{"-1":1}"#) == "mismatch /at Array<Int>")
    #expect(error([Int].self, "5") == "mismatch /at Array<Int>")
    #expect(
      try decoded([Int: String].self, #"{"0":"a","7":"b","-1":"c"}"#) == [0: "a", 7: "b", -1: "c"])
    #expect(try decoded([String: Int].self, #"["x"]"#.replacing("\"x\"", with: "4")) == ["0": 4])
  }

  @Test func datesAreMillisecondsUnlessSaidOtherwise() throws {
    let date = Date(timeIntervalSince1970: 1_700_000_000.125)
    #expect(try encoded(date) == "1700000000125")
    #expect(try decoded(Date.self, "1700000000125") == date)
    let seconds = (NodeEncoder(dates: .seconds), NodeDecoder(dates: .seconds))
    #expect(try encoded(date, seconds.0) == "1700000000.125")
    #expect(try decoded(Date.self, "1700000000.125", seconds.1) == date)
    let text = (NodeEncoder(dates: .iso8601), NodeDecoder(dates: .iso8601))
    #expect(try encoded(date, text.0) == #""2023-11-14T22:13:20.125Z""#)
    #expect(try decoded(Date.self, #""2023-11-14T22:13:20.125Z""#, text.1) == date)
    #expect(
      try decoded(Date.self, #""2023-11-14T22:13:20Z""#, text.1)
        == Date(timeIntervalSince1970: 1_700_000_000))
    #expect(error(Date.self, #""x""#) == "mismatch /at Date")
    #expect(throws: DataCodingError.self) { try decoded(Date.self, "5", text.1) }
    #expect(throws: DataCodingError.self) { try decoded(Date.self, #""x""#, text.1) }
    #expect(throws: DataCodingError.self) {
      try encoded(Date(timeIntervalSince1970: .greatestFiniteMagnitude))
    }
  }

  @Test(arguments: [
    1e14, 1e300, .infinity, -.infinity, .nan, -63e9, -62_135_596_800.001, 253_402_300_800,
  ])
  func datesWithoutAYearOfFourDigitsAreNoText(seconds: Double) {
    #expect(throws: DataCodingError.self) {
      try encoded(Date(timeIntervalSince1970: seconds), NodeEncoder(dates: .iso8601))
    }
  }

  @Test(arguments: [-62_135_596_800, 253_402_300_799, 0])
  func theFirstAndLastDatesAreReadBack(seconds: Double) throws {
    let date = Date(timeIntervalSince1970: seconds)
    let text = try encoded(date, NodeEncoder(dates: .iso8601))
    #expect(try decoded(Date.self, text, NodeDecoder(dates: .iso8601)) == date, "\(text)")
  }

  @Test func prioritiesAreReadAndWrittenByTheirName() throws {
    struct Ranked: Codable, Equatable {
      var name: String
      var priority: Int?
      enum CodingKeys: String, CodingKey {
        case name
        case priority = ".priority"
      }
    }
    #expect(try encoded(Ranked(name: "a", priority: 3)) == #"{"name":"a",".priority":3}"#)
    #expect(
      try decoded(Ranked.self, #"{"name":"a",".priority":3}"#) == Ranked(name: "a", priority: 3))
    #expect(try decoded([String: String].self, #"{"name":"a",".priority":3}"#) == ["name": "a"])
  }

  @Test func aLeafIsNoObjectWhetherItHasAPriorityOrNot() throws {
    struct Loose: Codable { var name: String? }
    struct Ranked: Codable, Equatable {
      var value: Int
      var priority: String?
      enum CodingKeys: String, CodingKey {
        case value = ".value"
        case priority = ".priority"
      }
    }
    for json in ["7", #"{".value":7,".priority":"p"}"#] {
      #expect(throws: DataCodingError.self) { try decoded([String: Int].self, json) }
      #expect(throws: DataCodingError.self) { try decoded([Int: Int].self, json) }
      #expect(throws: DataCodingError.self) { try decoded(Loose.self, json) }
      #expect(throws: DataCodingError.self) { try decoded([String: Loose].self, "{\"a\":\(json)}") }
      #expect(try decoded(Int.self, json) == 7)
    }
    #expect(
      try decoded(Ranked.self, #"{".value":7,".priority":"p"}"#) == Ranked(value: 7, priority: "p"))
  }

  @Test func serverTimestampsAreWrittenForNilAndReadAsDates() throws {
    struct Message: Codable, Equatable {
      var text: String
      @ServerTimestamp var created: Date?
    }
    let new = Message(text: "a", created: nil)
    #expect(try NodeEncoder().json(new) == ["text": "a", "created": [".sv": "timestamp"]])
    #expect(throws: DataCodingError.self) { try NodeEncoder().encode(new) }
    let read = try decoded(Message.self, #"{"text":"a","created":5000}"#)
    #expect(read.created == Date(timeIntervalSince1970: 5))
    #expect(try encoded(read) == #"{"created":5000,"text":"a"}"#)
    #expect(try decoded(Message.self, #"{"text":"a"}"#) == new)
  }

  @Test func serverValuesAreTheSameForEveryEncoder() throws {
    for value in [ServerValue.timestamp, .increment(3), .increment(0.25)] {
      #expect(try NodeEncoder().json(value) == value.json)
      let data = try JSONEncoder().encode(value)
      #expect(try JSONValue(parsing: String(decoding: data, as: UTF8.self)) == value.json)
    }
  }

  // MARK: Errors

  @Test func errorsNameThePlaceAndTheTypeExpected() {
    #expect(error(User.self, "null") == "missing /at User")
    #expect(error(User.self, "5") == "mismatch /at User")
    #expect(error(User.self, #"{"tags":["a"]}"#) == "missing /at/name String")
    #expect(error(User.self, #"{"name":1}"#) == "mismatch /at/name String")
    #expect(error(User.self, #"{"name":"a","tags":["x",2]}"#) == "mismatch /at/tags/1 String")
    #expect(error(User.self, #"{"name":"a","home":{"zip":1.5}}"#) == "mismatch /at/home/zip Int")
    #expect(error(User.self, #"{"name":"a","home":{"x":1}}"#) == "missing /at/home/zip Int")
    #expect(error(User.self, #"{"name":"a","home":3}"#) == "mismatch /at/home Home")
    #expect(error(User.self, #"{"name":"a","color":"pink"}"#) == "mismatch /at/color Color")
    #expect(error(User.self, #"{"name":"a","site":""}"#) == "mismatch /at/site URL")
    #expect(error(User.self, #"{"name":"a","photo":"?"}"#) == "mismatch /at/photo Data")
    #expect(error([String: User].self, #"{"x":{"name":"a"},"y":{}}"#).hasPrefix("none"))
    #expect(error([String: User].self, #"{"y":{"z":1}}"#) == "missing /at/y/name String")
    #expect(error(UInt8.self, "256") == "mismatch /at UInt8")
    #expect(error(Int.self, "1e30") == "mismatch /at Int")
    #expect(error(Float.self, "1e300") == "mismatch /at Float")
    #expect(error(Bool.self, "1") == "mismatch /at Bool")
  }

  @Test func aDateIsMadeIntoTheJSONThatIsStored() throws {
    let date = Date(timeIntervalSince1970: 1.5)
    #expect(try JSONValue(date) == 1500)
    #expect(try JSONValue(date, dates: .seconds) == 1.5)
    #expect(try JSONValue(date, dates: .iso8601) == "1970-01-01T00:00:01.500Z")
    let never = Date(timeIntervalSince1970: .infinity)
    let error = #expect(throws: DataCodingError.self) { try JSONValue(never) }
    #expect(error?.code == .notEncodable)
  }

  @Test func anErrorSaysWhatIsThere() {
    let error = #expect(throws: DataCodingError.self) { try decoded(User.self, #"{"name":7}"#) }
    #expect(error?.description == "/at/name: expected String, but the number 7 is there.")
    let nothing = #expect(throws: DataCodingError.self) { try decoded(Int.self, "null") }
    #expect(nothing?.description == "/at: expected Int, but nothing is there.")
    let object = #expect(throws: DataCodingError.self) { try decoded(Int.self, #"{"a":1}"#) }
    #expect(object?.description == "/at: expected Int, but an object of 1 child is there.")
    let list = #expect(throws: DataCodingError.self) {
      try decoded([User].self, #"{"a":{"name":"x"},"b":{"name":"y"}}"#)
    }
    #expect(list?.description.contains("an object of 2 children is there; `children(as:)`") == true)
    let inside = #expect(throws: DataCodingError.self) {
      try decoded([String: [Int]].self, #"{"a":{"b":1}}"#)
    }
    #expect(inside?.description.hasSuffix("but an object of 1 child is there.") == true)
  }

  @Test(arguments: [
    Duration.zero, .seconds(1), .milliseconds(-1), .seconds(9), .seconds(10), .seconds(-3600),
    .nanoseconds(1), .nanoseconds(-1), Duration(secondsComponent: .max, attosecondsComponent: 1),
    Duration(secondsComponent: .min, attosecondsComponent: -1),
  ])
  func aDurationIsReadBack(duration: Duration) throws {
    let lap = Lap(time: duration, best: duration, all: [duration])
    let node = try NodeEncoder().encode(lap)
    #expect(try NodeDecoder().decode(Lap.self, from: node) == lap)
    let alone = try NodeEncoder().encode(duration)
    #expect(try NodeDecoder().decode(Duration.self, from: alone) == duration)
  }

  @Test func aDurationIsReadAsSwiftWritesItItself() throws {
    let lap = try decoded(Lap.self, #"{"time":[0,1500000000000000000]}"#)
    #expect(lap == Lap(time: .milliseconds(1500), best: nil, all: []))
    for json in ["1", "[1]", "[1,2,3]", #"["a",1]"#, #"{"a":1,"b":2}"#] {
      let error = #expect(throws: DataCodingError.self) { try decoded(Duration.self, json) }
      #expect(error?.expected == "Duration")
    }
  }

  @Test func integersOf128BitsAreStoredUpToThoseOf64() throws {
    let wide = Wide(a: Int128(Int64.min), b: 7, c: [-1, Int128(Int64.max)])
    let node = try NodeEncoder().encode(wide)
    #expect(try NodeDecoder().decode(Wide.self, from: node) == wide)
    let error = #expect(throws: DataCodingError.self) {
      try NodeEncoder().encode(Wide(a: Int128(Int64.max) + 1, b: nil, c: []))
    }
    #expect(error?.path == "/a")
    #expect(error?.reason.contains("beyond the range of Int64") == true)
  }

  @Test func whatCannotBeWrittenNamesItsPlace() throws {
    func path(_ value: some Encodable) throws -> String? {
      #expect(throws: DataCodingError.self) {
        try NodeEncoder().encode(value, at: Path("a"))
      }?.path
    }
    #expect(try path(["x": [1, Double.infinity]]) == "/a/x/1")
    #expect(try path([UInt64.max]) == "/a/0")
    #expect(try path(["b.c": 1]) == "/a")
    #expect(try path(Chain.nested(40))?.hasPrefix("/a/next/next") == true)
    #expect(throws: Never.self) { try NodeEncoder().encode(Chain.nested(31)) }
  }
}

// MARK: What is coded

private struct Lap: Codable, Equatable {
  var time: Duration
  var best: Duration?
  var all: [Duration]
}

private struct Wide: Codable, Equatable {
  var a: Int128
  var b: UInt128?
  var c: [Int128]
}

private struct User: Codable {
  var name: String
  var tags: [String]?
  var home: Home?
  var color: Color?
  var site: URL?
  var photo: Data?
}

private struct Home: Codable { var zip: Int }

private enum Color: String, Codable { case red, green }

private final class Chain: Codable {
  var next: Chain?
  var value = 1

  static func nested(_ depth: Int) -> Chain {
    let chain = Chain()
    if depth > 0 { chain.next = nested(depth - 1) }
    return chain
  }
}

private class Base: Codable {
  var a = 0
}

private final class Derived: Base {
  var b = ""

  private enum CodingKeys: String, CodingKey { case b }

  override init() { super.init() }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    b = try container.decode(String.self, forKey: .b)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(b, forKey: .b)
    try super.encode(to: container.superEncoder())
  }
}

private struct ByHand: Codable, Equatable {
  var numbers: [[Int]]
  var name: String

  private enum CodingKeys: String, CodingKey { case list, o, name }

  init(numbers: [[Int]], name: String) { (self.numbers, self.name) = (numbers, name) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    var list = try container.nestedUnkeyedContainer(forKey: .list)
    numbers = []
    while !list.isAtEnd {
      var inner = try list.nestedUnkeyedContainer()
      var row: [Int] = []
      while !inner.isAtEnd { row.append(try inner.decode(Int.self)) }
      numbers.append(row)
    }
    name = try container.nestedContainer(keyedBy: CodingKeys.self, forKey: .o)
      .decode(String.self, forKey: .name)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    var list = container.nestedUnkeyedContainer(forKey: .list)
    for row in numbers {
      var inner = list.nestedUnkeyedContainer()
      for number in row { try inner.encode(number) }
    }
    // Asked for twice, it is one object.
    var object = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .o)
    try object.encode("y", forKey: .name)
    object = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .o)
    try object.encode(name, forKey: .name)
  }
}

private struct Everything: Codable, Equatable {
  enum Kind: Codable, Equatable {
    case plain(Int)
    case pair(String, b: Bool)
  }

  var bool = false
  var int = 0
  var small: Int8?
  var large: UInt64?
  var double = 0.0
  var float: Float?
  var text = ""
  var date: Date?
  var data: Data?
  var url: URL?
  var id: UUID?
  var numbers: [Int] = []
  var rows: [[String]] = []
  var map: [String: Double] = [:]
  var byNumber: [Int: String] = [:]
  var kind: Kind?
  var color: Color?
  var children: [Everything] = []
  var named: [String: Everything] = [:]
}

extension RandomTree {
  fileprivate mutating func everything(depth: Int) -> Everything {
    var value = Everything()
    value.bool = chance(50)
    value.int = pick([0, -1, .max, .min, number(-100..<100)])
    value.small = chance(50) ? pick([.min, .max, 3]) : nil
    value.large = chance(50) ? UInt64(Int64.max) : nil
    value.double = pick([0.5, -1e300, 1e18, 0x1p63, 3, .leastNonzeroMagnitude])
    value.float = chance(50) ? 0.1 : nil
    value.text = pick(["", "é", "e\u{301}", "\u{1F600}", "a/b\0"])
    value.date = chance(50) ? Date(timeIntervalSince1970: Double(number(-9999..<9999)) / 1000) : nil
    value.data = chance(50) ? Data((0..<number(0..<5)).map { _ in UInt8(number(0..<256)) }) : nil
    value.url = chance(30) ? URL(string: "https://example.com/a?b=c#d") : nil
    value.id = chance(30) ? UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 255)) : nil
    value.numbers = (0..<number(0..<4)).map { _ in number(-5..<5) }
    value.rows = (0..<number(0..<3)).map { _ in (0..<number(1..<3)).map { "r\($0)" } }
    for _ in 0..<number(0..<4) { value.map[pick(RandomTree.names)] = Double(number(0..<9)) / 4 }
    for _ in 0..<number(0..<4) { value.byNumber[number(-9..<99)] = "n" }
    value.kind = pick([nil, .plain(3), .pair("p", b: true)])
    value.color = pick([nil, .red, .green])
    if depth > 0 {
      value.children = (0..<number(0..<3)).map { _ in everything(depth: depth - 1) }
      if chance(50) { value.named[pick(RandomTree.names)] = everything(depth: depth - 1) }
    }
    return value
  }
}
