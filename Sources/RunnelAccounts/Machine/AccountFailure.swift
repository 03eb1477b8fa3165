/// The reason why a question to an account service, or a request to a session, failed.
public struct AccountFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// What went wrong, by the word that other clients of such services use.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The word.
    public let rawValue: String

    /// Makes a code of a word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The address belongs to an account already.
    public static let emailInUse = Code(rawValue: "email-already-in-use")
    /// The password is wrong.
    public static let wrongPassword = Code(rawValue: "wrong-password")
    /// There is no such account.
    public static let userNotFound = Code(rawValue: "user-not-found")
    /// The address or the password is wrong; the service does not say which.
    public static let invalidCredential = Code(rawValue: "invalid-credential")
    /// The password is too weak; the message says why.
    public static let weakPassword = Code(rawValue: "weak-password")
    /// There were too many attempts; a later one may succeed.
    public static let tooManyAttempts = Code(rawValue: "too-many-requests")
    /// The session has ended at the service: the user must sign in again.
    public static let sessionEnded = Code(rawValue: "user-token-expired")
    /// The service wants a recent sign-in for this; see `AccountSession.reauthenticate`.
    public static let needsRecentSignIn = Code(rawValue: "requires-recent-login")
    /// The service is not set up for this.
    public static let notAllowed = Code(rawValue: "operation-not-allowed")
    /// The provider has no such operation.
    public static let notOffered = Code(rawValue: "not-offered-by-provider")
    /// Only administrators may do this.
    public static let administratorsOnly = Code(rawValue: "admin-restricted-operation")
    /// The code was used already, or is none.
    public static let invalidCode = Code(rawValue: "invalid-action-code")
    /// The code is too old.
    public static let expiredCode = Code(rawValue: "expired-action-code")
    /// This is not an e-mail address.
    public static let invalidEmail = Code(rawValue: "invalid-email")
    /// An e-mail address is needed.
    public static let missingEmail = Code(rawValue: "missing-email")
    /// A password is needed.
    public static let missingPassword = Code(rawValue: "missing-password")
    /// An administrator has disabled the account.
    public static let userDisabled = Code(rawValue: "user-disabled")
    /// The token of the program's own server was refused.
    public static let invalidCustomToken = Code(rawValue: "invalid-custom-token")
    /// The service cannot be reached.
    public static let offline = Code(rawValue: "network-request-failed")
    /// The service cannot answer at the moment.
    public static let unavailable = Code(rawValue: "internal-error")
    /// Nobody is signed in.
    public static let notSignedIn = Code(rawValue: "no-current-user")
    /// The credential belongs to another user.
    public static let userMismatch = Code(rawValue: "user-mismatch")
    /// The answer to a sign-in names no user.
    public static let missingUserID = Code(rawValue: "missing-user-id")
    /// The answer is not what the protocol says.
    public static let malformedAnswer = Code(rawValue: "malformed-answer")
    /// The request was cancelled; the service may have done it.
    public static let cancelled = Code(rawValue: "cancelled")
    /// Too many requests wait in this program.
    public static let busy = Code(rawValue: "too-many-waiting")
    /// The session cannot be written to its file, or read from it.
    public static let storage = Code(rawValue: "storage-failed")
    /// The user signed out in another process.
    public static let signedOutElsewhere = Code(rawValue: "signed-out-elsewhere")
    /// The user deleted the account, here or in another process.
    public static let accountDeleted = Code(rawValue: "account-deleted")
    /// The device was taken away from the user's devices.
    public static let revoked = Code(rawValue: "device-revoked")
    /// There is no account service at the address.
    public static let noAccounts = Code(rawValue: "no-account-service")
    /// The address of the service is not safe for passwords.
    public static let insecure = Code(rawValue: "insecure-address")
  }

  /// What went wrong.
  public var code: Code
  /// The word of the service, such as `EMAIL_EXISTS`; nil if it did not answer.
  public var serviceCode: String?
  /// A sentence for people.
  public var message: String
  /// True if the request was sent and its answer was lost, so that it may have been carried out.
  package var isSent = false

  /// Makes a failure.
  public init(_ code: Code, _ message: String, serviceCode: String? = nil) {
    (self.code, self.message, self.serviceCode) = (code, message, serviceCode)
  }

  /// The sentence.
  public var description: String { message }

  /// True if the same request may succeed later without a change.
  public var isTemporary: Bool {
    [.offline, .unavailable, .tooManyAttempts, .busy].contains(code)
  }
}

// MARK: Words of the service

extension AccountFailure {
  /// What a service means that ends a session without a reason.
  private static let ended =
    "Session ended: new password or address, or account replaced or deleted."

