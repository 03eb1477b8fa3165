import RunnelBase
import RunnelIdentity
import RunnelSync
import Synchronization

extension TokenVerifier.Knowledge {
  /// True if what is known of the accounts may be relied on.
  fileprivate var isCurrent: Bool { currency?.isCurrent ?? true }
}

extension CredentialRefusal {
  /// The accounts could not be read for a while, so that the credential may have been taken back.
  static let unconfirmed = CredentialRefusal(
    .unavailable, "The accounts cannot be read now: try again later.")
  /// The credential is one of another database.
  static let elsewhere = CredentialRefusal(
    .invalidToken,
    "The credential is not valid for this database, but for another one of this server.")
}

/// Verifies credentials: secrets of the database, access tokens of its service accounts, tokens
/// signed by a secret or a known key, and for tests, with `emulator`, tokens without proof.
///
/// Any thread may use it.
///
/// Source: wire protocol, section A4.5; authentication, section 3.
final class TokenVerifier: CredentialVerifier, Sendable {
  /// The tolerated lead of other machines' clocks, in seconds.
  private static let skewSeconds: Double = 300
  private static let issuerStart = "https://securetoken.google.com/"
  private static let userBytesMax = 128
  /// The longest lifetime of a custom token, in seconds.
  private static let customSeconds: Double = 3600

  /// The secrets and keys that verify tokens.
  struct Knowledge: Sendable {
    var secrets: ServerSecrets
    var accounts: ServiceAccounts
    var keys: SigningKeys?
    /// The project for which tokens of the known keys must be made.
    var project: String?
    /// The tokens that the server itself issues to users.
    var issued: IssuedTokens?
    /// The verifier with the service accounts of the whole server, and with its secrets.
    var administrators: TokenVerifier?
    /// How old the accounts, their secrets and service accounts may be; nil if they are in a file.
    var currency: AccountCurrency?
    /// True if the secrets administer all databases of the server, as its service accounts do.
    var areForAll = false
  }

  private let isEmulator: Bool
  private let knowledge: Mutex<Knowledge>
  /// Tells whether a text is a credential of another database of the server; nil if nobody knows.
  private let isKnownElsewhere: (@Sendable (_ text: String) -> Bool)?

  init(
    _ knowledge: Knowledge, isEmulator: Bool,
    isKnownElsewhere: (@Sendable (_ text: String) -> Bool)? = nil
  ) {
    (self.isEmulator, self.isKnownElsewhere) = (isEmulator, isKnownElsewhere)
    self.knowledge = Mutex(knowledge)
  }

  /// Changes the known secrets and keys.
  func change(_ body: (inout Knowledge) -> Void) { knowledge.withLock { body(&$0) } }

  /// The access token for an assertion; nil if no service account has the named key.
  func accessToken(
    for assertion: JSONWebToken, at hosts: Set<String>, now: Int64
  ) throws(ServiceAccounts.Refusal) -> String? {
    if knowledge.withLock({ $0.areForAll && !$0.isCurrent }) {
      throw ServiceAccounts.Refusal(text: CredentialRefusal.unconfirmed.text, isPassing: true)
    }
    return try knowledge.withLock { $0.accounts }.accessToken(for: assertion, at: hosts, now: now)
  }

  func verify(
    _ credential: Credential, now: Int64
  ) throws(CredentialRefusal) -> VerifiedCredential {
    do throws(CredentialRefusal) {
      return try verified(credential, now)
    } catch {
      if error == .invalid, isKnownElsewhere?(credential.text) == true { throw .elsewhere }
      throw error
    }
  }

  /// True if a text is a secret of the database, or was signed by one, or by one of its service accounts.
  func knows(_ text: String) -> Bool {
    let known = knowledge.withLock { $0 }
    guard let token = JSONWebToken(text) else { return known.secrets.contain(text) }
    return known.accounts.haveSigned(token) || known.secrets.haveSigned(token)
  }

  private func verified(
    _ credential: Credential, _ now: Int64
  ) throws(CredentialRefusal) -> VerifiedCredential {
    let known = knowledge.withLock { $0 }
    if isEmulator, credential.text == "owner" { return VerifiedCredential(.administrator) }
    let isCurrent = isEmulator || known.isCurrent
    if known.areForAll, !isCurrent { throw .unconfirmed }
    if isCurrent, let verified = try known.issued?.verifyKnown(credential.text, now: now) {
      return verified
    }
    guard let token = JSONWebToken(credential.text) else {
      if known.secrets.contain(credential.text) { return VerifiedCredential(.administrator) }
      if !isCurrent { throw .unconfirmed }
      if known.administrators?.secretsForAll?.contain(credential.text) == true {
        return VerifiedCredential(.administrator)
      }
      throw .invalid
    }
    if known.accounts.haveSigned(token) {
      return VerifiedCredential(.administrator, expiry: try expiry(token, now))
    }
    if known.secrets.haveSigned(token) { return try custom(token, now) }
    if let keys = known.keys, let project = known.project, keys.haveSigned(token) {
      return try user(of: project, token, now)
    }
    // All others depend on the accounts.
    if !isCurrent { throw .unconfirmed }
    if known.administrators?.secretsForAll?.haveSigned(token) == true {
      return try custom(token, now)
    }
    if let verified = try known.issued?.verify(token, credential.text, now: now) {
      return verified
    }
    if let administrators = known.administrators, administrators.haveSigned(token) {
      return VerifiedCredential(.administrator, expiry: try expiry(token, now))
    }
    // An emulator accepts the claims, whoever signed them, and when.
    if isEmulator, let auth = token.auth { return VerifiedCredential(Caller(auth: auth)) }
    throw .invalid
  }

