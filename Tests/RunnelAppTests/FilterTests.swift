import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The language of the filter bar: what is read, what is refused, and which rows are wanted.
@Suite struct FilterTests {
  private static let reader = MomentReader(now: Fixture.now, local: .utc)

  private static func filter(_ text: String) throws -> Filter {
    var parser = FilterParser(text, moments: reader)
    return try parser.filter()
  }

  private static func record(_ key: String, _ json: JSONValue) throws -> Record {
    let children = try Write.set(.root, .object([JSONMember(key, json)]))
      .assignments(now: Fixture.now, reader: MemoryTree())
    guard case .node(let node)? = children.first?.target, let child = node.children.first else {
      throw FilterError(range: 0..<0, message: "no record")
    }
    return Record(TreeRow(child, index: .key, detail: .full), in: try Path("/room"))
  }

  private static func wants(
    _ text: String, _ json: JSONValue, new: Set<String> = [], marked: Set<String> = []
  ) throws -> Bool {
    let matcher = try FilterMatcher(
      filter(text), in: Fixture.views()[0],
      FilterMatcher.Surroundings(me: "zoe", new: new, marked: marked))
    return try matcher.wants(record("-M1", json))
  }

  /// A filter, and whether it wants the message below.
  struct Case: CustomTestStringConvertible, Sendable {
    var text: String
    var isWanted: Bool
    var testDescription: String { "\(text) \(isWanted ? "wants" : "does not want") it" }
  }

  private static let message: JSONValue = .object([
    JSONMember("created", .number(JSONNumber(Fixture.now - 2 * Fixture.hour))),
    JSONMember("from", "Bo"), JSONMember("likes", 7), JSONMember("pinned", true),
    JSONMember("text", "The gate | code is \"4711\" (again)"),
    JSONMember("meta", .object([JSONMember("lang", "en")])),
  ])

  private static let cases: [Case] = [
    ("", true), ("gate", true), ("GATE code", true), ("gate fence", false), ("-gate", false),
    ("-fence", true), ("\"the gate\"", true), ("\"gate the\"", false), ("en", true),
    ("-en", false), ("4711", true),
    ("from:bo", true), ("from:BO", true), ("from:b", false), ("from:ana|bo", true),
    ("from:ana|eve", false), ("-from:ana", true), ("from=bo", true), ("meta/lang:en", true),
    ("likes:7", true), ("likes:7.0", true), ("likes:8", false), ("likes>6", true),
    ("likes>7", false), ("likes>=7", true), ("likes<7", false), ("likes<=7", true),
    ("likes>6.5", true), ("likes>many", false), ("from>ana", true), ("from<ana", false),
    ("pinned:true", true), ("pinned:false", false), ("is:pinned", true), ("-is:pinned", false),
    ("is:closed", false), ("has:likes", true), ("has:meta", true), ("has:closed", false),
    ("closed:none", true), ("likes:none", false), ("$key:-M1", true), ("$key:-m2", false),
    ("text~gate", true), ("text~GATE", true), ("text~^The", true), ("text~^gate", false),
    ("text~co.e", true), ("text~4711|815", true), ("text~\"code is\"", true),
    ("text~\\(again\\)", true), ("text:\"The gate | code is \\\"4711\\\" (again)\"", true),
    ("created:today", true), ("created:yesterday", false), ("created>3h", true),
    ("created>1h", false), ("created<1h", true), ("created>2026-08-23", true),
    ("created>2026-08-24", false), ("created>=2026-08-24", true), ("created<2026-08-24", false),
    ("created<=2026-08-24", true), ("created:2026-08-24", true), ("created:2026-08-24T16:20", true),
    ("created:16:20", true), ("created:16:21", false), ("created>16:20", false),
    ("created>=16:20", true), ("created<now", true), ("is:mine", false), ("is:new", false),
    ("is:marked", false),
  ].map { Case(text: $0.0, isWanted: $0.1) }

  @Test(arguments: cases) func filterWantsWhatItSays(_ test: Case) throws {
    #expect(try Self.wants(test.text, Self.message) == test.isWanted)
  }

