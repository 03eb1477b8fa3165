package import Crypto
package import RunnelBase
package import RunnelIdentity
package import RunnelSync
import Synchronization

/// A key that signs tokens.
package struct IssuingKey: Sendable {
  package var entry: KeyRing.Entry
  package var key: P256.Signing.PrivateKey

  package init(entry: KeyRing.Entry, key: P256.Signing.PrivateKey) {
    (self.entry, self.key) = (entry, key)
  }
}

/// The tokens that the server issues: signing and verifying them, and their early ends.
///
/// Any thread may use it.
package final class IssuedTokens: Sendable {
  /// The most verified tokens that are remembered.
  private static let knownMax = 10_000

  private struct Known {
    var user: String
    var issued: Int64
    var epoch: Int64
    var credential: VerifiedCredential
  }

  /// The most users that are looked for at once.
  private static let looksMax = 4096

  /// Looks for an account; who found out calls `didLook`.
  private final class Finder: Sendable {
    let look: @Sendable (String) -> Void

    init(_ look: @escaping @Sendable (String) -> Void) { self.look = look }
  }

  /// A user whose account is looked for, and who waits for that.
  private struct Look {
    /// The latest of the times at which the tokens were issued.
    var issued: Int64
    var waiting: [@Sendable () -> Void] = []
  }

  private struct State {
    var finder: Finder?
    var looks: [String: Look] = [:]
    /// The users whose accounts are known to be there.
    var found: Set<String> = []
    var keys: [String: P256.Signing.PrivateKey] = [:]
    var ring = KeyRing([])
    var revocations: [String: TokenEnd] = [:]
    /// The verified tokens, by their texts.
    var known: [String: Known] = [:]
  }

  private let issuer: String
  private let project: String
  private let isEmulator: Bool
  private let state = Mutex(State())

  package init(_ policy: IdentityPolicy) {
    (issuer, project, isEmulator) = (policy.issuer, policy.project, policy.isEmulator)
  }

  /// Replaces the keys.
  package func take(_ keys: [IssuingKey]) {
    state.withLock { state in
      state.keys = Dictionary(keys.map { ($0.entry.id, $0.key) }) { first, _ in first }
      state.ring = KeyRing(keys.map(\.entry))
      state.known = [:]
    }
  }

  /// Notes the ends of users' tokens.
  func revoke(_ revocations: [String: TokenEnd]) {
    // Two threads of a server may tell of them, the newer ones first.
    state.withLock { $0.revocations.merge(revocations) { $0.joined($1) } }
  }

  /// Forgets the ends of tokens that have expired by now.
  func forgetRevocations(before second: Int64) {
    state.withLock { state in
      state.revocations = state.revocations.filter { $0.value.second >= second }
    }
  }

  // MARK: Looking for accounts

  /// Lets the accounts of verified tokens be looked for: a restored database may not have them.
  ///
  /// `look` is called with the id of an account, on any thread, and returns at once.
  package func findAccounts(by look: @escaping @Sendable (_ user: String) -> Void) {
    state.withLock { $0.finder = Finder(look) }
  }

  /// Lets the accounts of all tokens be looked for again.
  func doubtAll() { state.withLock { $0.found = [] } }

  /// Notes that a user was looked for; `isThere` is nil if that could not be found out.
  package func didLook(for user: String, isThere: Bool?) {
    let look = state.withLock { state -> Look? in
      let look = state.looks.removeValue(forKey: user)
      if isThere == true {
        if state.found.count >= IssuedTokens.knownMax { state.found = [] }
        state.found.insert(user)
      }
      if isThere == false, let look {
        let end = TokenEnd(second: look.issued + 1)
        state.revocations[user] = state.revocations[user]?.joined(end) ?? end
      }
      return look
    }
    for answer in look?.waiting ?? [] { answer() }
  }

  /// Calls `answer` on another thread, when the account of a token that was verified was looked for.
  ///
  /// - Returns: false if the account is there, and nil if it is not looked for; then `answer` is not called.
  package func wait(for text: String, _ answer: @escaping @Sendable () -> Void) -> Bool? {
    state.withLock { state in
      guard let known = state.known[text] else { return nil }
      if state.finder == nil || state.found.contains(known.user) { return false }
      if state.looks[known.user] == nil { return nil }
      state.looks[known.user]?.waiting.append(answer)
      return true
    }
  }

  /// Begins to look for the account of a token, unless that is under way.
  private func look(for known: Known) {
    let finder = state.withLock { state -> Finder? in
      if state.found.contains(known.user) { return nil }
      if let issued = state.looks[known.user]?.issued {
        state.looks[known.user]?.issued = max(issued, known.issued)
        return nil
      }
      guard let finder = state.finder, state.looks.count < IssuedTokens.looksMax else { return nil }
      state.looks[known.user] = Look(issued: known.issued)
      return finder
    }
    finder?.look(known.user)
  }

  // MARK: Signing

  /// False if there is no key to sign with, as while a store is being restored.
  func canSign(now: Int64) -> Bool { isEmulator || signer(now: now) != nil }

  private func signer(now: Int64) -> (id: String, key: P256.Signing.PrivateKey)? {
    state.withLock { state in
      state.ring.signer(now: now).flatMap { id in state.keys[id].map { (id, $0) } }
    }
  }

  /// Makes the token of claims; nil if there is no key to sign with.
  ///
  /// Source: RFC 7515; authentication, section 3.
  package func sign(_ claims: JSONValue, now: Int64) -> String? {
    if isEmulator { return IssuedTokens.text(["alg": "none", "typ": "JWT"], claims) + "." }
    guard let (id, key) = signer(now: now) else { return nil }
    let text = IssuedTokens.text(["alg": "ES256", "typ": "JWT", "kid": .string(id)], claims)
    guard let signature = try? key.signature(for: Array(text.utf8)) else {
      preconditionFailure("A signature can be made of every text.")
    }
    return text + "." + Base64URL.text(signature.rawRepresentation)
  }

  private static func text(_ head: JSONValue, _ claims: JSONValue) -> String {
    Base64URL.text(head.jsonBytes()) + "." + Base64URL.text(claims.jsonBytes())
  }

  /// The public keys as a JSON Web Key Set.
  ///
  /// Source: RFC 7517.
  var keySet: JSONValue {
    let keys = state.withLock { state in
      state.ring.entries.compactMap { entry in state.keys[entry.id].map { (entry.id, $0) } }
    }
    let list: [JSONValue] = keys.map { id, key in
      let point = Array(key.publicKey.rawRepresentation)
      return [
        "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": .string(id),
        "x": .string(Base64URL.text(point.prefix(32))),
        "y": .string(Base64URL.text(point.suffix(32))),
      ]
    }
    return ["keys": .array(list)]
  }

  // MARK: Verifying

  /// The claims of an ID token that was issued here; nil for other texts.
  ///
  /// Its times are not checked. An emulator takes the claims of every token.
  func claims(of text: String) -> JSONValue? {
    guard let token = JSONWebToken(text), isEmulator || isIssued(token) else { return nil }
    return token.claims
  }

  private func isIssued(_ token: JSONWebToken) -> Bool {
    guard token.algorithm == "ES256", let id = token.keyID,
      let key = state.withLock({ $0.keys[id] }), token.text("iss") == issuer,
      token.text("aud") == project,
      // Bytes of another length are no signature.
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature)
    else { return false }
    return key.publicKey.isValidSignature(signature, for: token.signedBytes)
  }

  /// Verifies a token; nil if it was not issued here.
  package func verify(
    _ text: String, now: Int64
  ) throws(CredentialRefusal) -> VerifiedCredential? {
    if let verified = try verifyKnown(text, now: now) { return verified }
    guard let token = JSONWebToken(text) else { return nil }
    return try verify(token, text, now: now)
  }

  /// Verifies a token that was verified before; nil if it is not known.
  func verifyKnown(
    _ text: String, now: Int64
  ) throws(CredentialRefusal) -> VerifiedCredential? {
    guard
      let (known, end) = state.withLock({ state in
        state.known[text].map { ($0, state.revocations[$0.user]) }
      })
    else { return nil }
    let credential = try IssuedTokens.check(known, end, now)
    look(for: known)
    return credential
  }

  /// Verifies a token; nil if it was not issued here.
  func verify(
    _ token: JSONWebToken, _ text: String, now: Int64
  ) throws(CredentialRefusal) -> VerifiedCredential? {
    if isEmulator || !isIssued(token) { return nil }
    guard let user = token.text("sub"), !user.isEmpty, let issued = token.seconds("iat"),
      let end = token.seconds("exp"), let expiry = Int64(exactly: (end * 1000).rounded(.down))
    else { throw .invalid }
    let known = Known(
      user: user, issued: Int64(issued), epoch: TokenEnd.epoch(ofToken: token.claims),
      credential: VerifiedCredential(Caller(auth: token.userAuth(user)), expiry: expiry))
    let revocation = state.withLock { state in
      if state.known.count >= IssuedTokens.knownMax { state.known = [:] }
      state.known[text] = known
      return state.revocations[user]
    }
    let credential = try IssuedTokens.check(known, revocation, now)
    look(for: known)
    return credential
  }

  private static func check(
    _ known: Known, _ end: TokenEnd?, _ now: Int64
  ) throws(CredentialRefusal) -> VerifiedCredential {
    if end?.ends(issued: known.issued, epoch: known.epoch) == true { throw .revoked }
    if known.credential.expiry ?? 0 <= now { throw .expired }
    return known.credential
  }
}
