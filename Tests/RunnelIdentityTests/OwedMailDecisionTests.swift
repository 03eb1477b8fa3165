import RunnelBase
import RunnelIdentity
import Testing

/// Mails about a lost address are owed from the write of the loss on, until they were sent.
@Suite struct OwedMailDecisionTests {
  /// An account whose confirmed address was changed, and the mail that tells it.
  private func changed() throws -> (TestIdentity, OwedMail, AccountMail) {
    let identity = TestIdentity()
    let token = JSONValue.string(try identity.signUp().text("idToken"))
    try identity.prove(token)
    #expect(identity.store.owed.isEmpty, "such a mail can be asked for again")
    try identity.ask(.update, ["idToken": token, "email": "new@x.org"])
    let mail = try #require(identity.mails.last)
    let owed = try #require(identity.store.owed.values.first)
    #expect(identity.store.owed.count == 1 && mail.owed == owed.id)
    return (identity, owed, mail)
  }

  private func takesBack(_ identity: TestIdentity, _ code: String) -> Bool {
    identity.refusal(.update, ["oobCode": .string(code)]) == nil
  }

  @Test func theMailIsKeptWithoutItsCode() throws {
    let (_, owed, mail) = try changed()
    let code = try #require(mail.code)
    let text = owed.stored.jsonText()
    #expect(text.contains("ada@x.org") && !text.contains(code))
    #expect(OwedMail(stored: owed.stored, id: owed.id) == owed)
  }

  @Test(arguments: [false, true])
  func theMailAfterAKillHasACodeThatTakesTheChangeBack(isFirstUsed: Bool) throws {
    let (identity, owed, mail) = try changed()
    identity.now += 1000
    let again = try #require(try identity.renew(owed))
    let (first, later) = (try #require(mail.code), try #require(again.code))
    #expect(again.recipient == "ada@x.org" && again.newEmail == "new@x.org" && later != first)
    #expect(again.link?.contains("mode=recoverEmail&lang=en&oobCode=\(later)&") == true)
    #expect(again.owed == owed.id)
    // The first one may have been sent, too.
    #expect(takesBack(identity, isFirstUsed ? first : later))
    #expect(!takesBack(identity, isFirstUsed ? later : first), "the change is taken back once")
    #expect(identity.store.account(email: "ada@x.org") != nil)
  }

  @Test func severalKillsLeaveTwoCodesAtMost() throws {
    let (identity, _, mail) = try changed()
    var last: AccountMail?
    for _ in 0..<5 {
      let owed = try #require(identity.store.owed.values.first)
      last = try identity.renew(owed)
    }
    let codes = identity.store.codes.values.filter { $0.kind == .recoverEmail }
    #expect(codes.count == 2 && Set(codes.map(\.time)).count == 1)
    #expect(codes.contains { $0.hash == SecretHash.of(mail.code ?? "") })
    #expect(takesBack(identity, last?.code ?? ""))
  }

  @Test func aMailWhoseCodeIsOverIsOwedNoMore() throws {
    let (identity, owed, mail) = try changed()
    #expect(takesBack(identity, mail.code ?? ""))
    #expect(try identity.renew(owed) == nil)
    #expect(identity.store.owed[owed.id] == nil)
  }

  @Test func aNoticeIsOwedAndSentAgainAsItWas() throws {
    let identity = TestIdentity()
    let user = try identity.signUp()
    try identity.ask(
      .update, ["localId": .string(user.text("localId")), "email": "new@x.org"],
      isPrivileged: true)
    let mail = try #require(identity.mails.last)
    #expect(mail.notice == .replaced && mail.code == nil)
    let owed = try #require(identity.store.owed.values.first)
    #expect(try identity.renew(owed) == mail)
  }

  @Test func aNoticeThatCouldNotBeDeliveredForDaysIsOwedNoMore() throws {
    let identity = TestIdentity()
    let user = try identity.signUp()
    try identity.ask(
      .update, ["localId": .string(user.text("localId")), "email": "new@x.org"],
      isPrivileged: true)
    let owed = try #require(identity.store.owed.values.first)
    #expect(!owed.rests(now: identity.now + OwedMail.tryMilliseconds))
    #expect(owed.rests(now: identity.now + OwedMail.tryMilliseconds + 1))
    identity.now += OwedMail.keepMilliseconds - 1
    #expect(owed.rests(now: identity.now))
    #expect(try identity.renew(owed) != nil, "a start tries it")
    let later = try #require(identity.store.owed.values.first)
    identity.now += 1
    #expect(later.isOver(now: identity.now) && !later.rests(now: identity.now))
    #expect(try identity.renew(later) == nil && identity.store.owed.isEmpty)
  }

  @Test func anEmulatorOwesNothing() throws {
    let identity = TestIdentity(isEmulator: true)
    let token = JSONValue.string(try identity.signUp().text("idToken"))
    try identity.ask(.update, ["idToken": token, "email": "new@x.org"])
    #expect(identity.mails.last?.kind == .recoverEmail && identity.store.owed.isEmpty)
  }
}
