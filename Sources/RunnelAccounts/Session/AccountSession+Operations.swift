public import RunnelStore

// What a user can do, each with an error of its own.

extension AccountSession {
  private func user(
    _ operation: AccountOperation
  ) async throws(AccountFailure) -> AccountUser {
    guard let user = try await perform(operation).user else { throw .notSignedIn }
    return user
  }

  private func signIn(_ operation: AccountOperation) async throws(LogInError) -> AccountUser {
    do throws(AccountFailure) {
      return try await user(operation)
    } catch {
      throw LogInError(error)
    }
  }

  private func change(
    _ operation: AccountOperation
  ) async throws(AccountChangeError) -> AccountUser {
    do throws(AccountFailure) {
      return try await user(operation)
    } catch {
      throw AccountChangeError(error)
    }
  }

  private func useCode(
    _ operation: AccountOperation
  ) async throws(ResetPasswordError) -> AccountCode? {
    do throws(AccountFailure) {
      return try await perform(operation).code
    } catch {
      throw ResetPasswordError(error)
    }
  }

  // MARK: Signing in

  /// Makes an account, and signs its user in.
  @discardableResult
  public func signUp(
    email: String, password: Secret<String>
  ) async throws(SignUpError) -> AccountUser {
    do throws(AccountFailure) {
      return try await user(.signUp(email: email, password: password))
    } catch {
      throw SignUpError(error)
    }
  }

  /// Signs a user in.
  @discardableResult
  public func signIn(
    email: String, password: Secret<String>
  ) async throws(LogInError) -> AccountUser {
    try await signIn(.signIn(email: email, password: password))
  }

  /// Signs in as a new user without an address, who can be given one by `upgrade`.
  @discardableResult
  public func signInAnonymously() async throws(LogInError) -> AccountUser {
    try await signIn(.signInAnonymously)
  }

  /// Signs in with a token that the program's own server made.
  @discardableResult
  public func signIn(customToken: Secret<String>) async throws(LogInError) -> AccountUser {
    try await signIn(.signInWithToken(customToken))
  }

  /// Gives the anonymous user an address and a password; the id stays.
  @discardableResult
  public func upgrade(
    email: String, password: Secret<String>
  ) async throws(SignUpError) -> AccountUser {
    do throws(AccountFailure) {
      return try await user(.upgrade(email: email, password: password))
    } catch {
      throw SignUpError(error)
    }
  }

  /// Signs in again as the same user, for a service that wants a recent sign-in.
  @discardableResult
  public func reauthenticate(
    password: Secret<String>
  ) async throws(LogInError) -> AccountUser {
    try await signIn(.reauthenticate(password: password))
  }

  // MARK: The account

  /// Changes the password; other sessions of the user end.
  ///
  /// - Parameters:
  ///   - password: the new password.
  ///   - current: the present password, which is checked first; nil if it is not asked for.
  /// - Returns: the user.
  /// - Throws: `ChangePasswordError`.
  @discardableResult
  public func changePassword(
    to password: Secret<String>, current: Secret<String>? = nil
  ) async throws(ChangePasswordError) -> AccountUser {
    try await change(.changePassword(password, current: current))
  }

  /// Changes the address at once.
  ///
  /// - Parameters:
  ///   - email: the new address.
  ///   - current: the present password, which is checked first; nil if it is not asked for.
  /// - Returns: the user.
  /// - Throws: `ChangeEmailError`.
  @discardableResult
  public func changeEmail(
    to email: String, current: Secret<String>? = nil
  ) async throws(ChangeEmailError) -> AccountUser {
    try await change(.changeEmail(email, current: current))
  }

  /// Sends a code to a new address, which replaces the old one when the code is used.
  public func verifyAndChangeEmail(
    to email: String, current: Secret<String>? = nil
  ) async throws(ChangeEmailError) {
    _ = try await change(.verifyAndChangeEmail(email, current: current))
  }

  /// Changes what the user shows of themselves.
  @discardableResult
  public func changeProfile(
    _ profile: AccountProfile
  ) async throws(AccountChangeError) -> AccountUser {
    try await change(.changeProfile(profile))
  }

  /// Sends a code that confirms the user's address.
  public func sendEmailVerification() async throws(EmailVerificationError) {
    _ = try await change(.sendEmailVerification)
  }

  /// Looks up the user, for example after a code was used in a browser; it also shows whether the
  /// session was ended elsewhere.
  ///
  /// If the ID token says something else of the user, it is exchanged.
  @discardableResult
  public func reload() async throws(AccountChangeError) -> AccountUser {
    try await change(.reload)
  }

  /// Deletes the account, and signs the user out.
  ///
  /// - Parameter current: the present password, which is checked first; nil if it is not asked for.
  /// - Throws: `DeleteAccountError`.
  public func deleteAccount(
    current: Secret<String>? = nil
  ) async throws(DeleteAccountError) {
    do throws(AccountFailure) {
      try await perform(.delete(current: current))
    } catch {
      throw AccountChangeError(error)
    }
  }

  // MARK: Codes

  /// Sends a code that sets a new password.
  ///
  /// Services that protect their users do not say whether there is an account.
  public func sendPasswordReset(email: String) async throws(ResetPasswordError) {
    _ = try await useCode(.sendPasswordReset(email: email))
  }

  /// Returns what a code is for, without using it.
  public func checkCode(_ code: Secret<String>) async throws(ResetPasswordError) -> AccountCode {
    guard let purpose = try await useCode(.checkCode(code)) else {
      throw ResetPasswordError(.malformed("it does not say what the code is for"))
    }
    return purpose
  }

  /// Sets a new password by a code.
  public func resetPassword(
    code: Secret<String>, to password: Secret<String>
  ) async throws(ResetPasswordError) {
    _ = try await useCode(.resetPassword(code: code, password))
  }

  /// Uses a code that confirms, changes or recovers an address; then the user is looked up.
  ///
  /// The code may be the link in which it came. If it changes the address of the user who is signed in, the
  /// session goes on where the service gives new tokens, as Runnel's server does; the others end.
  public func applyCode(_ code: Secret<String>) async throws(ResetPasswordError) {
    // Without a token the code is used all the same.
    if user != nil { _ = try? await idToken() }
    _ = try await useCode(.applyCode(code))
    // The code was used in any case; the next refresh tells the rest.
    if user != nil { _ = try? await reload() }
  }
}
