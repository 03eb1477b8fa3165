public import RunnelStore
public import RunnelTree

// What a store is told about the session. No action has a password, a token or a code.

/// An action about who is signed in.
///
/// One middleware or reducer can handle all of them.
public protocol AuthenticationAction: Action {}

/// The user is known, and signed in: at the start of the program, or after `AccountThunks.identifyUser`.
public struct UserIdentified: AuthenticationAction, Hashable {
  /// The id of the user.
  public var userId: String
  /// True if the user has shown that the e-mail address is theirs.
  public var emailVerified: Bool

  /// Makes the action.
  public init(userId: String, emailVerified: Bool) {
    (self.userId, self.emailVerified) = (userId, emailVerified)
  }
}

/// A user signed in.
public struct UserLoggedIn: AuthenticationAction, Hashable {
  /// The id of the user.
  public var userId: String
  /// True if the user has shown that the e-mail address is theirs.
  public var emailVerified: Bool
  /// The e-mail address, if there is one.
  public var email: String?

  /// Makes the action.
  public init(userId: String, emailVerified: Bool, email: String?) {
    (self.userId, self.emailVerified, self.email) = (userId, emailVerified, email)
  }
}

/// A user made an account; `UserLoggedIn` follows.
public struct UserSignedUp: AuthenticationAction, Hashable {
  /// The id of the user.
  public var userId: String
  /// The e-mail address.
  public var email: String

  /// Makes the action.
  public init(userId: String, email: String) { (self.userId, self.email) = (userId, email) }
}

/// The user is not signed in any more.
public struct UserLoggedOut: AuthenticationAction, Hashable {
  /// The reason, if the session was ended elsewhere; nil if the user signed out.
  public var reason: AccountFailure?

  /// Makes the action.
  public init(reason: AccountFailure? = nil) { self.reason = reason }
}

/// The password was changed.
public struct PasswordChanged: AuthenticationAction, Hashable {
  /// Makes the action.
  public init() {}
}

/// The e-mail address was changed.
public struct EmailChanged: AuthenticationAction, Hashable {
  /// The new address.
  public var email: String

  /// Makes the action.
  public init(email: String) { self.email = email }
}

/// A code that sets a new password was sent, if there is such an account.
public struct PasswordReset: AuthenticationAction, Hashable {
  /// Makes the action.
  public init() {}
}

/// A code that confirms the e-mail address was sent.
public struct EmailVerificationSent: AuthenticationAction, Hashable {
  /// Makes the action.
  public init() {}
}

/// A request about the account failed.
///
/// The cases have the names of the errors that FirebaseReSwift wrapped.
public struct UserAuthFailed: AuthenticationAction, FailureAction, Hashable {
  /// The request that failed, with its own error.
  public enum Reason: Hashable, Sendable {
    /// A sign-in; `logInMissingUserId` if the service did not say who signed in.
    case logIn(LogInError)
    /// A new account.
    case signUp(SignUpError)
    /// A new password.
    case changePassword(ChangePasswordError)
    /// A new address.
    case changeEmail(ChangeEmailError)
    /// A forgotten password.
    case resetPassword(ResetPasswordError)
    /// The confirmation of an address.
    case emailVerification(EmailVerificationError)
    /// The user was looked up.
    case reload(AccountChangeError)

    /// The failure behind the error.
    public var failure: AccountFailure {
      switch self {
      case .logIn(let error): error.failure
      case .signUp(let error): error.failure
      case .changePassword(let error), .changeEmail(let error), .emailVerification(let error),
        .reload(let error):
        error.failure
      case .resetPassword(let error): error.failure
      }
    }

    /// The name in logs.
    var name: String {
      switch self {
      case .logIn: "logIn"
      case .signUp: "signUp"
      case .changePassword: "changePassword"
      case .changeEmail: "changeEmail"
      case .resetPassword: "resetPassword"
      case .emailVerification: "emailVerification"
      case .reload: "reload"
      }
    }

    init?(name: String, _ failure: AccountFailure) {
      switch name {
      case "logIn": self = .logIn(LogInError(failure))
      case "signUp": self = .signUp(SignUpError(failure))
      case "changePassword": self = .changePassword(ChangePasswordError(failure))
      case "changeEmail": self = .changeEmail(ChangeEmailError(failure))
      case "resetPassword": self = .resetPassword(ResetPasswordError(failure))
      case "emailVerification": self = .emailVerification(EmailVerificationError(failure))
      case "reload": self = .reload(AccountChangeError(failure))
      default: return nil
      }
    }
  }

  /// The request that failed, and its error.
  public var reason: Reason

  /// Makes the action.
  public init(_ reason: Reason) { self.reason = reason }

  /// Makes the action of a sign-in that failed.
  public init(_ error: LogInError) { reason = .logIn(error) }

  /// Makes the action of an account that was not made.
  public init(_ error: SignUpError) { reason = .signUp(error) }

  /// The failure in the form of all failures, with the code of the service's other clients.
  public var error: TreeError {
    let failure = reason.failure
    return TreeError(TreeError.Code(rawValue: failure.code.rawValue), failure.message)
  }
}
