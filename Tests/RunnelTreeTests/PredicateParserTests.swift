import RunnelBase
import RunnelTree
import Testing

@Suite struct PredicateParserTests {
  private func field(_ text: String) throws -> RowField { .child(try Path(text)) }

  // MARK: Grammar

  @Test func conjunctionBindsTighterThanDisjunctionAndNotTighterStill() throws {
    let (a, b, c) = (
      ChildPredicate.compare(try field("a"), .equal, .bool(true)),
      ChildPredicate.compare(try field("b"), .equal, .bool(true)),
      ChildPredicate.compare(try field("c"), .equal, .bool(true))
    )
    #expect(try ChildPredicate(parsing: "a or b and c") == .any([a, .all([b, c])]))
    #expect(try ChildPredicate(parsing: "a and b or c") == .any([.all([a, b]), c]))
    #expect(try ChildPredicate(parsing: "(a or b) and c") == .all([.any([a, b]), c]))
    #expect(try ChildPredicate(parsing: "not a and b") == .all([.not(a), b]))
    #expect(try ChildPredicate(parsing: "not (a and b)") == .not(.all([a, b])))
    #expect(try ChildPredicate(parsing: "not not a") == .not(.not(a)))
    #expect(try ChildPredicate(parsing: "a and b and c") == .all([a, b, c]))
    #expect(try ChildPredicate(parsing: "((a))") == a)
  }

  @Test func theExampleOfTheTypeIsRead() throws {
    #expect(
      try ChildPredicate(parsing: #"author == "ana" and (likes >= 3 or not pinned)"#)
        == .all([
          .compare(field("author"), .equal, .string("ana")),
          .any([
            .compare(field("likes"), .greaterOrEqual, .number(3)),
            .not(.compare(field("pinned"), .equal, .bool(true))),
          ]),
        ]))
    #expect(
      try ChildPredicate(parsing: #"`first name` == "Ana""#)
        == .compare(field("first name"), .equal, .string("Ana")))
  }

