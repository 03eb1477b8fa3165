import RunnelBase
import RunnelIdentity
import Testing

/// An address has one account, however its letters are put together.
@Suite struct EmailSpellingTests {
  private static let composed = "ren\u{E9}@x.org"
  private static let decomposed = "rene\u{301}@x.org"
  private static let spellings = [
    (composed, decomposed), (decomposed, composed), ("REN\u{C9}@x.org", decomposed),
    (decomposed, "RENE\u{301}@x.org"),
  ]

  private func isComposed(_ text: String?) -> Bool {
    text?.utf8.elementsEqual(EmailSpellingTests.composed.utf8) == true
  }

  @Test(arguments: spellings)
  func bothSpellingsAreOneAddress(first: String, second: String) throws {
    let identity = TestIdentity()
    let id = try identity.signUp(first)["localId"]
    #expect(
      identity.refusal(.signUp, ["email": .string(second), "password": "secret123"])
        == "EMAIL_EXISTS")
    let signedIn = try identity.signIn(second)
    #expect(signedIn["localId"] == id)
    #expect(isComposed(signedIn["email"]?.string))
    let found = try identity.ask(
      .lookup, ["email": [.string(second)]], isPrivileged: true)
    #expect(found["users"]?.array?.first?["localId"] == id)
    #expect(
      identity.refusal(
        .create, ["email": .string(second), "password": "secret123"], isPrivileged: true)
        == "EMAIL_EXISTS")
    let other = try identity.signUp("bob@x.org")
    #expect(
      identity.refusal(
        .update, ["idToken": .string(other.text("idToken")), "email": .string(second)])
        == "EMAIL_EXISTS")
    try identity.ask(.sendOobCode, ["requestType": "PASSWORD_RESET", "email": .string(second)])
    #expect(isComposed(identity.mails.last?.recipient))
    let code = JSONValue.string(identity.mailedCode)
    try identity.ask(.resetPassword, ["oobCode": code, "newPassword": "another123"])
    #expect(try identity.signIn(first, "another123")["localId"] == id)
    try identity.ask(.sendOobCode, ["requestType": "EMAIL_SIGNIN", "email": .string(first)])
    let byMail = try identity.ask(
      .signInWithEmailLink, ["email": .string(second), "oobCode": .string(identity.mailedCode)])
    #expect(byMail["localId"] == id)
  }

  @Test func anImportFindsTheOtherSpelling() throws {
    let identity = TestIdentity()
    let users: JSONValue = [
      ["localId": "a", "email": .string(EmailSpellingTests.composed)],
      ["localId": "b", "email": .string(EmailSpellingTests.decomposed)],
    ]
    let answer = try identity.ask(.batchCreate, ["users": users], isPrivileged: true)
    #expect(answer["error"]?.array?.count == 1)
    #expect(answer["error"]?.array?.first?["index"] == 1)
    #expect(answer["error"]?.array?.first?["message"] == "DUPLICATE_EMAIL")
  }

  @Test func accountsThatAnOlderVersionKeptApartStayApart() throws {
    let identity = TestIdentity()
    for (id, email) in [
      ("a", EmailSpellingTests.composed), ("b", EmailSpellingTests.decomposed),
    ] {
      var record = AccountRecord(id: id)
      (record.email, record.password) = (email, identity.hash(of: "secret-of-" + id))
      identity.store.accounts[id] = record
    }
    let first = try identity.signIn(EmailSpellingTests.composed, "secret-of-a")
    let second = try identity.signIn(EmailSpellingTests.decomposed, "secret-of-b")
    #expect(first["localId"] == "a")
    #expect(second["localId"] == "b")
    // Each may say its own address again.
    try identity.ask(
      .update,
      [
        "idToken": .string(second.text("idToken")),
        "email": .string(EmailSpellingTests.decomposed), "password": "another123",
      ])
    #expect(
      try identity.signIn(EmailSpellingTests.decomposed, "another123")["localId"] == "b")
    try identity.ask(
      .sendOobCode,
      ["requestType": "EMAIL_SIGNIN", "email": .string(EmailSpellingTests.decomposed)])
    let byMail = try identity.ask(
      .signInWithEmailLink,
      [
        "email": .string(EmailSpellingTests.composed), "oobCode": .string(identity.mailedCode),
      ])
    #expect(byMail["localId"] == "b")
    #expect(identity.store.accounts["a"]?.email?.utf8.count == 11)
    #expect(identity.store.accounts["b"]?.email?.utf8.count == 12)
  }

  @Test func anOlderAccountInTheDecomposedSpellingIsFoundByTheOther() throws {
    let identity = TestIdentity()
    var record = AccountRecord(id: "b")
    record.email = EmailSpellingTests.decomposed
    record.password = identity.hash(of: "secret123")
    identity.store.accounts["b"] = record
    #expect(try identity.signIn(EmailSpellingTests.composed)["localId"] == "b")
    #expect(
      identity.refusal(
        .signUp, ["email": .string(EmailSpellingTests.composed), "password": "secret123"])
        == "EMAIL_EXISTS")
  }

  @Test func theOtherSpellingHasNoFreeAttemptsOfItsOwn() {
    func names(_ email: String) -> [AttemptGuard.Name] {
      AttemptNames.of(
        IdentityCall(
          .signInWithPassword, CallFields(["email": .string(email)]), isAdministrative: false),
        from: "127.0.0.1", user: nil)
    }
    #expect(names(EmailSpellingTests.composed) == names(EmailSpellingTests.decomposed))
  }

  // MARK: Domains in their form for the network

  private static let (network, unicode) = ("ada@xn--bcher-kva.org", "ada@b\u{FC}cher.org")

  @Test(arguments: [(network, unicode), (unicode, network), ("ADA@XN--BCHER-KVA.org", unicode)])
  func bothFormsOfADomainAreOneAddress(first: String, second: String) throws {
    let identity = TestIdentity()
    let id = try identity.signUp(first)["localId"]
    #expect(
      identity.refusal(.signUp, ["email": .string(second), "password": "secret123"])
        == "EMAIL_EXISTS")
    let signedIn = try identity.signIn(second)
    #expect(signedIn["localId"] == id)
    #expect(signedIn["email"]?.string == EmailSpellingTests.unicode)
    let found = try identity.ask(.lookup, ["email": [.string(second)]], isPrivileged: true)
    #expect(found["users"]?.array?.first?["localId"] == id)
    let answer = try identity.ask(
      .batchCreate, ["users": [["localId": "other", "email": .string(second)]]],
      isPrivileged: true)
    #expect(answer["error"]?.array?.first?["message"] == "DUPLICATE_EMAIL")
    try identity.ask(.sendOobCode, ["requestType": "EMAIL_SIGNIN", "email": .string(first)])
    let byMail = try identity.ask(
      .signInWithEmailLink, ["email": .string(second), "oobCode": .string(identity.mailedCode)])
    #expect(byMail["localId"] == id)
  }

  @Test func anOlderAccountInTheFormForTheNetworkIsFoundByBoth() throws {
    let identity = TestIdentity()
    var record = AccountRecord(id: "b")
    (record.email, record.isEmailVerified) = (EmailSpellingTests.network, true)
    record.password = identity.hash(of: "secret123")
    identity.store.accounts["b"] = record
    for email in [EmailSpellingTests.network, EmailSpellingTests.unicode] {
      let signedIn = try identity.signIn(email)
      #expect(signedIn["localId"] == "b")
      #expect(
        identity.refusal(.signUp, ["email": .string(email), "password": "secret123"])
          == "EMAIL_EXISTS")
      // The other form is no new address, which would have to be confirmed again.
      try identity.ask(
        .update, ["idToken": .string(signedIn.text("idToken")), "email": .string(email)])
      #expect(identity.store.accounts["b"]?.isEmailVerified == true)
    }
  }
}
