import RunnelBase
import RunnelIdentity
import RunnelServices
import RunnelSync

/// Signing in to services: by a token of the accounts, or by email and password.
///
/// Source: services protocol, section 7.
struct ServiceLogin: Sendable {
  /// The path of the service by which clients sign in.
  static let path = "authentication"

  /// A caller that is signed in.
  struct Proof: Sendable {
    var token: String
    var verified: VerifiedCredential
    /// The answer to the client.
    var answer: JSONValue
  }

  let verifier: TokenVerifier
  let accounts: AccountService?
  let world: ServerWorld

  /// The token in the value of `Authorization`; nil if it has none.
  static func token(in header: String?) -> String? {
    guard let header else { return nil }
    let words = header.split(separator: " ")
    switch words.count {
    case 1: return String(words[0])
    case 2 where ["bearer", "jwt"].contains(words[0].lowercased()): return String(words[1])
    // Another scheme is no authentication.
    default: return nil
    }
  }

  /// Verifies a token.
  ///
  /// - Throws: `NotAuthenticated` with the reason in the words of Feathers, and `Unavailable` if that depends
  ///   on accounts that have not been read for a while.
  func proof(of token: String, strategy: JSONValue = "jwt") throws(FeathersError) -> Proof {
    do throws(CredentialRefusal) {
      let verified = try verifier.verify(Credential(token), now: world.now.calendar)
      return Proof(
        token: token, verified: verified,
        answer: ServiceLogin.answer(token, verified, strategy: strategy))
    } catch {
      world.metrics.refused(.credential)
      if error == .unconfirmed { throw ServiceLogin.unconfirmed }
      let isOver = error.status == CredentialRefusal.expired.status
      let reason =
        if isOver { "jwt expired" } else if error == .revoked {
          "jwt revoked: sign in again, or use another token"
        } else if error == .elsewhere {
          error.text
        } else if JSONWebToken(token) == nil { "jwt malformed" } else { "invalid signature" }
      throw FeathersError(
        .notAuthenticated, reason,
        data: ["name": isOver ? "TokenExpiredError" : "JsonWebTokenError"])
    }
  }

  static let unconfirmed = FeathersError(.unavailable, CredentialRefusal.unconfirmed.text)

  /// True if a proof depends on accounts that have not been read for a while.
  func isUnconfirmed(_ proof: Proof?) -> Bool {
    verifier.isUnconfirmed(proof.map { Credential($0.token) }, now: world.now.calendar)
  }

  private static func answer(
    _ token: String, _ verified: VerifiedCredential, strategy: JSONValue
  ) -> JSONValue {
    var authentication = [JSONMember("strategy", strategy)]
    if strategy == "jwt" { authentication.append(JSONMember("accessToken", .string(token))) }
    if let claims = JSONWebToken(token)?.claims {
      authentication.append(JSONMember("payload", claims))
    }
    var members = [
      JSONMember("accessToken", .string(token)),
      JSONMember("authentication", .object(authentication)),
    ]
    let auth = verified.caller.auth
    if let user = auth["uid"]?.string {
      var fields = [JSONMember("id", .string(user))]
      if let email = auth["token"]?["email"] { fields.append(JSONMember("email", email)) }
      members.append(JSONMember("user", .object(fields)))
    }
    return .object(members)
  }

  /// Signs in; `done` is called once, maybe on another thread.
  func create(
    _ data: JSONValue, from address: String,
    done: @escaping @Sendable (Result<Proof, FeathersError>) -> Void
  ) {
    switch data["strategy"] {
    case "jwt",
      nil where data["accessToken"] != nil:
      let token = data["accessToken"]?.string ?? ""
      done(Result { () throws(FeathersError) in try proof(of: token) })
    case "local":
      guard let accounts else { return done(.failure(ServiceLogin.notAllowed)) }
      logIn(data, accounts, address, done)
    case nil, .null?:
      done(
        .failure(
          FeathersError(
            .notAuthenticated, "Invalid authentication information (no `strategy` set)")))
    default: done(.failure(ServiceLogin.notAllowed))
    }
  }

  private static let notAllowed = FeathersError(
    .notAuthenticated,
    "Invalid authentication information (strategy not allowed in authStrategies)")
  private static let invalidLogin = FeathersError(.notAuthenticated, "Invalid login")

  private func logIn(
    _ data: JSONValue, _ accounts: AccountService, _ address: String,
    _ done: @escaping @Sendable (Result<Proof, FeathersError>) -> Void
  ) {
    guard let email = data["email"]?.string, let password = data["password"]?.string else {
      return done(.failure(ServiceLogin.invalidLogin))
    }
    let fields: JSONValue = [
      "email": .string(email), "password": .string(password), "returnSecureToken": true,
    ]
    let call = IdentityCall(.signInWithPassword, CallFields(fields))
    accounts.submit(call, from: address) { reply in
      if let token = reply.body["idToken"]?.string, reply.status == 200 {
        return done(
          Result { () throws(FeathersError) in try proof(of: token, strategy: "local") })
      }
      let code = reply.body["error"]?["message"]?.string ?? ""
      if code.hasPrefix("TOO_MANY_ATTEMPTS") {
        // It says how long to wait.
        let text = IdentityError(code).explanation ?? "Too many attempts: try again later"
        done(.failure(FeathersError(.tooManyRequests, text + ".")))
      } else if reply.status >= 500 {
        done(.failure(FeathersError(.unavailable, "The accounts cannot be read now.")))
      } else {
        world.metrics.refused(.credential)
        done(.failure(ServiceLogin.invalidLogin))
      }
    }
  }

  /// The answer to a call that signs out, by the token in use.
  ///
  /// - Throws: `NotAuthenticated` if there is none, or the call names another one.
  func remove(_ id: ServiceID?, _ proof: Proof?) throws(FeathersError) -> JSONValue {
    guard let proof else {
      throw FeathersError(
        .notAuthenticated, "Invalid authentication information (no `strategy` set)")
    }
    if let id, id.text != proof.token {
      throw FeathersError(.notAuthenticated, "Invalid access token")
    }
    return proof.answer
  }

  /// The refusal of the methods that the service does not have.
  static func refusal(of method: ServiceMethod) -> FeathersError {
    FeathersError(.methodNotAllowed, "Method '\(method)' not allowed on service '\(path)'")
  }
}
