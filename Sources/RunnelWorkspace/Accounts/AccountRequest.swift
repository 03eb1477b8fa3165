package import RunnelStore

/// A request of the workspace to the account service of the database's server.
///
/// Passwords and codes are secrets: they are in no text, and not recorded.
package enum AccountRequest: Hashable, Sendable {
  /// Sign in with an address and a password, beside the accounts that are signed in.
  case signIn(email: String, Secret<String>)
  /// Make an account, and sign in.
  case signUp(email: String, Secret<String>)
  /// Sign in as a new user without an address.
  case signInAnonymously
  /// Give the anonymous account that is shown an address and a password.
  case upgrade(email: String, Secret<String>)
  /// Send a message with a code that sets a new password.
  case sendReset(email: String)
  /// Set a new password by a code.
  case resetPassword(code: Secret<String>, Secret<String>)
  /// Sign a user out.
  case signOut(String)
  /// Give up the writes of a user who is signed out.
  case giveUp(String)
  /// Make another account the active one.
  case use(String)
  /// Change the password of the account that is shown.
  case changePassword(Secret<String>, current: Secret<String>)
  /// Send a message with a code to a new address, which then replaces the old one.
  case changeEmail(String, current: Secret<String>)
  /// Send a message with a code that confirms the address.
  case sendVerification
  /// Use a code that confirms or changes an address.
  case applyCode(Secret<String>)
  /// Delete the account that is shown; one without an address has no password.
  case delete(current: Secret<String>?)
}

extension AccountRequest {
  /// Feeds the kind only: a hash would tell something of a secret.
  package func hash(into hasher: inout Hasher) {
    switch self {
    case .signIn(let email, _): hasher.combine(email)
    case .signUp(let email, _), .upgrade(let email, _): hasher.combine(email)
    case .sendReset(let email): hasher.combine(email)
    case .signOut(let user), .use(let user), .giveUp(let user): hasher.combine(user)
    case .changeEmail(let email, _): hasher.combine(email)
    case .signInAnonymously, .resetPassword, .changePassword, .sendVerification, .applyCode,
      .delete:
      break
    }
  }
}

/// What is done with accounts: the purpose of a request, and of the form for it.
package enum AccountDeed: Hashable, Sendable {
  case signIn
  case signUp
  case signInAnonymously
  case upgrade
  case sendReset
  case resetPassword
  case signOut(String)
  case use(String)
  case giveUp(String)
  case changePassword
  case changeEmail
  case sendVerification
  /// Confirm the address by a code.
  case applyCode
  /// Confirm the address that replaces the present one.
  case applyChange
  case delete
}

/// A change to another account: the workspace closes the replica, and opens that of the account.
package struct AccountChange: Hashable, Sendable {
  /// The id of the user; nil to show the data without an account.
  package var user: String?
  /// The reason, if it is not the user's wish; it is said then.
  package var reason: String?
  /// What the user has done before, which is said then; nil for nothing.
  package var news: String?
  /// Whether the user was typing, without the wish for the change: the keys that follow are no commands.
  package var wasTyping = false

  package init(to user: String?, because reason: String? = nil, saying news: String? = nil) {
    (self.user, self.reason, self.news) = (user, reason, news)
  }
}
