public import RunnelDatabase
public import RunnelStore
import Synchronization

/// Makes the actions that sign users in and out, and change their accounts, for a `DatabaseStore`.
///
/// Secrets go from the caller to the session: they are in no action that reaches a reducer, a
/// middleware or a log. Actions are dispatched on the store, as all of its actions are.
///
/// Source: FirebaseReSwift's authentication.
public struct AccountThunks<State: Sendable>: Sendable {
  /// The thunk that dispatches what happens to the session has this name.
  private static var observation: String { "runnel account" }

  /// The session.
  public let session: AccountSession
  private let reported = ReportedUser()

  /// Makes the actions for a session.
  public init(_ session: AccountSession) { self.session = session }

  private func thunk(
    _ body: @escaping @Sendable (AccountSession) async throws -> [any Action]
  ) -> AsyncThunk<State> {
    let session = session
    return AsyncThunk { context in
      for action in try await body(session) { try await context.dispatch(action) }
    }
  }

  /// Runs a request; its failure becomes an action.
  private static func actions<Failure: Error>(
    _ failed: (Failure) -> UserAuthFailed.Reason,
    _ body: () async throws(Failure) -> [any Action]
  ) async -> [any Action] {
    do throws(Failure) {
      return try await body()
    } catch {
      return [UserAuthFailed(failed(error))]
    }
  }

  // MARK: Who is signed in

  /// Dispatches `UserIdentified` if a user is signed in, and nothing otherwise.
  public func getUserId() -> AsyncThunk<State> {
    thunk { session in
      guard let user = await session.user else { return [] }
      return [UserIdentified(userId: user.id, emailVerified: user.isEmailVerified)]
    }
  }

  /// Looks up the user: `UserIdentified`, or `UserAuthFailed`.
  public func reloadCurrentUser() -> AsyncThunk<State> {
    thunk { session in
      await Self.actions({ .reload($0) }) { () async throws(AccountChangeError) in
        let user = try await session.reload()
        return [UserIdentified(userId: user.id, emailVerified: user.isEmailVerified)]
      }
    }
  }

  /// Dispatches what happens to the session from now on, whoever causes it, until
  /// `stopMonitoringUser`: `UserIdentified` if a user is signed in already, then `UserLoggedIn` and
  /// `UserLoggedOut`, with a reason if the session was ended elsewhere.
  ///
  /// What a request of these thunks causes is dispatched by the request, and not again.
  public func monitorUser() -> AsyncThunk<State> {
    let (session, reported) = (session, reported)
    return AsyncThunk(Self.observation) { context in
      var isFirst = true
      for await state in session.states {
        switch state {
        case .signedIn(let user), .refreshing(let user):
          guard reported.isNews(user.id) else { break }
          let isVerified = user.isEmailVerified
          try await context.dispatch(
            isFirst
              ? UserIdentified(userId: user.id, emailVerified: isVerified)
              : UserLoggedIn(userId: user.id, emailVerified: isVerified, email: user.email))
        case .signedOut:
          if reported.isNews(nil) { try await context.dispatch(UserLoggedOut()) }
        case .ended(_, let failure):
          if reported.isEnd() { try await context.dispatch(UserLoggedOut(reason: failure)) }
        case .signingIn: break
        }
        isFirst = false
      }
    }
  }

  /// Ends what `monitorUser` began.
  public func stopMonitoringUser() -> CancelThunk { CancelThunk(Self.observation) }

  // MARK: Signing in and out

  /// Returns a thunk for a request that signs in or out.
  private func change(
    _ body: @escaping @Sendable (AccountSession) async -> [any Action]
  ) -> AsyncThunk<State> {
    let reported = reported
    return thunk { session in
      reported.begin()
      let actions = await body(session)
      reported.end(await session.user?.id)
      return actions
    }
  }

  /// Signs a user in: `UserLoggedIn`, or `UserAuthFailed` with a `LogInError`.
  public func logInUser(email: String, password: Secret<String>) -> AsyncThunk<State> {
    change { session in
      await Self.actions({ .logIn($0) }) { () async throws(LogInError) in
        let user = try await session.signIn(email: email, password: password)
        return [
          UserLoggedIn(userId: user.id, emailVerified: user.isEmailVerified, email: user.email)
        ]
      }
    }
  }

