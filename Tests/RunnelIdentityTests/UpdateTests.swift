import RunnelBase
import RunnelIdentity
import Testing

// Source: authentication, sections 4.3, 4.4, 4.7 and 10.

@Suite struct UpdateTests {
  private func user(
    isEmulator: Bool = false
  ) throws -> (identity: TestIdentity, token: JSONValue, id: String) {
    let identity = TestIdentity(isEmulator: isEmulator)
    let answer = try identity.signUp()
    return (identity, .string(answer.text("idToken")), answer.text("localId"))
  }

  @Test func aUserReadsTheOwnAccount() throws {
    let (identity, token, id) = try user()
    let answer = try identity.ask(.lookup, ["idToken": token])
    #expect(answer.text("kind") == "identitytoolkit#GetAccountInfoResponse")
    let record = try #require(answer["users"]?[0])
    #expect(record.text("localId") == id)
    #expect(record.text("email") == "ada@x.org")
    #expect(record["providerUserInfo"]?[0]?["providerId"] == "password")
    #expect(record.jsonText().contains("password" + "secret123") == false)
    #expect(identity.refusal(.lookup) == "MISSING_ID_TOKEN")
    #expect(identity.refusal(.lookup, ["idToken": "junk"]) == "INVALID_ID_TOKEN")
  }

  @Test func theProfileChangesWithoutNewTokens() throws {
    let (identity, token, id) = try user()
    identity.now += 10_000_000
    identity.now -= 8_000_000
    let answer = try identity.ask(
      .update, ["idToken": token, "displayName": "Ada L.", "photoUrl": "http://p"])
    #expect(answer.text("kind") == "identitytoolkit#SetAccountInfoResponse")
    #expect(answer.text("displayName") == "Ada L.")
    #expect(answer["idToken"] == nil)
    let cleared = try identity.ask(
      .update, ["idToken": token, "deleteAttribute": ["DISPLAY_NAME", "PHOTO_URL"]])
    #expect(cleared["displayName"] == nil)
    #expect(identity.store.accounts[id]?.photoURL == nil)
    // One client sends the names of its own.
    try identity.ask(
      .update,
      ["idToken": token, "displayName": "A", "photoURL": "http://q", "deleteAttribute": nil])
    #expect(identity.store.accounts[id]?.photoURL == "http://q")
  }

