import RunnelBase
import RunnelSync
import RunnelTree
import Testing

/// Files of cases: what is read, what is refused, and what they come to.
@Suite struct RulesCasesTests {
  private static let rules: JSONValue = [
    "rules": [
      "users": [
        "$uid": [
          ".read": "auth.uid === $uid || auth.token.admin === true",
          ".write": "auth.uid === $uid",
          "age": [".validate": "newData.isNumber() && newData.val() >= 0"],
        ]
      ],
      "open": [".read": true],
      "list": [".read": "query.limitToFirst <= 10"],
    ]
  ]

  private func cases(_ cases: JSONValue) throws -> RulesCases {
    try RulesCases(json: [
      "rules": RulesCasesTests.rules,
      "identities": ["ana": ["uid": "ana", "token": ["admin": true]]],
      "data": ["users": ["bo": ["age": 3]]], "cases": cases,
    ])
  }

  private func engine() throws -> RulesEngine { try RulesEngine(json: RulesCasesTests.rules) }

  @Test func casesAreDecided() throws {
    let file = try cases([
      ["name": "an administrator reads", "as": "ana", "read": "/users/bo", "expect": "allow"],
      ["as": "uid:cy", "read": "/users/bo", "expect": "deny"],
      ["read": "/users/bo", "expect": "deny"],
      ["as": "uid:bo", "set": "/users/bo/age", "value": 4, "expect": "allow"],
      ["as": "uid:bo", "set": "/users/bo/age", "value": "4", "expect": "deny"],
      [
        "as": "uid:bo", "update": "/users/bo", "values": ["age": [".sv": ["increment": 1]]],
        "expect": "allow",
      ],
      ["as": "uid:bo", "remove": "/users/bo", "expect": "allow"],
      ["as": "uid:bo", "remove": "/users", "expect": "deny"],
      ["as": ["uid": "bo"], "read": "/users/bo", "expect": "allow"],
      ["read": "/list", "query": ["orderBy": "$key", "limitToFirst": 5], "expect": "allow"],
      [
        "read": "/list", "query": ["orderBy": "a", "startAt": 1, "limitToFirst": 50],
        "expect": "deny",
      ],
      ["as": "uid:bo", "read": "/open", "expect": "deny"],
    ])
    let outcomes = try file.run(with: engine())
    #expect(outcomes.map(\.isPassed) == Array(repeating: true, count: 11) + [false])
    #expect(file.cases[0].title == "case 1, an administrator reads")
    #expect(file.cases[5].actionText == "update /users/bo")
  }

  @Test(
    arguments: [
      ([["read": "/a"]], "case 1: expect: allow or deny"),
      ([["expect": "deny"]], "one of read, set, update and remove"),
      ([["read": "/a", "set": "/a", "expect": "deny"]], "one of read"),
      ([["read": "/a.b", "expect": "deny"]], "read: /a.b"),
      ([["raed": "/a", "expect": "deny"]], "did you mean \"read\"?"),
      ([["as": "bob", "read": "/a", "expect": "deny"]], "write uid:bob"),
      ([["set": "/a", "expect": "deny"]], "value: it is missing"),
      ([["read": "/a", "value": 1, "expect": "deny"]], "does not go with read"),
      ([["update": "/a", "values": 1, "expect": "deny"]], "relative paths"),
      ([["read": "/a", "query": ["limit": 1], "expect": "deny"]], "\"limit\" is not known"),
      ([["read": "/a", "query": ["limitToFirst": 0], "expect": "deny"]], "query:"),
      ([["read": "/a", "data": ["a.b": 1], "expect": "deny"]], "data:"),
      ([["read": "/a", "now": "x", "expect": "deny"]], "milliseconds"), ([1], "names with values"),
      ([], "at least one case"),
    ] as [(JSONValue, String)])
  func whatIsWrongIsTold(list: JSONValue, words: String) throws {
    let error = #expect(throws: RulesCasesError.self) { try cases(list) }
    #expect(error?.mistakes.contains { $0.contains(words) } == true, "\(error?.mistakes ?? [])")
  }

  @Test func aWriteThatNoTreeTakesIsToldWithItsCase() throws {
    let file = try cases([["set": "/a", "value": ["b.c": 1], "expect": "deny"]])
    let error = #expect(throws: RulesCasesError.self) { try file.run(with: engine()) }
    #expect(error?.mistakes.first?.hasPrefix("case 1: no tree takes the write") == true)
  }

  @Test func coverageTellsWhatWasNeverTried() throws {
    let file = try cases([
      ["as": "uid:bo", "read": "/users/bo", "expect": "allow"],
      ["as": "uid:bo", "set": "/users/bo/age", "value": 4, "expect": "allow"],
    ])
    let engine = try engine()
    let coverage = try file.coverage(of: engine)
    #expect(coverage.evaluatedCount == 3)
    #expect(
      coverage.gaps.map { "\($0.kind.rawValue): \($0.text)" } == [
        "never false: auth.uid === $uid || auth.token.admin === true",
        "never false: auth.uid === $uid", "never evaluated: auth.token.admin === true",
        "never false: auth.uid === $uid",
        "never false: newData.isNumber() && newData.val() >= 0", "never false: newData.isNumber()",
        "never false: newData.val() >= 0", "never evaluated: true",
        "never evaluated: query.limitToFirst <= 10",
      ])
    let more = try cases([
      ["as": "uid:bo", "read": "/users/bo", "expect": "allow"],
      ["as": "ana", "read": "/users/bo", "expect": "allow"],
      ["as": "uid:cy", "read": "/users/bo", "expect": "deny"],
      ["as": "uid:bo", "set": "/users/bo/age", "value": 4, "expect": "allow"],
      ["as": "uid:bo", "set": "/users/bo/age", "value": -4, "expect": "deny"],
      ["as": "uid:bo", "set": "/users/bo/age", "value": "x", "expect": "deny"],
      ["as": "uid:cy", "remove": "/users/bo", "expect": "deny"],
      ["read": "/open", "expect": "allow"],
      ["read": "/list", "query": ["limitToFirst": 5], "expect": "allow"],
      ["read": "/list", "expect": "deny"],
    ])
    #expect(try more.coverage(of: engine).gaps == [])
    #expect(try more.run(with: engine).allSatisfy(\.isPassed))
  }
}
