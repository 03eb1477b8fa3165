import RunnelBase
import RunnelIdentity
import Testing

// Source: authentication, section 6.

@Suite struct AdministratorTests {
  private func admin(
    _ identity: TestIdentity, _ operation: IdentityOperation, _ body: JSONValue = .object([])
  ) throws(IdentityError) -> JSONValue {
    try identity.ask(operation, body, isPrivileged: true)
  }

  private func refusal(
    _ identity: TestIdentity, _ operation: IdentityOperation, _ body: JSONValue = .object([])
  ) -> String? {
    identity.refusal(operation, body, isPrivileged: true)
  }

  @Test func anAccountIsMade() throws {
    let identity = TestIdentity()
    let body: JSONValue = ["localId": "u1", "email": "U1@x.org", "password": "secret123"]
    #expect(
      try admin(identity, .create, body) == [
        "kind": "identitytoolkit#SignupNewUserResponse", "localId": "u1", "email": "u1@x.org",
      ])
    #expect(refusal(identity, .create, body) == "DUPLICATE_LOCAL_ID")
    #expect(refusal(identity, .create, ["email": "u1@x.org"]) == "EMAIL_EXISTS")
    #expect(
      refusal(identity, .create, ["phoneNumber": "5"]) == "INVALID_PHONE_NUMBER : Invalid format.")
    _ = try admin(identity, .create, ["phoneNumber": "+15550100"])
    #expect(refusal(identity, .create, ["phoneNumber": "+15550100"]) == "PHONE_NUMBER_EXISTS")
    // The path of clients does the same for an administrator.
    #expect(try admin(identity, .signUp, ["email": "b@x.org"])["idToken"] == nil)
    _ = try identity.signIn("u1@x.org")
  }

  @Test func accountsAreFound() throws {
    let identity = TestIdentity()
    for name in ["a", "b", "c"] {
      _ = try admin(
        identity, .create, ["localId": .string(name), "email": .string(name + "@x.org")])
    }
    let found = try admin(
      identity, .lookup, ["localId": ["a", "no"], "email": ["B@x.org", "a@x.org"]])
    #expect(found["users"]?.array?.map { $0.text("localId") } == ["a", "b"])
    #expect(
      try admin(identity, .lookup, ["localId": ["nope"]])
        == ["kind": "identitytoolkit#GetAccountInfoResponse"])
    let page = try admin(identity, .batchGet, ["maxResults": "2"])
    #expect(page["users"]?.array?.map { $0.text("localId") } == ["a", "b"])
    #expect(page.text("nextPageToken") == "b")
    let last = try admin(identity, .batchGet, ["maxResults": "2", "nextPageToken": "b"])
    #expect(last["users"]?.array?.count == 1)
    #expect(last["nextPageToken"] == nil)
    #expect(try admin(identity, .query)["recordsCount"] == "3")
    #expect(try admin(identity, .query, ["returnUserInfo": false])["userInfo"] == nil)
  }

  @Test func anAccountIsChanged() throws {
    let identity = TestIdentity()
    _ = try admin(identity, .create, ["localId": "u", "email": "u@x.org", "password": "secret123"])
    let user = try identity.signIn("u@x.org")
    identity.now += 2000
    _ = try admin(
      identity, .update,
      ["localId": "u", "customAttributes": #"{"role":"admin"}"#, "emailVerified": true])
    let claims = try identity.signIn("u@x.org").claims
    #expect(claims["role"] == "admin")
    #expect(claims["email_verified"] == true)
    // Claims alone end no session.
    #expect(identity.refusal(.lookup, ["idToken": .string(user.text("idToken"))]) == nil)
    #expect(refusal(identity, .update, ["localId": "no"]) == "USER_NOT_FOUND")
    #expect(refusal(identity, .update) == "MISSING_LOCAL_ID")
    for (text, message) in [
      ("{", "INVALID_CLAIMS"), ("[]", "INVALID_CLAIMS"), (#"{"sub":1}"#, "FORBIDDEN_CLAIM : sub"),
      (#"{"email":"x@x.org"}"#, "FORBIDDEN_CLAIM : email"),
      (#"{"name":"X"}"#, "FORBIDDEN_CLAIM : name"),
      (#"{"a":""# + String(repeating: "x", count: 1000) + "\"}", "CLAIMS_TOO_LARGE"),
    ] {
      let body: JSONValue = ["localId": "u", "customAttributes": .string(text)]
      #expect(refusal(identity, .update, body) == message)
    }
  }

  @Test func aDisabledAccountCannotBeUsed() throws {
    let identity = TestIdentity()
    let user = try identity.signUp()
    let (id, token) = (user.text("localId"), JSONValue.string(user.text("idToken")))
    _ = try admin(identity, .update, ["localId": .string(id), "disableUser": true])
    #expect(identity.refusal(.lookup, ["idToken": token]) == "USER_DISABLED")
    #expect(
      identity.refusal(
        .refresh,
        ["grantType": "refresh_token", "refreshToken": .string(user.text("refreshToken"))])
        == "USER_DISABLED")
    #expect(identity.store.ends[id]?.second == 1_750_000_001)
    // An older end of its sessions gives nothing back.
    _ = try admin(identity, .update, ["localId": .string(id), "validSince": "5"])
    #expect(identity.store.ends[id]?.second == 1_750_000_001)
    _ = try admin(identity, .update, ["localId": .string(id), "validSince": "1750000000"])
    _ = try admin(identity, .update, ["localId": .string(id), "disableUser": false])
    // Its sessions were ended in the second of the token.
    #expect(identity.refusal(.lookup, ["idToken": token]) == "TOKEN_EXPIRED")
    #expect(identity.store.ends[id]?.second == 1_750_000_000)
  }

  /// A token tells the second of its issue, and a thief may get one in each.
  @Test(arguments: ["password", "validSince", "email", "own", "reset"])
  func aTokenOfTheSameSecondEndsToo(way: String) throws {
    let identity = TestIdentity()
    let user = try identity.signUp()
    let id = JSONValue.string(user.text("localId"))
    identity.now += 5200
    let stolen = try identity.ask(
      .refresh,
      ["grantType": "refresh_token", "refreshToken": .string(user.text("refreshToken"))])
    let token = JSONValue.string(stolen.text("id_token"))
    var own: JSONValue?
    identity.now += 100
    switch way {
    case "password":
      _ = try admin(identity, .update, ["localId": id, "password": "another-4-5"])
    case "validSince":
      _ = try admin(identity, .update, ["localId": id, "validSince": "1750000005"])
    case "email": _ = try admin(identity, .update, ["localId": id, "email": "b@x.org"])
    case "own":
      let signedIn = try identity.signIn()
      own = try identity.ask(
        .update,
        ["idToken": .string(signedIn.text("idToken")), "password": "another-4-5"])
    default:
      try identity.ask(
        .sendOobCode, ["requestType": "PASSWORD_RESET", "email": "ada@x.org"])
      try identity.ask(
        .resetPassword,
        ["oobCode": .string(identity.mailedCode), "newPassword": "another-4-5"])
    }
    #expect(identity.refusal(.lookup, ["idToken": token]) == "TOKEN_EXPIRED")
    guard let own else { return }
    #expect(identity.refusal(.lookup, ["idToken": .string(own.text("idToken"))]) == nil)
    let next = try identity.ask(
      .refresh,
      ["grantType": "refresh_token", "refreshToken": .string(own.text("refreshToken"))])
    #expect(identity.refusal(.lookup, ["idToken": .string(next.text("id_token"))]) == nil)
  }

  /// Who was locked out has to sign in again.
  @Test func anAccountThatIsEnabledAgainHasNoneOfItsSessions() throws {
    let identity = TestIdentity()
    let user = try identity.signUp()
    let id = JSONValue.string(user.text("localId"))
    identity.now += 5000
    _ = try admin(identity, .update, ["localId": id, "disableUser": true])
    identity.now += 5000
    _ = try admin(identity, .update, ["localId": id, "disableUser": false])
    #expect(
      identity.refusal(.lookup, ["idToken": .string(user.text("idToken"))]) == "TOKEN_EXPIRED")
    #expect(
      identity.refusal(
        .refresh,
        ["grantType": "refresh_token", "refreshToken": .string(user.text("refreshToken"))])
        == "INVALID_REFRESH_TOKEN")
    let again = try identity.signIn()
    #expect(
      identity.refusal(.lookup, ["idToken": .string(again.text("idToken"))]) == nil)
  }

  /// What is made here can be exported and imported.
  @Test(arguments: [false, true])
  func anIDThatNoKeyIsLikeIsRefused(isEmulator: Bool) throws {
    let identity = TestIdentity(isEmulator: isEmulator)
    let made = refusal(identity, .create, ["localId": "a/b", "email": "ada@x.org"])
    #expect(made?.hasPrefix("INVALID_LOCAL_ID") == true)
    let token = TestIdentity.token([
      "aud":
        "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit",
      "uid": "a.b",
    ])
    let signedIn = refusal(identity, .signInWithCustomToken, ["token": .string(token)])
    #expect(signedIn?.hasPrefix("INVALID_LOCAL_ID") == true)
    #expect(identity.store.accounts.isEmpty)
    // Who is here with such an id stays.
    identity.store.accounts["a.b"] = AccountRecord(id: "a.b")
    #expect(refusal(identity, .signInWithCustomToken, ["token": .string(token)]) == nil)
  }

  @Test func sessionsAreEnded() throws {
    let identity = TestIdentity()
    let user = try identity.signUp()
    identity.now += 5000
    _ = try admin(
      identity, .update,
      ["localId": .string(user.text("localId")), "validSince": "1750000005"])
    #expect(
      identity.refusal(.lookup, ["idToken": .string(user.text("idToken"))]) == "TOKEN_EXPIRED")
    #expect(
      identity.refusal(
        .refresh,
        ["grantType": "refresh_token", "refreshToken": .string(user.text("refreshToken"))])
        == "INVALID_REFRESH_TOKEN")
  }

  @Test func accountsAreDeletedTogether() throws {
    let identity = TestIdentity()
    for name in ["a", "b"] { _ = try admin(identity, .create, ["localId": .string(name)]) }
    _ = try admin(identity, .create, ["localId": "c", "disabled": true])
    let answer = try admin(identity, .batchDelete, ["localIds": ["a", "no", "c"]])
    #expect(
      answer["errors"] == [
        [
          "index": 0, "localId": "a",
          "message": "NOT_DISABLED : Disable the account before batch deletion.",
        ]
      ])
    #expect(identity.store.accounts.keys.sorted() == ["a", "b"])
    #expect(
      try admin(identity, .batchDelete, ["localIds": ["a", "b"], "force": true]) == .object([]))
    #expect(identity.store.accounts.isEmpty)
    #expect(refusal(identity, .batchDelete) == "LOCAL_ID_LIST_EXCEEDS_LIMIT")
    #expect(refusal(identity, .delete) == "MISSING_LOCAL_ID")
    #expect(refusal(identity, .delete, ["localId": "no"]) == "USER_NOT_FOUND")
  }

  @Test func accountsAreImported() throws {
    let identity = TestIdentity()
    let answer = try admin(
      identity, .batchCreate,
      [
        "hashAlgorithm": "HMAC_SHA256", "signerKey": "a2V5",
        "users": [
          [
            "localId": "a", "email": "A@x.org", "passwordHash": "MTIzNDU2Nzg5MDEy",
            "salt": "c2FsdA==",
            "customAttributes": "{\"x\":1}", "createdAt": "5",
            "providerUserInfo": [
              ["providerId": "google.com", "rawId": "g1"], ["providerId": "password"],
            ],
          ],
          ["email": "b@x.org"], ["localId": "c", "email": "a@x.org"],
          ["localId": "d", "passwordHash": "*"], ["localId": "e", "rawPassword": "secret123"],
        ],
      ])
    #expect(
      answer["error"] == [
        ["index": 1, "message": "MISSING_LOCAL_ID"], ["index": 2, "message": "DUPLICATE_EMAIL"],
        [
          "index": 3,
          "message": "INVALID_PASSWORD_HASH : The hash or the salt is not Base64",
        ],
      ])
    let record = try #require(identity.store.accounts["a"])
    #expect(record.email == "a@x.org")
    #expect(record.creationTime == 5)
    #expect(record.password?.function == .hmac(secret: Array("key".utf8), isSaltFirst: false))
    #expect(record.password?.salt == Array("salt".utf8))
    #expect(record.otherProviders.count == 1)
    #expect(identity.store.accounts["e"]?.password == identity.hash(of: "secret123"))
    #expect(refusal(identity, .batchCreate, ["users": []]) == "MISSING_USER_ACCOUNT")
  }

  @Test func claimsThatTellOfTheAccountItselfAreNotImported() throws {
    let users: JSONValue = [
      ["localId": "a", "customAttributes": #"{"email":"boss@x.org","email_verified":true}"#],
      ["localId": "b", "customAttributes": #"{"role":"editor"}"#],
    ]
    let identity = TestIdentity()
    let answer = try admin(identity, .batchCreate, ["users": users])
    #expect(answer["error"] == [["index": 0, "message": "FORBIDDEN_CLAIM : email"]])
    #expect(identity.store.accounts.keys.sorted() == ["b"])
    // An emulator takes them, as the official one does.
    let emulator = TestIdentity(isEmulator: true)
    #expect(try admin(emulator, .batchCreate, ["users": users])["error"] == nil)
  }

  /// Earlier versions took such claims.
  @Test func storedClaimsDoNotStandForTheNameOfAnAccount() throws {
    let identity = TestIdentity()
    _ = try admin(
      identity, .create, ["localId": "a", "email": "a@x.org", "password": "secret123"])
    identity.store.accounts["a"]?.customClaims = #"{"name":"Boss","role":"editor"}"#
    let claims = try identity.signIn("a@x.org").claims
    #expect(claims["role"] == "editor" && claims["name"] == nil)
  }

  @Test(arguments: ["SCRYPT", "HMAC_SHA256"])
  func hashesWithoutTheirKeyAreRefusedAsThat(name: String) throws {
    let answer = try admin(
      TestIdentity(), .batchCreate,
      [
        "hashAlgorithm": .string(name), "rounds": 8, "memoryCost": 14,
        "users": [["localId": "a", "passwordHash": "MTIzNDU2Nzg5MDEy", "salt": "c2FsdA=="]],
      ])
    let message = answer["error"]?[0]?["message"]?.string ?? ""
    #expect(message.hasPrefix("INVALID_PASSWORD_HASH : Hashes of \(name) need"))
  }

  @Test(arguments: [".", "#", "$", "/", "[", "]", "\n", "\u{7F}"])
  func idsThatNoKeyOfATreeIsLikeAreNotImported(character: String) throws {
    let identity = TestIdentity()
    let answer = try admin(
      identity, .batchCreate,
      ["users": [["localId": "ok"], ["localId": .string("a\(character)b")], ["localId": "ü -_%"]]])
    #expect(answer["error"]?.array?.count == 1)
    #expect(answer["error"]?[0]?["index"] == 1)
    #expect(answer["error"]?[0]?["message"]?.string?.hasPrefix("INVALID_LOCAL_ID : ") == true)
    #expect(identity.store.accounts.keys.sorted() == ["ok", "ü -_%"])
  }

  @Test func idsThatAreTooLongAreNotImported() throws {
    let identity = TestIdentity()
    let users: JSONValue = .array(
      [128, 129].map { ["localId": .string(String(repeating: "x", count: $0))] })
    let answer = try admin(identity, .batchCreate, ["users": users])
    #expect(answer["error"]?.array?.count == 1)
    #expect(answer["error"]?[0]?["index"] == 1)
    #expect(identity.store.accounts.count == 1)
  }

  @Test(arguments: ["MD5", "BCRYPT", "SHA1", "HMAC_SHA512"])
  func otherHashesAreRefusedByName(name: String) {
    let body: JSONValue = [
      "hashAlgorithm": .string(name),
      "users": [["localId": "a", "passwordHash": "MTIzNDU2Nzg5MDEy"]],
    ]
    #expect(
      TestIdentity().refusal(.batchCreate, body, isPrivileged: true)
        == "INVALID_HASH_ALGORITHM : \(name) is not known here: SCRYPT, STANDARD_SCRYPT, "
        + "PBKDF2_SHA256, HMAC_SHA256 are")
  }

  @Test func anAdministratorGetsTheLinkInsteadOfAMail() throws {
    let identity = TestIdentity()
    try identity.signUp()
    let answer = try admin(
      identity, .sendOobCode,
      ["requestType": "VERIFY_EMAIL", "email": "ada@x.org", "returnOobLink": true])
    #expect(answer.text("oobLink").contains("oobCode=" + answer.text("oobCode")))
    #expect(identity.mails.isEmpty)
    _ = try identity.ask(.update, ["oobCode": .string(answer.text("oobCode"))])
  }

  @Test func sessionCookiesHaveTheClaimsOfTheToken() throws {
    let identity = TestIdentity()
    let user = try identity.signUp()
    let token = JSONValue.string(user.text("idToken"))
    let answer = try admin(
      identity, .createSessionCookie, ["idToken": token, "validDuration": "600"])
    let claims = try #require(TestIdentity.claims(answer.text("sessionCookie")))
    #expect(claims["iss"] == "https://id.example/session")
    #expect(claims["sub"] == user.claims["sub"])
    #expect(claims["exp"] == 1_750_000_600)
    #expect(
      refusal(identity, .createSessionCookie, ["idToken": token, "validDuration": 299])
        == "INVALID_DURATION")
  }

  @Test func theProjectIsConfigured() throws {
    let identity = TestIdentity()
    try identity.signUp()
    let answer = try admin(
      identity, .updateConfig,
      [
        "emailPrivacyConfig": ["enableImprovedEmailPrivacy": false],
        "signIn": ["anonymous": ["enabled": false]],
      ])
    #expect(answer["signIn"]?["anonymous"]?["enabled"] == false)
    #expect(
      try admin(identity, .getConfig)["emailPrivacyConfig"] == [
        "enableImprovedEmailPrivacy": false
      ])
    #expect(
      identity.refusal(.signInWithPassword, ["email": "ada@x.org", "password": "x"])
        == "INVALID_PASSWORD")
    #expect(identity.refusal(.signUp) == "ADMIN_ONLY_OPERATION")
  }

  @Test func administrationNeedsAnAdministrator() throws {
    let identity = TestIdentity()
    func status(_ call: IdentityCall) -> Int {
      do throws(IdentityError) {
        _ = try identity.answer(call, false)
        return 200
      } catch {
        return error.status
      }
    }
    #expect(status(IdentityCall(.create, isAdministrative: true)) == 401)
    #expect(status(IdentityCall(.create, isAdministrative: true, credential: .bearer("x"))) == 401)
    #expect(status(IdentityCall(.signUp, credential: .bearer("x"))) == 401)
    #expect(status(IdentityCall(.signUp, hasKey: false)) == 403)
    #expect(identity.store.accounts.isEmpty)
  }
}
