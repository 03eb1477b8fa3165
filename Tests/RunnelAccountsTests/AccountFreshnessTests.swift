import AccountSimulation
import RunnelBase
import RunnelStore
import RunnelSync
import Testing

@testable import RunnelAccounts

/// Tokens say what the account is, and no connection is made for a user who signed out in another program.
@Suite(.timeLimit(.minutes(1))) struct AccountFreshnessTests {
  private func claims(_ token: Secret<String>) -> JSONValue? {
    FakeAccounts.State.claims(token.reveal())
  }

  // MARK: What the token says

  @Test func aConfirmedAddressIsInTheTokenAtOnce() async throws {
    let test = await TestSession()
    try await test.signIn()
    #expect(claims(try await test.session.idToken())?["email_verified"] == false)
    try await test.session.sendEmailVerification()
    try await test.session.applyCode(Secret(test.service.code("VERIFY_EMAIL") ?? ""))
    #expect(claims(try await test.session.idToken())?["email_verified"] == true)
    let kept = try test.storage.signedIn()?.tokens.idToken
    #expect(kept.flatMap(claims)?["email_verified"] == true)
  }

  @Test func aReloadExchangesATokenThatSaysSomethingElse() async throws {
    let test = await TestSession()
    try await test.signIn()
    let old = try await test.session.idToken()
    _ = test.service.takeAsked()
    try await test.session.reload()
    #expect(test.service.takeAsked() == ["lookup"])
    test.service.change { $0.records["ana"]?.isVerified = true }
    #expect(try await test.session.reload().isEmailVerified)
    #expect(test.service.takeAsked() == ["lookup", "token"])
    let new = try await test.session.idToken()
    #expect(new != old && claims(new)?["email_verified"] == true)
    test.service.change { $0.records["ana"]?.name = "Ana" }
    try await test.session.reload()
    #expect(claims(try await test.session.idToken())?["name"] == "Ana")
    _ = test.service.takeAsked()
    try await test.session.reload()
    #expect(test.service.takeAsked() == ["lookup"])
  }

  @Test func aChangedNameIsInTheTokenAtOnce() async throws {
    let test = await TestSession()
    try await test.signIn()
    _ = test.service.takeAsked()
    try await test.session.changeProfile(AccountProfile(displayName: "Ana X."))
    #expect(test.service.takeAsked() == ["update", "token"])
    #expect(claims(try await test.session.idToken())?["name"] == "Ana X.")
    let kept = try test.storage.signedIn()?.tokens.idToken
    #expect(kept.flatMap(claims)?["name"] == "Ana X.")
  }

  @Test func aConnectionGetsTheTokenOfAReload() async throws {
    let test = await TestSession()
    try await test.signIn()
    let old = try await test.session.idToken()
    let tokens = test.session.tokens(of: "ana")
    test.service.change { $0.records["ana"]?.isVerified = true }
    try await test.session.reload()
    for await token in tokens where token != old {
      #expect(claims(token)?["email_verified"] == true)
      break
    }
  }

  /// The kept token is newer than the one at hand, and older than the confirmation.
  @Test func aReloadIsNotContentWithAnOldTokenOfAnotherProgram() async throws {
    let first = await TestSession()
    try await first.signIn()
    let second = await TestSession(first)
    let old = try await second.session.idToken()
    first.clock.advance(1000)
    _ = try await second.session.idToken(refused: old)
    first.clock.advance(1000)
    first.service.change { $0.records["ana"]?.isVerified = true }
    try await first.session.reload()
    #expect(claims(try await first.session.idToken())?["email_verified"] == true)
  }

  @Test(arguments: [FakeAccounts.Trouble.offline, .status(503)])
  func aTokenThatCannotBeExchangedIsKept(trouble: FakeAccounts.Trouble) async throws {
    let test = await TestSession()
    try await test.signIn()
    let old = try await test.session.idToken()
    let service = test.service
    service.change { $0.records["ana"]?.isVerified = true }
    service.hold { if $0 == "token" { service.set(trouble) } }
    #expect(try await test.session.reload().isEmailVerified)
    #expect(try await test.session.idToken() == old)
    service.hold(nil)
    service.set(.none)
    try await test.session.reload()
    #expect(claims(try await test.session.idToken())?["email_verified"] == true)
  }

  @Test func aRefusedExchangeEndsTheSession() async throws {
    let test = await TestSession()
    try await test.signIn()
    let service = test.service
    service.change { $0.records["ana"]?.isVerified = true }
    service.hold { if $0 == "token" { service.revoke("ana") } }
    await #expect(throws: AccountChangeError.self) { try await test.session.reload() }
    try await test.wait { if case .ended = $0 { true } else { false } }
  }

  // MARK: Connections

  @Test func noConnectionIsMadeForAUserWhoSignedOutInAnotherProgram() async throws {
    let first = await TestSession()
    try await first.signIn()
    let access = first.session.access(of: "ana")
    #expect(try await access.provider?(false) != nil)
    let second = await TestSession(first)
    await second.session.signOut()
    // The token is good for an hour yet.
    let error = await #expect(throws: AccountFailure.self) { _ = try await access.provider?(false) }
    #expect(error?.code == .signedOutElsewhere)
    let state = await first.session.state
    guard case .ended(let user, _) = state else { throw NotReached() }
    #expect(user.id == "ana")
  }

  @Test func aConnectionTakesTheTokenThatAnotherProgramGot() async throws {
    let first = await TestSession()
    try await first.signIn()
    let access = first.session.access(of: "ana")
    let old = try await first.session.idToken()
    let second = await TestSession(first)
    first.clock.advance(1000)
    let new = try await second.session.idToken(refused: old)
    _ = first.service.takeAsked()
    #expect(try await access.provider?(false) == Credential(new.reveal()))
    #expect(first.service.takeAsked().isEmpty)
  }

  /// The clock stands still: both tokens were got at the same time.
  @Test func whatAnotherProgramLearntOfTheUserIsKnownHere() async throws {
    let first = await TestSession()
    try await first.signIn()
    let tokens = first.session.tokens(of: "ana")
    let old = try await first.session.idToken()
    let second = await TestSession(first)
    first.service.change { $0.records["ana"]?.isVerified = true }
    try await second.session.reload()
    let new = try await first.session.checkedToken(of: "ana")
    #expect(new != old && claims(new)?["email_verified"] == true)
    #expect(await first.session.user?.isEmailVerified == true)
    for await token in tokens where token == new { break }
  }

  @Test func anotherProgramThatGotNoTokenYetIsBelievedAboutTheUser() async throws {
    let test = await TestSession()
    try await test.signIn()
    var kept = try #require(try test.storage.signedIn())
    kept.user.isEmailVerified = true
    try test.storage.keep(kept, isSignIn: false)
    _ = try await test.session.checkedToken(of: "ana")
    #expect(await test.session.user?.isEmailVerified == true)
    #expect(await test.session.tokenSaysOther)
  }

  @Test func aConnectionIsMadeWhileTheServiceCannotBeReached() async throws {
    let test = await TestSession()
    try await test.signIn()
    let access = test.session.access(of: "ana")
    test.service.set(.offline)
    // The next refresh is due, and fails; the token is good for some minutes yet.
    test.clock.advance(55 * 60_000)
    for _ in 0..<5 { #expect(try await access.provider?(false) != nil) }
    test.clock.advance(10 * 60_000)
    await #expect(throws: AccountFailure.self) { _ = try await access.provider?(false) }
    #expect(await test.session.user?.id == "ana")
  }

  @Test func anAccountThatCouldNotBeKeptStaysSignedIn() async throws {
    let test = await TestSession(storage: AccountFolder(for: "x", below: "/proc/nowhere"))
    try await test.signIn()
    #expect(try await test.session.access(of: "ana").provider?(false) != nil)
    try await test.session.reload()
    #expect(await test.session.user?.id == "ana")
  }

  @Test func anUnreadableFileEndsNoSession() async throws {
    let test = await TestSession(storage: UnreadableStorage())
    try await test.signIn()
    #expect(try await test.session.access(of: "ana").provider?(false) != nil)
    #expect(test.notices.all.map(\.code) == [.storage])
    #expect(await test.session.user?.id == "ana")
  }
}

/// A storage that keeps an account and cannot read it.
private struct UnreadableStorage: AccountStorage {
  private static let failure = AccountFailure(.storage, "It cannot be read.")
  func signedIn() throws(AccountFailure) -> KeptAccount? { nil }
  func account(of user: String) throws(AccountFailure) -> KeptAccount? { throw Self.failure }
  func departing() throws(AccountFailure) -> [KeptAccount] { [] }
  func keep(_ account: KeptAccount, isSignIn: Bool) throws(AccountFailure) {}
  func depart(_ account: KeptAccount) throws(AccountFailure) {}
  func forget(_ user: String) throws(AccountFailure) {}
  func forgetDeparting(_ user: String) throws(AccountFailure) {}
}
