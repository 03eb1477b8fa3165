/// A user of an account service, as far as it told this client.
public struct AccountUser: Hashable, Sendable {
  /// The id, which never changes: `auth.uid` in rules.
  public var id: String
  /// The e-mail address; nil for anonymous users, and for those that have none.
  public var email: String?
  /// True if the user has shown that the address is theirs.
  public var isEmailVerified: Bool
  /// The name for people.
  public var displayName: String?
  /// The address of a picture.
  public var photoURL: String?
  /// The way of the last sign-in: `password`, `anonymous`, `custom` or another word of the service.
  public var method: String?
  /// The time at which the account was made, in milliseconds since 1970; nil until `reload`.
  public var created: Int64?
  /// The time of the last sign-in, in milliseconds since 1970.
  public var lastSignIn: Int64?

  /// Makes a user of whom only the id is known.
  public init(id: String) {
    self.id = id
    isEmailVerified = false
  }

  /// True if the user signed in anonymously, and has not been given an address and a password.
  public var isAnonymous: Bool { method == "anonymous" }
}

/// A change of what a user shows of themselves; what is nil stays as it is.
public struct AccountProfile: Hashable, Sendable {
  /// The new name; empty to remove it.
  public var displayName: String?
  /// The new address of the picture; empty to remove it.
  public var photoURL: String?

  /// Makes a change.
  public init(displayName: String? = nil, photoURL: String? = nil) {
    (self.displayName, self.photoURL) = (displayName, photoURL)
  }
}

/// The purpose of a code that an account service sent by mail.
public struct AccountCode: Hashable, Sendable {
  /// The purposes.
  public enum Purpose: Hashable, Sendable {
    /// It sets a new password.
    case passwordReset
    /// It confirms an address.
    case emailVerification
    /// It confirms a new address, which then replaces the old one.
    case emailChange
    /// It gives an account its old address back.
    case emailRecovery
    /// It signs in.
    case signIn
    /// Another purpose, by the word of the service.
    case other(String)
  }

  /// The purpose.
  public var purpose: Purpose
  /// The address of the account.
  public var email: String?
  /// The address that it is to get.
  public var newEmail: String?
  /// Whether its use made a new account for the address; another account, which had not confirmed the address in
  /// place of a confirmed one, has it no more.
  package var isOfNewAccount = false

  /// Makes a description of a code.
  public init(_ purpose: Purpose, email: String? = nil, newEmail: String? = nil) {
    (self.purpose, self.email, self.newEmail) = (purpose, email, newEmail)
  }
}
