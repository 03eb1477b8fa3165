package import RunnelBase

/// The fixed rules of a server.
package struct IdentityPolicy: Hashable, Sendable {
  /// The lifetime of an ID token, in seconds.
  package static let tokenSeconds: Int64 = 3600
  /// The time after a sign-in in which a client may change its password, in seconds.
  package static let recentSeconds: Int64 = 300
  /// The most sessions of an account; a new one ends the one that was not used for longest.
  package static let sessionsMax = 100
  /// The most open codes of a user; a new one replaces the oldest.
  package static let codesMax = 10
  /// The most bytes of a password.
  package static let passwordBytesMax = 4096
  package static let emailBytesMax = 254
  package static let nameBytesMax = 1024
  package static let urlBytesMax = 2048

  /// The name of the project, the audience of tokens.
  package var project: String
  /// The issuer of tokens.
  package var issuer: String
  /// True if tokens are unsigned, codes are shown, and nothing is limited.
  package var isEmulator: Bool
  package var passwordLengthMin: Int
  /// The cost of new hashes; hashes of other costs are made anew at the next sign-in.
  package var cost: ScryptCost
  /// The address of the page for mailed links.
  package var actionURL: String
  /// The hosts to which a mailed link may lead on, besides this machine; any for an emulator.
  package var continueHosts: Set<String>

  package init(project: String, issuer: String, isEmulator: Bool) {
    (self.project, self.issuer, self.isEmulator) = (project, issuer, isEmulator)
    passwordLengthMin = isEmulator ? 6 : 8
    cost = isEmulator ? .emulator : .standard
    actionURL = issuer + (isEmulator ? "/emulator/action" : IdentityRoute.actionPath)
    continueHosts = []
  }

  /// The issuer of session cookies.
  package var cookieIssuer: String {
    isEmulator ? "https://session.firebase.google.com/" + project : issuer + "/session"
  }
}

/// The reason why a custom token is refused.
package enum CustomTokenRefusal: Error, Hashable, Sendable {
  /// The text is no token, or not signed by a known key.
  case invalid(String)
}

/// What a decision needs to know besides the stored accounts.
package struct IdentityContext {
  package var policy: IdentityPolicy
  /// Milliseconds since 1970.
  package var now: Int64
  /// True if the caller is an administrator.
  package var isPrivileged: Bool
  /// The claims of an ID token that was issued here; nil for every other text.
  ///
  /// The times and the account are not checked yet.
  package var claims: (String) -> JSONValue?
  /// The claims of a custom token, whose signature and times are checked unless this is an
  /// emulator.
  package var customClaims: (String) -> Result<JSONValue, CustomTokenRefusal>
  /// The work with passwords that was done for this request.
  package var done: [PasswordWork: PasswordResult]

  package init(
    policy: IdentityPolicy, now: Int64, isPrivileged: Bool = false,
    claims: @escaping (String) -> JSONValue?,
    customClaims: @escaping (String) -> Result<JSONValue, CustomTokenRefusal>,
    done: [PasswordWork: PasswordResult] = [:]
  ) {
    (self.policy, self.now, self.isPrivileged) = (policy, now, isPrivileged)
    (self.claims, self.customClaims, self.done) = (claims, customClaims, done)
  }
}
