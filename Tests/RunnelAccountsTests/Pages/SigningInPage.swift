// The examples of Sources/RunnelAccounts/RunnelAccounts.docc/SigningIn.md, and their test.

import AccountSimulation
import RunnelBase
import RunnelDatabase
import Testing

// example begin
import RunnelAccounts
import RunnelNetwork
import RunnelStore

func openSession(home: String) async throws -> AccountSession {
  let client = WebClient(userAgent: "chat/1.0")
  let service = IdentityToolkit.server(
    "https://chat.example.com", IdentityToolkit.transport(client))
  let folder = try AccountFolder(for: service.name, environment: ["HOME": home])
  return await AccountSession(service, storage: folder)
}
// example end

// example begin
func signIn(
  _ session: AccountSession, _ email: String, _ password: Secret<String>
) async -> String {
  do throws(LogInError) {
    let user = try await session.signIn(email: email, password: password)
    return "signed in as \(user.id)"
  } catch {
    switch error {
    case .wrongCredentials, .invalidInput: return "The address or the password is wrong."
    case .tooManyAttempts: return "Try again later."
    default: return error.description
    }
  }
}
// example end

// example begin
func watch(_ session: AccountSession) async {
  for await state in session.states {
    switch state {
    case .signedIn(let user), .refreshing(let user): show("\(user.email ?? user.id)")
    case .signingIn: show("…")
    case .signedOut: show("nobody")
    case .ended(let user, let failure): show("\(user.email ?? user.id): \(failure)")
    }
  }
}
// example end

// example begin
func openData(
  _ session: AccountSession, at address: String, file: String? = nil
) async throws -> Database? {
  guard let user = await session.user else { return nil }
  return try await Database.connect(to: address, in: session, user: user.id, file: file)
}
// example end

// example begin
struct UserState: Sendable {
  var userId: String?
  var trouble: String?
}

func userReducer(state: inout UserState, action: any Action) {
  switch action {
  case let action as UserIdentified: state.userId = action.userId
  case let action as UserLoggedIn: state.userId = action.userId
  case let action as UserLoggedOut:
    state.userId = nil
    state.trouble = action.reason?.message
  case let action as UserAuthFailed: state.trouble = action.error.message
  default: break
  }
}

func logIn(
  _ store: DatabaseStore<UserState>, _ session: AccountSession, _ email: String,
  _ password: Secret<String>
) async {
  let thunks = AccountThunks<UserState>(session)
  await store.dispatch(thunks.monitorUser())
  await store.dispatch(thunks.logInUser(email: email, password: password))
}
// example end

private func show(_ text: String) {}

/// The page's examples do what it says.
@Suite(.timeLimit(.minutes(1))) struct SigningInPage {
  @Test func theExamplesDoWhatThePageSays() async throws {
    let test = await TestSession()
    let session = test.session
    #expect(
      await signIn(session, "ana@x.org", Secret("nonsense"))
        == "The address or the password is wrong.")
    #expect(await signIn(session, "ana@x.org", Secret("secret-ana")) == "signed in as ana")
    var state = UserState()
    userReducer(
      state: &state, action: UserLoggedIn(userId: "ana", emailVerified: false, email: nil))
    #expect(state.userId == "ana")
    let folder = try temporaryFolder()
    let other = try await openSession(home: folder)
    #expect(await other.state == .signedOut)
    #expect(try await openData(other, at: "https://chat.example.com/?ns=main") == nil)
    await other.close()
    let database = try #require(
      try await openData(session, at: "http://localhost:1/?ns=test", file: folder + "/ana.db"))
    #expect(await database.originLink != nil)
    let store = DatabaseStore(database, state: UserState()) { userReducer(state: &$0, action: $1) }
    await logIn(store, session, "ana@x.org", Secret("secret-ana"))
    for await user in await store.values(of: \.userId) where user == "ana" { break }
    #expect(await store.state.trouble == nil)
    database.close()
    let watching = Task { await watch(session) }
    await session.close()
    await watching.value
  }
}