  /// Verifies a credential, and waits until the account of a token was looked for.
  ///
  /// - Returns: the result; nil if `answer` is called with it later, on another thread.
  func verify(
    _ credential: Credential, now: Int64,
    _ answer: @escaping @Sendable (Result<VerifiedCredential, CredentialRefusal>) -> Void
  ) -> Result<VerifiedCredential, CredentialRefusal>? {
    let verify = { @Sendable () -> Result<VerifiedCredential, CredentialRefusal> in
      Result { () throws(CredentialRefusal) in try self.verify(credential, now: now) }
    }
    let result = verify()
    guard case .success(let verified) = result, !verified.caller.isAdministrator,
      let issued = knowledge.withLock({ $0.issued })
    else { return result }
    switch issued.wait(for: credential.text, { answer(verify()) }) {
    case true?: return nil
    case false?: return result
    // It may have been looked for in vain just now.
    case nil: return verify()
    }
  }

  /// True if a credential depends on accounts that may be old, so that it is not known whether it is valid
  /// still.
  func isUnconfirmed(_ credential: Credential?, now: Int64) -> Bool {
    guard let credential, !isEmulator, !knowledge.withLock({ $0.isCurrent }) else { return false }
    do throws(CredentialRefusal) {
      _ = try verify(credential, now: now)
      return false
    } catch {
      return error == .unconfirmed
    }
  }

  /// The secrets that administer all databases of the server; nil if these administer the accounts only.
  private var secretsForAll: ServerSecrets? {
    knowledge.withLock { $0.areForAll ? $0.secrets : nil }
  }

  /// True if a token was issued to a service account.
  private func haveSigned(_ token: JSONWebToken) -> Bool {
    knowledge.withLock { $0.accounts }.haveSigned(token)
  }

  /// True if a text is the credential of an administrator.
  func isAdministrator(_ text: String, now: Int64) -> Bool {
    // A credential that is refused is none.
    (try? verify(Credential(text), now: now))?.caller.isAdministrator == true
  }

  /// The claims of a custom token, which a service account signed for a user.
  ///
  /// An emulator checks neither the signature nor the times.
  ///
  /// Source: authentication, section 3.
  func customClaims(of text: String, now: Int64) -> Result<JSONValue, CustomTokenRefusal> {
    guard let token = JSONWebToken(text) else {
      return .failure(.invalid("Invalid assertion format"))
    }
    if isEmulator { return .success(token.claims) }
    guard knowledge.withLock({ $0.accounts }).haveSignedForUser(token) else {
      return .failure(.invalid("No service account of this server has signed the token"))
    }
    do throws(CredentialRefusal) {
      let end = try expiry(token, now)
      // A token without an end gets the longest that is allowed.
      let made = token.seconds("iat") ?? 0
      if token.seconds("exp") == nil, Double(now) / 1000 >= made + TokenVerifier.customSeconds {
        throw CredentialRefusal.expired
      }
      if token.seconds("exp") != nil, Double(end) / 1000 > made + TokenVerifier.customSeconds {
        return .failure(.invalid("The token is valid for more than an hour"))
      }
      return .success(token.claims)
    } catch {
      return .failure(.invalid("The token has expired, or is not valid yet"))
    }
  }

  /// Verifies a token that a secret signed.
  private func custom(
    _ token: JSONWebToken, _ now: Int64
  ) throws(CredentialRefusal) -> VerifiedCredential {
    if token.claims["admin"] == .bool(true) {
      return VerifiedCredential(.administrator, expiry: try expiry(token, now))
    }
    guard let auth = token.auth else { throw .invalid }
    return VerifiedCredential(Caller(auth: auth), expiry: try expiry(token, now))
  }

  /// Verifies a token that the account service made for a user of a project.
  private func user(
    of project: String, _ token: JSONWebToken, _ now: Int64
  ) throws(CredentialRefusal) -> VerifiedCredential {
    let latest = Double(now) / 1000 + TokenVerifier.skewSeconds
    guard token.text("aud") == project,
      token.text("iss") == TokenVerifier.issuerStart + project,
      let user = token.text("sub"), (1...TokenVerifier.userBytesMax).contains(user.utf8.count),
      token.seconds("exp") != nil, token.seconds("auth_time") ?? 0 <= latest
    else { throw .invalid }
    return VerifiedCredential(Caller(auth: token.userAuth(user)), expiry: try expiry(token, now))
  }

  /// The expiry of a token; a token without one expires a day after it was made.
  private func expiry(
    _ token: JSONWebToken, _ now: Int64
  ) throws(CredentialRefusal) -> Int64 {
    let seconds = Double(now) / 1000
    guard let made = token.seconds("iat"), made <= seconds + TokenVerifier.skewSeconds,
      token.seconds("nbf") ?? made <= seconds + TokenVerifier.skewSeconds,
      // A time that is no number is no time, and not one that is missing.
      ["exp", "nbf"].allSatisfy({ token.claims[$0] == nil || token.seconds($0) != nil })
    else { throw .invalid }
    let end = token.seconds("exp") ?? made + 86_400
    guard let milliseconds = Int64(exactly: (end * 1000).rounded(.down)) else { throw .invalid }
    if milliseconds <= now { throw .expired }
    return milliseconds
  }
}
