import RunnelBase
import RunnelIdentity

/// Accounts with a clock and random numbers of their own, and functions for passwords and tokens that
/// cost nothing.
final class TestIdentity {
  let store = MemoryIdentity()
  var policy: IdentityPolicy
  /// Milliseconds since 1970.
  var now: Int64 = 1_750_000_000_000
  private(set) var mails: [AccountMail] = []
  /// The work with passwords that was asked for.
  private(set) var work: [PasswordWork] = []
  /// The account that the last decision proved.
  private(set) var proven: String?
  private var random = SeededRandom(seed: 7)

  init(isEmulator: Bool = false) {
    policy = IdentityPolicy(
      project: "demo",
      issuer: isEmulator ? "https://securetoken.google.com/demo" : "https://id.example",
      isEmulator: isEmulator)
    if isEmulator { policy.actionURL = "http://localhost:9000/emulator/action" }
  }

  /// Sends a request; returns its answer.
  ///
  /// - Throws: `IdentityError`.
  @discardableResult
  func ask(
    _ operation: IdentityOperation, _ body: JSONValue = .object([]), isPrivileged: Bool = false
  ) throws(IdentityError) -> JSONValue {
    try answer(
      IdentityCall(operation, CallFields(body), isAdministrative: false), isPrivileged
    ).json(TestIdentity.token)
  }

  /// Returns the message of the error of a request; nil if it has none.
  func refusal(
    _ operation: IdentityOperation, _ body: JSONValue = .object([]), isPrivileged: Bool = false
  ) -> String? {
    do throws(IdentityError) {
      try ask(operation, body, isPrivileged: isPrivileged)
      return nil
    } catch {
      return error.message
    }
  }

  func answer(
    _ call: IdentityCall, _ isPrivileged: Bool
  ) throws(IdentityError) -> IdentityAnswer {
    var done: [PasswordWork: PasswordResult] = [:]
    while true {
      let context = IdentityContext(
        policy: policy, now: now, isPrivileged: isPrivileged, claims: TestIdentity.claims,
        customClaims: { text in
          TestIdentity.claims(text).map { .success($0) }
            ?? .failure(.invalid("Invalid assertion format"))
        }, done: done)
      // Each decision has numbers of its own: those of the next one must not overlap.
      let numbers = SeededRandom(seed: random.next())
      var decider = IdentityDecider(call, context, store, random: numbers)
      do throws(IdentityStop) {
        let decision = try decider.decide()
        store.apply(decision.draft)
        mails += decision.mails
        proven = decision.provenAccount
        return decision.answer
      } catch {
        switch error {
        case .error(let error): throw error
        case .storage(let error): preconditionFailure("\(error)")
        case .work(let missing):
          work += missing
          for item in missing { done[item] = result(of: item) }
        }
      }
    }
  }

  private func result(of work: PasswordWork) -> PasswordResult {
    switch work {
    case .make(let password): .made(hash(of: password))
    case .verify(let password, let hash): .verified(hash?.key == key(of: password))
    }
  }

  private func key(of password: String) -> [UInt8] { Array(("password" + password).utf8) }

  func hash(of password: String) -> PasswordHash {
    PasswordHash(.scrypt(policy.cost), salt: [1, 2, 3], key: key(of: password))
  }

  /// A token that anybody can make.
  static func token(_ claims: JSONValue) -> String { "t." + Base64URL.text(claims.jsonBytes()) }

  static func claims(_ text: String) -> JSONValue? {
    guard text.hasPrefix("t."), let bytes = Base64URL.bytes(text.dropFirst(2).utf8) else {
      return nil
    }
    return try? JSONValue(parsing: bytes)
  }

  /// True if the ends of tokens alone, which are all that databases know of, end a token of `user`.
  func isEnded(_ text: String, of user: String) -> Bool {
    let claims = TestIdentity.claims(text) ?? .null
    let issued = claims["iat"]?.int.map { Int64($0) } ?? 0
    return store.ends[user]?.ends(issued: issued, epoch: TokenEnd.epoch(ofToken: claims)) ?? false
  }

  /// Makes an owed mail once more, as a server does that finds it after a kill.
  func renew(_ owed: OwedMail) throws(IdentityStop) -> AccountMail? {
    let context = IdentityContext(
      policy: policy, now: now, claims: TestIdentity.claims,
      customClaims: { _ in .failure(.invalid("")) })
    var decider = IdentityDecider(
      IdentityCall(.ready, CallFields(.null), isAdministrative: true), context, store,
      random: SeededRandom(seed: random.next()))
    let mail = try decider.renew(owed)
    store.apply(decider.draft)
    return mail
  }

  // MARK: Users

  /// Signs up a user; returns the answer.
  @discardableResult
  func signUp(
    _ email: String = "ada@x.org", _ password: String = "secret123"
  ) throws(IdentityError) -> JSONValue {
    try ask(.signUp, ["email": .string(email), "password": .string(password)])
  }

  func signIn(
    _ email: String = "ada@x.org", _ password: String = "secret123"
  ) throws(IdentityError) -> JSONValue {
    try ask(.signInWithPassword, ["email": .string(email), "password": .string(password)])
  }

  /// Proves the address of a user by a mailed code.
  func prove(_ token: JSONValue) throws(IdentityError) {
    try ask(.sendOobCode, ["requestType": "VERIFY_EMAIL", "idToken": token])
    try ask(.update, ["oobCode": .string(mailedCode)])
  }

  /// The code of the last mail.
  var mailedCode: String {
    guard let link = mails.last?.link, let start = link.firstRange(of: "oobCode=")?.upperBound
    else { return "" }
    return String(link[start...].prefix { $0 != "&" })
  }
}

extension JSONValue {
  /// The text of a member, empty if there is none.
  func text(_ name: String) -> String { self[name]?.string ?? "" }

  /// The claims of the ID token of an answer.
  var claims: JSONValue { TestIdentity.claims(text("idToken")) ?? .null }
}
