public import RunnelStore

/// The state of a session with an account service.
///
/// ```
///                     signIn...           refused
///   signedOut, ended ----------> signingIn -------> signedOut, ended
///        ^                           | done
///        |  signOut, delete          v     before the token expires
///        +--------------------- signedIn <---------------------> refreshing
///                                   the credential is refused -> ended
/// ```
/// Without a connection, and while the service cannot answer, the user stays signed in.
public enum AccountState: Hashable, Sendable {
  /// Nobody is signed in.
  case signedOut
  /// A user is signing in.
  case signingIn
  /// A user is signed in.
  case signedIn(AccountUser)
  /// A user is signed in, and another ID token is being requested.
  case refreshing(AccountUser)
  /// The session of this user was ended elsewhere, for this reason.
  case ended(AccountUser, AccountFailure)

  /// The user who is signed in; nil if nobody is.
  public var user: AccountUser? {
    switch self {
    case .signedIn(let user), .refreshing(let user): user
    case .signedOut, .signingIn, .ended: nil
    }
  }
}

/// A request to a session.
public enum AccountOperation: Equatable, Sendable {
  /// Make an account, and sign in.
  case signUp(email: String, password: Secret<String>)
  /// Sign in.
  case signIn(email: String, password: Secret<String>)
  /// Sign in as a new anonymous user.
  case signInAnonymously
  /// Sign in with a token of the program's own server.
  case signInWithToken(Secret<String>)
  /// Give the anonymous user an address and a password.
  case upgrade(email: String, password: Secret<String>)
  /// Sign in again as the same user.
  case reauthenticate(password: Secret<String>)
  /// Change the password.
  case changePassword(Secret<String>, current: Secret<String>?)
  /// Change the address at once.
  case changeEmail(String, current: Secret<String>?)
  /// Send a code to a new address, which replaces the old one when the code is used.
  case verifyAndChangeEmail(String, current: Secret<String>?)
  /// Change the profile.
  case changeProfile(AccountProfile)
  /// Send a code that confirms the address.
  case sendEmailVerification
  /// Send a code that sets a new password.
  case sendPasswordReset(email: String)
  /// Ask what a code is for.
  case checkCode(Secret<String>)
  /// Set the password by a code.
  case resetPassword(code: Secret<String>, Secret<String>)
  /// Use a code that confirms, changes or recovers an address.
  case applyCode(Secret<String>)
  /// Look up the user.
  case reload
  /// Delete the account.
  case delete(current: Secret<String>?)

  /// True if it signs a user in.
  var signsIn: Bool {
    switch self {
    case .signUp, .signIn, .signInAnonymously, .signInWithToken: true
    default: false
    }
  }

  /// True if a user must be signed in.
  var needsUser: Bool {
    switch self {
    case .signUp, .signIn, .signInAnonymously, .signInWithToken, .sendPasswordReset, .checkCode,
      .resetPassword, .applyCode:
      false
    default: true
    }
  }

  /// The present password, if it is checked first.
  var currentPassword: Secret<String>? {
    switch self {
    case .reauthenticate(let password): password
    case .changePassword(_, let current), .changeEmail(_, let current),
      .verifyAndChangeEmail(_, let current), .delete(let current):
      current
    default: nil
    }
  }

  /// The question to the service, with a valid ID token if the operation needs a user; nil if all
  /// is done.
  func call(_ token: Secret<String>?) -> AccountCall? {
    switch self {
    case .signUp(let email, let password): return .signUp(email: email, password: password)
    case .signIn(let email, let password): return .signIn(email: email, password: password)
    case .signInAnonymously: return .signUpAnonymously
    case .signInWithToken(let text): return .signInWithToken(text)
    case .sendPasswordReset(let email): return .sendPasswordReset(email: email)
    case .checkCode(let code): return .checkCode(code)
    case .resetPassword(let code, let password): return .resetPassword(code: code, password)
    case .applyCode(let code): return .applyCode(code, idToken: token)
    default: break
    }
    guard let token else { return nil }
    switch self {
    case .upgrade(let email, let password):
      return .link(idToken: token, email: email, password: password)
    case .changePassword(let password, _): return .setPassword(idToken: token, password)
    case .changeEmail(let email, _): return .setEmail(idToken: token, email)
    case .verifyAndChangeEmail(let email, _): return .sendEmailChange(idToken: token, email)
    case .changeProfile(let profile): return .setProfile(idToken: token, profile)
    case .sendEmailVerification: return .sendVerification(idToken: token)
    case .reload: return .lookUp(idToken: token)
    case .delete: return .delete(idToken: token)
    default: return nil
    }
  }
}

/// The result of a request to a session.
public struct AccountOutcome: Equatable, Sendable {
  /// The user, after an operation of a signed-in user.
  public var user: AccountUser?
  /// The purpose of a code.
  public var code: AccountCode?
  /// The ID token, if it was requested.
  public var token: Secret<String>?

  init(user: AccountUser? = nil, code: AccountCode? = nil, token: Secret<String>? = nil) {
    (self.user, self.code, self.token) = (user, code, token)
  }
}
