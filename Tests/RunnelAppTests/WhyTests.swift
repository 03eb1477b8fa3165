import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelClient
@testable import RunnelWorkspace

/// A refused write says why: rule, place and values.
@Suite struct WhyTests {
  /// A server in memory, for explanations.
  private struct MemoryOrigin: OriginReading {
    var tree = Node.empty
    var text = ""
    var auth: JSONValue? = .some(["uid": "bo", "provider": "custom", "token": [:]])
    var hidden: [Path] = []
    var refusal: OriginReadFailure?

    private func check(_ path: Path) throws(OriginReadFailure) {
      if hidden.contains(where: { $0.contains(path) }) {
        throw OriginReadFailure(.forbidden, "Permission denied")
      }
    }

    func glance(at path: Path) async throws(OriginReadFailure) -> OriginGlance {
      try check(path)
      let node = tree[path]
      if let leaf = node.leaf { return .value(leaf.json) }
      return node.children.isEmpty ? .empty : .keys(node.children.count, isAll: true)
    }

    func value(at path: Path) async throws(OriginReadFailure) -> JSONValue? {
      try check(path)
      return tree[path].exportJSON
    }

    func rules() async throws(OriginReadFailure) -> [UInt8] {
      if let refusal { throw refusal }
      return Array(text.utf8)
    }

    func ruledIdentity() async throws(OriginReadFailure) -> JSONValue? { auth }
  }

  private static let rules = """
    {"rules": {"users": {"$uid": {
      ".write": "auth.uid === $uid || root.child('admins').child(auth.uid).val() === true",
      "age": {".validate": "newData.isNumber()"}}}}}
    """

  private func parts(_ path: String, _ json: JSONValue) throws -> [Assignment] {
    [Assignment(path: try Path(path), target: .node(try Node(json: json)))]
  }

  private func explain(
    _ origin: MemoryOrigin, _ path: String, _ json: JSONValue
  ) async throws -> JSONValue {
    let explainer = RulesExplainer(origin, file: nil) {}
    return try await explainer.explanation(of: parts(path, json), now: 5)
  }

  @Test func ruleIsNamedWithItsPlaceAndTheValuesThatItRead() async throws {
    var origin = MemoryOrigin(text: Self.rules)
    origin.tree = try Node(json: ["admins": ["eve": true]])
    let why = try await explain(origin, "/users/ana/age", 7)
    #expect(why["allowed"] == false)
    #expect(why["reason"] == "denied: no .write on the way to /users/ana/age holds")
    let rule = try #require(why["rules"]?.array?.first)
    #expect(rule["of"] == "/users/$uid" && rule["at"] == "/users/ana")
    let parts = rule["parts"]?.array?.map {
      "\($0["text"]?.string ?? "")=\($0["value"]?.string ?? "")"
    }
    #expect(parts?.contains("auth.uid=\"bo\"") == true, "\(parts ?? [])")
    #expect(why["user"] == "bo" && why["source"] == "the rules of the server")
    #expect(why["unread"] == nil)
    origin.tree = try Node(json: ["admins": ["bo": true]])
    #expect(try await explain(origin, "/users/ana/age", 7)["allowed"] == true)
    let invalid = try await explain(origin, "/users/ana/age", "old")
    #expect(invalid["reason"]?.string?.contains(".validate of /users/$uid/age") == true)
  }

  @Test func placeThatCannotBeReadIsSaidToCountAsEmpty() async throws {
    var origin = MemoryOrigin(text: Self.rules)
    origin.hidden = [try Path("/admins")]
    let why = try await explain(origin, "/users/ana/age", 7)
    #expect(why["allowed"] == false)
    #expect(why["unread"]?.array == ["/admins/bo"])
  }

  @Test func reasonIsClearWhereRulesCannotBeRead() async throws {
    var origin = MemoryOrigin()
    origin.refusal = OriginReadFailure(.forbidden, "Unauthorized request.")
    let refusal = await #expect(throws: Refusal.self) { try await explain(origin, "/a", 1) }
    #expect(refusal?.message.hasPrefix("this credential may not read the rules") == true)
    origin.refusal = nil
    origin.text = Self.rules
    origin.auth = nil
    let ruled = await #expect(throws: Refusal.self) { try await explain(origin, "/a", 1) }
    #expect(ruled?.message.contains("do not hold for this credential") == true)
  }

  @Test func authIsThatOfTheToken() throws {
    let claims: JSONValue = ["iat": 1, "sub": "bo", "firebase": ["sign_in_provider": "password"]]
    let token = "e30." + Base64URL.text(claims.jsonBytes()) + ".sig"
    let auth = try #require(OriginAccess.auth(of: token))
    #expect(auth["uid"] == "bo" && auth["provider"] == "password" && auth["token"] == claims)
    #expect(OriginAccess.auth(of: "secret") == nil)
  }

  // MARK: The workspace

  private func refused() throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, origin: "home")
    app.take(.origin(OriginFacts(.live)))
    try app.set("/room/m1/text", "mine")
    let id = try #require(app.state.writes.queue.pending.last?.id)
    app.take(.rejected(write: id, "permission_denied"))
    return app
  }

  private static let answer: JSONValue = [
    "allowed": false, "reason": "denied: no .write on the way to /room/m1/text holds",
    "rules": [
      [
        "rule": ".write", "of": "/room/$id", "at": "/room/m1", "line": 3,
        "outcome": "does not hold", "parts": [["text": "auth.uid", "value": "\"zoe\""]],
      ]
    ],
    "user": "zoe", "source": "the rules of the server", "time": 1_787_595_600_000,
    "unread": ["/admins"],
  ]

  /// The id of the last explanation that was asked for.
  private func asked(_ app: AppDriver) throws -> AppRequestID {
    let ids = app.screenEffects.compactMap { effect -> AppRequestID? in
      if case .explain(let id, _) = effect { id } else { nil }
    }
    return try #require(ids.last)
  }

  @Test func queueShowsRulePlaceAndValues() throws {
    let app = try refused()
    app.press("S")
    #expect(app.line(of: "refused") != nil)
    app.press("g g j g w")
    #expect(app.line(of: "reading the rules") != nil)
    app.take(.answered(try asked(app), .result(Self.answer)))
    let screen = app.body.joined(separator: "\n")
    #expect(screen.contains("denied: no .write on the way to /room/m1/text holds"))
    #expect(screen.contains(".write of /room/$id at /room/m1  line 3  does not hold"))
    #expect(screen.contains("auth.uid  = \"zoe\""))
    #expect(screen.contains("/admins cannot be read here, and was taken as empty"))
    #expect(screen.contains("By the rules of the server and the data at 18:20, as user zoe."))
    app.press("h")
    #expect(app.line(of: "refused") != nil)
  }

  @Test func reasonWithoutAnExplanationIsShownOnThePage() throws {
    let app = try refused()
    app.press("S g g j g w")
    app.take(.answered(try asked(app), .refused(Refusal("this credential may not read the rules"))))
    #expect(app.line(of: "this credential may not read the rules") != nil)
  }

  @Test func nothingIsAskedWhereNothingWasRefused() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g w")
    #expect(app.toast == "the server refused nothing here")
  }
}
