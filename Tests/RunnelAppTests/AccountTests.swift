import RunnelBase
import RunnelStore
import RunnelStreams
import RunnelTerminal
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Signing in, accounts and the end of a session, as the user sees them.
@Suite struct AccountTests {
  static let ana = AccountFacts.Account(id: "ana", email: "ana@x.org", name: "Ana")
  static let bo = AccountFacts.Account(id: "bo", email: "bo@x.org", isVerified: true)
  static let facts = AccountFacts([ana, bo], current: ana, .signedIn)
  static let ended = AccountFacts([bo], current: ana, .ended("The session has ended."))

  private func open(_ facts: AccountFacts = AccountFacts(), columns: Int = 80) throws -> AppDriver {
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, origin: "home", columns: columns, isRecording: true)
    app.take(.accounts(facts))
    return app
  }

  /// The last request for accounts, and its id.
  private func request(_ app: AppDriver) -> (id: AppRequestID, request: AccountRequest)? {
    for case .account(let id, let request) in app.screenEffects.reversed() { return (id, request) }
    return nil
  }

  private func answer(_ app: AppDriver, _ answer: Answer) throws {
    app.take(.answered(try #require(request(app)).id, answer))
  }

  private func signIn(_ app: AppDriver, _ email: String, _ password: String) {
    app.press("A s")
    app.type(email)
    app.press("Tab")
    app.type(password)
    app.press("Enter")
  }

  @Test(arguments: [100, 60, 44])
  func stateOfAnAccountIsSeenOnNarrowScreensAndNamesAreCutFirst(_ columns: Int) throws {
    let long = AccountFacts.Account(
      id: "long", email: "somebody.with@example.org", name: "Somebody With A Long Name")
    var ana = Self.ana
    ana.isVerified = true
    var facts = AccountFacts([ana], current: ana, .signedIn)
    facts.waiting = [AccountFacts.Waiting(long, count: 2, .signedOut)]
    let app = try open(facts, columns: columns)
    app.press("A")
    let row = try #require(app.body.first { $0.contains("signed out, 2 writes wait") })
    #expect(row.contains("somebody.with@example.org") == (columns > 44), "\(row)")
    #expect(row.contains("Som") == (columns > 44), "\(row)")
    #expect(row.contains("Somebody With A Long Na…") == (columns == 100), "\(row)")
    #expect(app.body.contains { $0.contains("ana@x.org") && $0.contains("shown") })
  }

  // MARK: The header

  @Test func headerShowsTheAccountAndWhetherItsSessionHasEnded() throws {
    let app = try open()
    #expect(app.screen[0].hasSuffix("not signed in"))
    app.take(.accounts(Self.facts))
    #expect(app.screen[0].hasSuffix("ana@x.org"))
    app.take(.accounts(Self.ended))
    #expect(app.screen[0].hasSuffix("✗ ana@x.org: session ended"))
    #expect(app.toast == "The session has ended. · A s signs in again")
    app.take(.accounts(Self.facts))
    let long = AccountFacts.Account(id: "x", email: String(repeating: "x", count: 99))
    app.take(.accounts(AccountFacts([long], current: long, .signedIn)))
    #expect(app.screen[0].hasSuffix("xx…"))
  }

  @Test func headerSaysTheKeyThatSignsInAndTheReasonGoesWhenAnotherProgramHasDoneIt() throws {
    let app = try open(Self.facts, columns: 100)
    app.take(.origin(OriginFacts(.waiting, since: app.state.now)))
    #expect(app.screen[0].contains("offline since "))
    app.take(.accounts(Self.ended))
    #expect(app.screen[0].contains("offline · A s signs in  ✗ ana@x.org: session ended"))
    #expect(app.toast.hasPrefix("The session has ended."))
    app.take(.accounts(Self.facts))
    #expect(app.toast == "signed in again")
    #expect(app.screen[0].contains("offline since "))
  }

  @Test(arguments: ["permission_denied", "PERMISSION_DENIED"])
  func listThatIsRefusedToNobodyNamesTheKeyThatSignsIn(_ code: String) throws {
    let app = try open()
    let failure = StreamFailure("Not authenticated", code: code)
    app.take(
      .list(
        view: 0,
        ListChange(
          content: .sections([]), update: .reload, phase: .failed(failure), paging: .exhausted,
          loadedCount: 0)))
    #expect(app.line(of: "A s signs in") != nil, "\(app.body)")
    #expect(app.screen.contains { $0.contains("A sign in") }, "\(app.screen)")
    app.take(.accounts(Self.facts))
    #expect(app.line(of: "A s signs in") == nil, "\(app.body)")
    #expect(!app.screen.contains { $0.contains("A sign in") }, "\(app.screen)")
  }

  @Test func accountWithoutAnAddressIsAskedForNoPassword() throws {
    var account = AccountFacts.Account(id: "k3x9vq27")
    account.isAnonymous = true
    let app = try open(AccountFacts([account], current: account, .signedIn))
    app.press("A p")
    #expect(app.form == nil)
    #expect(app.toast == "the account has no address and no password: u gives it both")
    app.press("e")
    #expect(app.form == nil)
    #expect(app.toast == "the account has no address and no password: u gives it both")
    app.press("c")
    #expect(app.toast == "the account has no e-mail address: u gives it one")
    app.press("X")
    #expect(app.form == nil && app.line(of: "Delete the account, for ever") != nil)
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(request(app)?.request == .delete(current: nil))
  }

  @Test(arguments: [80, 60])
  func keyThatSignsInIsSeenOnNarrowScreensAndOfARefusedLink(_ columns: Int) throws {
    let app = try open(Self.ended, columns: columns)
    app.take(.origin(OriginFacts(.waiting, since: app.state.now)))
    #expect(app.screen[0].contains("offline · A s signs in"), "\(app.screen[0])")
    app.take(.origin(OriginFacts(.refused, reason: "the token is not valid")))
    #expect(app.screen[0].contains("refused · A s signs in"), "\(app.screen[0])")
    app.take(.accounts(AccountFacts()))
    #expect(app.screen[0].contains("refused · A s signs in"), "\(app.screen[0])")
    app.take(.accounts(Self.facts))
    #expect(!app.screen[0].contains("signs in"), "\(app.screen[0])")
  }

  @Test func disabledAccountSignsInOnlyOnceItIsEnabled() throws {
    let app = try open(Self.facts)
    var disabled = AccountFacts([], current: Self.ana, .ended("The account is disabled."))
    disabled.isDisabled = true
    #expect(AccountFacts(disabled.json) == disabled)
    app.take(.accounts(disabled))
    #expect(app.toast == "The account is disabled. · A s signs in once it is enabled")
  }

  @Test func deletedAccountIsNotOfferedForASignIn() throws {
    let app = try open(Self.facts)
    var deleted = AccountFacts([Self.bo], current: Self.ana, .ended("The account was deleted."))
    deleted.isDeleted = true
    app.take(.accounts(deleted))
    #expect(AccountFacts(deleted.json) == deleted)
    #expect(app.screen[0].hasSuffix("✗ ana@x.org: account deleted"))
    #expect(app.toast == "The account was deleted. · A lists the accounts")
    app.press("A")
    #expect(app.form == nil)
    app.press("p")
    #expect(app.form == nil && app.toast.contains("the account was deleted"))
    app.press("s")
    #expect(app.form?.title == "Sign in" && app.form?.focus == 0)
  }

  @Test func narrowHeaderShowsOnlyThatTheSessionHasEnded() throws {
    let app = try open(Self.facts, columns: 40)
    #expect(!app.screen[0].contains("ana@x.org"))
    app.take(.accounts(Self.ended))
    #expect(app.screen[0].hasSuffix("✗"))
  }

  @Test func denialsAreNoNewsToWhoeverIsNotSignedIn() {
    #expect(AccountFacts().explainsDenials && Self.ended.explainsDenials)
    #expect(!Self.facts.explainsDenials)
  }

  @Test func listSaysThatTheDeviceWasRevoked() throws {
    let app = try open()
    app.press("A")
    #expect(app.line(of: "nobody is signed in") != nil && app.line(of: "was revoked") == nil)
    var revoked = AccountFacts()
    revoked.isRevoked = true
    app.take(.accounts(revoked))
    #expect(app.line(of: "nobody is signed in: this device was revoked") != nil)
    #expect(AccountFacts(revoked.json) == revoked)
    #expect(app.state.session.accountChange == nil)
  }

  // MARK: Signing in

  @Test func userSignsInAndTheReplicaOfTheAccountIsWanted() throws {
    let app = try open()
    app.press("A")
    #expect(app.line(of: "nobody is signed in") != nil)
    app.press("Esc")
    signIn(app, "ana@x.org", "sesame")
    #expect(request(app)?.request == .signIn(email: "ana@x.org", Secret("sesame")))
    #expect(app.line(of: "signing in…") != nil)
    app.press("Enter")
    #expect(app.toast.hasPrefix("wait for the answer"))
    try answer(app, .account(user: "ana"))
    #expect(app.state.session.accountChange == AccountChange(to: "ana"))
    #expect(app.line(of: "Sign in") == nil)
  }

  @Test func accountIsMadeIfThePasswordIsTypedTwice() throws {
    let app = try open()
    app.press("A a")
    app.type("cy@x.org")
    app.press("Tab")
    app.type("sesame")
    app.press("Tab")
    app.type("sesane")
    app.press("Enter")
    #expect(app.line(of: "the two differ") != nil)
    #expect(request(app) == nil)
    app.press("C-u")
    app.type("sesame")
    app.press("Enter")
    #expect(request(app)?.request == .signUp(email: "cy@x.org", Secret("sesame")))
  }

  @Test func refusalStandsAtItsFieldWhichIsEmptied() throws {
    let app = try open()
    signIn(app, "ana@x.org", "wrong")
    let message = "The password is wrong."
    try answer(
      app,
      .refused(
        Refusal(message, fields: [Refusal.Field(name: "password", message: message)])))
    let lines = app.body
    let refusal = try #require(lines.firstIndex { $0.contains(message) })
    #expect(lines[refusal - 1].contains("password"), "\(lines)")
    #expect(!lines.contains { $0.contains("•") })
    #expect(!lines.contains { $0.contains("signing in…") })
    app.press("C-u")
    app.type("right")
    #expect(app.line(of: message) == nil)
    app.press("Enter")
    #expect(request(app)?.request == .signIn(email: "ana@x.org", Secret("right")))
    // A refusal that is about no field stands at the one that has the keys.
    try answer(app, .refused(Refusal("The service cannot be reached.")))
    #expect(app.line(of: "The service cannot be reached.") != nil)
  }

  @Test func refusalGoesWhenTheAddressIsCorrected() throws {
    let app = try open()
    signIn(app, "ann@x.org", "sesame")
    let message = "The e-mail address or the password is wrong."
    try answer(
      app,
      .refused(
        Refusal(message, fields: [Refusal.Field(name: "password", message: message)])))
    #expect(app.line(of: message) != nil)
    app.press("S-Tab")
    app.type("x")
    #expect(app.line(of: message) == nil)
  }

  @Test func missingTextIsSaidAndNothingIsAsked() throws {
    let app = try open()
    app.press("A s C-s")
    #expect(app.line(of: "is missing.") != nil)
    #expect(request(app) == nil)
  }

  @Test func interruptStopsTheRequestAndItsLateAnswerIsForNobody() throws {
    let app = try open()
    signIn(app, "ana@x.org", "sesame")
    let asked = try #require(request(app))
    app.press("C-c")
    #expect(app.toast == "stopped")
    #expect(app.screenEffects.last == .stopAccount(asked.id))
    #expect(app.line(of: "signing in…") == nil)
    try answer(app, .account(user: "ana"))
    #expect(app.state.session.accountChange == nil)
    app.press("C-c")
    #expect(app.form == nil)
  }

  // MARK: Secrets

  @Test func passwordIsOnNoScreenAndInNoRecordingAndNoDescription() throws {
    let app = try open()
    app.press("A s")
    app.type("ana@x.org")
    app.press("Tab")
    app.type("sesame")
    app.send(.paste("tulip"))
    var dumped = ""
    dump(app.state, to: &dumped)
    app.press("Enter")
    dump(request(app)?.request, to: &dumped)
    #expect(dumped.contains("ana@x.org"))
    for text in [app.screen.joined(), dumped, app.recording, "\(app.state)"] {
      #expect(!text.contains("sesame") && !text.contains("tulip"))
    }
    // Each of its letters is an input to a hidden field.
    let trace = app.state.session.trace.entries.map(\.name)
    #expect(trace.count { $0 == "input to a hidden field" } == 8, "\(trace)")
    #expect(!trace.contains("key m"))
  }

  @Test func recordedSessionHasTheAccountsAndIsReplayed() throws {
    let app = try open(Self.ended)
    app.press("A s")
    app.press("Tab Esc")
    app.take(.accounts(Self.facts))
    let replay = try SessionReplay(parsing: app.recording, file: "recording")
    #expect(replay.state.database.accounts == Self.facts)
    for facts in [AccountFacts(), Self.facts, Self.ended] {
      #expect(AccountFacts(facts.json) == facts)
    }
    #expect(AccountFacts(.null) == nil)
  }

  // MARK: The end of a session

  @Test func oneKeySignsInAgainAfterTheSessionHasEnded() throws {
    let app = try open(Self.facts)
    app.take(.accounts(Self.ended))
    // What is here stays readable.
    #expect(app.line(of: "Who has the ladder?") != nil)
    app.press("A s")
    #expect(app.form?.fields.map(\.label) == ["e-mail", "password"])
    app.type("sesame")
    app.press("Enter")
    #expect(request(app)?.request == .signIn(email: "ana@x.org", Secret("sesame")))
    try answer(app, .account(user: "ana"))
    app.take(.accounts(Self.facts))
    #expect(app.toast == "signed in again")
    #expect(app.state.session.accountChange == nil)
    #expect(app.form == nil)
  }

  @Test func reasonOfTheConnectionDoesNotHideThatTheSessionHasEnded() throws {
    let app = try open(Self.ended)
    app.take(.origin(OriginFacts(.waiting, reason: "there is no credential", since: 1)))
    #expect(app.toast == "The session has ended. · A s signs in again")
  }

  @Test func accountWhoseSessionHasEndedIsSignedOutForGood() throws {
    let app = try open(Self.ended)
    app.press("A d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(request(app)?.request == .signOut("ana"))
    try answer(app, .account(user: "bo"))
    #expect(app.state.session.accountChange?.user == "bo")
  }

  /// The server may have been reached without a live connection, by requests.
  @Test(arguments: [OriginFacts.Link.live, .waiting, .catchingUp], [false, true])
  func whoSignsOutIsToldSoInTheNextWorkspace(link: OriginFacts.Link, isLater: Bool) throws {
    let app = try open(Self.facts)
    app.take(.origin(OriginFacts(link)))
    app.press("A d")
    app.wait(milliseconds: 200)
    app.press("y")
    // The sign-out ends the connection before it is answered.
    app.take(.origin(OriginFacts(.waiting)))
    try answer(app, .account(user: nil, isLater: isLater))
    let news = try #require(app.state.session.accountChange?.news)
    #expect(news.hasPrefix("signed out of ana@x.org"))
    #expect(news.hasSuffix("the server has not confirmed it yet") == isLater)
    let next = try open()
    next.take(.said(news))
    next.take(.origin(OriginFacts(.waiting, reason: "home cannot be reached", since: 1)))
    #expect(next.toast == news)
  }

  @Test func dataOfARevokedDeviceIsShownNoMore() throws {
    let app = try open(Self.facts)
    var revoked = Self.ended
    revoked.isRevoked = true
    app.take(.accounts(revoked))
    let change = AccountChange(to: nil, because: "The session has ended. · A s signs in again")
    #expect(app.state.session.accountChange == change)
    #expect(AccountFacts(revoked.json) == revoked)
  }

  /// What is still typed into a form that went with the data was meant as text.
  @Test func keysThatAreTypedAfterARevocationAreNoCommands() throws {
    let typing = try open(Self.facts)
    typing.press("A a x")
    var revoked = Self.ended
    revoked.isRevoked = true
    typing.take(.accounts(revoked))
    let change = try #require(typing.state.session.accountChange)
    #expect(change.wasTyping && change.reason == "The session has ended.")

    let app = try open()
    app.take(.interrupted("This device was revoked."))
    let said = "This device was revoked · Enter goes on · the typed text is kept"
    #expect(app.toast == said)
    app.press("q A S d")
    app.send(.paste("text"))
    #expect(app.toast == said && app.state.layers.isEmpty && !app.state.session.isEnding)
    app.press("Enter")
    #expect(app.toast == "This device was revoked. · A s signs in again")
    #expect(app.state.layers.isEmpty)
    app.press("A")
    #expect(app.line(of: "nobody is signed in") != nil)
  }

  @Test func wrongPasswordIsEmptiedAndTheAddressStays() throws {
    let app = try open()
    signIn(app, "ana@x.org", "wrong")
    var refusal = Refusal("The password is wrong.")
    refusal.fields = [Refusal.Field(name: "password", message: "The password is wrong.")]
    try answer(app, .refused(refusal))
    guard case .form(let form)? = app.state.layers.last else {
      Issue.record("no form: \(app.screen)")
      return
    }
    #expect(form.fields.map { $0.input.editor.text } == ["ana@x.org", ""])
    #expect(form.fields.last?.input.error == "The password is wrong." && form.focus == 1)
    #expect(form.fields.last?.input.editor.isSecret == true)
  }

  @Test func passwordIsForgottenOfTheAccountUnderTheCursor() throws {
    for (keys, address) in [("A f", "ana@x.org"), ("A j f", "bo@x.org")] {
      let app = try open(Self.facts)
      app.press(keys)
      guard case .form(let form)? = app.state.layers.last else {
        Issue.record("no form: \(app.screen)")
        return
      }
      #expect(form.fields.map { $0.input.editor.text } == [address])
    }
  }

  @Test func reasonOfAFailureComesBeforeItsHints() {
    let hints = [" · Enter tries again", " · : opens a place"]
    let texts = [60, 35, 20].map { PagingText.failure("  ! it is refused", hints, width: $0).text }
    #expect(
      texts == [
        "  ! it is refused · Enter tries again · : opens a place",
        "  ! it is refused · : opens a place", "  ! it is refused",
      ])
  }

  @Test func windowOfARevokedDeviceGoesOnAfterASignInThatCameBeforeIt() throws {
    var facts = AccountFacts([Self.ana])
    facts.revokedAccount = Self.ana
    #expect(AccountFacts(facts.json) == facts)
    let app = try open(facts)
    #expect(app.state.session.accountChange?.user == Self.ana.id)
    #expect(app.state.session.accountChange?.news == "signed in again")
    // What could not be forgotten is no new sign-in.
    facts.isRevoked = true
    #expect(try open(facts).state.session.accountChange == nil)
  }

  @Test func windowOfARevokedDeviceGoesOnAfterASignInElsewhere() throws {
    var revoked = AccountFacts()
    (revoked.isRevoked, revoked.revokedAccount) = (true, Self.ana)
    #expect(AccountFacts(revoked.json) == revoked)
    let app = try open(revoked)
    app.take(.accounts(AccountFacts([Self.bo])))
    #expect(app.state.session.accountChange == nil)
    app.take(.accounts(revoked))
    app.take(.accounts(AccountFacts([Self.ana, Self.bo])))
    #expect(
      app.state.session.accountChange == AccountChange(to: "ana", saying: "signed in again"))
  }

  @Test func formAfterARevocationHasTheAddressThatIsKnown() throws {
    var revoked = AccountFacts()
    revoked.isRevoked = true
    for (account, text) in [(Self.ana, "ana@x.org"), (nil, "")] as [(AccountFacts.Account?, String)]
    {
      revoked.revokedAccount = account
      let app = try open(revoked)
      app.press("A s")
      let form = try #require(app.form)
      #expect(form.fields.first?.input.editor.text == text)
      #expect(form.focus == (text.isEmpty ? 0 : 1))
    }
  }

  // MARK: Another account with the same address

  private static let earlier = AccountFacts.Account(id: "0ld-otto", email: "ana@x.org")

  private var another: AccountFacts {
    var facts = AccountFacts([Self.ana, Self.bo], current: Self.ana, .signedIn)
    facts.waiting = [AccountFacts.Waiting(Self.earlier, count: 1)]
    return facts
  }

  @Test func waitingWritesOfAnEarlierAccountWithTheAddressAreTold() throws {
    let app = try open(another)
    #expect(AccountFacts(another.json) == another)
    #expect(
      app.toast
        == "This is another account of ana@x.org (ana): 1 write of the earlier one waits · A lists it"
    )
    app.press("A")
    #expect(app.line(of: "ana@x.org (0ld-ot)") != nil)
    #expect(app.line(of: "session ended, 1 write waits") != nil)
    app.press("G d")
    #expect(app.line(of: "1 write waits: it is not sent by a sign-in with this address") != nil)
    #expect(app.line(of: "if this one has a new address") != nil)
    app.wait(milliseconds: 200)
    app.press("n Enter")
    #expect(request(app)?.request == .use("0ld-otto"))
  }

  @Test(arguments: [false, true])
  func whoeverForgetsTheAccountsAtTheEndIsAskedAboutWritesThatWait(_ forgets: Bool) throws {
    // The write of the whole database waits.
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, origin: "home", forgetsAccounts: forgets)
    app.take(.accounts(Self.facts))
    app.press("q")
    #expect(app.state.session.isLeaving == !forgets)
    if !forgets { return }
    #expect(app.line(of: "Leave, though writes wait") != nil)
    #expect(app.line(of: "1 write of ana@x.org waits: it is sent when it signs in") != nil)
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(app.state.session.isLeaving)
  }

  @Test func deletionSaysThatWhatWaitsIsNeverSent() throws {
    let app = try open(Self.facts)
    app.press("A X")
    #expect(app.line(of: "ana@x.org · 1 write waits: it is never sent then") != nil)
    app.press("o l d Enter")
    app.take(.answered(try #require(request(app)).id, .refused(Refusal("no"))))
    #expect(app.line(of: "1 write waits: it is never sent then") != nil)
  }

  @Test func accountDoesNotChangeToItsOwnAddress() throws {
    let app = try open(Self.facts)
    app.press("A e")
    app.type("Ana@x.org")
    app.press("Tab o l d Enter")
    #expect(request(app) == nil)
    #expect(app.line(of: "it is the address of this account already") != nil)
  }

  @Test func earlierAccountIsNotOfferedForASignIn() throws {
    let facts = AccountFacts([Self.ana], current: Self.earlier, .ended("The session has ended."))
    let app = try open(facts)
    #expect(app.toast == "The session has ended. · A lists the accounts")
    app.press("A")
    #expect(app.form == nil)
    app.press("Enter")
    #expect(app.form == nil && app.toast == "another account has its address now")
  }

  @Test func resetThatMadeANewAccountIsToldAsThat() throws {
    let app = try open()
    app.press("A f")
    app.type("ana@x.org")
    app.press("Enter")
    try answer(app, .account(user: nil))
    app.type("c0de")
    app.press("Tab")
    app.type("sesame")
    app.press("Tab")
    app.type("sesame")
    app.press("Enter")
    try answer(app, .account(user: "ana@x.org"))
    #expect(app.toast.hasPrefix("ana@x.org belongs to a new account now."))
  }

  // MARK: Anonymous accounts

  @Test func anonymousUserIsMadeByOneKeyAndGetsAnAddressLater() throws {
    let app = try open()
    app.press("A o")
    #expect(request(app) == nil && app.line(of: "New user without an address") != nil)
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(request(app)?.request == .signInAnonymously)
    try answer(app, .account(user: "k3x9vq27"))
    #expect(app.state.session.accountChange == AccountChange(to: "k3x9vq27"))

    var user = AccountFacts.Account(id: "k3x9vq27")
    user.isAnonymous = true
    let facts = AccountFacts([user], current: user, .signedIn)
    #expect(AccountFacts(facts.json) == facts)
    let next = try open(facts)
    #expect(next.screen[0].hasSuffix("anonymous k3x9vq"))
    next.press("A d")
    #expect(next.line(of: "nobody can sign in to this account again") != nil)
    #expect(next.line(of: "1 write waits: it is never sent then") != nil)
    next.press("n u")
    next.type("ana@x.org")
    next.press("Tab o n e Tab o n e Enter")
    #expect(request(next)?.request == .upgrade(email: "ana@x.org", Secret("one")))
    try answer(next, .account(user: nil))
    next.take(.origin(OriginFacts(.waiting, reason: "another credential is asked for", since: 1)))
    #expect(next.toast == "the account has an address now")
    next.take(.accounts(Self.facts))
    next.press("u")
    #expect(next.toast == "this account is not anonymous")
  }

  @Test func anonymousUserWhoSignedOutIsListedWhileWritesWait() throws {
    var user = AccountFacts.Account(id: "k3x9vq27")
    user.isAnonymous = true
    var facts = AccountFacts([Self.ana], current: Self.ana, .signedIn)
    facts.waiting = [AccountFacts.Waiting(user, count: 1)]
    let app = try open(facts)
    app.press("A")
    #expect(app.line(of: "signed out for good, 1 write waits") != nil)
    app.take(.accounts(AccountFacts([Self.ana], current: user, .ended("Signed out."))))
    #expect(app.toast == "Signed out. · A lists the accounts")
    app.press("Esc A")
    #expect(app.form == nil)
  }

  @Test(arguments: ["s", "Enter"])
  func signInIsOneKeyAwayInTheListWhoseAccountHasEnded(key: String) throws {
    let app = try open(Self.ended)
    app.press("A")
    #expect(app.form == nil && app.cursorLine.contains("ana@x.org"))
    app.press("A")
    #expect(app.form == nil && app.toast == "these are the accounts")
    app.press(key)
    #expect(app.form?.title == "Sign in" && app.form?.focus == 1)
    // The key that opened the form is not in the hidden field.
    app.type("sesame")
    app.press("Enter")
    #expect(request(app)?.request == .signIn(email: "ana@x.org", Secret("sesame")))
  }

  // MARK: Several accounts

  @Test func anotherAccountIsShownByOneKey() throws {
    let app = try open(Self.facts)
    app.press("A")
    #expect(app.cursorLine.contains("ana@x.org  Ana  shown, address not confirmed"))
    app.press("Enter")
    #expect(app.toast == "the database is shown as this account")
    app.press("j Enter")
    #expect(request(app)?.request == .use("bo"))
    try answer(app, .account(user: "bo"))
    #expect(app.state.session.accountChange == AccountChange(to: "bo"))
  }

  @Test func cursorBeginsOnTheAccountThatIsShown() throws {
    let app = try open(AccountFacts([Self.ana, Self.bo], current: Self.bo, .signedIn))
    app.press("A")
    #expect(app.cursorLine.contains("bo@x.org"))
    app.press("k")
    #expect(app.cursorLine.contains("ana@x.org"))
  }

  @Test func draftThatIsNotKeptIsAskedForBeforeAnotherAccountIsShown() throws {
    let app = try open(Self.facts)
    app.press("a")
    app.type("not sent")
    app.press("Esc A j Enter")
    try answer(app, .account(user: "bo"))
    #expect(app.state.session.accountChange == nil)
    #expect(app.line(of: "a draft in Chat: not sent") != nil)
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(app.state.session.accountChange == AccountChange(to: "bo"))
  }

  @Test func userSignsOutAfterAQuestionAndTheNextAccountIsShown() throws {
    let app = try open(Self.facts)
    app.press("A d")
    #expect(app.line(of: "ana@x.org") != nil)
    app.wait(milliseconds: 200)
    app.press("n")
    #expect(request(app) == nil)
    app.press("d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(request(app)?.request == .signOut("ana"))
    try answer(app, .account(user: "bo"))
    #expect(app.state.session.accountChange?.user == "bo")
    let other = try open(Self.facts)
    other.press("A j d")
    other.wait(milliseconds: 200)
    other.press("y")
    try answer(other, .account(user: "ana"))
    #expect(other.toast == "signed out")
    #expect(other.state.session.accountChange == nil)
  }

  // MARK: Changes

  @Test func forgottenPasswordIsSetByTheCodeOfAMessage() throws {
    let app = try open()
    app.press("A f")
    app.type("ana@x.org")
    app.press("Enter")
    #expect(request(app)?.request == .sendReset(email: "ana@x.org"))
    try answer(app, .account(user: nil))
    #expect(app.form?.title == "Set a new password")
    app.type("c0de")
    app.press("Tab")
    app.type("sesame")
    app.press("Tab")
    app.type("sesame")
    app.press("Enter")
    #expect(request(app)?.request == .resetPassword(code: Secret("c0de"), Secret("sesame")))
    try answer(app, .account(user: nil))
    #expect(app.toast == "the password was changed")
    #expect(app.form == nil)
  }

  @Test(arguments: [false, true])
  func newPasswordThatEndsTheSessionIsToldTogetherWithTheEnd(endsFirst: Bool) throws {
    let app = try open(Self.facts)
    app.press("A f")
    app.press("Enter")
    try answer(app, .account(user: nil))
    app.press("c 0 Tab n e w Tab n e w Enter")
    #expect(request(app)?.request == .resetPassword(code: Secret("c0"), Secret("new")))
    if endsFirst { app.take(.accounts(Self.ended)) }
    try answer(app, .account(user: nil))
    if !endsFirst { app.take(.accounts(Self.ended)) }
    #expect(app.toast == "the password was changed, and the session ended · A s signs in again")
  }

  @Test func wideBottomLineNamesTheKeysOfTheAccountThatIsShown() throws {
    let app = try open(Self.facts, columns: 120)
    app.press("A")
    #expect(app.screen.contains { $0.contains("p password") }, "\(app.screen)")
  }

  @Test func newPasswordIsNamedBesideThePresentOne() throws {
    let app = try open(Self.facts)
    app.press("A p")
    #expect(app.line(of: "present password") != nil && app.line(of: "new password") != nil)
  }

  @Test func accountIsChangedConfirmedAndDeletedWithThePresentPassword() throws {
    let app = try open(Self.facts)
    app.press("A p o l d Tab n e w Tab n e w Enter")
    #expect(request(app)?.request == .changePassword(Secret("new"), current: Secret("old")))
    try answer(app, .account(user: nil))
    app.press("e")
    app.type("ana2@x.org")
    app.press("Tab o l d Enter")
    #expect(request(app)?.request == .changeEmail("ana2@x.org", current: Secret("old")))
    try answer(app, .account(user: nil))
    #expect(app.line(of: "its link ends this session.") != nil)
    app.press("c 1 Enter")
    #expect(request(app)?.request == .applyCode(Secret("c1")))
    try answer(app, .account(user: nil))
    app.press("c")
    #expect(request(app)?.request == .sendVerification)
    try answer(app, .account(user: nil))
    #expect(app.form?.title == "Confirm the e-mail address")
    app.press("Esc X o l d Enter")
    #expect(request(app)?.request == .delete(current: Secret("old")))
    try answer(app, .account(user: nil))
    let deleted = AccountChange(to: nil, saying: "the account ana@x.org was deleted")
    #expect(app.state.session.accountChange == deleted)
  }

  @Test func anAddressThatWasConfirmedMeanwhileGetsNoFurtherMessage() throws {
    let app = try open(Self.facts)
    app.press("A c")
    var facts = Self.facts
    facts.current?.isVerified = true
    app.take(.accounts(facts))
    try answer(app, .account(user: nil))
    #expect(app.form == nil && app.toast.contains("is confirmed already"))
  }

  @Test func aSessionThatAnotherProgramBeganAgainGoesOnHere() throws {
    let app = try open(Self.ended)
    app.press("A s")
    #expect(app.form?.title == "Sign in")
    var facts = Self.ended
    facts.session = .signedIn
    app.take(.accounts(facts))
    #expect(app.form == nil && app.toast == "signed in again")
    #expect(!app.screen[0].contains("session ended"))
  }

  @Test func theEndOfTheSessionStandsBesideALongAddressOnANarrowScreen() throws {
    var facts = Self.ended
    facts.current?.email = "a.very.long.name.of.somebody@mail.example.com"
    let app = try open(facts)
    app.resize(columns: 80, rows: 24)
    #expect(app.screen[0].contains("…: session ended"), "\(app.screen[0])")
  }

  @Test func nothingIsChangedWithoutASession() throws {
    let app = try open(Self.ended)
    for key in ["p", "e", "c", "X"] {
      app.press("A")
      app.press(key)
      #expect(app.toast.lowercased().contains("the session has ended"), "\(key)")
      app.press("Esc")
    }
    let file = try AppDriver(Fixture.views(), json: Fixture.small)
    file.press("A")
    #expect(file.toast.hasPrefix("no accounts here"))
  }
}
