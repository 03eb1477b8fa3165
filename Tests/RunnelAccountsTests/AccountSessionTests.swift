import AccountSimulation
import RunnelBase
import RunnelStore
import Synchronization
import TestSupport
import Testing

@testable import RunnelAccounts

/// Sessions with a service that answers as the interface says.
@Suite(.timeLimit(.minutes(1))) struct AccountSessionTests {
  @Test func aUserSignsUpAndIsSignedIn() async throws {
    let test = await TestSession()
    let user = try await test.session.signUp(email: "Cy@X.org", password: Secret("secret-cy"))
    #expect(user.email == "cy@x.org" && user.method == "password" && !user.isEmailVerified)
    #expect(await test.session.state == .signedIn(user))
    #expect(test.storage.isKept(user.id))
    #expect(test.service.takeAsked() == ["signUp"], "one request is enough")
  }

  @Test func eachErrorOfASignInHasItsCase() async throws {
    let test = await TestSession()
    let cases: [(String, String, (LogInError) -> Bool)] = [
      ("ana@x.org", "nonsense", { if case .wrongCredentials = $0 { true } else { false } }),
      ("no@x.org", "nonsense", { if case .wrongCredentials = $0 { true } else { false } }),
      ("ana", "nonsense", { if case .invalidInput = $0 { true } else { false } }),
      ("ana@x.org", "", { if case .invalidInput = $0 { true } else { false } }),
    ]
    for (email, password, isRight) in cases {
      let error = await #expect(throws: LogInError.self) {
        try await test.session.signIn(email: email, password: Secret(password))
      }
      #expect(error.map(isRight) == true, "\(email) \(password): \(String(describing: error))")
      #expect(await test.session.state == .signedOut)
    }
    test.service.change { $0.records["ana"]?.isDisabled = true }
    let error = await #expect(throws: LogInError.self) { try await test.signIn() }
    if case .userDisabled? = error {} else { Issue.record("\(String(describing: error))") }
  }

  @Test func aSignInWithoutAUserIsLogInMissingUserId() async throws {
    let test = await TestSession()
    test.service.change { $0.omitsUserID = true }
    let error = await #expect(throws: LogInError.self) { try await test.signIn() }
    if case .logInMissingUserId? = error {} else { Issue.record("\(String(describing: error))") }
    #expect(await test.session.state == .signedOut)
  }

  @Test func aSessionIsRestoredWithoutANetwork() async throws {
    let first = await TestSession()
    try await first.signIn()
    await first.session.close()
    first.service.set(.offline)
    _ = first.service.takeAsked()
    let second = await TestSession(first)
    #expect(await second.session.user?.id == "ana")
    #expect(try await second.session.idToken().reveal().isEmpty == false)
    #expect(first.service.takeAsked().isEmpty)
  }

  @Test func theTokenIsRefreshedBeforeItExpires() async throws {
    let test = await TestSession()
    try await test.signIn()
    let old = try await test.session.idToken()
    test.clock.advance(45 * 60_000)
    #expect(try await test.session.idToken() == old)
    let tokens = test.session.tokens(of: "ana")
    test.clock.advance(10 * 60_000)
    for await token in tokens where token != old { break }
    #expect(test.service.takeAsked().filter { $0 == "token" }.count == 1)
    #expect(test.notices.all.isEmpty)
  }

  @Test(arguments: [FakeAccounts.Trouble.offline, .status(500), .status(503), .status(429)])
  func troubleOfTheServiceEndsNoSession(trouble: FakeAccounts.Trouble) async throws {
    let test = await TestSession()
    try await test.signIn()
    test.service.set(trouble)
    for _ in 0..<50 {
      test.clock.advance(3_600_000)
      let error = await #expect(throws: AccountFailure.self) { try await test.session.idToken() }
      #expect(error?.isTemporary == true)
      #expect(await test.session.user?.id == "ana")
    }
    test.service.set(.none)
    test.clock.advance(3_600_000)
    _ = try await test.session.idToken()
    #expect(await test.session.user?.id == "ana")
  }

  @Test func aSessionThatWasEndedElsewhereIsNoticed() async throws {
    let test = await TestSession()
    try await test.signIn()
    test.service.revoke("ana")
    test.clock.advance(3_600_000)
    let state = try await test.wait { if case .ended = $0 { true } else { false } }
    guard case .ended(let user, let failure) = state else { throw NotReached() }
    #expect(user.id == "ana" && failure.serviceCode == "INVALID_REFRESH_TOKEN")
    #expect(!test.storage.isKept("ana"))
    await #expect(throws: AccountFailure.self) { try await test.session.idToken() }
    try await test.signIn()
    #expect(await test.session.user?.id == "ana")
  }

  @Test func aDisabledUserIsNoticedByAReload() async throws {
    let test = await TestSession()
    try await test.signIn()
    test.service.change { $0.records["ana"]?.isDisabled = true }
    let error = await #expect(throws: AccountChangeError.self) { try await test.session.reload() }
    if case .sessionEnded? = error {} else { Issue.record("\(String(describing: error))") }
    try await test.wait { if case .ended = $0 { true } else { false } }
  }

  @Test func aRefusedTokenIsExchangedOnceForAll() async throws {
    let test = await TestSession()
    try await test.signIn()
    let old = try await test.session.idToken()
    _ = test.service.takeAsked()
    let tokens = try await withThrowingTaskGroup(of: Secret<String>.self) { group in
      for _ in 0..<20 { group.addTask { try await test.session.idToken(refused: old) } }
      var tokens: [Secret<String>] = []
      for try await token in group { tokens.append(token) }
      return tokens
    }
    #expect(tokens.allSatisfy { $0 != old && $0 == tokens[0] })
    #expect(test.service.takeAsked() == ["token"])
  }

  @Test func anotherProcessMayHaveExchangedTheRefreshToken() async throws {
    let first = await TestSession()
    first.service.change { $0.rotates = true }
    try await first.signIn()
    let second = await TestSession(first)
    let old = try await first.session.idToken()
    _ = try await second.session.idToken(refused: old)
    // The refresh token that the first one has is void by now.
    let token = try await first.session.idToken(refused: old)
    #expect(token != old)
    #expect(await first.session.user?.id == "ana")
  }

  @Test func signingOutInAnotherProcessIsNoticed() async throws {
    let first = await TestSession()
    try await first.signIn()
    let second = await TestSession(first)
    await second.session.signOut()
    first.clock.advance(3_600_000)
    let state = try await first.wait { if case .ended = $0 { true } else { false } }
    guard case .ended(_, let failure) = state else { throw NotReached() }
    #expect(failure.code == .signedOutElsewhere)
  }

  @Test func aRecentSignInIsWantedAndGiven() async throws {
    let test = await TestSession()
    test.service.change { $0.recentSeconds = 300 }
    try await test.signIn()
    test.clock.advance(600_000)
    let error = await #expect(throws: ChangePasswordError.self) {
      try await test.session.changePassword(to: Secret("another-1"))
    }
    if case .needsRecentSignIn? = error {} else { Issue.record("\(String(describing: error))") }
    let wrong = await #expect(throws: ChangePasswordError.self) {
      try await test.session.changePassword(to: Secret("another-1"), current: Secret("nonsense"))
    }
    if case .wrongPassword? = wrong {} else { Issue.record("\(String(describing: wrong))") }
    try await test.session.changePassword(to: Secret("another-1"), current: Secret("secret-ana"))
    #expect(test.service.state.withLock { $0.records["ana"]?.password } == "another-1")
    try await test.session.reload()
    test.clock.advance(600_000)
    try await test.session.reauthenticate(password: Secret("another-1"))
    try await test.session.changeEmail(to: "Ana2@x.org")
    #expect(await test.session.user?.email == "ana2@x.org")
  }

  @Test func anAnonymousUserIsUpgraded() async throws {
    let test = await TestSession()
    let guest = try await test.session.signInAnonymously()
    #expect(guest.isAnonymous)
    let error = await #expect(throws: SignUpError.self) {
      try await test.session.upgrade(email: "ana@x.org", password: Secret("secret-1"))
    }
    if case .emailInUse? = error {} else { Issue.record("\(String(describing: error))") }
    let user = try await test.session.upgrade(email: "cy@x.org", password: Secret("secret-1"))
    #expect(user.id == guest.id && !user.isAnonymous && user.email == "cy@x.org")
  }

  @Test func aTokenOfTheProgramsServerSignsIn() async throws {
    let test = await TestSession()
    let token = "{\"uid\":\"dee\",\"claims\":{\"role\":\"admin\"}}"
    let user = try await test.session.signIn(customToken: Secret(token))
    #expect(user.id == "dee" && user.method == "custom")
    let error = await #expect(throws: LogInError.self) {
      try await test.session.signIn(customToken: Secret("abc"))
    }
    #expect(error?.failure.message == "The token was refused. Invalid assertion format.")
    #expect(await test.session.user?.id == "dee", "the earlier user stays")
  }

  /// The change ends all sessions at the service, and gives this one new tokens.
  @Test func whoChangesTheAddressByACodeStaysSignedIn() async throws {
    let test = await TestSession()
    try await test.signIn()
    let before = try await test.session.idToken()
    try await test.session.verifyAndChangeEmail(to: "ana3@x.org")
    let code = test.service.code("VERIFY_AND_CHANGE_EMAIL") ?? ""
    // A user pastes the whole link.
    try await test.session.applyCode(
      Secret("https://x.example/action?mode=verifyAndChangeEmail&oobCode=\(code)&apiKey=k"))
    #expect(await test.session.user?.email == "ana3@x.org")
    #expect(try await test.session.idToken() != before)
    try await test.session.reload()
    #expect(await test.session.user?.email == "ana3@x.org")
  }

  @Test func codesConfirmResetAndChange() async throws {
    let test = await TestSession()
    try await test.signIn()
    try await test.session.sendEmailVerification()
    let code = Secret(test.service.code("VERIFY_EMAIL") ?? "")
    #expect(
      try await test.session.checkCode(code) == AccountCode(.emailVerification, email: "ana@x.org"))
    try await test.session.applyCode(code)
    #expect(await test.session.user?.isEmailVerified == true)
    let used = await #expect(throws: ResetPasswordError.self) {
      try await test.session.applyCode(code)
    }
    if case .invalidCode? = used {} else { Issue.record("\(String(describing: used))") }
    try await test.session.verifyAndChangeEmail(to: "ana3@x.org")
    try await test.session.applyCode(
      Secret(test.service.code("VERIFY_AND_CHANGE_EMAIL") ?? ""))
    #expect(await test.session.user?.email == "ana3@x.org")
    await test.session.signOut()
    let unknown = await #expect(throws: ResetPasswordError.self) {
      try await test.session.sendPasswordReset(email: "no@x.org")
    }
    if case .unknownEmail? = unknown {} else { Issue.record("\(String(describing: unknown))") }
    try await test.session.sendPasswordReset(email: "ana3@x.org")
    let reset = Secret(test.service.code("PASSWORD_RESET") ?? "")
    let weak = await #expect(throws: ResetPasswordError.self) {
      try await test.session.resetPassword(code: reset, to: Secret("1"))
    }
    if case .weakPassword? = weak {} else { Issue.record("\(String(describing: weak))") }
    try await test.session.resetPassword(code: reset, to: Secret("another-2"))
    try await test.session.signIn(email: "ana3@x.org", password: Secret("another-2"))
  }

  @Test func theProfileIsChanged() async throws {
    let test = await TestSession()
    try await test.signIn()
    try await test.session.changeProfile(
      AccountProfile(displayName: "Ana", photoURL: "https://x.org/a.png"))
    #expect(await test.session.user?.displayName == "Ana")
    try await test.session.changeProfile(AccountProfile(photoURL: ""))
    let user = try await test.session.reload()
    #expect(user.displayName == "Ana" && user.photoURL == nil && user.created != nil)
  }

  @Test func aDeletedAccountIsGone() async throws {
    let test = await TestSession()
    try await test.signIn()
    try await test.session.deleteAccount(current: Secret("secret-ana"))
    #expect(await test.session.state == .signedOut)
    #expect(!test.storage.isKept("ana"))
    #expect(test.service.state.withLock { $0.records["ana"] } == nil)
  }

  @Test func aCancelledRequestEndsAtOnce() async throws {
    let test = await TestSession()
    let gate = Gate()
    test.service.hold { _ in await gate.pass() }
    let task = Task { try await test.signIn() }
    await gate.arrived()
    #expect(await test.session.state == .signingIn)
    task.cancel()
    let error = await #expect(throws: LogInError.self) { try await task.value }
    #expect(error?.failure.code == .cancelled)
    gate.open()
    #expect(await test.session.state == .signedOut)
    try await test.signIn("bo")
    #expect(await test.session.user?.id == "bo")
  }

  @Test func whatWaitsWhenTheSessionIsClosedIsCancelled() async throws {
    let test = await TestSession()
    let gate = Gate()
    test.service.hold { _ in await gate.pass() }
    let task = Task { try await test.signIn() }
    await gate.arrived()
    await test.session.close()
    await #expect(throws: LogInError.self) { try await task.value }
    await #expect(throws: LogInError.self) { try await test.signIn() }
    gate.open()
  }

  @Test func signingOutDuringARequestStands() async throws {
    let test = await TestSession()
    try await test.signIn()
    let gate = Gate()
    test.service.hold { _ in await gate.pass() }
    let task = Task {
      try await test.session.changeProfile(AccountProfile(displayName: "Late"))
    }
    await gate.arrived()
    await test.session.signOut()
    await #expect(throws: AccountChangeError.self) { try await task.value }
    gate.open()
    #expect(await test.session.state == .signedOut)
    #expect(!test.storage.isKept("ana"), "a late answer keeps nothing")
  }

  @Test func anUnwritableFolderIsReportedAndTheSessionGoesOn() async throws {
    let test = await TestSession(storage: AccountFolder(for: "x", below: "/proc/nowhere"))
    try await test.signIn()
    #expect(await test.session.user?.id == "ana")
    #expect(test.notices.all.first?.code == .storage)
  }

  @Test func theObserverIsToldWhereItIs() async throws {
    let test = await TestSession()
    let watcher = Watcher()
    await watcher.watch(test.session)
    await watcher.wait { $0 == .signedOut }
    try await test.signIn()
    await watcher.wait { $0.user?.id == "ana" }
    await test.session.signOut()
    await watcher.wait { $0 == .signedOut }
  }

  /// An actor that observes a session.
  private actor Watcher {
    private var states: [AccountState] = []
    private var observation: AccountObservation?
    private var waiter: ((AccountState) -> Bool, CheckedContinuation<Void, Never>)?

    func watch(_ session: AccountSession) {
      observation = AccountObservation(of: session) { state in
        self.assertIsolated()
        self.states.append(state)
        self.look()
      }
    }

    private func look() {
      guard let (isWanted, continuation) = waiter,
        let index = states.firstIndex(where: isWanted)
      else { return }
      states.removeFirst(index + 1)
      waiter = nil
      continuation.resume()
    }

    /// Waits until a state was told that no earlier call has seen.
    func wait(_ isWanted: @escaping @Sendable (AccountState) -> Bool) async {
      await withCheckedContinuation { continuation in
        waiter = (isWanted, continuation)
        look()
      }
    }
  }
}

