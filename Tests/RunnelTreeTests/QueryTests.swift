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
    #expect(refusal { try query.ending(at: .leaf(.string(""))) } == .invalidKey)
    #expect(refusal { try query.starting(at: []) } == .invalidQuery)
    #expect(
      refusal { try query.starting(at: [.leaf(.string("a")), .leaf(.string("b"))]) }
        == .invalidQuery)
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
      #expect(refusal { try query.starting(at: .tuple(IndexTuple([]))) } == .invalidQuery)
      #expect(refusal { try query.ending(at: []) } == .invalidQuery)
      #expect(refusal { try query.ending(at: [.null, .null]) } == .invalidQuery)
    }
  }

  @Test func aBoundIsCheckedAgainstTheOrderChosenSoFar() throws {
    #expect(refusal { try query.starting(at: .leaf(.bool(true))) } == .invalidQuery)
    let started = try query.starting(at: .leaf(.string("a")))
    #expect(throws: Never.self) { try started.ordered(by: .value) }
    let descending = try QueryIndex([SortKey(.value, isDescending: true)])
    #expect(refusal { try started.ordered(by: descending) } == .invalidQuery)
  }

  @Test func aStringSetBeforeTheKeyOrderBecomesTheKey() throws {
    let (a, key) = (IndexValue.leaf(.string("a")), try Key("k"))
    let ordered = try query.ordered(by: .key)
    #expect(try query.starting(at: a).ordered(by: .key) == ordered.starting(at: a))
    #expect(try query.ending(at: a).ordered(by: .key) == ordered.ending(at: a))
    #expect(try query.equal(to: a).ordered(by: .key) == ordered.equal(to: a))
    for refused in [
      try query.starting(at: a, key: key), try query.ending(at: a, key: key),
      try query.starting(at: a, isInclusive: false), try query.ending(at: a, isInclusive: false),
      try query.starting(at: .null), try query.equal(to: .leaf(.number(1))),
    ] {
      #expect(refusal { try refused.ordered(by: .key) } == .invalidQuery)
    }
    let invalid = try query.starting(at: .leaf(.string("a.b")))
    #expect(refusal { try invalid.ordered(by: .key) } == .invalidKey)
  }

  @Test func aWordAsAChildIsRefusedWithTheMethodToUse() throws {
    for (text, method) in [("$key", ".key"), ("$priority", ".priority"), ("$value", ".value")] {
      let error = #expect(throws: TreeError.self) { try query.ordered(byChild: text) }
      #expect(error?.code == .invalidQuery)
      #expect(error?.message.contains("ordered(by: \(method))") == true)
    }
    #expect(refusal { try query.ordered(byChild: "") } == .invalidQuery)
    #expect(refusal { try query.ordered(byChild: "/") } == .invalidQuery)
    #expect(refusal { try query.ordered(byChild: "$other") } == .invalidKey)
    #expect(refusal { try query.ordered(byChild: "a.b") } == .invalidKey)
    #expect(refusal { try query.ordered(byChild: ".info") } == .invalidQuery)
    #expect(
      refusal { try query.ordered(byChild: "a").ordered(byChild: "b") } == .invalidQuery)
    #expect(
      try query.ordered(byChild: "a/b") == query.ordered(by: .child(Path("a/b"))))
  }

  // MARK: The limit without a side

  @Test func aLimitWithoutASideCountsFromTheStartIfThereIsOne() throws {
    let two = IndexValue.leaf(.number(2))
    #expect(try query.limited(to: 3) == query.limited(to: 3, from: .last))
    #expect(
      try query.starting(at: two).limited(to: 3)
        == query.starting(at: two).limited(to: 3, from: .first))
    #expect(try query.limited(to: 3).starting(at: two) == query.starting(at: two).limited(to: 3))
    #expect(
      try query.ending(at: two).limited(to: 3)
        == query.ending(at: two).limited(to: 3, from: .last))
    #expect(
      try query.limited(to: 3, from: .last).starting(at: two).limit?.side == .last,
      "A side that was named stays.")
  }

  @Test func aLimitWithoutASideDoesNotGoWithBothBounds() throws {
    let one = IndexValue.leaf(.number(1))
    #expect(refusal { try query.equal(to: one).limited(to: 1) } == .invalidQuery)
    #expect(
      refusal { try query.starting(at: one).limited(to: 1).ending(at: one) } == .invalidQuery)
    #expect(
      refusal { try query.ending(at: one).limited(to: 1).starting(at: one) } == .invalidQuery)
    #expect(refusal { try query.limited(to: 1).equal(to: one) } == .invalidQuery)
    #expect(throws: Never.self) { try query.equal(to: one).limited(to: 1, from: .first) }
  }

  @Test func aLimitWithoutASideIsSetOnceAndPositive() throws {
    #expect(refusal { try query.limited(to: 0) } == .invalidQuery)
    #expect(refusal { try query.limited(to: -1) } == .invalidQuery)
    #expect(refusal { try query.limited(to: 1).limited(to: 1) } == .invalidQuery)
    #expect(refusal { try query.limited(to: 1).limited(to: 1, from: .last) } == .invalidQuery)
    #expect(throws: Never.self) { try query.limited(to: .max) }
  }

  // MARK: Filters

  @Test func aFilterIsSetOnceAndIsAPredicate() throws {
    let test = ChildPredicate.exists(.value)
    let filtered = try query.filtered(by: test)
    #expect(refusal { try filtered.filtered(by: test) } == .invalidQuery)
    #expect(!filtered.loadsAllData)
    #expect(filtered != query)
    #expect(try filtered == query.filtered(by: test))
    for refused in [
      ChildPredicate.all([]), .any([]), .not(.any([])), .exists(.child(.root)),
      .compare(.child(.root), .equal, .bool(true)),
      .all([test, .matches(.child(.root), .init(.contains, ""))]),
      .compare(.key, .less, .number(1)), .compare(.key, .equal, .string("a.b")),
    ] {
      #expect(refusal { try query.filtered(by: refused) } == .invalidQuery, "\(refused)")
    }
  }

  @Test func aFilterHasLimitsOfSizeAndDepth() throws {
    let test = ChildPredicate.exists(.value)
    func nested(_ depth: Int) -> ChildPredicate {
      (0..<depth).reduce(test) { predicate, _ in .not(predicate) }
    }
    let most = ChildPredicate.testsMax
    let tests = Array(repeating: test, count: most)
    #expect(throws: Never.self) { try query.filtered(by: .all(tests)) }
    #expect(refusal { try query.filtered(by: .any(tests + [test])) } == .invalidQuery)
    #expect(throws: Never.self) { try query.filtered(by: nested(ChildPredicate.depthMax)) }
    #expect(
      refusal { try query.filtered(by: nested(ChildPredicate.depthMax + 1)) } == .invalidQuery)
    #expect(refusal { try query.filtered(by: nested(5000)) } == .invalidQuery)
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
