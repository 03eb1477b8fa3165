import RunnelBase
public import RunnelNetwork
public import RunnelServices
public import RunnelServicesNetwork
import RunnelStore

/// The accounts of a Feathers server: users sign in at its service `authentication`.
///
/// The server gives one token, which is kept as ID token and as refresh token: shown again, it is
/// accepted until it expires, and some servers exchange it for a new one. An answer of 401 to 407 to
/// it ends the session; a missing connection and errors of the server do not. A sign-up creates a
/// record in the service of users, where the server lets everybody do that. What Feathers has no
/// services for, such as a forgotten password, fails with `notOffered`.
///
/// Source: services protocol, section 7.
public struct FeathersAccounts: AccountProvider {
  /// Makes the connection for one question.
  public typealias Connecting = @Sendable () -> any ServiceProvider

  private static let codesOfEnd = 401...407
  /// A token that the server has just accepted is asked for again after this time at least.
  private static let lifetimeMin: Int64 = 60

  /// The name of the service.
  public let name: String
  private let ways: [Connecting]
  private let users: String
  private let isSafe: Bool
  private let clock: AccountClock

  private init(
    _ name: String, users: String, isSafe: Bool, clock: AccountClock, _ ways: [Connecting]
  ) {
    (self.name, self.users, self.ways) = (name, users, ways)
    (self.isSafe, self.clock) = (isSafe, clock)
  }

  /// The accounts of an application that is asked over connections of its own, such as one in the same
  /// program.
  ///
  /// - Parameters:
  ///   - name: the name of the service, under which sessions are kept.
  ///   - users: the path of the service in which a sign-up creates a record.
  ///   - clock: the clock.
  ///   - connecting: makes the connection for one question; it is closed afterwards.
  public init(
    _ name: String, users: String = "users", clock: AccountClock = .system,
    _ connecting: @escaping Connecting
  ) {
    self.init(name, users: users, isSafe: true, clock: clock, [connecting])
  }

  /// The accounts of a server, which is asked over REST, or over Socket.IO if it has no REST.
  ///
  /// - Parameters:
  ///   - address: scheme, host and port. Passwords are sent only with TLS, or on this machine.
  ///   - access: how the server is asked.
  ///   - users: the path of the service in which a sign-up creates a record.
  /// - Returns: the accounts.
  public static func server(
    _ address: WebAddress, _ access: ServiceAccess = ServiceAccess(), users: String = "users"
  ) -> FeathersAccounts {
    var hasty = access
    hasty.socket.isPatient = false
    return FeathersAccounts(
      "feathers+\(address.bare)/", users: users, isSafe: address.isSafe, clock: .system,
      [
        { RestProvider(address, access) },
        { [hasty] in SocketProvider(address, hasty) },
      ])
  }

  // MARK: Questions

  /// Asks the server, once.
  ///
  /// - Throws: `AccountFailure`: `offline` if the server cannot be reached, `notOffered` for what
  ///   Feathers does not have.
  public func perform(_ call: AccountCall) async throws(AccountFailure) -> AccountReply {
    switch call {
    case .signIn(let email, let password): return try await signIn(email, password)
    case .signUp(let email, let password):
      let user: JSONValue = ["email": .string(email), "password": .string(password.reveal())]
      do throws(FeathersError) {
        _ = try await ask { [users] app throws(FeathersError) in
          try await app.service(users).request(.create(data: user)).json
        }
      } catch {
        throw refusedSignUp(error)
      }
      return try await signIn(email, password)
    case .signInWithToken(let token), .refresh(let token), .lookUp(let token):
      do throws(FeathersError) {
        let answer = try await authenticate([
          "strategy": "jwt", "accessToken": .string(token.reveal()),
        ])
        var reply = reply(answer, shown: token)
        if case .lookUp = call {
          reply.user = reply.user ?? reply.userID.map { AccountUser(id: $0) }
        }
        return reply
      } catch {
        throw refusedToken(error, call)
      }
    default:
      throw AccountFailure(.notOffered, "This is not offered by the accounts of a Feathers server.")
    }
  }

  /// Tells the server that the user signs out (`remove`).
  public func signOut(_ idToken: Secret<String>) async {
    // The token is forgotten here in any case.
    _ = try? await ask { app throws(FeathersError) in
      let options = AuthenticationOptions()
      options.storage.setToken(idToken.reveal(), options.storageKey)
      app.configure(auth: options)
      return await app.logout()
    }
  }

  private func signIn(
    _ email: String, _ password: Secret<String>
  ) async throws(AccountFailure) -> AccountReply {
    do throws(FeathersError) {
      let answer = try await authenticate([
        "strategy": "local", "email": .string(email), "password": .string(password.reveal()),
      ])
      var reply = reply(answer, shown: nil)
      guard var user = reply.user ?? reply.userID.map({ AccountUser(id: $0) }) else { return reply }
      user.email = user.email ?? email
      user.method = "password"
      reply.user = user
      return reply
    } catch {
      throw refusedSignIn(error)
    }
  }

  private func authenticate(_ credentials: JSONValue) async throws(FeathersError) -> JSONValue {
    try await ask { app throws(FeathersError) in try await app.authenticate(credentials) }
  }