  @Test(arguments: [
    ("31.12.2022", false), ("01.01.2023", false), ("2.1.2023", true), ("05.02.2021 10:00", false),
    ("24.8.2026", true), ("2023-01-02", true), ("2022-12-31", false), ("12/31/2024", false),
    ("tomorrow", false), ("2022-12", false),
  ])
  func textIsComparedWithADateOnlyIfItIsOne(text: String, isLater: Bool) throws {
    let record: JSONValue = ["Datum": .string(text)]
    #expect(try Self.wants("Datum>2023-01-01", record) == isLater)
    #expect(try Self.wants("Datum>1.1.2023", record) == isLater)
    #expect(try Self.wants("Datum>01.01.2023", record) == isLater)
  }

  @Test func dateIsOneOfItsSpellings() throws {
    #expect(try Self.wants("Datum:2023-01-02", ["Datum": "2.1.2023"]))
    #expect(try Self.wants("Datum:02.01.2023", ["Datum": "2023-01-02"]))
    #expect(try !Self.wants("Datum:02.01.2023", ["Datum": "2023-02-01"]))
    #expect(try Self.wants("Datum>2023-01-01", ["Datum": "2023-02"]), "texts have this order")
    #expect(try Self.wants("part:1234-56-78", ["part": "1234-56-78"]), "no day is meant")
  }

  @Test func nameWithSignsThatNoKeyHasIsAccepted() throws {
    let record: JSONValue = ["Art%2E-Nr%2E": "A7", "Nr%23": 4, "Netto%2FBrutto": 2]
    for text in ["Art.-Nr.:a7", "\"Art.-Nr.\":a7", "Art%2E-Nr%2E:a7", "Nr#>3", "has:Nr#"] {
      #expect(try Self.wants(text, record), "\(text)")
    }
    #expect(try !Self.wants("Art.-Nr.:a8", record))
  }

  @Test func emptyTextIsAValueInQuotes() throws {
    #expect(try Self.wants("n:\"\"", ["n": ""]))
    #expect(try Self.wants("n:a|\"\"", ["n": ""]))
    #expect(try Self.wants("-n:\"\"", ["n": "a"]))
    for record: JSONValue in [["n": "a"], ["n": 0], ["n": false], ["m": ""]] {
      #expect(try !Self.wants("n:\"\"", record), "\(record)")
    }
  }

  @Test func statesAreThoseOfTheList() throws {
    #expect(try Self.wants("is:new", Self.message, new: ["/room/-M1"]))
    #expect(try Self.wants("is:marked", Self.message, marked: ["/room/-M1"]))
    #expect(try !Self.wants("is:marked", Self.message, marked: ["/room/-M2"]))
    #expect(try Self.wants("is:mine", .object([JSONMember("from", "zoe")])))
  }

  /// A text that is no filter, where it is wrong, and what is said.
  struct Refusal: CustomTestStringConvertible, Sendable {
    var text: String
    var range: Range<Int>
    var words: String
    var testDescription: String { text }
  }