extension AccountStorage {
  func isKept(_ user: String) -> Bool { (try? account(of: user)) != nil }
}

/// What is done for a user who signs out.
@Suite(.timeLimit(.minutes(1))) struct DepartureTests {
  /// A departure that asks for a token, and says what a test wants.
  private final class Removal: Sendable {
    private let state = Mutex<(result: DepartureResult, users: [String])>((.done, []))
    var users: [String] { state.withLock { $0.users } }
    func answer(_ result: DepartureResult) { state.withLock { $0.result = result } }
    func run(_ user: String, _ session: AccountSession) async -> DepartureResult {
      let token = try? await session.idToken(of: user)
      return state.withLock { state in
        if token != nil { state.users.append(user) }
        return token == nil ? .later : state.result
      }
    }
  }

  @Test func itIsDoneBeforeTheCredentialGoes() async throws {
    let test = await TestSession()
    let removal = Removal()
    await test.session.beforeForgetting { await removal.run($0, test.session) }
    try await test.signIn()
    await test.session.signOut()
    #expect(removal.users == ["ana"])
    #expect(try test.storage.departing().isEmpty && !test.storage.isKept("ana"))
    await #expect(throws: AccountFailure.self) { try await test.session.idToken(of: "ana") }
  }

  @Test func offlineItIsDoneLaterAlsoAfterARestart() async throws {
    let first = await TestSession()
    let removal = Removal()
    await first.session.beforeForgetting { await removal.run($0, first.session) }
    try await first.signIn()
    first.clock.advance(4_000_000)
    first.service.set(.offline)
    removal.answer(.later)
    await first.session.signOut()
    #expect(await first.session.state == .signedOut)
    #expect(try first.storage.departing().map(\.user.id) == ["ana"])
    await first.session.close()
    first.service.set(.none)
    removal.answer(.done)
    let second = await TestSession(first)
    #expect(await second.session.state == .signedOut, "the user stays signed out")
    await second.session.beforeForgetting { await removal.run($0, second.session) }
    try await yieldUntil { try second.storage.departing().isEmpty }
    #expect(removal.users.last == "ana")
  }

  @Test func anotherUserTakesOver() async throws {
    let test = await TestSession()
    let removal = Removal()
    await test.session.beforeForgetting { await removal.run($0, test.session) }
    try await test.signIn("ana")
    try await test.signIn("bo")
    try await yieldUntil { try test.storage.departing().isEmpty }
    #expect(removal.users == ["ana"])
    #expect(await test.session.user?.id == "bo")
  }

  @Test func theSameUserComesBack() async throws {
    let test = await TestSession()
    let removal = Removal()
    removal.answer(.later)
    await test.session.beforeForgetting { await removal.run($0, test.session) }
    try await test.signIn()
    await test.session.signOut()
    try await test.signIn()
    #expect(try test.storage.departing().isEmpty)
    #expect(await test.session.user?.id == "ana")
    test.clock.advance(10_000_000)
    _ = try await test.session.idToken()
    #expect(removal.users == ["ana"])
  }

  @Test func itIsGivenUpAfterAMonth() async throws {
    let test = await TestSession()
    let removal = Removal()
    removal.answer(.later)
    await test.session.beforeForgetting { await removal.run($0, test.session) }
    try await test.signIn()
    await test.session.signOut()
    test.clock.advance(31 * 86_400_000)
    try await yieldUntil {
      test.clock.advance(10_000)
      return try test.storage.departing().isEmpty
    }
  }

  @Test func aRefusedCredentialIsForgotten() async throws {
    let test = await TestSession()
    let removal = Removal()
    await test.session.beforeForgetting { await removal.run($0, test.session) }
    try await test.signIn()
    test.service.revoke("ana")
    test.clock.advance(4_000_000)
    await test.session.signOut()
    #expect(try test.storage.departing().isEmpty)
  }
}
