import RunnelBase
import RunnelIdentity
import Testing

// Source: authentication, sections 4.5, 4.6 and 7.

@Suite struct MailedCodeTests {
  private func reset(_ email: String = "ada@x.org") -> JSONValue {
    ["requestType": "PASSWORD_RESET", "email": .string(email)]
  }

  @Test func aPasswordIsReset() throws {
    let identity = TestIdentity()
    let id = try identity.signUp().text("localId")
    let answer = try identity.ask(.sendOobCode, reset())
    #expect(
      answer == [
        "kind": "identitytoolkit#GetOobConfirmationCodeResponse", "email": "ada@x.org",
      ])
    let mail = try #require(identity.mails.last)
    #expect(mail.recipient == "ada@x.org")
    #expect(mail.link?.hasPrefix("https://id.example/.accounts/action?mode=resetPassword&") == true)
    let code = JSONValue.string(identity.mailedCode)
    #expect(identity.mailedCode.count == 54)
    // The code itself is stored nowhere.
    #expect(identity.store.codes.values.allSatisfy { $0.shown == nil })
    let told: JSONValue = [
      "kind": "identitytoolkit#ResetPasswordResponse", "requestType": "PASSWORD_RESET",
      "email": "ada@x.org",
    ]
    #expect(try identity.ask(.resetPassword, ["oobCode": code]) == told)
    #expect(
      identity.refusal(.resetPassword, ["oobCode": code, "newPassword": "short"])
        == "WEAK_PASSWORD : Password should be at least 8 characters")
    identity.now += 5000
    #expect(
      try identity.ask(.resetPassword, ["oobCode": code, "newPassword": "again-3-4"]) == told)
    #expect(identity.refusal(.resetPassword, ["oobCode": code]) == "INVALID_OOB_CODE")
    #expect(identity.store.accounts[id]?.isEmailVerified == true)
    #expect(identity.store.accounts[id]?.validSince == 1_750_000_005)
    #expect(identity.store.sessions[id] == [])
    _ = try identity.signIn("ada@x.org", "again-3-4")
  }

  @Test func aNewPasswordEndsTheOtherCodesForOne() throws {
    let identity = TestIdentity()
    try identity.signUp()
    _ = try identity.ask(.sendOobCode, reset())
    let first = JSONValue.string(identity.mailedCode)
    identity.now += 1000
    _ = try identity.ask(.sendOobCode, reset())
    let second = JSONValue.string(identity.mailedCode)
    #expect(first != second)
    _ = try identity.ask(.resetPassword, ["oobCode": first, "newPassword": "again-3-4"])
    #expect(
      identity.refusal(.resetPassword, ["oobCode": second, "newPassword": "other-5-6"])
        == "INVALID_OOB_CODE")
    _ = try identity.signIn("ada@x.org", "again-3-4")
  }

  @Test func anUnknownAddressGetsTheSameAnswerAndNoMail() throws {
    let identity = TestIdentity()
    try identity.signUp()
    let known = try identity.ask(.sendOobCode, reset("ada@x.org"))
    let unknown = try identity.ask(.sendOobCode, reset("bob@x.org"))
    #expect(known.object?.map(\.name) == unknown.object?.map(\.name))
    #expect(identity.mails.count == 1)
    let emulator = TestIdentity(isEmulator: true)
    #expect(emulator.refusal(.sendOobCode, reset("no@x.org")) == "EMAIL_NOT_FOUND")
  }

  @Test func anAddressIsVerified() throws {
    let identity = TestIdentity()
    let user = try identity.signUp()
    let token = JSONValue.string(user.text("idToken"))
    let answer = try identity.ask(
      .sendOobCode, ["requestType": "VERIFY_EMAIL", "idToken": token])
    #expect(answer.text("email") == "ada@x.org")
    let verified = try identity.ask(.update, ["oobCode": .string(identity.mailedCode)])
    #expect(verified["emailVerified"] == true)
    #expect(verified["idToken"] == nil)
    #expect(identity.refusal(.lookup, ["idToken": token]) == nil)
  }

  @Test func anAddressIsVerifiedBeforeItChanges() throws {
    let identity = TestIdentity()
    let token = JSONValue.string(try identity.signUp().text("idToken"))
    try identity.signUp("bob@x.org")
    func ask(_ newEmail: JSONValue) -> JSONValue {
      ["requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token, "newEmail": newEmail]
    }
    #expect(identity.refusal(.sendOobCode, ask(nil)) == "MISSING_NEW_EMAIL")
    #expect(identity.refusal(.sendOobCode, ask("bob@x.org")) == "EMAIL_EXISTS")
    _ = try identity.ask(.sendOobCode, ask("new@x.org"))
    #expect(identity.mails.last?.recipient == "new@x.org")
    let code = identity.mailedCode
    let told = try identity.ask(.resetPassword, ["oobCode": .string(code)])
    #expect(told.text("newEmail") == "new@x.org")
    identity.now += 1000
    let changed = try identity.ask(.update, ["oobCode": .string(code)])
    #expect(changed.text("email") == "new@x.org")
    #expect(changed["emailVerified"] == true)
    #expect(identity.mails.last?.kind == .recoverEmail)
    #expect(identity.mails.last?.recipient == "ada@x.org")
    #expect(identity.refusal(.lookup, ["idToken": token]) == "TOKEN_EXPIRED")
  }

  /// The session that shows its token with the code goes on; others end.
  @Test func theUserWhoChangesTheAddressStaysSignedIn() throws {
    let identity = TestIdentity()
    let user = try identity.signUp()
    let token = JSONValue.string(user.text("idToken"))
    try identity.ask(
      .sendOobCode,
      ["requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token, "newEmail": "new@x.org"])
    let code = JSONValue.string(identity.mailedCode)
    identity.now += 2000
    let changed = try identity.ask(.update, ["oobCode": code, "idToken": token])
    #expect(changed.claims["email"] == "new@x.org")
    #expect(changed.claims["sub"] == user["localId"])
    #expect(
      identity.refusal(.lookup, ["idToken": .string(changed.text("idToken"))]) == nil)
    #expect(
      identity.refusal(
        .refresh,
        ["grantType": "refresh_token", "refreshToken": .string(changed.text("refreshToken"))])
        == nil)
    #expect(identity.refusal(.lookup, ["idToken": token]) == "TOKEN_EXPIRED")
  }

  @Test func aCodeGivesNoTokensToAnotherUser() throws {
    let identity = TestIdentity()
    let token = JSONValue.string(try identity.signUp().text("idToken"))
    let other = JSONValue.string(try identity.signUp("bob@x.org").text("idToken"))
    try identity.ask(
      .sendOobCode,
      ["requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token, "newEmail": "new@x.org"])
    let changed = try identity.ask(
      .update, ["oobCode": .string(identity.mailedCode), "idToken": other])
    #expect(changed.text("email") == "new@x.org")
    #expect(changed["idToken"] == nil)
  }

  @Test func theOwnerOfEachReplacedAddressIsTold() throws {
    let identity = TestIdentity()
    var token = JSONValue.string(try identity.signUp("a@x.org").text("idToken"))
    for email in ["b@x.org", "c@x.org", "d@x.org"] {
      let answer = try identity.ask(.update, ["idToken": token, "email": .string(email)])
      token = .string(answer.text("idToken"))
      identity.now += 1000
    }
    #expect(identity.mails.map(\.recipient) == ["a@x.org", "b@x.org", "c@x.org"])
    #expect(identity.mails.allSatisfy { $0.kind == .recoverEmail })
    // Nobody has proved the addresses, so no code gives the account to who reads their mails.
    #expect(identity.mails.allSatisfy { $0.notice == .replaced && $0.code == nil })
  }

  /// Whoever took an account over gets it back by no code of an address of theirs, and pushes no code out.
  @Test func aRecoveryIsFinal() throws {
    let identity = TestIdentity()
    let user = try identity.signUp("a@x.org")
    let token = JSONValue.string(user.text("idToken"))
    try identity.prove(token)
    try identity.ask(
      .sendOobCode,
      ["requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token, "newEmail": "z@x.org"])
    let pending = JSONValue.string(identity.mailedCode)
    identity.now += 1000
    var answer = try identity.ask(.update, ["idToken": token, "email": "evil@x.org"])
    let recovery = JSONValue.string(identity.mailedCode)
    identity.now += 1000
    try identity.prove(.string(answer.text("idToken")))
    answer = try identity.ask(
      .update, ["idToken": .string(answer.text("idToken")), "email": "evil2@x.org"])
    let later = JSONValue.string(identity.mailedCode)
    for _ in 0..<2 * IdentityPolicy.codesMax {
      try identity.ask(
        .sendOobCode,
        ["requestType": "VERIFY_EMAIL", "idToken": .string(answer.text("idToken"))])
    }
    #expect(try identity.ask(.update, ["oobCode": recovery]).text("email") == "a@x.org")
    for code in [pending, later] {
      #expect(identity.refusal(.update, ["oobCode": code]) == "INVALID_OOB_CODE")
    }
  }

  /// Whoever took an account over cannot keep its address by another account, unless the address is theirs.
  @Test(arguments: [false, true]) func aRecoveryTakesTheAddressFromWhoHasNotProvenIt(
    isProven: Bool
  ) throws {
    let identity = TestIdentity()
    let user = try identity.signUp("a@x.org")
    let token = JSONValue.string(user.text("idToken"))
    try identity.prove(token)
    identity.now += 1000
    try identity.ask(.update, ["idToken": token, "email": "evil@x.org"])
    let recovery = JSONValue.string(identity.mailedCode)
    let squatter = try identity.signUp("a@x.org")
    let other = JSONValue.string(squatter.text("idToken"))
    if isProven {
      try identity.ask(.sendOobCode, ["requestType": "VERIFY_EMAIL", "idToken": other])
      try identity.ask(.update, ["oobCode": .string(identity.mailedCode)])
      #expect(identity.refusal(.update, ["oobCode": recovery]) == "EMAIL_EXISTS")
      return
    }
    identity.now += 1000
    let back = try identity.ask(.update, ["oobCode": recovery])
    #expect(back.text("email") == "a@x.org" && back.text("localId") == user.text("localId"))
    let record = identity.store.accounts[squatter.text("localId")]
    #expect(record?.email == nil && record?.password == nil)
    #expect(identity.refusal(.lookup, ["idToken": other]) == "TOKEN_EXPIRED")
    #expect(identity.store.accounts[user.text("localId")]?.email == "a@x.org")
  }

  /// Once, the password that a thief had set stayed.
  @Test(arguments: [false, true]) func aRecoveryEndsThePassword(isReplaced: Bool) throws {
    let identity = TestIdentity()
    let user = try identity.signUp("a@x.org")
    let token = JSONValue.string(user.text("idToken"))
    try identity.prove(token)
    identity.now += 1000
    try identity.ask(
      .update, ["idToken": token, "email": "evil@x.org", "password": "of-the-thief"])
    let recovery = JSONValue.string(identity.mailedCode)
    identity.now += 1000
    if isReplaced {
      let weak: JSONValue = ["oobCode": recovery, "password": "short"]
      #expect(identity.refusal(.update, weak)?.hasPrefix("WEAK_PASSWORD") == true)
      try identity.ask(.update, ["oobCode": recovery, "password": "of-the-owner"])
    } else {
      try identity.ask(.update, ["oobCode": recovery])
      #expect(identity.store.accounts[user.text("localId")]?.password == nil)
    }
    let signIn = { (password: String) -> JSONValue in
      ["email": "a@x.org", "password": .string(password)]
    }
    for password in ["of-the-thief", "secret123"] {
      #expect(identity.refusal(.signInWithPassword, signIn(password)) != nil)
    }
    if !isReplaced {
      try identity.ask(.sendOobCode, reset("a@x.org"))
      try identity.ask(
        .resetPassword,
        ["oobCode": .string(identity.mailedCode), "newPassword": "of-the-owner"])
    }
    let back = try identity.ask(.signInWithPassword, signIn("of-the-owner"))
    #expect(back.text("localId") == user.text("localId"))
  }

  /// As with the official emulator.
  @Test func aRecoveryAtAnEmulatorKeepsThePassword() throws {
    let identity = TestIdentity(isEmulator: true)
    let user = try identity.signUp("a@x.org")
    try identity.ask(
      .update, ["idToken": .string(user.text("idToken")), "email": "evil@x.org"])
    try identity.ask(.update, ["oobCode": .string(identity.mailedCode)])
    #expect(try identity.signIn("a@x.org").text("localId") == user.text("localId"))
  }

  /// Text that a user chose goes to no address that is not the user's.
  @Test func aMailToAnUnconfirmedAddressHasNoName() throws {
    let identity = TestIdentity()
    let user = try identity.signUp()
    let token = JSONValue.string(user.text("idToken"))
    try identity.ask(.update, ["idToken": token, "displayName": "Ada"])
    try identity.ask(.sendOobCode, ["requestType": "VERIFY_EMAIL", "idToken": token])
    #expect(identity.mails.last?.displayName == nil)
    #expect(identity.mails.last?.code == identity.mailedCode)
    try identity.ask(.update, ["oobCode": .string(identity.mailedCode)])
    try identity.ask(.sendOobCode, reset())
    #expect(identity.mails.last?.displayName == "Ada")
    try identity.ask(
      .sendOobCode,
      ["requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token, "newEmail": "victim@x.org"])
    #expect(identity.mails.last?.displayName == nil)
  }

  @Test(arguments: ["ad\u{200B}a@x.org", "ada@\u{202E}gro.x", "a\u{FE0F}da@x.org"])
  func anAddressWithUnseenCharactersIsRefused(email: String) {
    let identity = TestIdentity()
    let body: JSONValue = ["email": .string(email), "password": "secret123"]
    #expect(identity.refusal(.signUp, body) == "INVALID_EMAIL")
  }

  /// Nobody learns without a token that there is an account.
  @Test(arguments: ["EMAIL_SIGNIN", "PASSWORD_RESET"])
  func aDisabledAccountIsHiddenLikeAnUnknownOne(type: String) throws {
    let identity = TestIdentity()
    let id = try identity.signUp().text("localId")
    identity.store.kept.allowsEmailLinks = true
    identity.store.accounts[id]?.isDisabled = true
    let body: JSONValue = ["requestType": .string(type), "email": "ada@x.org"]
    #expect(identity.refusal(.sendOobCode, body) == nil)
    #expect(identity.mails.isEmpty)
  }

  @Test func aCodeOfAnOlderAddressVerifiesNothing() throws {
    let identity = TestIdentity()
    let token = JSONValue.string(try identity.signUp().text("idToken"))
    _ = try identity.ask(.sendOobCode, ["requestType": "VERIFY_EMAIL", "idToken": token])
    let code = identity.mailedCode
    _ = try identity.ask(.update, ["idToken": token, "email": "new@x.org"])
    #expect(identity.refusal(.update, ["oobCode": .string(code)]) == "INVALID_OOB_CODE")
  }

  @Test func aUserSignsInByAMailedLink() throws {
    let identity = TestIdentity()
    _ = try identity.ask(.sendOobCode, ["requestType": "EMAIL_SIGNIN", "email": "Cy@x.org"])
    let code = JSONValue.string(identity.mailedCode)
    #expect(
      identity.refusal(.signInWithEmailLink, ["email": "other@x.org", "oobCode": code])
        == "INVALID_EMAIL")
    let answer = try identity.ask(
      .signInWithEmailLink, ["email": "cy@x.org", "oobCode": code])
    #expect(answer["isNewUser"] == true)
    #expect(answer.claims["email_verified"] == true)
    #expect(
      identity.refusal(.signInWithEmailLink, ["email": "cy@x.org", "oobCode": code])
        == "INVALID_OOB_CODE")
  }

  @Test(
    arguments: [
      ([:], "MISSING_REQ_TYPE"), (["requestType": "PASSWORD_RESET"], "MISSING_EMAIL"),
      (["requestType": "PASSWORD_RESET", "email": "x"], "INVALID_EMAIL"),
      (
        ["requestType": "OTHER"], "INVALID_REQ_TYPE : Unsupported request parameters."
      ),
      (["requestType": "VERIFY_EMAIL"], "INVALID_ID_TOKEN"),
      (
        ["requestType": "PASSWORD_RESET", "email": "a@b", "returnOobLink": true],
        "INSUFFICIENT_PERMISSION"
      ),
      (
        ["requestType": "PASSWORD_RESET", "email": "a@b", "continueUrl": "x"],
        "INVALID_CONTINUE_URI : ((continueUrl) is not an absolute address)"
      ),
      (
        ["requestType": "PASSWORD_RESET", "email": "a@b", "continueUrl": "https://evil.example/"],
        "UNAUTHORIZED_DOMAIN : The domain of continueUrl is not allowed here"
      ),
      (
        [
          "requestType": "PASSWORD_RESET", "email": "a@b",
          "continueUrl": "https://localhost@evil.example/",
        ],
        "UNAUTHORIZED_DOMAIN : The domain of continueUrl is not allowed here"
      ),
      (
        [
          "requestType": "PASSWORD_RESET", "email": "a@b",
          "continueUrl": "https://localhost\\@evil.example/",
        ],
        "UNAUTHORIZED_DOMAIN : The domain of continueUrl is not allowed here"
      ),
      (
        [
          "requestType": "PASSWORD_RESET", "email": "a@b",
          "continueUrl": "javascript://localhost/x",
        ],
        "UNAUTHORIZED_DOMAIN : The domain of continueUrl is not allowed here"
      ),
    ] as [(JSONValue, String)])
  func aWrongRequestIsRefused(body: JSONValue, message: String) {
    let identity = TestIdentity()
    #expect(identity.refusal(.sendOobCode, body) == message)
    #expect(identity.mails.isEmpty)
  }

  @Test func anAnonymousUserHasNoAddressToVerify() throws {
    let identity = TestIdentity()
    let token = JSONValue.string(try identity.ask(.signUp).text("idToken"))
    #expect(
      identity.refusal(.sendOobCode, ["requestType": "VERIFY_EMAIL", "idToken": token])
        == "MISSING_EMAIL")
  }

  @Test func codesExpire() throws {
    let identity = TestIdentity()
    try identity.signUp()
    _ = try identity.ask(.sendOobCode, reset())
    identity.now += MailedCode.Kind.passwordReset.lifetime - 1
    let code = JSONValue.string(identity.mailedCode)
    #expect(identity.refusal(.resetPassword, ["oobCode": code]) == nil)
    identity.now += 1
    #expect(identity.refusal(.resetPassword, ["oobCode": code]) == "EXPIRED_OOB_CODE")
    #expect(identity.refusal(.resetPassword) == "MISSING_OOB_CODE")
    // The next code takes the place of the old one.
    _ = try identity.ask(.sendOobCode, reset())
    #expect(identity.store.codes.count == 1)
  }

  @Test func aUserHasNoMoreThanSoManyCodes() throws {
    let identity = TestIdentity()
    try identity.signUp()
    for _ in 0..<30 {
      identity.now += 1
      _ = try identity.ask(.sendOobCode, reset())
    }
    #expect(identity.store.codes.count == IdentityPolicy.codesMax)
    #expect(
      identity.refusal(.resetPassword, ["oobCode": .string(identity.mailedCode)]) == nil)
  }

  // MARK: The emulator

  @Test func anEmulatorShowsCodesUntilTheyAreUsed() throws {
    let identity = TestIdentity(isEmulator: true)
    let token = JSONValue.string(try identity.signUp().text("idToken"))
    _ = try identity.ask(.sendOobCode, reset())
    identity.now += 10
    _ = try identity.ask(.sendOobCode, ["requestType": "VERIFY_EMAIL", "idToken": token])
    let codes = try #require(identity.ask(.mailedCodes)["oobCodes"]?.array)
    #expect(codes.map { $0.text("requestType") } == ["PASSWORD_RESET", "VERIFY_EMAIL"])
    let link = codes[0].text("oobLink")
    #expect(
      link
        == "http://localhost:9000/emulator/action?mode=resetPassword&lang=en&oobCode="
        + codes[0].text("oobCode") + "&apiKey=fake-api-key")
    let clicked = try identity.ask(
      .action,
      [
        "mode": "resetPassword", "oobCode": .string(codes[0].text("oobCode")),
        "newPassword": "fresh4",
      ])
    #expect(clicked["authEmulator"]?["email"] == "ada@x.org")
    #expect(try identity.ask(.mailedCodes)["oobCodes"]?.array?.count == 1)
    _ = try identity.signIn("ada@x.org", "fresh4")
  }

  @Test func aClickOnAnOldLinkIsRefusedInTheEmulatorsForm() throws {
    let identity = TestIdentity(isEmulator: true)
    let call = IdentityCall(
      .action, CallFields(["mode": "verifyEmail", "oobCode": "junk"]))
    do throws(IdentityError) {
      _ = try identity.answer(call, false)
      Issue.record("It was accepted.")
    } catch {
      #expect(error.status == 400)
      #expect(error.json["authEmulator"]?["error"] == "INVALID_OOB_CODE")
    }
  }

  @Test func aClickLeadsOn() throws {
    let identity = TestIdentity(isEmulator: true)
    let token = JSONValue.string(try identity.signUp().text("idToken"))
    _ = try identity.ask(
      .sendOobCode,
      ["requestType": "VERIFY_EMAIL", "idToken": token, "continueUrl": "http://app.example/a?b=1"])
    #expect(
      identity.mails.last?.link?.hasSuffix("&continueUrl=http%3A%2F%2Fapp.example%2Fa%3Fb%3D1")
        == true)
    let call = IdentityCall(
      .action,
      CallFields([
        "mode": "verifyEmail", "oobCode": .string(identity.mailedCode),
        "continueUrl": "http://app.example/a?b=1",
      ]))
    #expect(try identity.answer(call, false).redirect == "http://app.example/a?b=1")
  }

  @Test func onlyAnEmulatorHasItsEndpoints() {
    let identity = TestIdentity()
    for operation in [IdentityOperation.wipe, .mailedCodes, .action, .emulatorConfig, .ready] {
      #expect(identity.refusal(operation) == "Not Found")
    }
  }

  @Test func anEmulatorIsWiped() throws {
    let identity = TestIdentity(isEmulator: true)
    try identity.signUp()
    #expect(try identity.ask(.wipe) == .object([]))
    #expect(identity.store.accounts.isEmpty)
    try identity.signUp()
  }
}
