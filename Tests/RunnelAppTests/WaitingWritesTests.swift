import RunnelTerminal
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
    app.press("?")
    #expect(app.line(of: "this machine. S lists and drops them before.") != nil)
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

  /// The facts of a user, while writes of others wait who are signed out.
  private static func absent(
    _ facts: AccountFacts, _ absence: AccountFacts.Absence, _ account: AccountFacts.Account
  ) -> AccountFacts {
    var facts = facts
    facts.waiting = [AccountFacts.Waiting(account, count: 2, absence)]
    return facts
  }

  @Test(arguments: [
    (AccountFacts.Absence.signedOut, "signed out, 2 writes wait"),
    (.revoked, "device revoked, 2 writes wait"),
  ])
  func writesOfAccountsThatAreSignedOutAreTold(
    _ absence: AccountFacts.Absence, _ words: String
  ) throws {
    let facts = Self.absent(AccountFacts(), absence, AccountTests.bo)
    #expect(AccountFacts(facts.json) == facts)
    let app = try open(facts, forgets: false)
    #expect(app.screen[0].contains("↑2 of others"))
    app.press("S")
    #expect(app.line(of: "without an account nothing waits, and nothing was refused") != nil)
    #expect(app.line(of: "2 writes of bo@x.org wait for a new sign-in · A lists") != nil)
    app.press("Esc A")
    #expect(app.body.contains { $0.contains("bo@x.org") && $0.contains(words) })
    // What is kept of it is shown only after the sign-in.
    app.press("Enter")
    #expect(!app.screenEffects.contains { if case .account = $0 { true } else { false } })
    guard case .form(let form)? = app.state.layers.last else {
      Issue.record("no form: \(app.screen)")
      return
    }
    #expect(form.fields.first?.input.editor.text == "bo@x.org" && form.focus == 1)
  }

  /// Its session has ended, and nobody can sign in to it.
  @Test(arguments: [false, true])
  func writesOfAnAccountThatNobodyCanSignInToAreGivenUpAfterAQuestion(isDeleted: Bool) throws {
    var facts = AccountTests.facts
    let gone = isDeleted ? AccountFacts.Account(id: "0ld") : Self.anonymous
    facts.waiting = [AccountFacts.Waiting(gone, count: 2, isDeleted: isDeleted)]
    let app = try open(facts, forgets: false)
    app.press("A G d")
    #expect(app.line(of: "Give up the writes") != nil)
    #expect(app.line(of: "Sign out") == nil)
    app.wait(milliseconds: 200)
    app.press("y")
    guard case .account(_, .giveUp(gone.id))? = app.screenEffects.last else {
      Issue.record("nothing was given up: \(app.screen)")
      return
    }
  }

  @Test func writesOfAnAccountThatIsSignedOutAreGivenUpAfterAQuestion() throws {
    let app = try open(
      Self.absent(AccountTests.facts, .signedOut, .init(id: "0ld")), forgets: false)
    app.press("A G d")
    #expect(app.line(of: "Give up the writes") != nil)
    #expect(app.line(of: "2 writes wait: nothing brings them back then") != nil)
    app.wait(milliseconds: 200)
    app.press("y")
    guard case .account(let id, .giveUp("0ld"))? = app.screenEffects.last else {
      Issue.record("not given up: \(app.screenEffects)")
      return
    }
    app.take(.answered(id, .account(user: nil)))
    #expect(app.toast == "the writes were given up")
  }

  @Test func nobodySignsInAgainToAnAccountWithoutAnAddress() throws {
    let app = try open(
      Self.absent(AccountTests.facts, .revoked, Self.anonymous), forgets: false)
    app.press("S")
    #expect(app.line(of: "2 writes of anonymous k3x9vq wait · A lists") != nil)
    app.press("Esc A G Enter")
    #expect(app.toast.hasPrefix("nobody can sign in to it again"))
  }

  @Test func writesWithoutAnAccountAreToldWhereAnAccountIsShown() throws {
    var facts = AccountTests.facts
    facts.nobodyCount = 1
    #expect(AccountFacts(facts.json) == facts)
    let app = try open(facts, forgets: false)
    #expect(app.screen[0].contains("↑1 of others"))
    app.press("S")
    #expect(
      app.line(of: "1 write without an account waits: it is sent while nobody is signed in") != nil)
  }

  @Test func refusedWritesWithoutAnAccountAreNamedAndShownByAKey() throws {
    var facts = AccountTests.facts
    (facts.nobodyCount, facts.nobodyRefusedCount) = (1, 2)
    #expect(AccountFacts(facts.json) == facts)
    let app = try open(facts, forgets: false)
    #expect(app.screen[0].contains("2 of nobody"))
    app.press("S")
    #expect(app.line(of: "2 writes without an account were refused · A lists nobody") != nil)
    app.press("Esc A G")
    #expect(app.cursorLine.contains("nobody"))
    #expect(app.cursorLine.contains("1 write waits, 2 writes were refused"))
    // There is nobody to sign out.
    app.press("d")
    #expect(app.toast.hasPrefix("nobody is signed in there"))
    app.press("Enter")
    #expect(app.state.session.accountChange?.user == nil)
    #expect(
      app.state.session.accountChange?.news
        == "the database is shown without an account · S lists its writes")
  }

  @Test func nobodyIsListedOnlyWhereAnAccountIsShown() throws {
    var facts = AccountTests.facts
    facts.nobodyRefusedCount = 1
    (facts.current, facts.session) = (nil, .nobody)
    let app = try open(facts, forgets: false)
    #expect(!app.screen[0].contains("of nobody"))
    app.press("A")
    #expect(!app.body.contains { $0.contains("refused") })
  }

  @Test func signOutOfAnotherAccountSaysWhatWaits() throws {
    let app = try open(ofBo)
    app.press("A G d")
    #expect(app.line(of: "2 writes wait: they are sent when it signs in again") != nil)
  }
}