  /// Signs in as a new user without an address: `UserLoggedIn`, or `UserAuthFailed`.
  public func logInAnonymously() -> AsyncThunk<State> {
    change { session in
      await Self.actions({ .logIn($0) }) { () async throws(LogInError) in
        let user = try await session.signInAnonymously()
        return [UserLoggedIn(userId: user.id, emailVerified: false, email: nil)]
      }
    }
  }

  /// Makes an account: `UserSignedUp` and then `UserLoggedIn`, or `UserAuthFailed` with a `SignUpError`.
  public func signUpUser(email: String, password: Secret<String>) -> AsyncThunk<State> {
    change { session in
      await Self.actions({ .signUp($0) }) { () async throws(SignUpError) in
        let user = try await session.signUp(email: email, password: password)
        return [
          UserSignedUp(userId: user.id, email: user.email ?? email),
          UserLoggedIn(userId: user.id, emailVerified: user.isEmailVerified, email: user.email),
        ]
      }
    }
  }

  /// Signs the user out: `UserLoggedOut`.
  public func logOutUser() -> AsyncThunk<State> {
    change { session in
      await session.signOut()
      return [UserLoggedOut()]
    }
  }

  // MARK: The account

  /// Changes the password: `PasswordChanged`, or `UserAuthFailed` with a `ChangePasswordError`.
  public func changeUserPassword(
    oldPassword: Secret<String>? = nil, newPassword: Secret<String>
  ) -> AsyncThunk<State> {
    thunk { session in
      await Self.actions({ .changePassword($0) }) { () async throws(ChangePasswordError) in
        try await session.changePassword(to: newPassword, current: oldPassword)
        return [PasswordChanged()]
      }
    }
  }

  /// Changes the address: `EmailChanged`, or `UserAuthFailed` with a `ChangeEmailError`.
  public func changeUserEmail(
    password: Secret<String>? = nil, newEmail: String
  ) -> AsyncThunk<State> {
    thunk { session in
      await Self.actions({ .changeEmail($0) }) { () async throws(ChangeEmailError) in
        let user = try await session.changeEmail(to: newEmail, current: password)
        return [EmailChanged(email: user.email ?? newEmail)]
      }
    }
  }

  /// Sends a code that sets a new password: `PasswordReset`, or `UserAuthFailed` with a
  /// `ResetPasswordError`.
  public func resetPassword(email: String) -> AsyncThunk<State> {
    thunk { session in
      await Self.actions({ .resetPassword($0) }) { () async throws(ResetPasswordError) in
        try await session.sendPasswordReset(email: email)
        return [PasswordReset()]
      }
    }
  }

  /// Sends a code that confirms the address: `EmailVerificationSent`, or `UserAuthFailed`.
  public func sendEmailVerification() -> AsyncThunk<State> {
    thunk { session in
      await Self.actions({ .emailVerification($0) }) {
        () async throws(EmailVerificationError) in
        try await session.sendEmailVerification()
        return [EmailVerificationSent()]
      }
    }
  }
}

/// The user whom a store was told of, so that each change is told once.
private final class ReportedUser: Sendable {
  private let state = Mutex<(user: String?, requestCount: Int)>((nil, 0))

  /// Begins a request, which reports what it causes itself.
  func begin() { state.withLock { $0.requestCount += 1 } }

  /// Ends a request, after which this user is signed in.
  func end(_ user: String?) {
    state.withLock { $0 = (user, $0.requestCount - 1) }
  }

  /// Returns whether it is news that a user is signed in, or nobody; then it is known.
  func isNews(_ user: String?) -> Bool {
    state.withLock { state in
      if state.requestCount > 0 || state.user == user { return false }
      state.user = user
      return true
    }
  }

  /// Returns whether it is news that the session was ended elsewhere; then it is known.
  func isEnd() -> Bool {
    state.withLock { state in
      defer { state.user = nil }
      return state.user != nil
    }
  }
}
