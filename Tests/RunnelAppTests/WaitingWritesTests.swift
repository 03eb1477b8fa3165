import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// What waits of all accounts of a database is told wherever waiting writes are.
@Suite struct WaitingWritesTests {
  private static let anonymous: AccountFacts.Account = {
    var account = AccountFacts.Account(id: "k3x9vq27")
    account.isAnonymous = true
    return account
  }()

  private func open(
    _ facts: AccountFacts, writes: Bool = false, forgets: Bool = true, columns: Int = 80
  ) throws -> AppDriver {
    // The write of the whole database waits.
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, origin: writes ? "home" : nil, columns: columns,
      forgetsAccounts: forgets)
    app.take(.accounts(facts))
    return app
  }

  private var ofBo: AccountFacts {
    var facts = AccountTests.facts
    facts.waiting = [AccountFacts.Waiting(AccountTests.bo, count: 2)]
    return facts
  }

  @Test(arguments: [80, 60])
  func writesOfAnotherKeptAccountAreInTheHeaderTheQueueAndTheList(_ columns: Int) throws {
    let app = try open(ofBo, columns: columns)
    #expect(app.screen[0].contains("↑2 of others"))
    app.press("S")
    #expect(app.line(of: "nothing waits, and") == nil)
    #expect(app.line(of: "nothing of ana@x.org waits, and nothing was refused") != nil)
    #expect(app.line(of: "2 writes of bo@x.org wait") != nil)
    // No key of the queue is about writes of another account.
    app.press("G d r e Enter")
    #expect(app.line(of: "2 writes of bo@x.org wait") != nil)
    app.press("Esc A")
    #expect(app.body.contains { $0.contains("bo@x.org") && $0.contains("2 writes wait") })
    #expect(AccountFacts(ofBo.json) == ofBo)
    app.take(.accounts(AccountTests.facts))
    app.press("Esc S")
    #expect(app.line(of: "nothing waits, and nothing was refused") != nil)
  }

  @Test func ownWritesStandBeforeThoseOfOthers() throws {
    let app = try open(ofBo, writes: true)
    #expect(app.screen[0].contains("↑1 ↑2 of others"))
    app.press("S")
    #expect(app.line(of: "nothing of") == nil)
    #expect(app.line(of: "2 writes of bo@x.org wait") != nil)
  }

  @Test func whoeverForgetsTheAccountsIsAskedAboutWritesOfAllOfThem() throws {
    let app = try open(ofBo)
    app.press("q")
    #expect(!app.state.session.isLeaving)
    #expect(app.line(of: "2 writes of bo@x.org wait: they are sent when it signs in again") != nil)
    #expect(app.line(of: "ana@x.org wait") == nil)
    let kept = try open(ofBo, forgets: false)
    kept.press("q")
    #expect(kept.state.session.isLeaving)
  }

  @Test func whoeverForgetsAnAnonymousUserIsToldThatItsWritesAreNeverSent() throws {
    let facts = AccountFacts([Self.anonymous], current: Self.anonymous, .signedIn)
    let app = try open(facts, writes: true)
    app.press("q")
    #expect(app.line(of: "1 write of anonymous k3x9vq waits: it is never sent then") != nil)
    #expect(app.line(of: "signs in") == nil)
  }

  @Test func signOutOfAnotherAccountSaysWhatWaits() throws {
    let app = try open(ofBo)
    app.press("A G d")
    #expect(app.line(of: "2 writes wait: they are sent when it signs in again") != nil)
  }
}
