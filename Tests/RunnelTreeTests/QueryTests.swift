import RunnelBase
import RunnelTree
import Testing

@Suite struct QueryTests {
  private let query: Query

  init() throws { query = Query(try Path("list")) }

  private func refusal(_ body: () throws -> Query) -> TreeError.Code? {
    #expect(throws: TreeError.self) { _ = try body() }?.code
  }

  // MARK: Building (section 5.1)

  @Test func aSecondOrderIsRefused() throws {
    for first in [QueryIndex.key, .value, .priority, .child(try Path("a"))] {
      #expect(
        refusal { try query.ordered(by: first).ordered(by: .value) } == .invalidQuery)
    }
  }

  @Test func anEmptyChildPathIsRefused() {
    #expect(refusal { try query.ordered(by: .child(.root)) } == .invalidQuery)
  }

  @Test func eachEndIsSetOnce() throws {
    let one = IndexValue.leaf(.number(1))
    let start = try query.starting(at: one)
    let end = try query.ending(at: one)
    let both = try query.equal(to: one)
    #expect(refusal { try start.starting(at: one) } == .invalidQuery)
    #expect(refusal { try start.starting(at: one, isInclusive: false) } == .invalidQuery)
    #expect(refusal { try start.equal(to: one) } == .invalidQuery)
    #expect(refusal { try end.ending(at: one) } == .invalidQuery)
    #expect(refusal { try end.equal(to: one) } == .invalidQuery)
    #expect(refusal { try both.starting(at: one) } == .invalidQuery)
    #expect(refusal { try both.ending(at: one) } == .invalidQuery)
    #expect(throws: Never.self) { try start.ending(at: one) }
  }

  @Test func aLimitIsSetOnceAndPositive() throws {
    #expect(refusal { try query.limited(to: 0, from: .first) } == .invalidQuery)
    #expect(refusal { try query.limited(to: -1, from: .last) } == .invalidQuery)
    let limited = try query.limited(to: 1, from: .first)
    #expect(refusal { try limited.limited(to: 1, from: .last) } == .invalidQuery)
    #expect(throws: Never.self) { try query.limited(to: .max, from: .last) }
  }

  @Test func aBoundInKeyOrderIsAKeyAlone() throws {
    let query = try query.ordered(by: .key)
    let key = try Key("k")
    #expect(throws: Never.self) { try query.starting(at: .leaf(.string("a"))) }
    #expect(refusal { try query.starting(at: .null) } == .invalidQuery)
    #expect(refusal { try query.starting(at: .leaf(.number(1))) } == .invalidQuery)
    #expect(refusal { try query.ending(at: .leaf(.bool(true))) } == .invalidQuery)
    #expect(refusal { try query.starting(at: .leaf(.string("a")), key: key) } == .invalidQuery)
    #expect(refusal { try query.equal(to: .leaf(.string("a")), key: key) } == .invalidQuery)
    #expect(refusal { try query.starting(at: .leaf(.string("a.b"))) } == .invalidKey)
  }

  @Test func aBoundInPriorityOrderIsAPriority() throws {
    for query in [query, try query.ordered(by: .priority)] {
      #expect(throws: Never.self) { try query.starting(at: .null) }
      #expect(throws: Never.self) { try query.starting(at: .leaf(.number(1))) }
      #expect(throws: Never.self) { try query.ending(at: .leaf(.string("a"))) }
      #expect(refusal { try query.starting(at: .leaf(.bool(true))) } == .invalidQuery)
      #expect(refusal { try query.equal(to: .children) } == .invalidQuery)
    }
  }

  @Test func aBoundInAnotherOrderIsAScalar() throws {
    for index in [QueryIndex.value, .child(try Path("a"))] {
      let query = try query.ordered(by: index)
      for value in [IndexValue.null, .leaf(.bool(false)), .leaf(.number(1)), .leaf(.string("a"))] {
        #expect(throws: Never.self) { try query.equal(to: value, key: Key("k")) }
      }
      #expect(refusal { try query.starting(at: .children) } == .invalidQuery)
    }
  }

  @Test func aBoundIsCheckedAgainstTheOrderChosenSoFar() throws {
    #expect(refusal { try query.starting(at: .leaf(.bool(true))) } == .invalidQuery)
    let started = try query.starting(at: .leaf(.string("a")))
    #expect(throws: Never.self) { try started.ordered(by: .value) }
    #expect(refusal { try started.ordered(by: .key) } == .invalidQuery)
  }

  @Test func queriesThatAskForTheSameAreEqual() throws {
    #expect(try query == query.ordered(by: .priority))
    #expect(try query.hashValue == query.ordered(by: .priority).hashValue)
    #expect(try query != query.ordered(by: .key))
    #expect(try query.starting(at: .null) != query)
    #expect(try query.ordered(by: .key).loadsAllData)
    #expect(try !query.starting(at: .null).loadsAllData)
  }

  // MARK: Window (section 5.3)

  private func window(_ json: String, _ query: Query) throws -> String {
    let tree = MemoryTree(try node(#"{"list":"# + json + "}"))
    let rows = try tree.rows(of: query.path, in: RowSlice(query), detail: .full)
    return rows.map(\.key.text).joined(separator: " ")
  }

  private static let scores =
    #"{"a":{"s":1},"b":{"s":2},"c":{"s":2},"d":{"s":3},"e":{"s":false},"f":{"t":1},"g":{"s":"x"}}"#

  private func byScore() throws -> Query { try query.ordered(by: .child(Path("s"))) }

  @Test func childrenWithoutTheValueComeFirst() throws {
    #expect(try window(QueryTests.scores, byScore()) == "f e a b c d g")
    #expect(try window(QueryTests.scores, byScore().starting(at: .null)) == "f e a b c d g")
    #expect(
      try window(QueryTests.scores, byScore().starting(at: .leaf(.bool(false)))) == "e a b c d g")
    #expect(try window(QueryTests.scores, byScore().ending(at: .leaf(.number(1)))) == "f e a")
    #expect(try window(QueryTests.scores, byScore().equal(to: .null)) == "f")
  }

  @Test func inclusiveBoundsTakeAllOfAValue() throws {
    let two = IndexValue.leaf(.number(2))
    #expect(try window(QueryTests.scores, byScore().starting(at: two)) == "b c d g")
    #expect(try window(QueryTests.scores, byScore().ending(at: two)) == "f e a b c")
    #expect(try window(QueryTests.scores, byScore().equal(to: two)) == "b c")
    #expect(try window(QueryTests.scores, byScore().equal(to: two, key: Key("c"))) == "c")
    #expect(try window(QueryTests.scores, byScore().starting(at: two, key: Key("c"))) == "c d g")
    #expect(try window(QueryTests.scores, byScore().ending(at: two, key: Key("b"))) == "f e a b")
  }

  @Test func exclusiveBoundsTakeNoneOfAValueOrNotTheKey() throws {
    let two = IndexValue.leaf(.number(2))
    let (b, c) = (try Key("b"), try Key("c"))
    #expect(try window(QueryTests.scores, byScore().starting(at: two, isInclusive: false)) == "d g")
    #expect(
      try window(QueryTests.scores, byScore().ending(at: two, isInclusive: false)) == "f e a")
    #expect(
      try window(QueryTests.scores, byScore().starting(at: two, key: b, isInclusive: false))
        == "c d g")
    #expect(
      try window(QueryTests.scores, byScore().ending(at: two, key: c, isInclusive: false))
        == "f e a b")
  }

  @Test func exclusiveBoundsInKeyOrderLeaveTheKeyOut() throws {
    let query = try query.ordered(by: .key)
    let json = #"{"1":1,"2":1,"10":1,"a":1}"#
    let (two, ten) = (IndexValue.leaf(.string("2")), IndexValue.leaf(.string("10")))
    #expect(try window(json, query.starting(at: two)) == "2 10 a")
    #expect(try window(json, query.starting(at: two, isInclusive: false)) == "10 a")
    #expect(try window(json, query.ending(at: ten)) == "1 2 10")
    #expect(try window(json, query.ending(at: ten, isInclusive: false)) == "1 2")
  }

  @Test func theLimitIsCountedWithinTheRange() throws {
    let two = IndexValue.leaf(.number(2))
    let query = try byScore().starting(at: two)
    #expect(try window(QueryTests.scores, query.limited(to: 2, from: .first)) == "b c")
    #expect(try window(QueryTests.scores, query.limited(to: 2, from: .last)) == "d g")
    #expect(try window(QueryTests.scores, query.limited(to: 9, from: .last)) == "b c d g")
    #expect(try window(QueryTests.scores, query.limited(to: .max, from: .first)) == "b c d g")
  }

  @Test func crossedBoundsAndLeavesGiveNothing() throws {
    let query = try byScore().starting(at: .leaf(.number(3))).ending(at: .leaf(.number(1)))
    #expect(try window(QueryTests.scores, query) == "")
    #expect(try window("7", byScore()) == "")
    #expect(try window("null", byScore()) == "")
  }

  @Test func theDefaultOrderIsByPriorityThenKey() throws {
    let json = """
      {"a":{".value":1,".priority":"x"},"b":{".value":1,".priority":2},"10":1,"9":1,\
      "c":{".value":1,".priority":1}}
      """
    #expect(try window(json, query) == "9 10 c b a")
    #expect(try window(json, query.starting(at: .leaf(.number(2)))) == "b a")
    #expect(try window(json, query.equal(to: .null)) == "9 10")
  }
}
