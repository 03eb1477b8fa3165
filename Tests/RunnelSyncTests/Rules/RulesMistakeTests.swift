import RunnelBase
import RunnelSync
import RunnelTree
import TestSupport
import Testing

/// What is told of rules files that cannot be loaded: everything, where it is, and what to do.
@Suite struct RulesMistakeTests {
  private func mistakes(_ text: String) -> [RulesMistake] {
    do throws(RulesError) {
      _ = try RulesEngine(parsing: text)
      return []
    } catch {
      return error.mistakes
    }
  }

  @Test func aMistakeIsToldWithItsLineAndACaret() throws {
    let error = #expect(throws: RulesError.self) {
      try RulesEngine(
        parsing: """
          {
            "rules": {
              // Everybody may read.
              ".read": "data.exits()"
            }
          }
          """)
    }
    #expect(
      error?.text(file: "rules.json") == """
        rules.json:4:20: No such method/property 'exits': did you mean "exists"? A place in the tree \
        has val(), exists(), child(), parent(), hasChild(), hasChildren(), getPriority(), isNumber(), \
        isString(), isBoolean().
              ".read": "data.exits()"
                             ^
        """)
    #expect(error?.wireText.hasPrefix("4: No such method/property 'exits'") == true)
  }

  @Test func allMistakesAreToldInTheOrderOfTheirPlaces() {
    let found = mistakes(
      """
      {"rules": {
        ".raed": true,
        ".write": "auth.uid && now === 1",
        "users": {"$a": {"$b": {}, "$c": {}, "$a": {}}, ".read": 1},
        "a.b": {}, "c/d": {}, "e": null,
        ".indexOn": [1, "x#"]
      }, "more": 1}
      """)
    #expect(found.map(\.line) == [2, 3, 4, 4, 4, 5, 5, 5, 6, 6, 7])
    #expect(found[0].message.contains("did you mean \".read\"?"))
    #expect(found[1].message.hasPrefix("&& takes what is true or false"))
    #expect(found[10].message.contains("\"more\""))
  }

  /// The caret stands under the letter, whatever stands before it in the file.
  @Test(arguments: [
    (#"{"rules":{".read":"foo"}}"#, 1, 20), (#"{"rules":{".read":"\"\" === foo"}}"#, 1, 29),
    (#"{"rules":{".read":"'\u00e9' === foo"}}"#, 1, 33),
    ("{\"rules\":{\".read\":\"'é' ===\n  foo\"}}", 2, 3),
    (#"{"rules":{".read":"true &&"}}"#, 1, 27),
    (#"{"rules":{".read":"data.val().matches(/a(b/)"}}"#, 1, 41),
    (#"{"rules":{".read":"data.val().matches(/é\\d|/)"}}"#, 1, 45),
  ])
  func thePlaceIsThatInTheFile(text: String, line: Int, column: Int) {
    let found = mistakes(text)
    #expect(found.count == 1)
    #expect(found.first?.line == line)
    #expect(found.first?.column == column, "\(found)")
  }

  @Test(arguments: [
    ("", "ends where a value"), ("[]", "not a list"), ("{}", "\"rules\" is missing"),
    (#"{"rules": 1}"#, "\"rules\" is an object"), (#"{"rules": {}"#, "closed"),
    (#"{"rules": {} "x": 1}"#, "comma is missing"), (#"{"rules": {'a': 1}}"#, "double quotes"),
    (#"{"rules": {/* }}"#, "*/ is missing"), (#"{"rules": {}} x"#, "Nothing may follow"),
    (#"{"rules": {"a" {}}}"#, "A : is expected"), ("{\"rules\": {\"a", "is not closed"),
    (#"{"rules": {"\q": {}}}"#, "no such escape"),
    (#"{"rules": {"\ud800": {}}}"#, "half of a pair"),
    ("\u{FEFF}{}", "byte order mark"), (#"{"rules": {}, "rules": {}}"#, "a second time"),
    (#"{"rules": {".read": true, ".read": false}}"#, "a second time"),
    (#"{"rules": {"read": true}}"#, "did you mean \".read\"?"),
    (#"{"rules": {"$": {}}}"#, "name of a wildcard"), (#"{"rules": {"a": [1]}}"#, "an object"),
    (#"{"rules": {".read": {}}}"#, "not an object"), (#"{"rules": {".read": ""}}"#, "is empty"),
  ])
  func theMistakeOfTheFileIsTold(text: String, words: String) {
    let found = mistakes(text)
    #expect(found.contains { $0.message.contains(words) }, "\(found.map(\.message))")
  }

  @Test(arguments: [
    ("auth = null", "compare with ==="), ("true;", "remove the ;"), ("true & true", "&& for and"),
    ("auth !== null true", "operator is expected"), ("var a", "\"var\" is not in the language"),
    ("new Date()", "\"new\""), ("'a", "not closed"), ("'a\\", "not closed"), ("'\\u{", "no letter"),
    ("'\\u12", "4 hexadecimal"), ("/a\\", "/ is missing"), ("'a\nb'", "ends in its line"),
    ("(true", "A ) is expected"), ("true)", "was not opened"), ("data.", "name of a member"),
    ("data.exists", "write () after it"), ("data.exists().x", "has no members"),
    ("data.val().exists()", "leave val() out"), ("data.child('a')['b'].exists()", "No such method"),
    ("data.child(1).exists()", "takes a text"), ("data.child().exists()", "takes one value"),
    ("data.val(1) == 1", "takes nothing"), ("'a' < 1", "of one kind"), ("data == null", ".val()"),
    ("newData.exists()", "a .read rule has only data and root"),
    ("$x == 'a'", "There is none at all"),
    ("012 === 1", "leading zeros"), ("1x === 1", "ends before a letter"), ("1e === 1", "exponent"),
    ("1e999 === 1", "too large"), ("/a/ === 'a'", "only between the parentheses of matches()"),
    ("['a'] === 'a'", "only between the parentheses of hasChildren()"),
    ("query === 1", "name one of its properties"), ("auth ? true : false", "stands before ?"),
    ("true ? 1 : 2", "this is a number"), ("data.val().matches(/a/gi)", "no flag but i"),
    ("data.val()[auth.uid] == 1", "children are read with child()"), ("@", "decorators"),
    ("auth.x() === 1", "No such method"), ("auth.length() === 1", "remove the parentheses"),
    ("-'a' === 1", "takes numbers"), ("null + 1 === 1", "takes numbers and texts"),
    ("nwo === 1", "did you mean \"now\"?"), ("auth[true] == data", ".val()"),
  ])
  func theMistakeOfTheExpressionIsTold(rule: String, words: String) throws {
    let error = #expect(throws: RulesError.self) {
      try RulesEngine(json: ["rules": [".read": .string(rule)]])
    }
    let messages = error?.mistakes.map(\.message) ?? []
    #expect(messages.contains { $0.contains(words) }, "\(messages)")
  }

  @Test func aLongLineIsShownInPart() throws {
    let filler = String(repeating: "true && ", count: 100)
    let found = mistakes(#"{"rules":{".read":"\#(filler)foo && \#(filler)true"}}"#)
    let mistake = try #require(found.first)
    #expect(mistake.excerpt.count < 120)
    #expect(mistake.excerpt.hasPrefix("...") && mistake.excerpt.hasSuffix("..."))
    let caret = try #require(mistake.caret.firstIndex(of: "^"))
    #expect(mistake.excerpt[caret...].hasPrefix("foo &&"))
  }

  @Test func limitsAreToldAndBothSidesOfThemHold() throws {
    func load(_ rule: String) throws {
      _ = try RulesEngine(json: ["rules": [".read": .string(rule)]])
    }
    let depth = RulesLimits.expressionDepthMax
    try load(String(repeating: "!", count: depth - 1) + "true")
    #expect(throws: RulesError.self) { try load(String(repeating: "!", count: depth) + "true") }
    try load(
      String(repeating: "(", count: depth - 1) + "true" + String(repeating: ")", count: depth - 1))
    #expect(throws: RulesError.self) {
      try load(String(repeating: "(", count: depth) + "true" + String(repeating: ")", count: depth))
    }
    try load(Array(repeating: "true", count: 5000).joined(separator: " && "))
    let text = "'\(String(repeating: "a", count: RulesLimits.expressionBytesMax - 12))' !== ''"
    try load(text + "   ")
    #expect(throws: RulesError.self) { try load(text + "    ") }
    let many = (0..<150).map { #""k\#($0)": 1"# }.joined(separator: ",")
    let found = #expect(throws: RulesError.self) {
      try RulesEngine(parsing: "{\"rules\":{\(many)}}")
    }
    #expect(found?.mistakes.count == RulesLimits.mistakesMax)
    #expect(found?.hasMore == true)
    func nested(_ count: Int) -> String {
      "{\"rules\":" + String(repeating: "{\"a\":", count: count) + "{}"
        + String(repeating: "}", count: count) + "}"
    }
    #expect(mistakes(nested(TreeLimits.depthMax)).isEmpty)
    #expect(mistakes(nested(TreeLimits.depthMax + 1)).count == 1)
    #expect(mistakes(nested(100_000)).count == 1)
  }

  @Test func commentsLineBreaksAndLastCommasAreAllowed() throws {
    let engine = try RulesEngine(
      parsing: """
        // The rules.
        {"rules": { /* all */
          ".read": "auth != null // somebody
             && auth.uid /* the name */ === 'ana'",
          "list": {".indexOn": ["a", "b/c", ".value", ".key",],},
        }}
        """)
    #expect(engine.rules.map(\.line) == [3])
    #expect(
      engine.json["rules"]?["list"]
        == .object([JSONMember(".indexOn", ["a", "b/c", ".value", ".key"])]))
    #expect(
      engine.indexes == [
        RulesIndex(pattern: "/list", order: .child(try Path("a"))),
        RulesIndex(pattern: "/list", order: .child(try Path("b/c"))),
        RulesIndex(pattern: "/list", order: .value),
      ])
    let verdict = try engine.decide(
      .read(.root), as: ["uid": "ana"], now: 0, before: MemoryTree())
    #expect(verdict == .allowed)
  }

  // MARK: By chance

  /// What nobody would write is read or refused: never more than that, and soon.
  @Test(arguments: Seeds.first(6))
  func brokenFilesAreToldOrLoaded(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let signs = Array("{}[]()\"'/\\.,:;&|!=<>?+-*%$^#\n 0aé\u{0}".utf8)
    for _ in 0..<300 {
      var bytes = HostileRulesCorpus.files.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(signs.randomElement(using: &random) ?? 0, at: place)
        case 2: bytes[place] = UInt8.random(in: 0...255, using: &random)
        default:
          let end = min(place + Int.random(in: 1...30, using: &random), bytes.count)
          bytes.insert(
            contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
        }
      }
      let violation = HostileRules.violation(inRules: bytes)
      #expect(violation == nil, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
    }
  }

  @Test(arguments: HostileRulesCorpus.files)
  func theCorpusIsToldOrLoaded(file: [UInt8]) {
    #expect(HostileRules.violation(inRules: file) == nil)
  }
}
