import RunnelBase
import RunnelIdentity
import Testing

// Source: authentication, sections 3, 4.1, 4.2, 4.8 and 5.

@Suite struct SignInTests {
  // MARK: Sign-up

  @Test func aUserSignsUpAnonymously() throws {
    let identity = TestIdentity()
    let answer = try identity.ask(.signUp, ["returnSecureToken": true])
    #expect(answer.text("kind") == "identitytoolkit#SignupNewUserResponse")
    #expect(answer.text("localId").count == 28)
    #expect(answer.text("expiresIn") == "3600")
    #expect(answer["email"] == nil)
    #expect(answer.claims["provider_id"] == "anonymous")
    #expect(answer.claims["firebase"]?["sign_in_provider"] == "anonymous")
    #expect(answer.claims["sub"]?.string == answer.text("localId"))
    let record = try #require(identity.store.accounts[answer.text("localId")])
    #expect(record.shown["providerUserInfo"] == nil)
  }

  @Test(arguments: [false, true])
  func aMailedSignInEndsWhatWasBeforeTheAddressWasProven(isProven: Bool) throws {
    let identity = TestIdentity()
    let first = try identity.signUp()
    let id = JSONValue.string(first.text("localId"))
    if isProven {
      try identity.ask(.update, ["localId": id, "emailVerified": true], isPrivileged: true)
    }
    try identity.ask(.sendOobCode, ["requestType": "EMAIL_SIGNIN", "email": "ada@x.org"])
    let answer = try identity.ask(
      .signInWithEmailLink, ["email": "ada@x.org", "oobCode": .string(identity.mailedCode)])
    #expect(answer["localId"] == id)
    #expect(
      identity.refusal(.lookup, ["idToken": .string(first.text("idToken"))])
        == (isProven ? nil : "TOKEN_EXPIRED"))
    #expect(
      identity.refusal(
        .refresh,
        ["grantType": "refresh_token", "refreshToken": .string(first.text("refreshToken"))])
        == (isProven ? nil : "INVALID_REFRESH_TOKEN"))
    #expect(
      identity.refusal(.signInWithPassword, ["email": "ada@x.org", "password": "secret123"])
        == (isProven ? nil : "INVALID_LOGIN_CREDENTIALS"))
    #expect(identity.refusal(.lookup, ["idToken": .string(answer.text("idToken"))]) == nil)
  }

  @Test(arguments: ["PASSWORD_RESET", "EMAIL_SIGNIN"])
  func aRequestForAMailDoesNotTellThatAnAccountIsDisabled(kind: String) throws {
    let identity = TestIdentity()
    let id = JSONValue.string(try identity.signUp().text("localId"))
    try identity.ask(.update, ["localId": id, "disableUser": true], isPrivileged: true)
    let known = try identity.ask(
      .sendOobCode, ["requestType": .string(kind), "email": "ada@x.org"])
    let unknown = try identity.ask(
      .sendOobCode, ["requestType": .string(kind), "email": "bob@x.org"])
    #expect(known["kind"] == unknown["kind"])
    #expect(known.object?.map(\.name) == unknown.object?.map(\.name))
    #expect(identity.mails.allSatisfy { $0.recipient == "bob@x.org" })
  }

  @Test func whatIsNotServedIsNotIgnored() throws {
    let identity = TestIdentity()
    #expect(
      identity.refusal(
        .signUp, ["email": "ada@x.org", "password": "secret123", "tenantId": "t"]) != nil)
    #expect(identity.store.accounts.isEmpty)
    let token = JSONValue.string(try identity.signUp().text("idToken"))
    let link: JSONValue = ["idToken": token, "linkProviderUserInfo": ["providerId": "google.com"]]
    #expect(identity.refusal(.update, link) != nil)
  }

  @Test func aUserSignsUpWithAPassword() throws {
    let identity = TestIdentity()
    let answer = try identity.signUp("Ada@X.org")
    #expect(answer.text("email") == "ada@x.org")
    let claims = answer.claims
    #expect(claims["email"] == "ada@x.org")
    #expect(claims["email_verified"] == false)
    #expect(claims["aud"] == "demo")
    #expect(claims["iss"] == "https://id.example")
    #expect(claims["auth_time"] == 1_750_000_000)
    #expect(claims["iat"] == 1_750_000_000)
    #expect(claims["exp"] == 1_750_003_600)
    #expect(
      claims["firebase"] == [
        "identities": ["email": ["ada@x.org"]], "sign_in_provider": "password",
        "epoch": 1_750_000_000_000,
      ])
    #expect(claims["user_id"] == claims["sub"])
    let record = try #require(identity.store.accounts[answer.text("localId")])
    #expect(record.validSince == 1_750_000_000)
    #expect(record.shown["passwordHash"] == "UkVEQUNURUQ=")
    #expect(record.shown["createdAt"] == "1750000000000")
    #expect(record.shown["lastRefreshAt"] == "2025-06-15T15:06:40.000Z")
  }

  @Test(
    arguments: [
      (["localId": "x"], "UNEXPECTED_PARAMETER : User ID"),
      (["password": "secret123"], "MISSING_EMAIL"),
      (["email": "", "password": "secret123"], "MISSING_EMAIL"),
      (["email": ""], "INVALID_EMAIL"),
      (["email": "", "password": ""], "INVALID_EMAIL"),
      (["email": "a@b"], "MISSING_PASSWORD"),
      (["email": "a", "password": "secret123"], "INVALID_EMAIL"),
      (["email": "a@b@c", "password": "secret123"], "INVALID_EMAIL"),
      (["email": "a b@c", "password": "secret123"], "INVALID_EMAIL"),
      (["email": "a@b\r\nBcc: c@d", "password": "secret123"], "INVALID_EMAIL"),
      (["email": "ada@x.org", "password": "secret123"], "EMAIL_EXISTS"),
      (
        ["email": "b@x.org", "password": "1234567"],
        "WEAK_PASSWORD : Password should be at least 8 characters"
      ),
      (["idToken": "junk", "email": "b@x.org", "password": "secret123"], "INVALID_ID_TOKEN"),
    ] as [(JSONValue, String)])
  func aWrongSignUpIsRefused(body: JSONValue, message: String) throws {
    let identity = TestIdentity()
    try identity.signUp()
    #expect(identity.refusal(.signUp, body) == message)
    #expect(identity.store.accounts.count == 1)
  }

  @Test func anEmptyPasswordAloneIsAnonymous() throws {
    let answer = try TestIdentity().ask(.signUp, ["password": ""])
    #expect(answer.claims["provider_id"] == "anonymous")
  }

  @Test func anEmulatorTakesSixCharacters() throws {
    let identity = TestIdentity(isEmulator: true)
    try identity.signUp("a@b", "123456")
    #expect(
      identity.refusal(.signUp, ["email": "b@x.org", "password": "12345"])
        == "WEAK_PASSWORD : Password should be at least 6 characters")
  }

  @Test func theProjectForbidsWaysToSignUp() throws {
    let identity = TestIdentity()
    identity.store.kept.allowsAnonymous = false
    identity.store.kept.allowsPasswords = false
    #expect(identity.refusal(.signUp) == "ADMIN_ONLY_OPERATION")
    #expect(
      identity.refusal(.signUp, ["email": "a@b", "password": "secret123"])
        == "OPERATION_NOT_ALLOWED")
    #expect(identity.refusal(.signInWithPassword, ["email": "a@b"]) == "PASSWORD_LOGIN_DISABLED")
  }

  @Test func anAnonymousUserGetsAPasswordAndKeepsTheID() throws {
    let identity = TestIdentity()
    let anonymous = try identity.ask(.signUp)
    identity.now += 5_000_000
    // The token has expired; a refreshed one is as good as new.
    let refreshed = try identity.ask(
      .refresh,
      ["grant_type": "refresh_token", "refresh_token": .string(anonymous.text("refreshToken"))])
    let token = refreshed.text("id_token")
    let answer = try identity.ask(
      .signUp, ["idToken": .string(token), "email": "c@x.org", "password": "secret123"])
    #expect(answer.text("localId") == anonymous.text("localId"))
    #expect(answer.claims["firebase"]?["sign_in_provider"] == "password")
    #expect(answer.claims["provider_id"] == nil)
    identity.now += 1000
    #expect(try identity.signIn("c@x.org").text("localId") == anonymous.text("localId"))
  }

  // MARK: Sign-in

  @Test func aUserSignsIn() throws {
    let identity = TestIdentity()
    let id = try identity.signUp().text("localId")
    identity.now += 60_000
    let answer = try identity.signIn("ADA@x.org")
    #expect(answer.text("kind") == "identitytoolkit#VerifyPasswordResponse")
    #expect(answer["registered"] == true)
    #expect(answer.text("localId") == id)
    #expect(answer.text("email") == "ada@x.org")
    #expect(identity.store.accounts[id]?.lastLoginTime == identity.now)
    #expect(identity.proven == id)
  }

  @Test(
    arguments: [
      ([:], "MISSING_EMAIL"),
      (["email": "x"], "INVALID_EMAIL"),
      (["email": "ada@x.org"], "MISSING_PASSWORD"),
      (["email": "ada@x.org", "password": ""], "MISSING_PASSWORD"),
      (["email": "ada@x.org", "password": "wrong"], "INVALID_PASSWORD"),
      (["email": "nobody@x.org", "password": "x"], "EMAIL_NOT_FOUND"),
      (["email": "off@x.org", "password": "secret123"], "USER_DISABLED"),
      (["email": "off@x.org", "password": "wrong"], "USER_DISABLED"),
    ] as [(JSONValue, String)])
  func anEmulatorSaysWhatIsWrong(body: JSONValue, message: String) throws {
    let identity = try accountsForRefusals(isEmulator: true)
    #expect(identity.refusal(.signInWithPassword, body) == message)
  }

  @Test(
    arguments: [
      (["email": "ada@x.org", "password": "wrong"], "INVALID_LOGIN_CREDENTIALS"),
      (["email": "nobody@x.org", "password": "x"], "INVALID_LOGIN_CREDENTIALS"),
      (["email": "off@x.org", "password": "wrong"], "INVALID_LOGIN_CREDENTIALS"),
      (["email": "off@x.org", "password": "secret123"], "USER_DISABLED"),
    ] as [(JSONValue, String)])
  func aServerHidesWhichAddressesAreKnown(body: JSONValue, message: String) throws {
    let identity = try accountsForRefusals(isEmulator: false)
    let before = identity.work.count
    #expect(identity.refusal(.signInWithPassword, body) == message)
    // The same work is done for known and unknown accounts.
    #expect(identity.work.count == before + 1)
  }

  private func accountsForRefusals(isEmulator: Bool) throws -> TestIdentity {
    let identity = TestIdentity(isEmulator: isEmulator)
    try identity.signUp()
    let id = try identity.signUp("off@x.org").text("localId")
    identity.store.accounts[id]?.isDisabled = true
    return identity
  }

  @Test func aHashOfAnotherCostIsMadeAnewAtTheNextSignIn() throws {
    let identity = TestIdentity()
    let id = try identity.signUp().text("localId")
    identity.policy.cost = ScryptCost(logRounds: 16, blockSize: 8, parallelism: 1)
    _ = try identity.signIn()
    #expect(identity.store.accounts[id]?.password?.function == .scrypt(identity.policy.cost))
    let count = identity.work.count
    _ = try identity.signIn()
    #expect(identity.work.count == count + 1)
  }

  // MARK: Custom tokens

  private static let audience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

  private func custom(_ claims: JSONValue) -> JSONValue {
    ["token": .string(TestIdentity.token(claims))]
  }

  @Test func aCustomTokenMakesAnAccount() throws {
    let identity = TestIdentity()
    let body = custom([
      "aud": .string(SignInTests.audience), "uid": "ada", "claims": ["role": "admin"],
    ])
    let answer = try identity.ask(.signInWithCustomToken, body)
    #expect(answer["isNewUser"] == true)
    #expect(answer["localId"] == nil)
    #expect(answer.claims["role"] == "admin")
    #expect(answer.claims["sub"] == "ada")
    #expect(answer.claims["firebase"]?["sign_in_provider"] == "custom")
    #expect(try identity.ask(.signInWithCustomToken, body)["isNewUser"] == false)
    let refreshed = try identity.ask(
      .refresh,
      ["grantType": "refresh_token", "refreshToken": .string(answer.text("refreshToken"))])
    #expect(TestIdentity.claims(refreshed.text("id_token"))?["role"] == "admin")
  }

  @Test func anEmulatorTakesABareObject() throws {
    let identity = TestIdentity(isEmulator: true)
    let answer = try identity.ask(
      .signInWithCustomToken, ["token": #"{"uid":"ada","claims":{"role":"admin"}}"#])
    #expect(answer.claims["role"] == "admin")
    #expect(
      TestIdentity().refusal(.signInWithCustomToken, ["token": #"{"uid":"ada"}"#])
        == "INVALID_CUSTOM_TOKEN : Invalid assertion format")
  }

  @Test(
    arguments: [
      (["iss": 1], "FORBIDDEN_CLAIM : iss"), (["firebase": [:]], "FORBIDDEN_CLAIM : firebase"),
      (["email_verified": true], "FORBIDDEN_CLAIM : email_verified"),
      (["a": .string(String(repeating: "x", count: 1000))], "CLAIMS_TOO_LARGE"),
      (3, "INVALID_CLAIMS"),
    ] as [(JSONValue, String)])
  func claimsOfCustomTokensAreChecked(claims: JSONValue, message: String) {
    let body = custom(["aud": .string(SignInTests.audience), "uid": "a", "claims": claims])
    #expect(TestIdentity().refusal(.signInWithCustomToken, body) == message)
  }

  @Test func wrongCustomTokensAreRefused() {
    let identity = TestIdentity()
    #expect(identity.refusal(.signInWithCustomToken) == "MISSING_CUSTOM_TOKEN")
    #expect(
      identity.refusal(.signInWithCustomToken, ["token": "abc"])
        == "INVALID_CUSTOM_TOKEN : Invalid assertion format")
    #expect(
      identity.refusal(.signInWithCustomToken, custom(["aud": "other", "uid": "a"]))
        == "INVALID_CUSTOM_TOKEN : ((Invalid aud (audience) claim of the token.))")
    #expect(
      identity.refusal(
        .signInWithCustomToken, custom(["aud": .string(SignInTests.audience)]))
        == "MISSING_IDENTIFIER")
  }

  // MARK: Refresh

  @Test func aRefreshKeepsTheTimeOfTheSignIn() throws {
    let identity = TestIdentity()
    let answer = try identity.signUp()
    identity.now += 3_000_000
    // The user signs in elsewhere too.
    _ = try identity.signIn()
    let refreshed = try identity.ask(
      .refresh,
      ["grant_type": "refresh_token", "refresh_token": .string(answer.text("refreshToken"))])
    #expect(refreshed.text("token_type") == "Bearer")
    #expect(refreshed.text("user_id") == answer.text("localId"))
    #expect(refreshed.text("project_id") == "demo")
    #expect(refreshed.text("expires_in") == "3600")
    #expect(refreshed.text("refresh_token") == answer.text("refreshToken"))
    #expect(refreshed.text("access_token") == refreshed.text("id_token"))
    let claims = try #require(TestIdentity.claims(refreshed.text("id_token")))
    #expect(claims["auth_time"] == 1_750_000_000)
    #expect(claims["iat"] == 1_750_003_000)
  }

  @Test(
    arguments: [
      ([:], "MISSING_GRANT_TYPE"), (["grantType": "password"], "INVALID_GRANT_TYPE"),
      (["grantType": "refresh_token"], "MISSING_REFRESH_TOKEN"),
      (["grant_type": "refresh_token", "refresh_token": "junk"], "INVALID_REFRESH_TOKEN"),
      (["grant_type": "refresh_token", "refresh_token": "YQ.junk"], "INVALID_REFRESH_TOKEN"),
      (["grant_type": "refresh_token", "refresh_token": "."], "INVALID_REFRESH_TOKEN"),
    ] as [(JSONValue, String)])
  func aWrongRefreshIsRefused(body: JSONValue, message: String) {
    #expect(TestIdentity().refusal(.refresh, body) == message)
  }

  @Test func aNewPasswordEndsOtherSessions() throws {
    let identity = TestIdentity()
    let first = try identity.signUp()
    identity.now += 10_000
    let second = try identity.signIn()
    let changed = try identity.ask(
      .update, ["idToken": .string(second.text("idToken")), "password": "better-2-3"])
    func refresh(_ answer: JSONValue) -> String? {
      identity.refusal(
        .refresh,
        ["grantType": "refresh_token", "refreshToken": .string(answer.text("refreshToken"))])
    }
    #expect(refresh(first) == "INVALID_REFRESH_TOKEN")
    #expect(refresh(second) == "INVALID_REFRESH_TOKEN")
    #expect(refresh(changed) == nil)
    #expect(
      identity.refusal(.lookup, ["idToken": .string(first.text("idToken"))]) == "TOKEN_EXPIRED")
  }

  @Test func anAccountHasNoMoreThanSoManySessions() throws {
    let identity = TestIdentity()
    let first = try identity.signUp()
    for _ in 0..<IdentityPolicy.sessionsMax {
      identity.now += 1000
      _ = try identity.signIn()
    }
    let count = identity.store.sessions[first.text("localId")]?.count
    #expect(count == IdentityPolicy.sessionsMax)
    #expect(
      identity.refusal(
        .refresh,
        ["grantType": "refresh_token", "refreshToken": .string(first.text("refreshToken"))])
        == "INVALID_REFRESH_TOKEN")
  }
}
