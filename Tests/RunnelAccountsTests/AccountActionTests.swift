import AccountSimulation
import RunnelBase
import RunnelDatabase
import RunnelStore
import RunnelTree
import Synchronization
import Testing

@testable import RunnelAccounts

/// The actions of a store about its session.
@Suite(.timeLimit(.minutes(1))) struct AccountActionTests {
  private struct UserState: Sendable {
    var actions: [String] = []
    var userId: String?
  }

  /// A store whose state has the actions, and whose log is kept.
  private final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private func store(_ log: Log = Log()) async throws -> DatabaseStore<UserState> {
    let database = try await Database.open(file: try temporaryFolder() + "/a.db")
    return DatabaseStore(
      database, state: UserState(),
      middleware: [recordingMiddleware(now: { 0 }, write: { log.add($0.line) })]
    ) { state, action in
      if action is any AuthenticationAction { state.actions.append("\(type(of: action))") }
      if let action = action as? UserLoggedIn { state.userId = action.userId }
      if action is UserLoggedOut { state.userId = nil }
    }
  }

  private func actions(
    _ store: DatabaseStore<UserState>, _ count: Int
  ) async throws -> [String] {
    for await actions in await store.values(of: \.actions) where actions.count >= count {
      return actions
    }
    throw NotReached()
  }

  @Test func eachRequestHasItsActions() async throws {
    let test = await TestSession()
    let thunks = AccountThunks<UserState>(test.session)
    let store = try await store()
    await store.dispatch(thunks.signUpUser(email: "cy@x.org", password: Secret("secret-cy")))
    #expect(try await actions(store, 2) == ["UserSignedUp", "UserLoggedIn"])
    let steps: [(AsyncThunk<UserState>, String)] = [
      (thunks.getUserId(), "UserIdentified"),
      (thunks.sendEmailVerification(), "EmailVerificationSent"),
      (thunks.reloadCurrentUser(), "UserIdentified"),
      (
        thunks.changeUserPassword(
          oldPassword: Secret("secret-cy"), newPassword: Secret("other-cy")), "PasswordChanged"
      ),
      (
        thunks.changeUserEmail(password: Secret("other-cy"), newEmail: "cy2@x.org"),
        "EmailChanged"
      ),
      (thunks.resetPassword(email: "cy2@x.org"), "PasswordReset"),
      (thunks.logOutUser(), "UserLoggedOut"),
      (thunks.logInUser(email: "cy2@x.org", password: Secret("nonsense")), "UserAuthFailed"),
      (thunks.logInUser(email: "cy2@x.org", password: Secret("other-cy")), "UserLoggedIn"),
      (thunks.logOutUser(), "UserLoggedOut"),
      (thunks.sendEmailVerification(), "UserAuthFailed"),
      (thunks.logInAnonymously(), "UserLoggedIn"),
    ]
    var expected = ["UserSignedUp", "UserLoggedIn"]
    for (thunk, action) in steps {
      expected.append(action)
      await store.dispatch(thunk)
      #expect(try await actions(store, expected.count) == expected)
    }
    await store.close()
  }

  @Test func eachChangeIsToldOnceWhoeverMakesIt() async throws {
    let test = await TestSession()
    try await test.signIn()
    let thunks = AccountThunks<UserState>(test.session)
    let store = try await store()
    await store.dispatch(thunks.monitorUser())
    #expect(try await actions(store, 1) == ["UserIdentified"])
    await test.session.signOut()
    #expect(try await actions(store, 2).last == "UserLoggedOut")
    await store.dispatch(thunks.logInUser(email: "bo@x.org", password: Secret("secret-bo")))
    #expect(try await actions(store, 3).last == "UserLoggedIn")
    test.service.revoke("bo")
    test.clock.advance(4_000_000)
    #expect(
      try await actions(store, 4)
        == ["UserIdentified", "UserLoggedOut", "UserLoggedIn", "UserLoggedOut"])
    await store.dispatch(thunks.stopMonitoringUser())
    await store.close()
  }

  @Test func noSecretIsInALogOrADescription() async throws {
    let test = await TestSession()
    let (log, thunks) = (Log(), AccountThunks<UserState>(test.session))
    let store = try await store(log)
    let secrets = ["secret-cy", "other-secret", "eyJ", "refresh-"]
    let thunk = thunks.signUpUser(email: "cy@x.org", password: Secret(secrets[0]))
    await store.dispatch(thunk)
    _ = try await actions(store, 2)
    await store.dispatch(
      thunks.changeUserPassword(oldPassword: Secret("wrong-one"), newPassword: Secret(secrets[1])))
    _ = try await actions(store, 3)
    await store.close()
    #expect(log.all.count == 3)
    let kept = try #require(try test.storage.signedIn())
    let call = AccountCall.signIn(email: "a", password: Secret(secrets[0]))
    let operation = AccountOperation.changePassword(
      Secret(secrets[0]), current: Secret(secrets[1]))
    var machine = AccountMachine(seed: 1)
    let effects = machine.handle(.begin(kept, departing: [kept]), now: 0)
    var texts = log.all
    for value in [
      thunk, kept, kept.tokens, call, operation, machine, effects, test.session,
      AccountWire.question(call), await test.session.state,
      AccountOutcome(token: Secret("eyJ")),
    ] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      texts += ["\(value)", String(reflecting: value), dumped]
    }
    for (text, secret) in texts.flatMap({ text in secrets.map { (text, $0) } }) {
      #expect(!text.contains(secret), "\(text.prefix(300))")
    }
  }

  @Test func actionsAreReadFromALog() throws {
    let failure = AccountFailure(service: "WEAK_PASSWORD : Too short")
    let actions: [any LoggableAction & Hashable] = [
      UserIdentified(userId: "a", emailVerified: true),
      UserLoggedIn(userId: "a", emailVerified: false, email: nil),
      UserLoggedIn(userId: "a", emailVerified: false, email: "a@x.org"),
      UserSignedUp(userId: "a", email: "a@x.org"), UserLoggedOut(),
      UserLoggedOut(reason: failure), PasswordChanged(), EmailChanged(email: "b@x.org"),
      PasswordReset(), EmailVerificationSent(), UserAuthFailed(LogInError(.missingUserID)),
      UserAuthFailed(SignUpError(failure)),
      UserAuthFailed(.changePassword(AccountChangeError(failure))),
      UserAuthFailed(.changeEmail(AccountChangeError(failure))),
      UserAuthFailed(.resetPassword(ResetPasswordError(failure))),
      UserAuthFailed(.emailVerification(AccountChangeError(failure))),
      UserAuthFailed(.reload(AccountChangeError(failure))),
    ]
    var registry = ActionRegistry()
    registry.registerAccountActions()
    for action in actions {
      let entry = LoggedAction(number: 1, milliseconds: 0, action: action)
      guard case .action(let kind, let json) = entry.content else {
        Issue.record("\(action) is withheld")
        continue
      }
      let read = try registry.action(kind: kind, json: json)
      let isSame = isEqual(action, read)
      #expect(isSame)
    }
  }

  private func isEqual<Value: Hashable>(_ left: Value, _ right: Any) -> Bool {
    left == right as? Value
  }

  @Test func aFailureIsOneOfAllFailures() {
    let action = UserAuthFailed(SignUpError(AccountFailure(service: "EMAIL_EXISTS")))
    #expect(action.isSerious && action.error.code.rawValue == "email-already-in-use")
  }
}
