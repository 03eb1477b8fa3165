import Foundation
import Testing

@Suite struct RulesCommandTests {
  private static let rules = """
    {
      "rules": {
        "users": {
          "$uid": {
            // Everybody reads their own.
            ".read": "auth.uid === $uid",
            ".write": "auth.uid === $uid",
            "age": {".validate": "newData.isNumber()"}
          },
          ".indexOn": ["age"]
        }
      }
    }
    """

  private static let cases = """
    rules: rules.json
    identities:
      ana: {uid: ana, provider: password}
    data: {users: {ana: {age: 30}}}
    cases:
      - name: Ana reads her own
        as: ana
        read: /users/ana
        expect: allow
      - as: uid:bo
        set: /users/ana/age
        value: 31
        expect: deny
    """

  @Test func aFileInOrderIsToldWithItsIndexes() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(RulesCommandTests.rules, to: "rules.json")
    let outcome = try Program.run(["rules", "check", file])
    #expect(outcome.status == 0)
    #expect(
      outcome.output == """
        \(file) is in order: 3 rules.
        runnel index add /users age -d FILE

        """)
    let piped = try Program.run(["rules", "check", "-"], input: RulesCommandTests.rules)
    #expect(piped.output.hasPrefix("standard input is in order: 3 rules."))
  }

  @Test func everyMistakeIsToldWithItsPlaceAndStatus2() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      """
      {"rules": {
        ".read": "auth.uid",
        "a": {".wirte": true}
      }}
      """, to: "rules.json")
    let outcome = try Program.run(["rules", "check", file])
    #expect(outcome.status == 2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("runnel: \(file) cannot be loaded: 2 mistakes.\n"))
    #expect(
      outcome.errors.contains(
        "\(file):2:13: A rule is true or false, and this is a part of auth"))
    #expect(outcome.errors.contains("    \".read\": \"auth.uid\",\n              ^\n"))
    #expect(
      outcome.errors.contains("\(file):3:9: \".wirte\" is not a rule: did you mean \".write\"?"))
    let missing = try Program.run(["rules", "check", folder.file("none.json")])
    #expect(missing.status == 2)
    #expect(missing.errors.contains("no such file"))
  }

  @Test func casesPassOrAreToldWithTheirReason() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(RulesCommandTests.rules, to: "rules.json")
    let cases = try folder.write(RulesCommandTests.cases, to: "cases.yaml")
    let passed = try Program.run(["rules", "test", cases])
    #expect(passed.status == 0)
    #expect(passed.output == "2 passed, 0 failed\n")
    let wrong = RulesCommandTests.cases.replacing("expect: deny", with: "expect: allow")
    let failing = try folder.write(wrong, to: "failing.yaml")
    let failed = try Program.run(["rules", "test", failing])
    #expect(failed.status == 1)
    #expect(failed.output.contains("case 2: set /users/ana/age: FAILED, allow was expected"))
    #expect(failed.output.contains("denied: no .write on the way to /users/ana/age holds"))
    #expect(failed.output.contains("      auth.uid           = \"bo\"\n"))
    #expect(failed.output.hasSuffix("1 passed, 1 failed\n"))
    let json = try Program.run(["rules", "test", failing, "--json"])
    #expect(json.output.split(separator: "\n").count == 2)
    #expect(
      json.output.contains(#""case":2,"name":"","action":"set /users/ana/age","passed":false"#))
  }

  @Test func coverageTellsWhatCasesNeverTry() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(RulesCommandTests.rules, to: "rules.json")
    let cases = try folder.write(RulesCommandTests.cases, to: "cases.yaml")
    let outcome = try Program.run(["rules", "coverage", cases])
    #expect(outcome.status == 0)
    let rules = folder.file("rules.json")
    #expect(
      outcome.output == """
        \(rules):6:19: never false: .read of /users/$uid
        \(rules):7:20: never true: .write of /users/$uid
        \(rules):8:31: never evaluated: .validate of /users/$uid/age
        2 of 3 rules evaluated

        """)
    let both = try Program.run(["rules", "test", cases, "--coverage"])
    #expect(both.output == outcome.output + "2 passed, 0 failed\n")
  }

  @Test func casesThatCannotBeReadAreStatus2() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(RulesCommandTests.rules, to: "rules.json")
    let files = [
      ("cases: [{read: /a}]", "expect: allow or deny is expected"), ("cases: [", "not YAML"),
      ("cases: [{read: /a, expect: deny}]", "names no rules"),
      ("rules: none.json\ncases: [{read: /a, expect: deny}]", "no such file"), ("", "is empty"),
    ]
    for (index, (text, words)) in files.enumerated() {
      let file = try folder.write(text, to: "cases\(index).yaml")
      let outcome = try Program.run(["rules", "test", file])
      #expect(outcome.status == 2, "\(text)")
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }
    let missing = try Program.run(["rules", "test", folder.file("none.yaml")])
    #expect(missing.status == 2)
  }

  @Test func anOperationOnADatabaseIsExplained() throws {
    let database = try TestDatabase(#"{"users": {"ana": {"age": 30}}}"#)
    // Beside test.db.
    _ = try database.folder.write(RulesCommandTests.rules, to: "test.rules.json")
    let ana = try database.run(["rules", "explain", "read", "/users/ana", "--as", "uid:ana"])
    #expect(ana.status == 0)
    #expect(ana.output.hasPrefix("allowed\n  .read of /users/$uid at /users/ana ("))
    let bo = try database.run(["rules", "explain", "read", "/users/ana", "--as", "uid:bo"])
    #expect(bo.status == 1)
    #expect(bo.errors.isEmpty)
    #expect(bo.output.hasPrefix("denied: no .read on the way to /users/ana holds\n"))
    let write = ["rules", "explain", "write", "/users/ana/age"]
    let text = try database.run(write + ["\"x\"", "--as", #"{"uid":"ana"}"#])
    #expect(text.status == 1)
    #expect(text.output.contains("newData.isNumber()  is false"))
    let number = try database.run(write + ["--as", "uid:ana", "--json"], input: "31")
    #expect(number.status == 0)
    #expect(number.output.hasPrefix(#"{"allowed":true,"reason":"allowed","rules":[{"#))
    let remove = try database.run(["rules", "explain", "remove", "/users/ana", "--as", "uid:ana"])
    #expect(remove.status == 0)
    let update = ["rules", "explain", "update", "/users", #"{"ana/age": 1, "bo/age": 2}"#]
    #expect(try database.run(update + ["--as", "uid:ana"]).status == 1)
    #expect(try database.get("/users/ana/age") == "30", "Nothing is written.")
  }

  @Test func aReadWithoutItsIndexIsTold() throws {
    let database = try TestDatabase(#"{"users": {"ana": {"age": 30}}}"#)
    let rules = #"{"rules": {".read": true, "users": {".indexOn": ["name"]}}}"#
    _ = try database.folder.write(rules, to: "test.rules.json")
    let read = ["rules", "explain", "read", "/users", "--order-by"]
    let outcome = try database.run(read + ["age"])
    #expect(outcome.status == 0)
    #expect(outcome.output.hasPrefix("allowed\n"))
    #expect(
      outcome.output.contains(
        #"Index not defined, add ".indexOn": "age", for path "/users", to the rules"#),
      "\(outcome.output)")
    #expect(outcome.output.contains("also to administrators"))
    #expect(
      outcome.output.hasSuffix(
        "a listen is sent everything at /users, and so decided as a read of that: allowed\n"))
    let json = try database.run(read + ["age", "--json"]).output
    #expect(json.contains("\"missingIndex\""))
    #expect(try !database.run(read + ["name"]).output.contains("Index not defined"))
    #expect(try !database.run(["rules", "explain", "read", "/users"]).output.contains("Index"))
  }

  /// A rule about an order asks for its index, in the rules or in the file.
  @Test func aRuleAboutAnOrderWithoutItsIndexIsTold() throws {
    let database = try TestDatabase(#"{"letters": {"a": {"from": "ana"}}}"#)
    let rule = #"".read": "query.orderByChild === 'from' && query.equalTo === auth.uid""#
    let rules = "{\"rules\": {\"letters\": {\(rule)}}}"
    let file = try database.folder.write(rules, to: "test.rules.json")
    let check = try Program.run(["rules", "check", file])
    #expect(check.status == 0)
    #expect(
      check.output.contains("\(file):1:34: no .indexOn at /letters or below has \"from\""),
      "\(check.output)")
    let read = [
      "rules", "explain", "read", "/letters", "--order-by", "from", "--equal-to", "\"ana\"", "--as",
      "uid:ana",
    ]
    let outcome = try database.run(read)
    #expect(outcome.status == 1)
    #expect(outcome.output.hasPrefix("denied: the query has no index. "), "\(outcome.output)")
    #expect(
      outcome.output.contains(
        "a listen is sent everything at /letters, and so decided as a read of that: denied: no .read"
      ))
    let json = try database.run(read + ["--json"]).output
    #expect(json.hasPrefix(#"{"allowed":false"#), "\(json)")
    #expect(try database.run(["index", "add", "/letters", "from"]).status == 0)
    let indexed = try database.run(read)
    #expect(indexed.status == 0)
    #expect(indexed.output.hasPrefix("allowed\n") && !indexed.output.contains("index"))
    let declared = rules.replacing("\".read\"", with: "\".indexOn\": \"from\", \".read\"")
    _ = try database.folder.write(declared, to: "test.rules.json")
    #expect(try !Program.run(["rules", "check", file]).output.contains("no .indexOn"))
  }

  /// The rules of a server's database are explained on its machine, so that no credentials are offered.
  @Test func explainOffersFilesOnly() throws {
    let help = try Program.run(["rules", "explain", "--help"]).output
    #expect(help.contains("--database") && !help.contains("--token-file"), "\(help)")
    #expect(!help.contains("https://") && !help.contains("--ca"), "\(help)")
    let remote = try Program.run([
      "rules", "explain", "read", "/a", "-d", "https://chat.example/?ns=a",
    ])
    #expect(remote.status == 2)
    #expect(remote.errors.contains("works on files only"), "\(remote.errors)")
  }

  @Test func aCaseWithoutItsIndexIsRemarkedOn() throws {
    let folder = try TemporaryFolder()
    let cases = """
      rules: {rules: {a: {.read: true, .indexOn: [y]}}}
      cases:
        - {read: /a, query: {orderBy: x}, expect: allow}
        - {read: /a, query: {orderBy: y}, expect: allow}
      """
    let file = try folder.write(cases, to: "cases.yaml")
    let outcome = try Program.run(["rules", "test", file])
    #expect(outcome.status == 0)
    #expect(
      outcome.output.hasPrefix(
        "case 1: read /a: allowed, but refused over HTTP for want of an index"),
      "\(outcome.output)")
    #expect(outcome.output.hasSuffix("to the rules\n2 passed, 0 failed\n"))
    let json = try Program.run(["rules", "test", file, "--json"]).output
    #expect(json.split(separator: "\n").count { $0.contains("\"remark\"") } == 1)
  }

  /// Rules within a file of cases are told with its lines, in block style, in flow style and in JSON.
  @Test func rulesAmongTheCasesHaveTheLinesOfTheFile() throws {
    let folder = try TemporaryFolder()
    let cases = "\ncases:\n  - {read: /a, as: uid:ana, expect: allow}\n"
    let block = """
      # The rules of the project.
      now: 5
      rules:
        rules:
          a:
            .read: auth.uid === 'ana'
          b: {.read: "auth === null"}
          c:
            .write: |
              auth !== null
              && newData.exists()
      """
    let outcome = try Program.run([
      "rules", "coverage", try folder.write(block + cases, to: "a.yaml"),
    ])
    let file = folder.file("a.yaml")
    let places = outcome.output.split(separator: "\n").dropLast().map { $0.prefix { $0 != " " } }
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      places == ["\(file):6:14:", "\(file):7:17:", "\(file):10:2:"].map { $0[...] },
      "\(outcome.output)")
    let json = """
      {"rules":
        {"rules": {"a":
          {".read": "auth.uid === 'ana'"}}},
        "cases": [{"read": "/a", "expect": "deny"}]}
      """
    let told = try Program.run(["rules", "coverage", try folder.write(json, to: "b.json")])
    #expect(told.output.hasPrefix("\(folder.file("b.json")):3:"), "\(told.output)")
    let wrong = try folder.write(block.replacing("'ana'", with: "1 +") + cases, to: "c.yaml")
    let refused = try Program.run(["rules", "test", wrong])
    #expect(refused.status == 2)
    #expect(refused.errors.contains("\(wrong):6:"), "\(refused.errors)")
  }

  @Test func aTimeOfDayIsAText() throws {
    let folder = try TemporaryFolder()
    let cases = """
      rules: {rules: {a: {.write: true, .validate: newData.isString()}}}
      cases:
        - {set: /a, value: 12:30, expect: allow}
        - {set: /a, value: no, expect: allow}
        - {set: /a, value: 750, expect: deny}
      """
    let outcome = try Program.run(["rules", "test", try folder.write(cases, to: "cases.yaml")])
    #expect(outcome.output == "3 passed, 0 failed\n", "\(outcome.output)\(outcome.errors)")
  }

  @Test func whatKeepsFromAnAnswerIsNoDenial() throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    let read = ["rules", "explain", "read", "/a"]
    #expect(try database.run(read).status == 2, "There are no rules.")
    _ = try database.folder.write(RulesCommandTests.rules, to: "test.rules.json")
    #expect(try database.run(read + ["--as", "bo"]).status == 2)
    #expect(try database.run(read + ["1"]).status == 2)
    #expect(try database.run(["rules", "explain", "write", "/a"], input: "{").status != 0)
    let absent = try Program.run(read + ["-d", database.folder.file("none.db")])
    #expect(absent.status == 2)
    #expect(absent.errors.contains("does not exist"))
  }

  /// What the page about rules shows is tried.
  @Test func theExamplesOfThePageHold() throws {
    let page = try String(contentsOfFile: RulesCommandTests.page, encoding: .utf8)
    let folder = try TemporaryFolder()
    _ = try folder.write(try RulesCommandTests.example("json", in: page), to: "rules.json")
    let cases = try folder.write(
      try RulesCommandTests.example("yaml", in: page), to: "cases.yaml")
    let outcome = try Program.run(["rules", "test", cases])
    #expect(outcome.output == "3 passed, 0 failed\n")
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  private static let page =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path + "/Resources/docs/rules.md"

  /// The first example in a language.
  private static func example(_ language: String, in page: String) throws -> String {
    let start = try #require(page.range(of: "```\(language)\n"))
    let end = try #require(page.range(of: "```", range: start.upperBound..<page.endIndex))
    return String(page[start.upperBound..<end.lowerBound])
  }
}
