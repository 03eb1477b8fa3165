public import RunnelStore

/// The tokens that show who a user is.
public struct AccountTokens: Equatable, Sendable {
  /// The token that is given to servers.
  public var idToken: Secret<String>
  /// The token with which another ID token is requested.
  public var refreshToken: Secret<String>
  /// The time at which the ID token was received, in milliseconds since 1970.
  public var obtained: Int64
  /// The time from which servers refuse the ID token, in milliseconds since 1970.
  public var expires: Int64

  /// Makes tokens.
  public init(
    idToken: Secret<String>, refreshToken: Secret<String>, obtained: Int64, expires: Int64
  ) {
    (self.idToken, self.refreshToken) = (idToken, refreshToken)
    (self.obtained, self.expires) = (obtained, expires)
  }
}

/// A user with the tokens, as it is kept between two runs of a program.
public struct KeptAccount: Equatable, Sendable {
  /// The user.
  public var user: AccountUser
  /// The tokens.
  public var tokens: AccountTokens

  /// Makes a kept account.
  public init(_ user: AccountUser, _ tokens: AccountTokens) {
    (self.user, self.tokens) = (user, tokens)
  }
}

/// A question to an account service.
///
/// A provider carries it out. Passwords, tokens and codes are secrets.
public enum AccountCall: Equatable, Sendable {
  /// Make an account with an address and a password, and sign in.
  case signUp(email: String, password: Secret<String>)
  /// Make an anonymous account, and sign in.
  case signUpAnonymously
  /// Sign in with an address and a password.
  case signIn(email: String, password: Secret<String>)
  /// Sign in with a token that a server of the program made.
  case signInWithToken(Secret<String>)
  /// Give an account an address and a password.
  case link(idToken: Secret<String>, email: String, password: Secret<String>)
  /// Exchange the refresh token for new tokens.
  case refresh(refreshToken: Secret<String>)
  /// Look up the account.
  case lookUp(idToken: Secret<String>)
  /// Set the password.
  case setPassword(idToken: Secret<String>, Secret<String>)
  /// Set the address.
  case setEmail(idToken: Secret<String>, String)
  /// Change the profile.
  case setProfile(idToken: Secret<String>, AccountProfile)
  /// Send a code that confirms the address.
  case sendVerification(idToken: Secret<String>)
  /// Send a code that confirms a new address.
  case sendEmailChange(idToken: Secret<String>, String)
  /// Send a code that sets a new password.
  case sendPasswordReset(email: String)
  /// Ask what a code is for.
  case checkCode(Secret<String>)
  /// Set the password by a code.
  case resetPassword(code: Secret<String>, Secret<String>)
  /// Use a code that confirms, changes or recovers an address. With the ID token of its user, the service
  /// may answer with new tokens, if the change ended the session.
  case applyCode(Secret<String>, idToken: Secret<String>? = nil)
  /// Delete the account.
  case delete(idToken: Secret<String>)
}

/// The answer of an account service: what it told, and nil for the rest.
public struct AccountReply: Equatable, Sendable {
  /// The id of the user.
  public var userID: String?
  /// The ID token.
  public var idToken: Secret<String>?
  /// The refresh token.
  public var refreshToken: Secret<String>?
  /// The seconds for which the ID token is accepted.
  public var lifetimeSeconds: Int64?
  /// The user, as it was looked up.
  public var user: AccountUser?
  /// The purpose of the code.
  public var code: AccountCode?

  /// Makes an answer that tells nothing but success.
  public init() {}
}

/// An account service, for `AccountSession`.
///
/// `IdentityToolkit` is the one for Runnel's own server, for the official emulator and for the
/// official service; `FeathersAccounts` is the one for servers of Feathers.
public protocol AccountProvider: Sendable {
  /// The name of the service, which tells its accounts from those of others.
  var name: String { get }

  /// Asks the service, once; the session repeats what is worth repeating.
  ///
  /// - Throws: `AccountFailure`, with the code of the service where that has refused.
  func perform(_ call: AccountCall) async throws(AccountFailure) -> AccountReply
  /// Tells the service that the user signs out; nothing is lost if it cannot be told.
  func signOut(_ idToken: Secret<String>) async
}

extension AccountProvider {
  /// Does nothing: the service does not want to know.
  public func signOut(_ idToken: Secret<String>) async {}
}
