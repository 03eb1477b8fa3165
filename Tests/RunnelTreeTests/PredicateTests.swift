import RunnelBase
import RunnelTree
import Testing

@Suite struct PredicateTests {
  private static let child = #"""
    {"name":"Ana Éva","n":3,"half":2.5,"t":true,"f":false,"author":{"id":"u1"},"empty":"",
      ".priority":"p"}
    """#

  private func holds(_ text: String, key: String = "k", _ json: String = child) throws -> Bool {
    try ChildPredicate(parsing: text).holds(of: Child(key: Key(key), node: node(json)))
  }

  @Test(arguments: [
    "n == 3", "n == 3.0", "n != 4", "n >= 3", "n <= 3", "n > 2.5", "n < 4", "half < 2 or half < 3",
    #"name == "Ana Éva""#, #"name > "Ana""#, #"name < "B""#, #"empty == """#, #"empty < "a""#,
    "t == true", "t", "t > false", "f < true", "f == false", "not f", "not n", "not missing_one",
    "exists n", "exists author", "exists author/id", "missing author/name", "missing n/deeper",
    "author != null", "nothing == null", #"author/id == "u1""#, #"$priority == "p""#,
    "exists $key", "exists $value", "exists $priority", #"$key == "k""#, #"$key > "10""#,
    #"name contains "na É""#, #"name begins "Ana""#, #"name begins~ "ANA é""#,
    #"name contains~ "ÉVA""#, #"name contains """#, #"name begins """#, #"empty contains """#,
    #"$key contains "k""#, #"n == 3 and t"#, "n == 4 or t", "not (n == 4 or f)",
  ])
  func thisHolds(text: String) throws {
    #expect(try holds(text))
    #expect(try !holds("not (\(text))"))
  }

  @Test(arguments: [
    "n == 4", "n != 3", "n == true", #"n == "3""#, "n < 3", "n > 3", "n >= 3.5", "f", "nothing",
    "author", "author == true", #"name begins "na""#, #"name contains "ana""#,
    #"name contains "Anaa""#, #"name contains "Ana Éva!""#, #"n contains "3""#,
    #"author contains "u""#, #"nothing contains """#, "missing n", "exists nothing", "t and f",
    #"$key < "10""#, #"$key != "k""#, "n == null", "author == null",
  ])
  func thisDoesNotHold(text: String) throws {
    #expect(try !holds(text))
    #expect(try holds("not (\(text))"))
  }

  /// A comparison for order holds between values of one kind only; `!=` is the opposite of `==`.
  @Test func valuesOfDifferentKindsHaveNoOrder() throws {
    let fields = ["nothing", "author", "t", "n", "name"]
    let values = ["true", "3", #""Ana Éva""#]
    for field in fields {
      for value in values where "\(field) \(value)" != "t true" {
        let isSame = try holds("\(field) == \(value)")
        #expect(try holds("\(field) != \(value)") == !isSame)
        for operation in ["<", "<=", ">", ">="] {
          let isEqualAllowed = isSame && operation.hasSuffix("=")
          #expect(
            try holds("\(field) \(operation) \(value)") == isEqualAllowed,
            "\(field) \(operation) \(value)")
        }
      }
    }
  }

  @Test func leavesAreComparedByThemselvesAndKeysAsKeys() throws {
    #expect(try holds("$value == 5", "5"))
    #expect(try holds("$value >= 5", "5"))
    #expect(try !holds("$value == 5", #"{"a":5}"#))
    #expect(try holds(#"$value begins "5""#, #""5x""#))
    #expect(try holds(#"$key < "10""#, key: "9", "1"), "Keys that are numbers compare as such.")
    #expect(try !holds(#"$key < "9""#, key: "10", "1"))
    #expect(try holds(#"name == "é""#, #"{"name":"é"}"#))
    #expect(try !holds(#"name == "é""#, "{\"name\":\"e\u{301}\"}"), "Nothing is normalised.")
  }

  @Test func stringsAreComparedByCodeUnit() throws {
    // A scalar beyond U+FFFF comes before U+FFFD in UTF-16.
    #expect(try holds("s < \"\u{FFFD}\"", "{\"s\":\"\u{1F600}\"}"))
    #expect(try holds("s contains \"\u{1F600}\"", "{\"s\":\"a\u{1F600}\u{301}\"}"))
  }

  @Test func whatIsNoKeyComparesUnequalIfItWasNeverChecked() throws {
    let child = Child(key: try Key("k"), node: try node("1"))
    for comparison in ChildPredicate.Comparison.allCases {
      for leaf in [Leaf.number(1), .string("a.b")] {
        let holds = ChildPredicate.compare(.key, comparison, leaf).holds(of: child)
        #expect(holds == (comparison == .notEqual))
      }
    }
  }

  @Test func testsAfterTheOneThatDecidesAreNotMade() throws {
    var reads: [RowField] = []
    let (a, b) = (RowField.child(try Path("a")), RowField.child(try Path("b")))
    func read(_ field: RowField) -> IndexValue {
      reads.append(field)
      return .null
    }
    #expect(!ChildPredicate.all([.exists(a), .exists(b)]).holds(of: try Key("k"), reading: read))
    #expect(reads == [a])
    reads = []
    #expect(
      ChildPredicate.any([.not(.exists(a)), .exists(b)]).holds(of: try Key("k"), reading: read))
    #expect(reads == [a])
  }
}
