import Foundation
import RunnelBase
import RunnelSync
import RunnelTree
import Testing

/// The worked cases of the specification, which are a file.
@Suite struct RulesCaseTests {
  /// One case of the file.
  struct Case: CustomTestStringConvertible, Sendable {
    let json: JSONValue
    let now: Int64

    var testDescription: String {
      "\(json["id"]?.jsonText() ?? "") \(json["note"]?.jsonText() ?? "")"
    }
  }

  static let file: JSONValue = {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Fixtures/rules-cases.json")
    guard let data = try? Data(contentsOf: path), let json = try? JSONValue(parsing: data) else {
      preconditionFailure("\(path) cannot be read.")
    }
    return json
  }()

  static let cases: [Case] = {
    guard case .array(let elements)? = file["cases"], case .number(let now)? = file["now"] else {
      return []
    }
    return elements.map { Case(json: $0, now: now.integer ?? 0) }
  }()

  static func texts(_ name: String) -> [String] {
    guard case .array(let elements)? = file[name] else { return [] }
    return elements.compactMap { element in
      switch element["rule"] ?? element {
      case .string(let text): text
      default: nil
      }
    }
  }

  @Test func allOfThemAreThere() {
    #expect(RulesCaseTests.cases.count == 100)
    #expect(RulesCaseTests.texts("invalidReadRules").count == 32)
    #expect(RulesCaseTests.texts("validReadRules").count == 15)
  }

  @Test(arguments: cases)
  func theCaseComesOutAsSpecified(_ example: Case) throws {
    let json = example.json
    let engine = try RulesEngine(json: try #require(json["rules"]))
    let before = MemoryTree(try Node(json: json["data"] ?? .null))
    guard case .string(let path)? = json["path"], case .string(let word)? = json["op"] else {
      throw TreeError(.invalidValue, "A case has a path and an operation.")
    }
    let operation = try RulesExample.operation(
      word, Path(path), json["value"] ?? .null, now: example.now, before)
    let verdict = try engine.decide(
      operation, as: json["auth"] ?? .null, now: example.now, before: before)
    #expect(json["expect"] == .bool(verdict.isAllowed))
  }

  @Test(arguments: texts("invalidReadRules"))
  func whatIsNoRuleIsRefused(_ rule: String) throws {
    let error = #expect(throws: RulesError.self) {
      try RulesEngine(json: ["rules": [".read": .string(rule)]])
    }
    let mistake = try #require(error?.mistakes.first)
    #expect(mistake.line == 3)
    #expect(mistake.message.hasSuffix(".") || mistake.message.hasSuffix("?"), "\(mistake.message)")
  }

  @Test(arguments: texts("validReadRules"))
  func whatIsARuleIsTaken(_ rule: String) throws {
    _ = try RulesEngine(json: ["rules": [".read": .string(rule)]])
  }

  /// Section 9.3, with the result or the error of each expression.
  @Test(
    arguments: [
      ("auth.uid !== 'eviluser'", false, true), ("auth.contains('75')", false, nil),
      ("auth.not.found.length > 0", true, nil),
      ("auth.isTernary === true ? root.child('x').exists() : true", true, true),
      ("root.hasChildren([auth.uid])", false, nil), ("(auth.someString + 1) == 2", true, false),
      ("(auth.someString - 1) == 0", true, nil), ("(1 + auth.someBool) == 2", true, nil),
      ("(1 + auth.none) == 2", true, nil), ("-auth.someString == -1", true, nil),
      ("'one' == auth.someInt", true, false), ("'one' < auth.someInt", true, nil),
      ("'foo' > auth.foo", false, nil), ("(1/0 + '') == 'NaN'", true, true),
      ("'foo1'.contains(auth.someInt)", true, nil),
      ("'foobar'.replace('bar', auth.someInt) == 'foo1'", true, nil),
      ("root.parent().exists()", true, nil),
      ("auth.someString[\"contains\"](\"on\") == true", true, true),
      ("root.val().matches(/BAR/i)", true, true), ("!(auth.foo == null)", false, false),
    ] as [(String, Bool, Bool?)])
  func theExpressionComesOutAsSpecified(rule: String, isSignedIn: Bool, result: Bool?) throws {
    let auth: JSONValue =
      isSignedIn
      ? ["uid": "custom:bob", "someInt": 1, "someString": "one", "someBool": true] : .null
    let engine = try RulesEngine(json: ["rules": [".read": .string(rule)]])
    let explanation = try engine.explain(
      .read(.root), as: auth, now: 0, before: MemoryTree(Node(.string("bar"))))
    #expect(explanation.verdict.isAllowed == (result == true))
    switch explanation.rules[0].outcome {
    case .holds: #expect(result == true)
    case .fails: #expect(result == false)
    case .error: #expect(result == nil)
    }
  }
}

/// Operations as examples have them.
enum RulesExample {
  static func operation(
    _ word: String, _ path: Path, _ value: JSONValue, now: Int64, _ before: MemoryTree
  ) throws -> RulesOperation {
    switch word {
    case "read": return try .read(query(value, at: path))
    case "set":
      return .write(try Write.set(path, value).assignments(now: now, reader: before))
    case "update":
      guard case .object(let members) = value else { throw TreeError(.invalidValue, "No object.") }
      return .write(try Write.update(path, members).assignments(now: now, reader: before))
    default: throw TreeError(.invalidValue, "There is no operation \(word).")
    }
  }

  static func query(_ json: JSONValue, at path: Path) throws -> Query {
    var query = Query(path)
    if case .string(let child)? = json["orderByChild"] { query = try query.ordered(byChild: child) }
    if let value = json["equalTo"].flatMap(Leaf.init) { query = try query.equal(to: .leaf(value)) }
    if case .number(let count)? = json["limitToFirst"] {
      query = try query.limited(to: Int(count.integer ?? 0), from: .first)
    }
    return query
  }
}
