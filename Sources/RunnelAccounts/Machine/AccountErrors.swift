/// The error of an operation on accounts: what may go wrong in it, case by case.
///
/// Every error has the failure behind it, with the words of the service.
public protocol AccountOperationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The failure.
  var failure: AccountFailure { get }
  /// Makes the error for a failure.
  init(_ failure: AccountFailure)
}

extension AccountOperationError {
  /// The sentence of the failure.
  public var description: String { failure.message }
}

/// The reason why a sign-in failed.
public enum LogInError: AccountOperationError {
  /// The address or the password is wrong. Services that protect their users do not say which.
  case wrongCredentials(AccountFailure)
  /// This is not an e-mail address, or it or the password is missing.
  case invalidInput(AccountFailure)
  /// An administrator has disabled the account.
  case userDisabled(AccountFailure)
  /// There were too many attempts.
  case tooManyAttempts(AccountFailure)
  /// The service does not allow this kind of sign-in.
  case notAllowed(AccountFailure)
  /// The service signed the user in, but did not say who it is.
  case logInMissingUserId(AccountFailure)
  /// Another failure, such as a missing connection.
  case other(AccountFailure)

  /// Makes the error for a failure.
  public init(_ failure: AccountFailure) {
    switch failure.code {
    case .wrongPassword, .userNotFound, .invalidCredential, .invalidCustomToken:
      self = .wrongCredentials(failure)
    case .invalidEmail, .missingEmail, .missingPassword: self = .invalidInput(failure)
    case .userDisabled: self = .userDisabled(failure)
    case .tooManyAttempts: self = .tooManyAttempts(failure)
    case .notAllowed, .notOffered, .administratorsOnly: self = .notAllowed(failure)
    case .missingUserID: self = .logInMissingUserId(failure)
    default: self = .other(failure)
    }
  }

  /// The failure.
  public var failure: AccountFailure {
    switch self {
    case .wrongCredentials(let failure), .invalidInput(let failure), .userDisabled(let failure),
      .tooManyAttempts(let failure), .notAllowed(let failure), .logInMissingUserId(let failure),
      .other(let failure):
      failure
    }
  }
}

/// The reason why no account was made.
public enum SignUpError: AccountOperationError {
  /// The address belongs to an account already.
  case emailInUse(AccountFailure)
  /// The password is too weak; the failure's message says why.
  case weakPassword(AccountFailure)
  /// This is not an e-mail address, or it or the password is missing.
  case invalidInput(AccountFailure)
  /// There were too many attempts.
  case tooManyAttempts(AccountFailure)
  /// The service does not let users make accounts.
  case notAllowed(AccountFailure)
  /// Another failure, such as a missing connection.
  case other(AccountFailure)

  /// Makes the error for a failure.
  public init(_ failure: AccountFailure) {
    switch failure.code {
    case .emailInUse: self = .emailInUse(failure)
    case .weakPassword: self = .weakPassword(failure)
    case .invalidEmail, .missingEmail, .missingPassword: self = .invalidInput(failure)
    case .tooManyAttempts: self = .tooManyAttempts(failure)
    case .notAllowed, .notOffered, .administratorsOnly: self = .notAllowed(failure)
    default: self = .other(failure)
    }
  }

  /// The failure.
  public var failure: AccountFailure {
    switch self {
    case .emailInUse(let failure), .weakPassword(let failure), .invalidInput(let failure),
      .tooManyAttempts(let failure), .notAllowed(let failure), .other(let failure):
      failure
    }
  }
}

/// The reason why a change of the signed-in user's account failed.
///
/// Which cases there are depends on the operation: `ChangePasswordError` and others are names of it.
public enum AccountChangeError: AccountOperationError {
  /// The new password is too weak; the failure's message says why.
  case weakPassword(AccountFailure)
  /// The new address belongs to an account already.
  case emailInUse(AccountFailure)
  /// The new address is not an e-mail address, or the account has none.
  case invalidEmail(AccountFailure)
  /// The present password is wrong.
  case wrongPassword(AccountFailure)
  /// The service wants a recent sign-in: give the present password.
  case needsRecentSignIn(AccountFailure)
  /// Nobody is signed in.
  case notSignedIn(AccountFailure)
  /// The session has ended at the service; the user must sign in again.
  case sessionEnded(AccountFailure)
  /// There were too many attempts.
  case tooManyAttempts(AccountFailure)
  /// Another failure, such as a missing connection.
  case other(AccountFailure)

  /// Makes the error for a failure.
  public init(_ failure: AccountFailure) {
    switch failure.code {
    case .weakPassword: self = .weakPassword(failure)
    case .emailInUse: self = .emailInUse(failure)
    case .invalidEmail, .missingEmail: self = .invalidEmail(failure)
    case .wrongPassword, .invalidCredential, .userNotFound, .userMismatch:
      self = .wrongPassword(failure)
    case .needsRecentSignIn: self = .needsRecentSignIn(failure)
    case .notSignedIn: self = .notSignedIn(failure)
    case .sessionEnded, .userDisabled, .signedOutElsewhere, .accountDeleted, .revoked:
      self = .sessionEnded(failure)
    case .tooManyAttempts: self = .tooManyAttempts(failure)
    default: self = .other(failure)
    }
  }

  /// The failure.
  public var failure: AccountFailure {
    switch self {
    case .weakPassword(let failure), .emailInUse(let failure), .invalidEmail(let failure),
      .wrongPassword(let failure), .needsRecentSignIn(let failure), .notSignedIn(let failure),
      .sessionEnded(let failure), .tooManyAttempts(let failure), .other(let failure):
      failure
    }
  }
}

/// The reason why the password was not changed.
public typealias ChangePasswordError = AccountChangeError
/// The reason why the address was not changed.
public typealias ChangeEmailError = AccountChangeError
/// The reason why no confirmation of the address was sent.
public typealias EmailVerificationError = AccountChangeError
/// The reason why the account was not deleted.
public typealias DeleteAccountError = AccountChangeError

/// The reason why a forgotten password was not reset, or a code was not accepted.
public enum ResetPasswordError: AccountOperationError {
  /// There is no account with this address. Services that protect their users do not say so.
  case unknownEmail(AccountFailure)
  /// This is not an e-mail address, or it is missing.
  case invalidEmail(AccountFailure)
  /// The code is wrong, or was used already.
  case invalidCode(AccountFailure)
  /// The code is too old.
  case expiredCode(AccountFailure)
  /// The new password is too weak; the failure's message says why.
  case weakPassword(AccountFailure)
  /// There were too many attempts.
  case tooManyAttempts(AccountFailure)
  /// Another failure, such as a missing connection.
  case other(AccountFailure)

  /// Makes the error for a failure.
  public init(_ failure: AccountFailure) {
    switch failure.code {
    case .userNotFound: self = .unknownEmail(failure)
    case .invalidEmail, .missingEmail: self = .invalidEmail(failure)
    case .invalidCode: self = .invalidCode(failure)
    case .expiredCode: self = .expiredCode(failure)
    case .weakPassword: self = .weakPassword(failure)
    case .tooManyAttempts: self = .tooManyAttempts(failure)
    default: self = .other(failure)
    }
  }

  /// The failure.
  public var failure: AccountFailure {
    switch self {
    case .unknownEmail(let failure), .invalidEmail(let failure), .invalidCode(let failure),
      .expiredCode(let failure), .weakPassword(let failure), .tooManyAttempts(let failure),
      .other(let failure):
      failure
    }
  }
}