  @Test func aNewPasswordGivesNewTokens() throws {
    let (identity, token, id) = try user()
    identity.now += 2000
    let answer = try identity.ask(
      .update, ["idToken": token, "password": "better-2-3", "returnSecureToken": true])
    #expect(answer.claims["iat"] == 1_750_000_002)
    #expect(answer.text("refreshToken") != "")
    #expect(identity.store.ends[id]?.second == 1_750_000_002)
    #expect(identity.refusal(.lookup, ["idToken": token]) == "TOKEN_EXPIRED")
    #expect(
      identity.refusal(.signInWithPassword, ["email": "ada@x.org", "password": "secret123"])
        == "INVALID_LOGIN_CREDENTIALS")
    _ = try identity.signIn("ada@x.org", "better-2-3")
  }

  @Test func aNewAddressCanBeTakenBack() throws {
    let (identity, token, id) = try user()
    try identity.prove(token)
    identity.now += 2000
    let answer = try identity.ask(.update, ["idToken": token, "email": "New@x.org"])
    #expect(answer.text("email") == "new@x.org")
    #expect(answer.text("newEmail") == "new@x.org")
    #expect(answer["emailVerified"] == false)
    #expect(answer.text("idToken") != "")
    #expect(identity.store.accounts[id]?.initialEmail == "ada@x.org")
    #expect(identity.mails.map(\.recipient) == ["ada@x.org", "ada@x.org"])
    #expect(identity.mails.map(\.kind) == [.verifyEmail, .recoverEmail])
    identity.now += 2000
    let code = JSONValue.string(identity.mailedCode)
    let restored = try identity.ask(.update, ["oobCode": code])
    #expect(restored.text("email") == "ada@x.org")
    #expect(restored["emailVerified"] == true)
    #expect(restored["idToken"] == nil)
    #expect(
      identity.refusal(.lookup, ["idToken": .string(answer.text("idToken"))]) == "TOKEN_EXPIRED")
    #expect(identity.refusal(.update, ["oobCode": code]) == "INVALID_OOB_CODE")
  }

  @Test(
    arguments: [
      (["displayName": "x"], "INVALID_REQ_TYPE : Unsupported request parameters."),
      (["oobCode": "junk"], "INVALID_OOB_CODE"),
    ] as [(JSONValue, String)])
  func anUpdateNeedsATokenOrACode(body: JSONValue, message: String) {
    #expect(TestIdentity().refusal(.update, body) == message)
  }

  @Test(
    arguments: [
      (["customAttributes": "{}"], "INSUFFICIENT_PERMISSION"),
      (["disableUser": true], "OPERATION_NOT_ALLOWED"),
      (["email": "x"], "INVALID_EMAIL"), (["email": "bob@x.org"], "EMAIL_EXISTS"),
      (["password": "short"], "WEAK_PASSWORD : Password should be at least 8 characters"),
    ] as [(JSONValue, String)])
  func aUserMayNotDoEverything(more: JSONValue, message: String) throws {
    let (identity, token, id) = try user()
    try identity.signUp("bob@x.org")
    let before = identity.store.accounts[id]
    let body = JSONValue.object([JSONMember("idToken", token)] + (more.object ?? []))
    #expect(identity.refusal(.update, body) == message)
    #expect(identity.store.accounts[id] == before)
  }

  @Test(
    arguments: [
      ["password": "better-2-3"], ["email": "new@x.org"], ["deleteProvider": ["password"]],
      ["deleteAttribute": ["EMAIL"]],
    ] as [JSONValue])
  func credentialsChangeOnlyAfterARecentSignIn(more: JSONValue) throws {
    let (identity, token, _) = try user()
    let body = JSONValue.object([JSONMember("idToken", token)] + (more.object ?? []))
    identity.now += 301_000
    #expect(identity.refusal(.update, body) == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    #expect(identity.refusal(.delete, ["idToken": token]) == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    let again = try identity.signIn().text("idToken")
    let fresh = JSONValue.object(
      [JSONMember("idToken", .string(again))] + (more.object ?? []))
    #expect(identity.refusal(.update, fresh) == nil)
  }

  @Test func anEmulatorForgetsNoSignIn() throws {
    let (identity, token, _) = try user(isEmulator: true)
    identity.now += 100_000_000
    #expect(identity.refusal(.update, ["idToken": token, "password": "secret2"]) == nil)
  }

  @Test func tokensExpire() throws {
    let (identity, token, _) = try user()
    identity.now += 3_599_000
    #expect(identity.refusal(.lookup, ["idToken": token]) == nil)
    identity.now += 1000
    #expect(identity.refusal(.lookup, ["idToken": token]) == "TOKEN_EXPIRED")
  }

  /// A thief who refreshes all the time has a token of every second.
  @Test(arguments: ["password", "email", "validSince", "code", "import"])
  func tokensOfTheSecondInWhichSessionsEndDoNotCount(way: String) throws {
    let (identity, token, id) = try user()
    let answer: JSONValue?
    switch way {
    case "password": answer = try identity.ask(.update, ["idToken": token, "password": "other-pw"])
    case "email": answer = try identity.ask(.update, ["idToken": token, "email": "b@x.org"])
    case "validSince":
      answer = try identity.ask(
        .update, ["localId": .string(id), "validSince": "1750000000"], isPrivileged: true)
    case "code":
      try identity.ask(.sendOobCode, ["requestType": "PASSWORD_RESET", "email": "ada@x.org"])
      answer = try identity.ask(
        .resetPassword,
        ["oobCode": .string(identity.mailedCode), "newPassword": "other-pw"])
    default:
      answer = try identity.ask(
        .batchCreate, ["users": [["localId": .string(id), "email": "ada@x.org"]]],
        isPrivileged: true)
    }
    #expect(identity.refusal(.lookup, ["idToken": token]) == "TOKEN_EXPIRED")
    #expect(
      identity.refusal(.update, ["idToken": token, "password": "stolen-pw"]) == "TOKEN_EXPIRED")
    let epoch = TokenEnd.epoch(ofToken: TestIdentity.claims(token.string ?? "") ?? .null)
    let end = TokenEnd(second: 0, epoch: identity.store.ends[id]?.epoch ?? 0)
    #expect(end.ends(issued: 1_750_000_000, epoch: epoch), "The database refuses it, too.")
    if let fresh = answer?["idToken"] {
      #expect(identity.refusal(.lookup, ["idToken": fresh]) == nil)
    }
  }

  @Test(arguments: ["enabled", "ahead"])
  func whoSignsInWithinTheSecondOfTheEndIsSignedIn(way: String) throws {
    let identity = TestIdentity()
    let signedUp = try identity.signUp()
    let (id, second) = (signedUp.text("localId"), identity.now / 1000)
    func change(_ name: String, _ value: JSONValue) throws {
      try identity.ask(.update, ["localId": .string(id), name: value], isPrivileged: true)
      identity.now += 1
    }
    if way == "enabled" {
      try change("disableUser", true)
      try change("disableUser", false)
    } else {
      // An administrator's clock that is ahead.
      try change("validSince", .string("\(second + 30)"))
    }
    let answer = try identity.signIn()
    let token = answer.text("idToken")
    #expect(identity.now / 1000 == second && answer.claims["auth_time"]?.int == Int(second))
    #expect(identity.refusal(.lookup, ["idToken": .string(token)]) == nil)
    #expect(!identity.isEnded(token, of: id), "The database takes it, too.")
    let refresh: JSONValue = [
      "grantType": "refresh_token", "refreshToken": .string(answer.text("refreshToken")),
    ]
    #expect(identity.refusal(.refresh, refresh) == nil)
    #expect(identity.isEnded(signedUp.text("idToken"), of: id), "What was before stays ended.")
    let old: JSONValue = [
      "grantType": "refresh_token", "refreshToken": .string(signedUp.text("refreshToken")),
    ]
    #expect(identity.refusal(.refresh, old) == "INVALID_REFRESH_TOKEN")
  }

  @Test func endsOfTokensThatComeInAnyOrderAreJoined() {
    let disabled = TokenEnd(second: 11, epoch: 5)
    let enabled = TokenEnd(second: 10, epoch: 6)
    #expect(disabled.joined(enabled) == enabled && enabled.joined(disabled) == enabled)
    let again = TokenEnd(second: 11, epoch: 6)
    #expect(enabled.joined(again) == again && again.joined(enabled) == again)
    // The end of an account that is not there has no epoch.
    #expect(enabled.joined(TokenEnd(second: 12)) == TokenEnd(second: 12, epoch: 6))
  }

  @Test func aTokenOfADeletedAccountIsNoneOfAnotherWithItsID() throws {
    let identity = TestIdentity()
    let make: JSONValue = ["localId": "u1", "email": "ada@x.org", "password": "secret123"]
    try identity.ask(.create, make, isPrivileged: true)
    let token = JSONValue.string(try identity.signIn().text("idToken"))
    try identity.ask(.delete, ["localId": "u1"], isPrivileged: true)
    identity.now += 1
    try identity.ask(.create, make, isPrivileged: true)
    #expect(identity.refusal(.lookup, ["idToken": token]) == "TOKEN_EXPIRED")
  }

  @Test func aSignInCountsAfterTheClockWasSetBack() throws {
    let (identity, old, _) = try user()
    identity.now -= 60_000
    let answer = try identity.signIn()
    #expect(identity.refusal(.lookup, ["idToken": .string(answer.text("idToken"))]) == nil)
    #expect(
      identity.refusal(
        .refresh,
        ["grantType": "refresh_token", "refreshToken": .string(answer.text("refreshToken"))]) == nil
    )
    // The other session ends: a running server keeps the later of two ends with one epoch, so that only a
    // new epoch makes it take the new token.
    #expect(identity.refusal(.lookup, ["idToken": old]) == "TOKEN_EXPIRED")
    #expect(!identity.isEnded(answer.text("idToken"), of: answer.text("localId")))
  }

  @Test func aUserDeletesTheAccount() throws {
    let (identity, token, id) = try user()
    let refresh = identity.store.sessions[id]?.count
    #expect(refresh == 1)
    #expect(
      try identity.ask(.delete, ["idToken": token])
        == ["kind": "identitytoolkit#DeleteAccountResponse"])
    #expect(identity.refusal(.delete, ["idToken": token]) == "USER_NOT_FOUND")
    #expect(identity.refusal(.lookup, ["idToken": token]) == "USER_NOT_FOUND")
    #expect(identity.refusal(.delete) == "MISSING_ID_TOKEN")
    #expect(identity.store.sessions[id] == [])
    // The tokens of this very second end too.
    #expect(identity.store.ends[id]?.second == 1_750_000_001)
    try identity.signUp()
  }

  @Test func theSignInMethodsOfAnAddressAreHidden() throws {
    let body: JSONValue = ["identifier": "ada@x.org", "continueUri": "http://localhost"]
    let (server, _, _) = try user()
    let hidden = try server.ask(.createAuthUri, body)
    #expect(hidden.object?.map(\.name) == ["kind", "sessionId"])
    #expect(hidden.text("sessionId").count == 27)
    let (emulator, _, _) = try user(isEmulator: true)
    let shown = try emulator.ask(.createAuthUri, body)
    #expect(shown["registered"] == true)
    #expect(shown["allProviders"] == ["password"])
    #expect(shown["signinMethods"] == ["password"])
    let other = try emulator.ask(
      .createAuthUri, ["identifier": "no@x.org", "continueUri": "http://localhost"])
    #expect(other["registered"] == false)
    #expect(other["signinMethods"] == [])
    #expect(emulator.refusal(.createAuthUri, ["continueUri": "x"]) == "MISSING_IDENTIFIER")
    #expect(emulator.refusal(.createAuthUri, ["identifier": "a@b"]) == "MISSING_CONTINUE_URI")
    #expect(
      emulator.refusal(.createAuthUri, ["identifier": "a", "continueUri": "http://x"])
        == "INVALID_IDENTIFIER")
    #expect(
      emulator.refusal(.createAuthUri, ["identifier": "a@b", "continueUri": "x"])
        == "INVALID_CONTINUE_URI")
  }
}