  /// Asks in one way after the other, as long as there is no such service in it.
  private func ask(
    _ question: @Sendable (Feathers) async throws(FeathersError) -> JSONValue
  ) async throws(FeathersError) -> JSONValue {
    guard isSafe else { throw FeathersError(.forbidden, "", data: ["isSafe": false]) }
    var first: FeathersError?
    for connect in ways {
      let app = Feathers(provider: connect())
      defer { app.close() }
      do throws(FeathersError) {
        return try await question(app)
      } catch  where error.code == 404 && first == nil && ways.count > 1 {
        first = error
      } catch {
        throw first.flatMap { error.kind == .unavailable ? $0 : nil } ?? error
      }
    }
    throw first ?? FeathersError(.unavailable, "There is no way to the server.")
  }

  // MARK: Answers

  private func reply(_ answer: JSONValue, shown: Secret<String>?) -> AccountReply {
    var reply = AccountReply()
    guard let text = answer["accessToken"]?.string ?? shown?.reveal() else { return reply }
    let token = Secret(text)
    let claims = TokenClaims(token)
    let told = answer["user"]
    (reply.idToken, reply.refreshToken) = (token, token)
    reply.userID = claims?.userID ?? told.flatMap(FeathersAccounts.id)
    if let id = reply.userID, let told, told.object != nil {
      var user = AccountUser(id: id)
      user.email = told["email"]?.string
      user.isEmailVerified = (told["isVerified"] ?? told["emailVerified"])?.bool ?? false
      user.displayName = told["name"]?.string ?? told["displayName"]?.string
      reply.user = user
    }
    if let expires = claims?.expires {
      let whole = claims?.issued.map { expires - $0 } ?? .max
      // The clocks may differ: what was just made lasts as long as it says.
      let left = token == shown || whole == .max ? expires - clock.now() / 1000 : whole
      reply.lifetimeSeconds = max(FeathersAccounts.lifetimeMin, min(left, whole))
    }
    return reply
  }

  private static func id(_ user: JSONValue) -> String? {
    for name in ["id", "_id", "uuid"] {
      if let id = user[name]?.string, !id.isEmpty { return id }
      if let id = user[name]?.int { return String(id) }
    }
    return nil
  }

  // MARK: Refusals

  private func refusedSignIn(_ error: FeathersError) -> AccountFailure {
    if let failure = passing(error) { return failure }
    switch error.code {
    case 401 where !error.message.contains("strategy"):
      return AccountFailure(
        .invalidCredential, "The e-mail address or the password is wrong.",
        serviceCode: error.name)
    case 404:
      return AccountFailure(
        .noAccounts, "The server has no service `authentication`.", serviceCode: error.name)
    default: return told(error, .notAllowed)
    }
  }

  private func refusedToken(_ error: FeathersError, _ call: AccountCall) -> AccountFailure {
    if let failure = passing(error) { return failure }
    guard FeathersAccounts.codesOfEnd.contains(error.code) else {
      return AccountFailure(.unavailable, told(error, .unavailable).message)
    }
    let reason = String(error.message.prefix(200))
    if case .signInWithToken = call {
      return AccountFailure(
        .invalidCustomToken, "The token was refused: \(reason).", serviceCode: error.name)
    }
    return AccountFailure(
      .sessionEnded, "The session has ended (\(reason)): sign in again.",
      serviceCode: AccountFailure.wordOfEnd(isRefresh: call.isRefresh))
  }

  private func refusedSignUp(_ error: FeathersError) -> AccountFailure {
    if let failure = passing(error) { return failure }
    switch error.code {
    case 401, 403, 404, 405:
      return AccountFailure(
        .notAllowed, "The server does not let users make accounts.", serviceCode: error.name)
    case 409:
      return AccountFailure(
        .emailInUse, "The e-mail address belongs to an account already.", serviceCode: error.name)
    default:
      let words = (error.message + (error.errors?.jsonText() ?? "")).lowercased()
      if words.contains("unique") || words.contains("duplicate") { return told(error, .emailInUse) }
      if words.contains("password") { return told(error, .weakPassword) }
      return told(error, words.contains("email") ? .invalidEmail : .notAllowed)
    }
  }

  /// A failure that says nothing about the credential; nil for a refusal.
  private func passing(_ error: FeathersError) -> AccountFailure? {
    if error.data?["isSafe"] == false {
      return AccountFailure(
        .insecure, "\(name) uses no TLS, so others could read passwords: use https.")
    }
    switch error.code {
    case 429:
      let message = AccountFailure.waiting(error.message) ?? "Too many attempts: try again later."
      return AccountFailure(.tooManyAttempts, message)
    case 499: return .cancelled
    case 503:
      var failure = AccountFailure(.offline, error.message)
      failure.isSent = error.data?["isSent"] == true
      return failure
    case 408, 500...:
      return AccountFailure(
        .unavailable, "The server cannot answer at the moment: \(error.message.prefix(200))")
    default: return nil
    }
  }

  private func told(_ error: FeathersError, _ code: AccountFailure.Code) -> AccountFailure {
    AccountFailure(
      code, "The server answered \(error.name): \(error.message.prefix(200))",
      serviceCode: error.name)
  }
}

extension AccountCall {
  fileprivate var isRefresh: Bool { if case .refresh = self { true } else { false } }
}
