import RunnelBase
import RunnelTree
import Testing

@Suite struct CompoundOrderTests {
  private static let list = #"""
    {"a":{"s":1,"t":"x"},"b":{"s":2,"t":"x"},"c":{"s":2},"d":{"s":2,"t":"y"},"e":{"s":false},
      "f":{"t":"x"},"10":{"s":{"deep":1}},"9":{"s":{"other":1},"t":1}}
    """#

  private func window(_ order: String, _ build: (Query) throws -> Query = { $0 }) throws -> String {
    let query = try build(try Query(.root).ordered(by: SortKey.list(order)))
    let tree = MemoryTree(try node(CompoundOrderTests.list))
    return try tree.rows(of: .root, in: RowSlice(query), detail: .full)
      .map(\.key.text).joined(separator: " ")
  }

  private static let (one, two) = (IndexValue.leaf(.number(1)), IndexValue.leaf(.number(2)))
  private static let (x, y) = (IndexValue.leaf(.string("x")), IndexValue.leaf(.string("y")))

  // MARK: Orders

  @Test(arguments: [
    ("s", "f e a b c d 9 10"),
    ("s:desc", "9 10 b c d a e f"),
    ("s:desc,$key:desc", "10 9 d c b a e f"),
    ("s,$key:desc", "f e a d c b 10 9"),
    ("$key:desc", "f e d c b a 10 9"),
    ("s,t", "f e a c b d 10 9"),
    ("s:desc,t", "10 9 c b d a e f"),
    ("s:desc,t:desc", "9 10 d b c a e f"),
    ("t:desc,s:desc", "d b a f 9 10 c e"),
    ("t,s,$key:desc", "e c 10 9 f a b d"),
  ])
  func eachComponentHasItsDirectionAndTiesGoToTheKey(order: String, expected: String) throws {
    #expect(try window(order) == expected)
  }

  // MARK: Bounds

  @Test func aBoundOnAPrefixTakesAllThatHaveIt() throws {
    let (one, two) = (CompoundOrderTests.one, CompoundOrderTests.two)
    #expect(try window("s:desc,t") { try $0.starting(at: two) } == "c b d a e f")
    #expect(try window("s:desc,t") { try $0.starting(at: two, isInclusive: false) } == "a e f")
    #expect(try window("s:desc,t") { try $0.ending(at: two) } == "10 9 c b d")
    #expect(try window("s:desc,t") { try $0.ending(at: two, isInclusive: false) } == "10 9")
    #expect(try window("s:desc,t") { try $0.equal(to: two) } == "c b d")
    #expect(try window("s:desc,t") { try $0.starting(at: two).ending(at: one) } == "c b d a")
    #expect(try window("s:desc") { try $0.equal(to: .null) } == "f")
  }

  @Test func aBoundOnAllComponentsIsACursorWithAKey() throws {
    let (two, x, y) = (CompoundOrderTests.two, CompoundOrderTests.x, CompoundOrderTests.y)
    #expect(try window("s:desc,t") { try $0.equal(to: [two, x]) } == "b")
    #expect(try window("s:desc,t") { try $0.starting(at: [two, y]) } == "d a e f")
    let c = try Key("c")
    #expect(try window("s:desc") { try $0.starting(at: two, key: c) } == "c d a e f")
    #expect(
      try window("s:desc") { try $0.starting(at: two, key: c, isInclusive: false) } == "d a e f")
    #expect(try window("s:desc,$key:desc") { try $0.starting(at: two, key: c) } == "c b a e f")
    #expect(
      try window("s:desc,$key:desc") { try $0.ending(at: two, key: c, isInclusive: false) }
        == "10 9 d")
    #expect(try window("s:desc,$key:desc") { try $0.equal(to: [two], key: c) } == "c")
  }

  @Test func aBoundInDescendingKeyOrderIsAKey() throws {
    let d = IndexValue.leaf(.string("d"))
    #expect(try window("$key:desc") { try $0.starting(at: d) } == "d c b a 10 9")
    #expect(try window("$key:desc") { try $0.starting(at: d, isInclusive: false) } == "c b a 10 9")
    #expect(try window("$key:desc") { try $0.ending(at: d) } == "f e d")
    #expect(try window("$key:desc") { try $0.equal(to: d) } == "d")
  }

  @Test func limitsCountFromBothSides() throws {
    #expect(try window("s:desc") { try $0.limited(to: 3, from: .first) } == "9 10 b")
    #expect(try window("s:desc") { try $0.limited(to: 3, from: .last) } == "a e f")
    #expect(
      try window("s:desc,$key:desc") {
        try $0.starting(at: CompoundOrderTests.two).limited(to: 2, from: .first)
      } == "d c")
  }

  @Test func whatIsNoBoundIsRefused() throws {
    let (two, x, key) = (CompoundOrderTests.two, CompoundOrderTests.x, try Key("k"))
    func code(_ order: String, _ values: [IndexValue], _ key: Key? = nil) throws -> TreeError.Code?
    {
      let query = try Query(.root).ordered(by: SortKey.list(order))
      #expect(throws: TreeError.self) { try query.ending(at: values, key: key) }
      return #expect(throws: TreeError.self) { try query.starting(at: values, key: key) }?.code
    }
    #expect(try code("s,t", []) == .invalidQuery)
    #expect(try code("s,t", [two, x, x]) == .invalidQuery)
    #expect(try code("s,t", [two], key) == .invalidQuery, "A key stands after all values.")
    #expect(try code("s,t", [two, .children]) == .invalidQuery)
    #expect(try code("s,t", [.tuple(IndexTuple([]))]) == .invalidQuery)
    #expect(try code("t,$priority:desc", [x, .leaf(.bool(true))]) == .invalidQuery)
    #expect(try code("$key:desc", [two]) == .invalidQuery)
    #expect(try code("$key:desc", [x], key) == .invalidQuery)
    #expect(try code("$key:desc", [x, x]) == .invalidQuery)
    #expect(try code("$key:desc", [.leaf(.string("a.b"))]) == .invalidKey)
    let query = try Query(.root).ordered(by: SortKey.list("s,t"))
    #expect(throws: TreeError.self) { try query.ordered(by: .value) }
  }

  // MARK: Against the plainest way

  /// Every bound over a few values and keys, inclusive and not, in every order of two components.
  @Test func everyBoundOfASmallListIsThatOfTheOracle() throws {
    let values: [IndexValue] = [.null, CompoundOrderTests.one, CompoundOrderTests.two]
    let names = ["1", "2", "a"]
    let members = names.flatMap { name in
      [("n", "null"), ("o", "1"), ("t", "2")].map { suffix, s in
        #""\#(name)\#(suffix)":{"s":\#(s),"t":\#(name == "1" ? "1" : "2"),"u":0}"#
      }
    }
    let list = try node("{" + members.joined(separator: ",") + "}")
    let keys = try [nil, Key("1o"), Key("2"), Key("an")] as [Key?]
    for order in ["s,t", "s:desc,t", "s,t:desc", "s:desc,t:desc", "t:desc,s"] {
      for suffix in ["", ",$key:desc"] {
        let sortKeys = try SortKey.list(order + suffix)
        for bound in bounds(values, keys) {
          for isStart in [true, false] {
            var question = NaiveQuery(keys: sortKeys)
            if isStart { question.start = bound } else { question.end = bound }
            try expectSame(question, list, "\(order + suffix), \(bound), \(isStart)")
          }
        }
      }
    }
  }

  private func bounds(_ values: [IndexValue], _ keys: [Key?]) -> [NaiveQuery.Bound] {
    var bounds: [NaiveQuery.Bound] = []
    for isInclusive in [true, false] {
      for first in values {
        bounds.append(.init(values: [first], key: nil, isInclusive: isInclusive))
        for second in values {
          for key in keys {
            bounds.append(.init(values: [first, second], key: key, isInclusive: isInclusive))
          }
        }
      }
    }
    return bounds
  }

  private func expectSame(
    _ question: NaiveQuery, _ list: Node, _ place: @autoclosure () -> String
  ) throws {
    let slice = RowSlice(try question.query(at: .root))
    let rows = slice.rows(among: list.children, detail: .full)
    let expected = question.children(of: list)
    try #require(rows.map(\.key) == expected.map(\.key), "\(place())")
    try #require(rows.map(\.node) == expected.map(\.node), "\(place())")
    if let reversed = slice.reversed {
      let backwards = reversed.rows(among: list.children, detail: .full)
      try #require(backwards.reversed().map(\.key) == rows.map(\.key), "\(place()), backwards")
    }
    for child in list.children where question.limit == nil {
      let row = slice.row(child, detail: .full)
      try #require(row == rows.first { $0.key == child.key }, "\(place()), \(child.key)")
    }
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func randomQuestionsAreAnsweredAsByTheOracle(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    for _ in 0..<8 {
      let list = try random.node(depth: 3)
      for _ in 0..<6 {
        let question = try random.naiveQuery()
        try expectSame(question, list, "seed \(seed), \(question)")
      }
    }
  }
}
