import RunnelBase
import RunnelSync
import RunnelTree

/// How many operations rules decide about in a second: messages of a chat, written and listened to.
struct RulesBenchmark {
  private static let groupCount = 100
  private static let memberCount = 50
  private static let decisionCount = 100_000

  /// Who is signed in, a look at the group's members, and a text by a regular expression.
  private static let rules = """
    {"rules": {
      "messages": {"$group": {
        ".read": "auth !== null && root.child('members').child($group).hasChild(auth.uid)",
        "$message": {
          ".write": "auth !== null && root.child('members/' + $group).hasChild(auth.uid)
            && newData.child('author').val() === auth.uid",
          ".validate": "newData.hasChildren(['author', 'text', 'created'])",
          "text": {".validate": "newData.isString() && newData.val().matches(/^[^<>]{1,500}$/)"},
          "author": {".validate": "newData.isString()"},
          "created": {".validate": "newData.val() <= now"},
          "$other": {".validate": false}
        }
      }}
    }}
    """

  func run(into report: inout Report) throws {
    let engine = try RulesEngine(parsing: RulesBenchmark.rules)
    let tree = MemoryTree(try Node(json: ["members": RulesBenchmark.members]))
    let writes = try RulesBenchmark.writes(on: tree)
    try add("write decisions a second, by the rules of a chat", writes, engine, tree, to: &report)
    let reads = try (0..<RulesBenchmark.groupCount).map { group in
      (RulesOperation.read(try Path("messages/group\(group)")), RulesBenchmark.auth(group))
    }
    try add("read decisions a second, by the same rules", reads, engine, tree, to: &report)
  }

  private static var members: JSONValue {
    .object(
      (0..<groupCount).map { group in
        JSONMember(
          "group\(group)",
          .object((0..<memberCount).map { JSONMember("person\($0)", true) }))
      })
  }

  private static func auth(_ number: Int) -> JSONValue {
    [
      "uid": .string("person\(number % memberCount)"), "provider": "password",
      "token": ["email": "person@example.com", "email_verified": true],
    ]
  }

  private static func writes(
    on tree: MemoryTree
  ) throws -> [(operation: RulesOperation, auth: JSONValue)] {
    try (0..<groupCount).map { group in
      let path = try Path("messages/group\(group)/-Nabcdefghijklmnop\(group)")
      let message: JSONValue = [
        "author": .string("person\(group % memberCount)"), "created": [".sv": "timestamp"],
        "text": "Shall we meet at the boathouse at noon, as we said on Tuesday?",
      ]
      let parts = try Write.set(path, message).assignments(now: 1_750_000_000_000, reader: tree)
      return (.write(parts), auth(group))
    }
  }

  private func add(
    _ what: String, _ operations: [(operation: RulesOperation, auth: JSONValue)],
    _ engine: RulesEngine, _ tree: MemoryTree, to report: inout Report
  ) throws {
    var best = Double.infinity
    for _ in 0..<3 {
      let start = Timing.now
      for number in 0..<RulesBenchmark.decisionCount {
        let (operation, auth) = operations[number % operations.count]
        let verdict = try engine.decide(
          operation, as: auth, now: 1_750_000_000_000, before: tree)
        guard verdict == .allowed else { throw BenchmarkError("A decision is \(verdict).") }
      }
      best = min(best, Timing.seconds(since: start))
    }
    let rate = Double(RulesBenchmark.decisionCount) / best
    report.add(
      what, Format.decimal(rate / 1000, digits: 0) + " k", value: rate, aim: .atLeast(200_000))
  }
}