  @Test(arguments: [
    Refusal(text: "from:", range: 0..<5, words: "a value is missing after from:"),
    Refusal(text: "from>\"\"", range: 0..<7, words: "a value is missing after from>"),
    Refusal(text: "from~\"\"", range: 0..<7, words: "a value is missing after from~"),
    Refusal(text: "a from:|b", range: 2..<7, words: "a value is missing"),
    Refusal(text: "from:a|", range: 0..<7, words: "a value is missing"),
    Refusal(text: ":bo", range: 0..<1, words: "the field before : is missing"),
    Refusal(text: "-", range: 0..<1, words: "a word, or field:value, is missing"),
    Refusal(text: "\"gate", range: 0..<5, words: "closing quote"),
    Refusal(text: "\"\"", range: 0..<2, words: "nothing is looked for"),
    Refusal(text: "text~(", range: 0..<6, words: "not a regular expression"),
    Refusal(text: "x/$y:1", range: 0..<5, words: "is no field"),
    Refusal(text: "is:$key", range: 0..<7, words: "is: takes"),
    Refusal(text: "due>2024-06-31", range: 0..<14, words: "there is no day 2024-06-31"),
    Refusal(text: "due:2023-02-29T09:30", range: 0..<20, words: "there is no day 2023-02-29"),
    Refusal(text: "a due<31.6.2024", range: 2..<15, words: "there is no day 31.6.2024"),
    Refusal(text: "due>1/2/2024", range: 0..<12, words: "year first, 2026-08-24"),
  ]) func wrongTermIsNamedWithItsPlace(_ refusal: Refusal) {
    #expect { try Self.filter(refusal.text) } throws: { error in
      guard let error = error as? FilterError else { return false }
      return error.range == refusal.range && error.message.contains(refusal.words)
    }
  }

  @Test(arguments: ["^(a+)+$", "(a|a)*b", "((a*)b)+", "(a{2,3}){4}", #"(\(a+)+"#])
  func patternTakesTimeLinearInTheText(pattern: String) throws {
    // A search that goes back in the text would take longer than anybody waits.
    let text = String(repeating: "a", count: 100_000) + "!"
    #expect(
      try FilterTests.wants("text~\(pattern)", ["text": .string(text)])
        == (pattern == "(a{2,3}){4}"))
  }

  @Test(arguments: [
    ("^Ab", "abc", true), ("^b", "abc", false), ("b.$", "ABC", true),
    (#"\d{2,}"#, "room 12", true), (#"\?"#, "why?", true), ("a|c", "xC", true),
  ]) func patternIsFound(pattern: String, text: String, isFound: Bool) throws {
    #expect(try FilterTests.wants("text~\(pattern)", ["text": .string(text)]) == isFound)
  }

  @Test(arguments: [
    ("(?:a|b)", "a group cannot begin with ?"), (#"\bword"#, #"\b is not known"#),
    ("(a", "is not closed"),
    (#"a\n"#, #"\n is not known"#), ("x*^", "^ stands only"),
  ]) func patternThatSurprisesIsRefused(pattern: String, words: String) {
    #expect {
      try FilterTests.filter("text~\(pattern)")
    } throws: {
      ($0 as? FilterError)?.message.contains(words) == true
    }
  }

  @Test(arguments: [
    ("at>1d", "2026-08-20T20:45:00Z", false), ("at<1d", "2026-08-20T20:45:00Z", true),
    ("at:2026-08-20", "2026-08-20T20:45:00Z", true),
    ("at:2026-08-21", "2026-08-20T20:45:00Z", false),
    ("at>2026-08-20", "2026-08-20T20:45:00Z", false), ("at>=2026-08-20", "2026-08-20", true),
    ("at>2026-08-20", "2026-08-21", true), ("at<2026-08-20", "2026-08-20", false),
    ("at:today", "2026-08-24", true), ("at:2026-08-20", "2026-08-20T23:30:00-02:00", false),
    ("at:2026-08-21", "2026-08-20 23:30-0200", true),
    ("at:2026-08-20T20:45", "2026-08-20T20:45:59.5Z", true),
  ]) func datesInTextsAreTimes(filter: String, at: String, isWanted: Bool) throws {
    #expect(try Self.wants(filter, ["at": .string(at)]) == isWanted)
  }

  @Test func fieldWithBlanksIsNamedInQuotes() throws {
    let part: JSONValue = ["Part name": "bow", "is": 1]
    #expect(try Self.wants("\"Part name\":bow", part))
    #expect(try !Self.wants("-\"Part name\":bow", part))
    #expect(try Self.wants("has:\"Part name\" \"is\":1", part))
    #expect(FilterCompletion.quotedName("Part name") == "\"Part name\"")
    #expect(FilterCompletion.quotedName("price") == "price")
  }

  @Test func numbersAreComparedWithNumbersOnly() throws {
    #expect(try FilterTests.wants("year>2000", ["year": 2001]))
    #expect(try !FilterTests.wants("year>2000", ["year": "ca. 850"]))
    #expect(try !FilterTests.wants("year>2000", ["year": "2001"]))
    #expect(try FilterTests.wants("name>b", ["name": "Cleo"]))
  }

  @Test func anyTextIsReadOrRefusedAndNeverBreaks() throws {
    var random = SeededRandom(seed: 7)
    let pieces = [
      "from", ":", "~", ">", "<=", "=", "-", "|", "\"", "\\", " ", "(", "*", "2d", "09:30", "is:",
      "has:", "\u{301}", "👩‍👧", "/", "$key", "99999999999999999d", "2026-13-40", "[",
    ]
    for _ in 0..<3000 {
      let text = (0..<Int.random(in: 0..<8, using: &random))
        .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      do {
        _ = try Self.wants(text, Self.message)
      } catch let error as FilterError {
        #expect(error.range.upperBound <= text.count)
      }
    }
  }
}
