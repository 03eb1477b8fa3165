import Crypto
import PostgresCluster
import RunnelBase
import RunnelIdentity
import RunnelSync
import Synchronization
import TestSupport
import Testing

@testable import RunnelServer

/// Tokens of accounts that the database does not know, such as those made after a backup that was restored.
@Suite struct LostAccountTests {
  private static let now: Int64 = 1_750_000_000_000
  private let tokens: IssuedTokens
  private let policy = IdentityPolicy(
    project: "demo", issuer: "https://id.example", isEmulator: false)

  init() {
    tokens = IssuedTokens(policy)
    tokens.take([
      IssuingKey(entry: KeyRing.Entry(id: "key", time: 0), key: P256.Signing.PrivateKey())
    ])
  }

  private func token(_ user: String, issued: Int64 = 1_750_000_000) -> String {
    let claims: JSONValue = [
      "sub": .string(user), "user_id": .string(user), "auth_time": 1_750_000_000,
      "iat": .number(JSONNumber(issued)), "exp": .number(JSONNumber(issued + 3600)),
      "aud": .string(policy.project), "iss": .string(policy.issuer),
    ]
    return tokens.sign(claims, now: Self.now) ?? ""
  }

  /// A store that is being restored may have accounts, and no keys yet.
  @Test func withoutAKeyNothingIsSigned() {
    let empty = IssuedTokens(policy)
    #expect(!empty.canSign(now: Self.now) && empty.sign(["sub": "ada"], now: Self.now) == nil)
    #expect(tokens.canSign(now: Self.now))
  }

  private func isAccepted(_ text: String) -> Bool {
    ((try? tokens.verify(text, now: Self.now)) ?? nil) != nil
  }

  private final class Asked: Sendable {
    let users = Mutex<[String]>([])

    func add(_ user: String) { users.withLock { $0.append(user) } }
    var all: [String] { users.withLock { $0 } }
  }

  @Test func theAccountOfATokenIsLookedForOnce() {
    let asked = Asked()
    tokens.findAccounts { asked.add($0) }
    let (one, two) = (token("ana"), token("ana", issued: 1_750_000_001))
    for text in [one, one, two] { #expect(isAccepted(text)) }
    #expect(asked.all == ["ana"])
    let answered = Asked()
    #expect(tokens.wait(for: one) { answered.add("one") } == true)
    #expect(tokens.wait(for: two) { answered.add("two") } == true)
    tokens.didLook(for: "ana", isThere: true)
    #expect(answered.all == ["one", "two"])
    #expect(isAccepted(one) && isAccepted(two) && isAccepted(token("ana", issued: 1_750_000_002)))
    #expect(asked.all == ["ana"])
    #expect(tokens.wait(for: one) { answered.add("three") } == false)
    tokens.doubtAll()
    #expect(isAccepted(one))
    #expect(asked.all == ["ana", "ana"])
  }

  @Test func theTokensOfAnAccountThatIsNotThereEnd() {
    tokens.findAccounts { _ in }
    let (old, later) = (token("ana"), token("ana", issued: 1_750_000_005))
    #expect(isAccepted(old) && isAccepted(later))
    tokens.didLook(for: "ana", isThere: false)
    #expect(!isAccepted(old) && !isAccepted(later))
    // One that is made again has tokens of its own.
    #expect(isAccepted(token("ana", issued: 1_750_000_006)))
    #expect(isAccepted(token("bo")))
  }

  @Test func aLookThatFailedIsRepeatedWithTheNextRequest() {
    let asked = Asked()
    tokens.findAccounts { asked.add($0) }
    let text = token("ana")
    #expect(isAccepted(text))
    tokens.didLook(for: "ana", isThere: nil)
    #expect(tokens.wait(for: text) {} == nil)
    #expect(isAccepted(text))
    #expect(asked.all == ["ana", "ana"])
  }

  /// Once, the tokens of lost accounts wrote until they expired.
  @Test(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
  func aLostAccountIsRefusedByServersThatRunAndThoseThatStart() async throws {
    let rules = "{\"rules\":{\".read\":true,\".write\":\"auth != null\"}}"
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      let cluster = try PostgresCluster.shared()
      try await withAccounts(rules: rules) { server in
        let old = try server.signUp("old@x.org").text("idToken")
        try cluster.run(sql: Self.keeping, in: place)
        let new = try server.signUp("new@x.org").text("idToken")
        let write = { (token: String, server: TestServer) in
          try server.request("PUT", "/x.json?auth=\(token)", "1").status
        }
        #expect(try write(old, server) == 200)
        #expect(try write(new, server) == 200)
        let socket = try server.socket()
        #expect(try socket.status(1, "auth", "{\"cred\":\"\(new)\"}") == "ok")
        try cluster.run(sql: Self.restoring, in: place)
        #expect(try socket.next()["a"] == "ac")
        #expect(try write(new, server) == 401)
        #expect(try write(old, server) == 200)
        try await withAccounts(rules: rules) { (other: TestServer) in
          let (lost, kept) = (try write(new, other), try write(old, other))
          #expect(lost == 401 && kept == 200)
        }
      }
    }
  }

  /// The tables whose rows a backup of the accounts has, besides that of the namespaces.
  private static let tables = ["node", "split", "index_definition", "index_entry", "feed", "meta"]

  private static var keeping: String {
    (tables + ["namespace"]).map { "CREATE TABLE kept_\($0) AS SELECT * FROM \($0);" }.joined()
  }

  private static var restoring: String {
    let own = "ns = (SELECT ns FROM namespace WHERE name = '\(StoreAccounts.namespace)')"
    let rows = tables.map { table in
      "DELETE FROM \(table) WHERE \(own); INSERT INTO \(table) SELECT * FROM kept_\(table) WHERE \(own);"
    }
    return "SELECT head FROM namespace FOR UPDATE;" + rows.joined() + """
      UPDATE namespace n SET head = k.head, floor = k.floor, next_split = k.next_split
      FROM kept_namespace k WHERE k.ns = n.ns AND n.name = '\(StoreAccounts.namespace)'
      """
  }
}
