import CryptoExtras
import Foundation
import RunnelBase
import RunnelClient
import RunnelNetwork
@testable import RunnelServer
import RunnelSync
import Synchronization
import TestSupport
import Testing

@Suite struct ServiceAccountTests {
  private static let now: Int64 = 1_700_000_000_000
  private static let seconds = now / 1000

  /// An account, and the contents of its key file.
  private struct Made {
    var accounts: ServiceAccounts
    var key: _RSA.Signing.PrivateKey
    var keyID: String
    var email: String
    var file: JSONValue

    init() throws {
      var accounts = try ServiceAccounts(file: "/nowhere")
      let added = try accounts.add(
        "ci", for: "/data/chat.db", server: "https://chat.example", now: now)
      file = try JSONValue(parsing: #require(added))
      self.accounts = accounts
      key = try _RSA.Signing.PrivateKey(
        pemRepresentation: #require(file["private_key"]?.string))
      keyID = try #require(file["private_key_id"]?.string)
      email = try #require(file["client_email"]?.string)
    }

    func assertion(_ changes: [String: JSONValue] = [:], keyID: String? = nil) throws -> String {
      let claims: [String: JSONValue] = [
        "iss": .string(email), "aud": "https://oauth2.googleapis.com/token",
        "iat": .number(JSONNumber(seconds)), "exp": .number(JSONNumber(seconds + 3600)),
        "scope": "https://www.googleapis.com/auth/firebase.database",
      ]
      return try TestTokens.signed(
        by: key, claims.merging(changes) { $1 }, keyID: keyID ?? self.keyID)
    }
  }

  /// Returns the result of an assertion.
  private func outcome(_ made: Made, _ assertion: String) throws -> String {
    let token = try #require(JSONWebToken(assertion))
    do throws(ServiceAccounts.Refusal) {
      return try made.accounts.accessToken(
        for: token, at: ["chat.internal", "localhost:9000"], now: ServiceAccountTests.now)
        ?? "unknown"
    } catch {
      return error.text
    }
  }

  @Test func theKeyFileHasTheFormatOfSDKs() throws {
    let made = try Made()
    #expect(made.file["type"] == "service_account")
    #expect(made.file["project_id"] == "chat")
    #expect(made.email == "ci@chat.iam.runnel.internal")
    #expect(made.file["token_uri"] == "https://chat.example/oauth2/token")
    #expect(made.file["private_key"]?.string?.hasPrefix("-----BEGIN PRIVATE KEY-----\n") == true)
  }

  @Test func anAssertionGetsAnAdministratorsTokenForAnHour() throws {
    let made = try Made()
    let text = try outcome(made, made.assertion())
    let token = try #require(JSONWebToken(text))
    #expect(made.accounts.haveSigned(token))
    #expect(token.seconds("exp") == Double(ServiceAccountTests.seconds + 3600))
    var other = made.accounts
    let isRemoved = other.remove("ci")
    #expect(isRemoved)
    #expect(!other.haveSigned(token))
    let stranger = try Made()
    #expect(!stranger.accounts.haveSigned(token))
  }

  @Test func otherAssertionsGetNothing() throws {
    let made = try Made()
    let other = try Made()
    let seconds = ServiceAccountTests.seconds
    func number(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }
    #expect(try outcome(made, other.assertion()) == "unknown")
    #expect(try outcome(made, other.assertion(keyID: made.keyID)).contains("not signed"))
    #expect(try outcome(made, made.assertion(["iss": "a@b"])).contains("another account"))
    #expect(try outcome(made, made.assertion(["aud": "https://a.example"])).contains("audience"))
    let times: [[String: JSONValue]] = [
      ["exp": number(seconds - 301)], ["iat": number(seconds + 301)],
      ["exp": number(seconds + 3901)], ["exp": "never"], ["iat": .null],
    ]
    for time in times {
      #expect(try outcome(made, made.assertion(time)).contains("not for now"), "\(time)")
    }
  }

  /// An assertion for another server is none for this one.
  @Test func theAudienceIsThisServer() throws {
    let made = try Made()
    let ours = [
      "https://chat.example/oauth2/token", "http://localhost:9000/oauth2/token",
      "https://Chat.internal:8443/oauth2/token",
    ]
    for audience in ours {
      let told = try outcome(made, made.assertion(["aud": .string(audience)]))
      #expect(JSONWebToken(told) != nil, "\(audience): \(told)")
    }
    let others = [
      "http://evil.example/oauth2/token", "http://chat.example/oauth2/token", "/oauth2/token",
      "https://localhost:9001/oauth2/token", "ftp://localhost:9000/oauth2/token",
      "http://evil.example/localhost:9000/oauth2/token", "https://chat.example/x",
      "http://chat.internal@evil.example/oauth2/token",
    ]
    for audience in others {
      let told = try outcome(made, made.assertion(["aud": .string(audience)]))
      #expect(told.contains("another audience"), "\(audience): \(told)")
    }
    // Accounts of before do not know what their key files say.
    let text = String(decoding: made.accounts.bytes, as: UTF8.self)
      .replacing("\"token_uri\":", with: "\"other\":")
    let old = try ServiceAccounts(parsing: Array(text.utf8), from: "old")
    let token = try #require(
      JSONWebToken(made.assertion(["aud": "http://old.example/oauth2/token"])))
    #expect(try old.accessToken(for: token, at: [], now: ServiceAccountTests.now) != nil)
  }

