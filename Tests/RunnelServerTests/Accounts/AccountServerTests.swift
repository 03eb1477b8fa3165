import Crypto
import CryptoExtras
import Foundation
import Logging
import RunnelBase
import RunnelDatabase
import RunnelIdentity
@testable import RunnelServer
import RunnelTree
import TestSupport
import Testing

/// The accounts of a server, over sockets.
///
/// Source: authentication.
@Suite struct AccountServerTests {
  private static let rules = """
    {"rules":{"u":{"$id":{".read":"$id === auth.uid",".write":"$id === auth.uid"}},
    "v":{".read":"auth.token.email_verified === true"},
    "p":{".read":"auth.provider === 'password' && auth.token.email === 'ada@x.org'"},
    "a":{".read":"auth.token.role === 'admin'"}}}
    """

  @Test func aUserSignsUpAndUsesTheDatabaseUnderRules() async throws {
    try await withAccounts(rules: Self.rules) { server in
      let user = try server.signUp()
      #expect(user.status == 200)
      let (id, token) = (user.text("localId"), user.text("idToken"))
      #expect(token.split(separator: ".").count == 3)
      #expect(try server.request("PUT", "/u/\(id)/x.json?auth=\(token)", "1").status == 200)
      #expect(try server.request("PUT", "/u/other.json?auth=\(token)", "1").status == 401)
      #expect(try server.request("GET", "/p.json?auth=\(token)").status == 200)
      #expect(try server.request("GET", "/v.json?auth=\(token)").status == 401)
      #expect(try server.request("GET", "/p.json").status == 401)
      // Another signature is none.
      let forged = token.dropLast(4) + "AAAA"
      #expect(try server.request("GET", "/p.json?auth=\(forged)").status == 401)
      let unsigned = try #require(JSONWebToken(token))
      let bare =
        Base64URL.text(Array(#"{"alg":"none","typ":"JWT"}"#.utf8)) + "."
        + Base64URL.text(unsigned.claims.jsonBytes()) + "."
      #expect(try server.request("GET", "/p.json?auth=\(bare)").status == 401)
      #expect(try server.accounts("lookup", #"{"idToken":"\#(bare)"}"#).error == "INVALID_ID_TOKEN")
    }
  }

  @Test func aWebClientsCallsAreAnswered() async throws {
    try await withAccounts(isEmulator: true) { server in
      let made = try server.accounts(
        "signUp",
        #"{"email":"Ada@X.org","password":"secret1","returnSecureToken":true,"clientType":"CLIENT_TYPE_WEB"}"#
      )
      #expect(made.text("kind") == "identitytoolkit#SignupNewUserResponse")
      #expect(made.text("expiresIn") == "3600")
      #expect(made.text("idToken").hasSuffix("."))
      let found = try server.accounts("lookup", #"{"idToken":"\#(made.text("idToken"))"}"#)
      #expect(found.body["users"]?[0]?["email"] == "ada@x.org")
      #expect(try server.signUp("ada@x.org", "secret1").error == "EMAIL_EXISTS")
      #expect(try server.signIn("ada@x.org", "wrong").error == "INVALID_PASSWORD")
      #expect(try server.signIn("no@x.org", "x").error == "EMAIL_NOT_FOUND")
      let answer = try server.request(
        "POST", "/securetoken.googleapis.com/v1/token?key=k",
        "grant_type=refresh_token&refresh_token=\(made.text("refreshToken"))",
        headers: ["Content-Type": "application/x-www-form-urlencoded"])
      let refreshed = try json(answer.body)
      #expect(refreshed["user_id"]?.string == made.text("localId"))
      #expect(refreshed["token_type"] == "Bearer")
      let sent = try server.accounts(
        "sendOobCode", #"{"requestType":"PASSWORD_RESET","email":"ada@x.org"}"#)
      #expect(sent.status == 200)
      let codes = try server.api("GET", "/emulator/v1/projects/demo/oobCodes").body["oobCodes"]
      let code = codes?[0]?["oobCode"]?.string ?? ""
      let reset = try server.accounts(
        "resetPassword", #"{"oobCode":"\#(code)","newPassword":"again3"}"#)
      #expect(reset.text("requestType") == "PASSWORD_RESET")
      #expect(try server.signIn("ada@x.org", "again3").status == 200)
      // The emulator's own tokens are accepted by the database, as all are.
      let token = made.text("idToken")
      #expect(try server.request("PUT", "/x.json?auth=\(token)", "1").status == 200)
      let ready = try server.api("GET", "/").body
      #expect(ready["authEmulator"]?["ready"] == true)
      #expect(try server.api("DELETE", "/emulator/v1/projects/demo/accounts", "{}").status == 200)
      #expect(try server.signIn("ada@x.org", "again3").error == "EMAIL_NOT_FOUND")
      let config = try server.api(
        "PATCH", "/emulator/v1/projects/demo/config",
        #"{"emailPrivacyConfig":{"enableImprovedEmailPrivacy":true}}"#)
      #expect(config.body["emailPrivacyConfig"]?["enableImprovedEmailPrivacy"] == true)
      #expect(try server.signIn("no@x.org", "x").error == "INVALID_LOGIN_CREDENTIALS")
    }
  }

  @Test func aPythonClientsOldPathsAreAnswered() async throws {
    try await withAccounts(isEmulator: true) { server in
      let base = "/www.googleapis.com/identitytoolkit/v3/relyingparty/"
      let made = try server.api(
        "POST", base + "signupNewUser?key=k",
        #"{"email":"b@x.org","password":"secret1","returnSecureToken":true}"#)
      #expect(made.status == 200)
      let signed = try server.api(
        "POST", base + "verifyPassword?key=k",
        #"{"email":"b@x.org","password":"secret1","returnSecureToken":true}"#)
      #expect(signed.body["registered"] == true)
      let info = try server.api(
        "POST", base + "getAccountInfo?key=k", #"{"idToken":"\#(signed.text("idToken"))"}"#)
      #expect(info.body["users"]?[0]?["email"] == "b@x.org")
      let refreshed = try server.api(
        "POST", "/securetoken.googleapis.com/v1/token?key=k",
        #"{"grantType":"refresh_token","refreshToken":"\#(signed.text("refreshToken"))"}"#)
      #expect(refreshed.text("user_id") == made.text("localId"))
    }
  }

  @Test func requestsWithoutAKeyOrWithABadCredentialAreRefused() async throws {
    try await withAccounts { server in
      let path = "/v1/accounts:signUp"
      #expect(try server.api("POST", path, "{}").status == 403)
      #expect(try server.api("POST", path + "?key=k", "{}", "owner").status == 401)
      #expect(try server.administration(":lookup", bearer: nil).status == 401)
      #expect(try server.administration(":lookup", bearer: "owner").status == 401)
      #expect(try server.api("POST", "/v1/accounts:nothing?key=k", "{}").status == 404)
      #expect(try server.api("POST", "/v1/accounts:signInWithIdp?key=k", "{}").status == 501)
      #expect(
        try server.api("POST", path + "?key=k", "{").error?.hasPrefix("Invalid JSON") == true)
      let large = "{\"email\":\"" + String(repeating: "x", count: 70_000) + "\"}"
      #expect(try server.api("POST", path + "?key=k", large).status == 413)
      // Only an emulator can be wiped.
      #expect(try server.api("DELETE", "/emulator/v1/projects/demo/accounts").status == 404)
      let key = try server.request(
        "POST", path, "{}", headers: ["x-goog-api-key": "k", "Content-Type": "application/json"])
      #expect(key.status == 200)
    }
  }

  @Test func pagesOfOtherOriginsMaySendRequests() async throws {
    try await withAccounts { server in
      let answer = try server.request(
        "OPTIONS", "/v1/accounts:signUp?key=k", nil,
        headers: [
          "Origin": "https://app.example", "Access-Control-Request-Method": "POST",
          "Access-Control-Request-Headers": "content-type,x-client-version",
        ])
      #expect(answer.status == 204)
      #expect(answer.headers["access-control-allow-origin"] == "https://app.example")
      #expect(answer.headers["access-control-allow-headers"] == "content-type,x-client-version")
    }
  }

  @Test func theFileIsPrivateAndNeverServed() async throws {
    try await withAccounts { server in
      _ = try server.signUp()
      let attributes = try FileManager.default.attributesOfItem(atPath: server.accountsFile)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      for suffix in ["-wal", "-shm"] {
        let more = try FileManager.default.attributesOfItem(atPath: server.accountsFile + suffix)
        #expect(more[.posixPermissions] as? Int == 0o600, "\(suffix)")
      }
      #expect(throws: ServerError.self) {
        try ServedDatabase(
          name: "accounts",
          place: .file(
            server.accountsFile, RulesFile(path: server.folder + "/none.json", isNamed: false)),
          allowance: TreeAllowance(
            limits: ServedTreeLimits(), readBytesMax: 1000,
            metrics: ServerMetrics(PrometheusMetrics())),
          logger: .init(label: "test"), metrics: ServerMetrics(PrometheusMetrics()),
          reads: TreeExecutor(label: "reads"), calendar: { 0 })
      }
      // Nothing secret can be read in the file.
      let bytes =
        try Data(contentsOf: URL(fileURLWithPath: server.accountsFile))
        + Data(contentsOf: URL(fileURLWithPath: server.accountsFile + "-wal"))
      #expect(bytes.firstRange(of: Data("ada@x.org".utf8)) != nil)
      #expect(bytes.firstRange(of: Data("secret123".utf8)) == nil)
    }
  }

  @Test func anotherDatabaseIsNoAccountsFile() async throws {
    await #expect(throws: ServerError.self) {
      try await withServer {
        $0.addAccounts()
        try? OtherProcess.write(["chat": 1], to: $0.folder + "/accounts.db")
      } _: { _ in
      }
    }
  }

  @Test func accountsOutliveARestart() async throws {
    let first = try await TestServer { $0.addAccounts() }
    let user = try first.signUp()
    let token = user.text("idToken")
    await first.stop()
    let second = try await TestServer(in: first.folder) { $0.addAccounts() }
    #expect(try second.accounts("lookup", #"{"idToken":"\#(token)"}"#).status == 200)
    let refreshed = try second.api(
      "POST", "/v1/token?key=k",
      #"{"grantType":"refresh_token","refreshToken":"\#(user.text("refreshToken"))"}"#)
    #expect(refreshed.status == 200)
    #expect(try second.signIn().text("localId") == user.text("localId"))
    await second.stop()
    withExtendedLifetime(first) {}
  }

  // MARK: Tokens

  @Test func tokensAreVerifiedByThePublishedKeys() async throws {
    try await withAccounts { server in
      let token = try #require(JSONWebToken(try server.signUp().text("idToken")))
      #expect(token.algorithm == "ES256")
      #expect(token.text("iss") == "https://id.example")
      #expect(token.text("aud") == "demo")
      let answer = try server.request("GET", "/.well-known/jwks.json")
      #expect(answer.headers["cache-control"] == "public, max-age=3600")
      let keys = try SigningKeys(parsing: Array(answer.body.utf8), from: "the server")
      #expect(keys.haveSigned(token))
    }
  }

  @Test func keysRotateAndOldTokensStayValid() async throws {
    let clock = MovedClock()
    try await withAccounts(rules: Self.rules, clock: clock) { server in
      let day: Int64 = 86_400_000
      let first = try server.signUp()
      func keyID(_ reply: AccountReply) -> String? {
        JSONWebToken(reply.text("idToken"))?.keyID
      }
      func published() throws -> Int {
        try json(server.request("GET", "/.well-known/jwks.json").body)["keys"]?.array?.count ?? 0
      }
      #expect(try published() == 1)
      clock.move(30 * day)
      await server.server.takeCareOfAccounts()
      #expect(try published() == 2)
      let before = try server.signIn()
      #expect(keyID(before) == keyID(first))
      clock.move(day)
      let after = try server.signIn()
      #expect(keyID(after) != keyID(first))
      let id = after.text("localId")
      for reply in [after] {
        #expect(
          try server.request("GET", "/u/\(id).json?auth=\(reply.text("idToken"))").status == 200)
      }
      clock.move(16 * day)
      await server.server.takeCareOfAccounts()
      #expect(try published() == 1)
    }
  }

  @Test func signingOutEverywhereEndsLiveListens() async throws {
    try await withAccounts(rules: Self.rules) { server in
      let secret = try await server.administratorSecret()
      let user = try server.signUp()
      let other = try server.signUp("bob@x.org")
      let (id, token) = (user.text("localId"), user.text("idToken"))
      let socket = try server.socket()
      #expect(try socket.status(1, "auth", "{\"cred\":\"\(token)\"}") == "ok")
      #expect(try socket.status(2, "q", "{\"p\":\"/u/\(id)\",\"h\":\"\"}") == "ok")
      let otherSocket = try server.socket()
      #expect(try otherSocket.status(1, "auth", "{\"cred\":\"\(other.text("idToken"))\"}") == "ok")
      let stream = try server.client()
      try stream.sendRequest(
        "GET", "/u/\(id).json?auth=\(token)", headers: ["Accept": "text/event-stream"])
      _ = try stream.readHead()
      _ = try stream.readEvent()
      let since = IdentityTime.seconds(ServerWorld.calendar) + 1
      let ended = try server.administration(
        ":update", #"{"localId":"\#(id)","validSince":"\#(since)"}"#, bearer: secret)
      #expect(ended.status == 200)
      #expect(try socket.next()["a"] == "ac")
      #expect(try socket.next()["a"] == "c")
      #expect(try stream.readEvent().name == "auth_revoked")
      #expect(try server.request("GET", "/u/\(id).json?auth=\(token)").status == 401)
      let otherID = other.text("localId")
      #expect(
        try otherSocket.status(2, "p", "{\"p\":\"/u/\(otherID)/x\",\"d\":1}") == "ok")
    }
  }

  @Test(arguments: ["disable", "delete", "password"])
  func otherEndsOfTokensEndAccessToo(way: String) async throws {
    try await withAccounts(rules: Self.rules) { server in
      let secret = try await server.administratorSecret()
      let user = try server.signUp()
      let (id, token) = (user.text("localId"), user.text("idToken"))
      #expect(try server.request("GET", "/u/\(id).json?auth=\(token)").status == 200)
      let reply =
        switch way {
        case "disable":
          try server.administration(
            ":update", #"{"localId":"\#(id)","disableUser":true}"#, bearer: secret)
        case "delete":
          try server.administration(":delete", #"{"localId":"\#(id)"}"#, bearer: secret)
        default:
          // A token of the same second ends too.
          try server.accounts("update", #"{"idToken":"\#(token)","password":"other-pass"}"#)
        }
      #expect(reply.status == 200)
      #expect(try server.request("GET", "/u/\(id).json?auth=\(token)").status == 401)
      if way == "password" {
        let fresh = reply.text("idToken")
        #expect(try server.request("GET", "/u/\(id).json?auth=\(fresh)").status == 200)
      }
    }
  }

  @Test func whoIsEnabledAgainSignsInWithinTheSecond() async throws {
    let clock = MovedClock(start: ServerWorld.calendar)
    try await withAccounts(rules: Self.rules, clock: clock) { server in
      let secret = try await server.administratorSecret()
      let user = try server.signUp()
      let (id, token) = (user.text("localId"), user.text("idToken"))
      for isDisabled in [true, false] {
        let reply = try server.administration(
          ":update", #"{"localId":"\#(id)","disableUser":\#(isDisabled)}"#, bearer: secret)
        #expect(reply.status == 200)
      }
      let fresh = try server.signIn().text("idToken")
      #expect(try server.request("GET", "/u/\(id).json?auth=\(fresh)").status == 200)
      #expect(try server.request("GET", "/u/\(id).json?auth=\(token)").status == 401)
    }
  }

  @Test func servicesSayThatATokenWasTakenBack() async throws {
    let offer = { (configuration: inout ServerConfiguration) in
      configuration.services.collections = ["u"].compactMap { try? ServedCollection($0) }
    }
    try await withAccounts(rules: Self.rules, offer) { server in
      let secret = try await server.administratorSecret()
      let user = try server.signUp()
      let id = user.text("localId")
      let headers = ["Authorization": "Bearer \(user.text("idToken"))"]
      #expect(try server.request("GET", "/u/none", nil, headers: headers).status != 401)
      let reply = try server.administration(
        ":update", #"{"localId":"\#(id)","disableUser":true}"#, bearer: secret)
      #expect(reply.status == 200)
      let refused = try server.request("GET", "/u/none", nil, headers: headers)
      #expect(refused.status == 401 && refused.body.contains("jwt revoked"), "\(refused.body)")
    }
  }

  @Test func anotherProcessEndsTokens() async throws {
    try await withAccounts(rules: Self.rules) { server in
      let user = try server.signUp()
      let (id, token) = (user.text("localId"), user.text("idToken"))
      let socket = try server.socket()
      #expect(try socket.status(1, "auth", "{\"cred\":\"\(token)\"}") == "ok")
      let end = IdentityTime.seconds(ServerWorld.calendar) + 1
      let session = try DatabaseSession(file: server.accountsFile, environment: .system)
      _ = try session.write(
        .set(AccountPlaces.path(AccountPlaces.revocations, id), .number(JSONNumber(end))))
      try session.close()
      #expect(try socket.next()["a"] == "ac")
    }
  }

  @Test func tokensExpireForTheDatabaseToo() async throws {
    let clock = MovedClock()
    try await withAccounts(rules: Self.rules, clock: clock) { server in
      let user = try server.signUp()
      let (id, token) = (user.text("localId"), user.text("idToken"))
      let path = "/u/\(id).json?auth=\(token)"
      #expect(try server.request("GET", path).status == 200)
      clock.move(3_600_000)
      #expect(try server.request("GET", path).body == #"{"error":"Auth token is expired"}"#)
    }
  }

  // MARK: Administrators

  @Test func aServiceAccountAdministersAccountsAndDatabases() async throws {
    try await withAccounts(rules: Self.rules) { server in
      let file = ServiceAccounts.file(beside: server.accountsFile)
      var known = try ServiceAccounts(file: file)
      let made = try known.add(
        "backend", for: server.accountsFile, server: "http://localhost", now: 0)
      let keyFile = try json(String(decoding: #require(made), as: UTF8.self))
      try known.write(to: file)
      await server.server.reloadFiles()
      let key = try _RSA.Signing.PrivateKey(
        pemRepresentation: keyFile["private_key"]?.string ?? "")
      let email = keyFile["client_email"]?.string ?? ""
      let now = ServerWorld.calendar / 1000
      let assertion = try TestTokens.signed(
        by: key,
        [
          "iss": .string(email), "aud": "https://oauth2.googleapis.com/token",
          "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(now + 600)),
        ], keyID: keyFile["private_key_id"]?.string ?? "")
      let answer = try server.request(
        "POST", "/oauth2/token",
        "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=\(assertion)")
      let access = try json(answer.body)["access_token"]?.string ?? ""
      let created = try server.administration(
        "", #"{"localId":"u1","email":"u1@x.org","password":"secret123"}"#, bearer: access)
      #expect(created.text("localId") == "u1")
      #expect(try server.request("PUT", "/free.json?access_token=\(access)", "1").status == 200)
      // It signs a token for a user, who gets the claims.
      func signIn(seconds: Int64) throws -> AccountReply {
        let custom = try TestTokens.signed(
          by: key,
          [
            "iss": .string(email), "sub": .string(email), "uid": "u1",
            "aud":
              "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit",
            "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(now + seconds)),
            "claims": ["role": "admin"],
          ])
        return try server.accounts("signInWithCustomToken", #"{"token":"\#(custom)"}"#)
      }
      #expect(
        try signIn(seconds: 3601).error
          == "INVALID_CUSTOM_TOKEN : The token is valid for more than an hour")
      let signed = try signIn(seconds: 3600)
      #expect(signed.body["isNewUser"] == false)
      #expect(
        try server.request("GET", "/a.json?auth=\(signed.text("idToken"))").status == 200)
      let forged = try TestTokens.signed(
        by: _RSA.Signing.PrivateKey(keySize: .bits2048), ["iss": .string(email), "uid": "u1"])
      #expect(
        try server.accounts("signInWithCustomToken", #"{"token":"\#(forged)"}"#).error
          == "INVALID_CUSTOM_TOKEN : No service account of this server has signed the token")
    }
  }

  // MARK: Mails

  @Test func aPasswordIsResetByAMailedCode() async throws {
    try await withAccounts { server in
      _ = try server.signUp()
      let body = #"{"requestType":"PASSWORD_RESET","email":"ada@x.org"}"#
      #expect(try server.accounts("sendOobCode", body).status == 200)
      let mails = try await server.mails(count: 1)
      #expect(mails[0].contains("To: <ada@x.org>"))
      #expect(mails[0].contains("https://id.example/.accounts/action?mode=resetPassword"))
      let code = server.code(in: mails[0])
      let reset = try server.accounts(
        "resetPassword", #"{"oobCode":"\#(code)","newPassword":"again-3-4"}"#)
      #expect(reset.status == 200)
      #expect(try server.signIn("ada@x.org", "again-3-4").status == 200)
      #expect(try server.signIn().error == "INVALID_LOGIN_CREDENTIALS")
      // Nobody learns that an address is unknown.
      let unknown = #"{"requestType":"PASSWORD_RESET","email":"no@x.org"}"#
      #expect(try server.accounts("sendOobCode", unknown).status == 200)
      #expect(try server.mails().count == 1)
    }
  }

  // MARK: Deleting

  @Test func nothingOfADeletedAccountStaysInTheFiles() async throws {
    try await withAccounts { server in
      func holds(_ text: String) throws -> Bool {
        try ["", "-wal"].contains { suffix in
          let path = server.accountsFile + suffix
          guard FileManager.default.fileExists(atPath: path) else { return false }
          let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
          return bytes.range(of: Data(text.utf8)) != nil
        }
      }
      let user = try server.signUp("gone.for.ever@x.org", "secret-1-2")
      _ = try server.signUp("stays@x.org", "secret-1-2")
      #expect(try holds("gone.for.ever@x.org"))
      let body = #"{"idToken":"\#(user.text("idToken"))"}"#
      #expect(try server.accounts("delete", body).status == 200)
      #expect(try !holds("gone.for.ever@x.org"))
      #expect(try holds("stays@x.org"))
      #expect(try server.signIn("stays@x.org", "secret-1-2").status == 200)
      #expect(try server.signUp("next@x.org", "secret-1-2").status == 200)
    }
  }

  // MARK: Limits

  @Test func whoGuessesPasswordsHasToWait() async throws {
    let clock = MovedClock()
    try await withAccounts(clock: clock) { server in
      _ = try server.signUp()
      for _ in 0..<5 {
        #expect(try server.signIn("ada@x.org", "guess").error == "INVALID_LOGIN_CREDENTIALS")
      }
      let locked = try server.signIn()
      #expect(
        locked.error
          == "TOO_MANY_ATTEMPTS_TRY_LATER : Too many attempts: try again in 1 second")
      #expect(locked.status == 400)
      // An unknown address is no different.
      for _ in 0..<5 {
        #expect(try server.signIn("no@x.org", "guess").error == "INVALID_LOGIN_CREDENTIALS")
      }
      #expect(
        try server.signIn("no@x.org", "guess").error?.hasPrefix("TOO_MANY_ATTEMPTS") == true)
      clock.move(2000)
      #expect(try server.signIn().status == 200)
    }
  }

  @Test func anEmulatorLimitsNothing() async throws {
    try await withAccounts(isEmulator: true) { server in
      _ = try server.signUp()
      for _ in 0..<30 { #expect(try server.signIn("ada@x.org", "x").error == "INVALID_PASSWORD") }
      #expect(try server.signIn().status == 200)
    }
  }
}