  @Test(
    arguments: [
      ("a==1", "a == 1"), ("  a   ==\t1\n", "a == 1"), ("a!=1", "a != 1"), ("a<1", "a < 1"),
      ("a<=1", "a <= 1"), ("a>1", "a > 1"), ("a>=-1.5e2", "a >= -150"), ("a", "a == true"),
      ("a == null", "missing a"), ("a != null", "exists a"), ("missing a/b", "missing a/b"),
      ("exists $value", "exists $value"), (#"a contains"x""#, #"a contains "x""#),
      (#"a contains~"x""#, #"a contains~ "x""#), (#"a begins ~ "x""#, #"a begins~ "x""#),
      (#"a == "\u00e9\n\"""#, #"a == "é\n\"""#), ("`a`", "a == true"), ("`and` == 1", "`and` == 1"),
      ("`a``b` == 1", "`a``b` == 1"), ("10 == 5", "10 == 5"),
      ("(a)and(b)", "a == true and b == true"),
      ("not(a)", "not a == true"), ("android", "android == true"), ("a:b,c", nil),
      (#"$key >= "m""#, #"$key >= "m""#), ("/a//b/ == 1", "a/b == 1"),
    ] as [(String, String?)])
  func textIsReadAndWrittenPlainly(text: String, expected: String?) throws {
    guard let expected else {
      #expect(throws: ChildPredicate.SyntaxError.self) { try ChildPredicate(parsing: text) }
      return
    }
    #expect(try ChildPredicate(parsing: text).description == expected)
    #expect(try ChildPredicate(parsing: expected).description == expected)
  }

  @Test(arguments: 0..<400 as Range<UInt64>)
  func aPredicateReadsBackFromItsText(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let predicate = try random.predicate(depth: 4)
    let text = predicate.description
    #expect(try ChildPredicate(parsing: text) == predicate, "seed \(seed): \(text)")
  }

  // MARK: Errors

  @Test(arguments: [
    ("", 0, "missing"), ("   ", 3, "missing"), ("a ==", 4, "value is missing"),
    ("a == ", 5, "value is missing"), ("a = 1", 2, "`==`"), ("a ! 1", 2, "`!=`"),
    ("a && b", 2, "`and`"), ("a || b", 2, "`or`"), ("a ~ 1", 2, "`contains` or `begins`"),
    ("a b", 2, "`and`, `or` or the end"), ("a == 1 2", 7, "the end"), ("a)", 1, "no `(`"),
    ("(a", 0, "no `)`"), ("x or (a b)", 8, "or `)`"), ("and a", 0, "backticks"),
    ("a and", 5, "missing at the end"), ("a and or b", 6, "backticks"), ("not", 3, "at the end"),
    ("exists", 6, "at the end"), ("exists 1 2", 9, "the end"), ("true", 0, "backticks"),
    ("null == a", 0, "backticks"), ("== 1", 0, "field is expected"), ("()", 1, "field is expected"),
    (#""a" == 1"#, 0, "field is expected"), ("a == ana", 5, "stands in quotes"),
    ("a == 'ana'", 5, "double quotes"), (#"a == "ana"#, 5, "no quote at its end"),
    (#"a == "ana\"#, 5, "no quote at its end"), (#"a == "\x""#, 5, "backslash"),
    ("a == [1]", 5, "a value is"), ("a == {}", 5, "a value is"),
    ("a == (1)", 5, "value is expected"),
    ("a < null", 4, "use == or !="), ("a == 01", 5, "no value"), ("a == 1e999", 5, "no value"),
    ("a contains 5", 11, "in quotes"), ("a begins null", 9, "in quotes"),
    ("a begins", 8, "missing"),
    ("a.b == 1", 0, "not allowed in a key"), ("ok and a#b", 7, "not allowed in a key"),
    ("$keys == 1", 0, "$key, $value and $priority"), ("`$key` == 1", 0, "without backticks"),
    ("`a == 1", 0, "no second one"), ("`` == 1", 0, "name a child"), ("/ == 1", 0, "name a child"),
    ("$key", 4, "operator is expected"), ("$key and a", 5, "operator is expected"),
    ("$key == 5", 8, "in quotes"), (#"$key == "a.b""#, 8, "not allowed in a key"),
    ("n exists", 2, "`exists n`"), ("`n n` missing", 6, "before the field: `missing"),
    ("exists(n)", 6, "without parentheses"), ("NOT n", 0, "small: `not`"),
    ("é == '", 5, "double quotes"), ("a, b", 1, "the end"),
  ])
  func aMistakeIsToldWithItsPlace(text: String, offset: Int, message: String) throws {
    let error = try #require(
      #expect(throws: ChildPredicate.SyntaxError.self) { try ChildPredicate(parsing: text) })
    #expect(error.offset == offset, "\(error)")
    #expect(error.message.contains(message), "\(error)")
    #expect(error.description.hasPrefix("at character \(offset + 1): "))
  }

  @Test func aTextHasLimitsOfLengthSizeAndDepth() throws {
    func parse(_ text: String) throws { _ = try ChildPredicate(parsing: text) }
    let most = ChildPredicate.textScalarsMax
    #expect(throws: Never.self) { try parse("a" + String(repeating: " ", count: most - 1)) }
    #expect(throws: ChildPredicate.SyntaxError.self) {
      try parse("a" + String(repeating: " ", count: most))
    }
    func nested(_ depth: Int) -> String {
      String(repeating: "(", count: depth) + "a" + String(repeating: ")", count: depth)
    }
    #expect(throws: Never.self) { try parse(nested(ChildPredicate.depthMax)) }
    #expect(throws: ChildPredicate.SyntaxError.self) {
      try parse(nested(ChildPredicate.depthMax + 1))
    }
    #expect(throws: ChildPredicate.SyntaxError.self) { try parse(nested(2000)) }
    let many = Array(repeating: "a", count: ChildPredicate.testsMax)
    #expect(throws: Never.self) { try parse(many.joined(separator: " or ")) }
    #expect(throws: ChildPredicate.SyntaxError.self) {
      try parse((many + ["a"]).joined(separator: " or "))
    }
  }

  /// Whatever is typed, the parser says yes or where not, within the text.
  @Test(arguments: 0..<500 as Range<UInt64>)
  func randomTextIsReadOrRefusedWithinItself(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let pieces = [
      "a", "and", "or", "not", "(", ")", "==", "<", "!", "~", "\"x\"", "\"", "`", "1", "null", " ",
      " ", " ", "exists", "contains", "$key", "é", "\\", ",", "&",
    ]
    for _ in 0..<20 {
      let text = (0..<random.number(1..<12)).map { _ in random.pick(pieces) }.joined()
      do throws(ChildPredicate.SyntaxError) {
        let predicate = try ChildPredicate(parsing: text)
        #expect(try ChildPredicate(parsing: predicate.description) == predicate, "\(text)")
      } catch {
        #expect((0...text.unicodeScalars.count).contains(error.offset), "\(text)")
      }
    }
  }
}