  @Test func theFileKeepsAccounts() throws {
    let made = try Made()
    let file = FileManager.default.temporaryDirectory.path + "/accounts-\(UUID().uuidString)"
    try made.accounts.write(to: file)
    var status = stat()
    #expect(stat(file, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(!text.contains("PRIVATE"))
    let read = try ServiceAccounts(file: file)
    #expect(read.all == made.accounts.all)
    let token = try #require(JSONWebToken(outcome(made, made.assertion())))
    #expect(read.haveSigned(token))
    try Data("{}".utf8).write(to: URL(fileURLWithPath: file))
    #expect(throws: ServerError.self) { try ServiceAccounts(file: file) }
    try FileManager.default.removeItem(atPath: file)
  }

  @Test(arguments: ["", "A", "a b", "a@b", String(repeating: "a", count: 64)])
  func namesAreThoseOfDatabases(name: String) throws {
    var accounts = try ServiceAccounts(file: "/nowhere")
    #expect(throws: ServerError.self) {
      try accounts.add(name, for: "a.db", server: "http://localhost", now: 0)
    }
  }

  @Test func formsAreRead() {
    #expect(
      FormText.members(of: Array("a=b+c%2F&d=&e&a=x".utf8)) == ["a": "b c/", "d": "", "e": ""])
    for text in ["a=%", "a=%2", "a=%zz", "a=%ff"] {
      #expect(FormText.members(of: Array(text.utf8)) == nil, "\(text)")
    }
  }

  /// Files without which a server runs are not told as loaded when all are read again.
  @Test func aFileThatIsNotThereIsNotLoaded() async throws {
    let told = Mutex("")
    let log = try LogLines { bytes in
      told.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
    }
    try await TestServer.$log.withValue(log) {
      try await withServer { server in
        try Made().accounts.write(to: ServiceAccounts.file(beside: server.file))
        await server.server.reloadFiles()
      }
    }
    log.flush()
    let text = told.withLock { $0 }
    #expect(text.contains("test.secrets.json is not there"), "\(text)")
    #expect(text.contains("test.service-accounts.json was loaded"), "\(text)")
  }

  // MARK: Over HTTP

  private static let form = ["Content-Type": "application/x-www-form-urlencoded"]

  private func post(
    _ server: TestServer, grant: String = "urn:ietf:params:oauth:grant-type:jwt-bearer",
    _ assertion: String
  ) throws -> RawClient.Answer {
    let grant = grant.replacing(":", with: "%3A")
    return try server.request(
      "POST", "/oauth2/token", "grant_type=\(grant)&assertion=\(assertion)",
      headers: ServiceAccountTests.form)
  }

  /// Runs a test with a server and an account, whose assertions are valid now.
  private func withAccount(
    _ body: (TestServer, _ assertion: String) async throws -> Void
  ) async throws {
    try await withServer(rules: "{\"rules\":{}}") { _ in
    } _: { server in
      let made = try Made()
      try made.accounts.write(to: ServiceAccounts.file(beside: server.file))
      await server.server.reloadFiles()
      let now = Int64(ServerWorld.calendar / 1000)
      let assertion = try made.assertion([
        "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(now + 3600)),
      ])
      try await body(server, assertion)
    }
  }

  @Test func anAdminSDKGetsATokenAndUsesIt() async throws {
    try await withAccount { server, assertion in
      let answer = try post(server, assertion)
      #expect(answer.status == 200)
      #expect(answer.headers["cache-control"] == "no-store")
      let json = try JSONValue(parsing: answer.body)
      #expect(json["token_type"] == "Bearer")
      #expect(json["expires_in"] == 3600)
      let token = try #require(json["access_token"]?.string)
      let bearer = ["Authorization": "Bearer \(token)"]
      #expect(try server.request("PUT", "/a.json", "1", headers: bearer).status == 200)
      #expect(try server.request("GET", "/a.json?access_token=\(token)").body == "1")
      #expect(try server.request("GET", "/a.json").status == 401)
      let override = "/a.json?auth_variable_override=null"
      #expect(try server.request("GET", override, headers: bearer).status == 401)
      let socket = try server.socket()
      #expect(try socket.status(1, "gauth", "{\"cred\":\"\(token)\"}") == "ok")
      #expect(try socket.status(2, "p", "{\"p\":\"/a\",\"d\":2}") == "ok")
      let asAna = "{\"cred\":\"\(token)\",\"authvar\":{\"uid\":\"ana\"}}"
      #expect(try socket.status(3, "gauth", asAna) == "ok")
      #expect(try socket.status(4, "p", "{\"p\":\"/a\",\"d\":3}") == "permission_denied")
    }
  }

  private func error(_ answer: RawClient.Answer) throws -> String {
    try "\(answer.status) " + (JSONValue(parsing: answer.body)["error"]?.string ?? "")
  }

  @Test func badTokenRequestsGetOAuthErrors() async throws {
    try await withAccount { server, assertion in
      let other = try Made().assertion()
      #expect(try error(post(server, grant: "password", assertion)) == "400 unsupported_grant_type")
      #expect(try error(post(server, "x")) == "400 invalid_request")
      #expect(try error(post(server, assertion.dropLast(8) + "AAAAAAAA")) == "400 invalid_grant")
      #expect(try error(post(server, other)) == "400 invalid_grant")
      #expect(try error(server.request("GET", "/oauth2/token")) == "405 invalid_request")
      let large = String(repeating: "x", count: 70_000)
      #expect(try error(post(server, large)) == "413 invalid_request")
      #expect(try error(server.request("POST", "/oauth2/token", "%")) == "400 invalid_request")
    }
  }

  /// The link is refused then, with the reason, and does not try again and again.
  @Test func theKeyOfARemovedAccountIsRefused() async throws {
    try await withServer { server in
      var accounts = try ServiceAccounts(file: "/nowhere")
      let added = try #require(
        try accounts.add(
          "ci", for: "/data/chat.db", server: "http://localhost:\(server.port)",
          now: ServiceAccountTests.now))
      let key = try ServiceAccountKey(JSONValue(parsing: added))
      let access = OriginAccess.serviceAccount(key, by: WebClient(userAgent: "test"))
      #expect(access.title == "service account ci")
      let provider = try #require(access.provider)
      let error = await #expect(throws: NoCredential.self) { try await provider(false) }
      #expect(error?.description.contains("gave no token to ci@") == true)
    }
  }

  @Test func revokedCredentialsEndTheirConnections() async throws {
    try await withAccount { server, assertion in
      let token = try #require(
        JSONValue(parsing: post(server, assertion).body)["access_token"]?.string)
      let socket = try server.socket()
      #expect(try socket.status(1, "gauth", "{\"cred\":\"\(token)\"}") == "ok")
      #expect(try socket.status(2, "q", "{\"p\":\"/a\",\"h\":\"\"}") == "ok")
      let stream = try server.client()
      try stream.sendRequest(
        "GET", "/a.json?access_token=\(token)", headers: ["Accept": "text/event-stream"])
      #expect(try stream.readHead().status == 200)
      let secret = try server.client()
      let file = ServiceAccounts.file(beside: server.file)
      var accounts = try ServiceAccounts(file: file)
      let isRemoved = accounts.remove("ci")
      #expect(isRemoved)
      try accounts.write(to: file)
      await server.server.reloadFiles()
      let reason = "Auth token was taken back: sign in again, or use another token"
      #expect(
        try socket.nextText() == #"{"a":"ac","b":{"s":"invalid_token","d":"\#(reason)"}}"#)
      #expect(try socket.next()["a"] == "c")
      var lines: [String] = []
      while lines.last != "event: auth_revoked" { lines.append(try stream.readLine()) }
      #expect(try secret.request("GET", "/a.json?access_token=\(token)").status == 401)
      let answer = try post(server, assertion)
      #expect(answer.status == 400)
    }
  }
}