  /// The codes for the words of the service, with sentences.
  ///
  /// Source: accounts interface, section 8.
  private static let known: [String: (code: Code, message: String)] = [
    "EMAIL_EXISTS": (.emailInUse, "The e-mail address belongs to an account already."),
    "DUPLICATE_EMAIL": (.emailInUse, "The e-mail address belongs to an account already."),
    "INVALID_PASSWORD": (.wrongPassword, "The password is wrong."),
    "EMAIL_NOT_FOUND": (.userNotFound, "There is no account with this e-mail address."),
    "INVALID_LOGIN_CREDENTIALS": (
      .invalidCredential, "The e-mail address or the password is wrong."
    ),
    "WEAK_PASSWORD": (.weakPassword, "The password is too weak."),
    "PASSWORD_DOES_NOT_MEET_REQUIREMENTS": (.weakPassword, "The password is too weak."),
    "TOO_MANY_ATTEMPTS_TRY_LATER": (.tooManyAttempts, "Too many attempts: try again later."),
    "RESET_PASSWORD_EXCEED_LIMIT": (.tooManyAttempts, "Too many attempts: try again later."),
    "QUOTA_EXCEEDED": (.tooManyAttempts, "The service has too many requests: try again later."),
    "TOKEN_EXPIRED": (.sessionEnded, AccountFailure.ended),
    "USER_NOT_FOUND": (.sessionEnded, "The account does not exist any more."),
    "INVALID_REFRESH_TOKEN": (.sessionEnded, AccountFailure.ended),
    "INVALID_ID_TOKEN": (.sessionEnded, "The session has ended: sign in again."),
    "CREDENTIAL_TOO_OLD_LOGIN_AGAIN": (
      .needsRecentSignIn, "This needs a recent sign-in: give the password again."
    ),
    "PASSWORD_LOGIN_DISABLED": (
      .notAllowed, "Signing in by a password is off at this service."
    ),
    "OPERATION_NOT_ALLOWED": (.notAllowed, "The service does not allow this."),
    "ADMIN_ONLY_OPERATION": (
      .administratorsOnly,
      "New accounts of this kind are off at this service: only administrators may make them."
    ),
    "INSUFFICIENT_PERMISSION": (.administratorsOnly, "Only administrators may do this."),
    "INVALID_OOB_CODE": (.invalidCode, "The code is wrong, or was used already."),
    "EXPIRED_OOB_CODE": (.expiredCode, "The code is too old: request another one."),
    "INVALID_EMAIL": (.invalidEmail, "This is not an e-mail address."),
    "INVALID_IDENTIFIER": (.invalidEmail, "This is not an e-mail address."),
    "MISSING_EMAIL": (.missingEmail, "The account has no e-mail address, or none was given."),
    "MISSING_NEW_EMAIL": (.missingEmail, "The new e-mail address is missing."),
    "MISSING_PASSWORD": (.missingPassword, "The password is missing."),
    "USER_DISABLED": (.userDisabled, "An administrator has disabled the account."),
    "INVALID_CUSTOM_TOKEN": (.invalidCustomToken, "The token was refused."),
  ]

  /// The words by which a service refuses a refresh token: the session has ended there.
  private static let endingRefresh: Set<String> = [
    "INVALID_REFRESH_TOKEN", "TOKEN_EXPIRED", "USER_DISABLED", "USER_NOT_FOUND",
  ]
  /// The words by which it refuses an ID token, although the refresh token may still be good.
  private static let refusingToken: Set<String> = ["TOKEN_EXPIRED", "INVALID_ID_TOKEN"]
  /// The words by which it refuses a user, with a token that was just accepted or not.
  private static let refusingUser: Set<String> = ["USER_DISABLED", "USER_NOT_FOUND"]

  /// Makes the failure for an answer like `WEAK_PASSWORD : Password should be longer`.
  package init(service text: String) {
    let parts = text.split(separator: ":", maxSplits: 1)
    let word = (parts.first ?? "").filter { $0 != " " }
    let explanation = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
    let name =
      Self.known[word]?.code
      ?? Code(rawValue: word.lowercased().replacing("_", with: "-"))
    var message = Self.known[word]?.message ?? "The service answered \(word)."
    // A bare word stands for a way to sign in that is off; else the service says what it does not allow.
    if word == "OPERATION_NOT_ALLOWED", explanation.isEmpty {
      message = "The service does not allow this: that way to sign in is off."
    }
    // A service may say the same again, or for how long.
    if let wait = Self.waiting(explanation) {
      message = wait
    } else if !explanation.isEmpty, !message.hasPrefix(explanation) {
      message += " \(explanation.prefix(200))" + (explanation.hasSuffix(".") ? "" : ".")
    }
    self.init(name, message, serviceCode: word)
  }

  /// What our server says to those who try too often, which tells how long to wait; nil for other texts.
  static func waiting(_ text: some StringProtocol) -> String? {
    guard text.hasPrefix("Too many attempts: ") else { return nil }
    return text.prefix(200) + (text.hasSuffix(".") ? "" : ".")
  }

  /// The word for the refusal of a token by a service that has no words of its own.
  static func wordOfEnd(isRefresh: Bool) -> String {
    isRefresh ? "INVALID_REFRESH_TOKEN" : "INVALID_ID_TOKEN"
  }

  /// True if a refresh token was refused for good.
  var endsRefresh: Bool { serviceCode.map(Self.endingRefresh.contains) ?? false }
  /// True if an ID token was refused.
  var refusesToken: Bool { serviceCode.map(Self.refusingToken.contains) ?? false }
  /// True if the user of an ID token was refused.
  var refusesUser: Bool { serviceCode.map(Self.refusingUser.contains) ?? false }
}

// MARK: Failures of this program

extension AccountFailure {
  static let notSignedIn = AccountFailure(.notSignedIn, "Nobody is signed in.")
  static let cancelled = AccountFailure(.cancelled, "The request was cancelled.")
  static let busy = AccountFailure(.busy, "Too many requests wait: ask again later.")
  static let missingUserID = AccountFailure(
    .missingUserID, "The service signed the user in, but did not say who it is.")
  static let userMismatch = AccountFailure(
    .userMismatch, "The credential belongs to another user.")
  static let signedOutElsewhere = AccountFailure(
    .signedOutElsewhere, "The user signed out in another program.")
  static let accountDeleted = AccountFailure(.accountDeleted, "The account was deleted.")
  static func malformed(_ what: String) -> AccountFailure {
    AccountFailure(.malformedAnswer, "The service's answer cannot be read: \(what).")
  }
}
