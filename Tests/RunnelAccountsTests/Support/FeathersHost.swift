import RunnelBase
import RunnelServices
import Synchronization

/// A Feathers application with the services `authentication`, `users` and `messages`, as a server has them.
final class FeathersHost: Sendable {
  struct State {
    var passwords = ["ana@x.org": "secret-ana", "bo@x.org": "secret-bo"]
    /// The error with which every question is answered.
    var failure: FeathersError?
    var allowsSignUp = true
    var lifetimeSeconds: Int64 = 3600
    /// Tokens that the server does not take any more.
    var revoked: Set<String> = []
    /// The calls, each with the user of its token, or `nobody`.
    var calls: [String] = []
  }

  let app = Feathers()
  private let now: @Sendable () -> Int64
  private let state = Mutex(State())

  /// Makes a host; `now` is the time in milliseconds since 1970.
  init(_ now: @escaping @Sendable () -> Int64) async throws {
    self.now = now
    try await app.use("authentication", Door(host: self))
    try await app.use("users", Users(host: self))
    try await app.use("messages", Messages(host: self))
  }

  func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

  /// Returns and forgets the calls.
  func takeCalls() -> [String] {
    state.withLock { state in
      defer { state.calls = [] }
      return state.calls
    }
  }

  private func note(_ call: String, _ params: ServiceParams) throws {
    let token = params.headers["authorization"].map { String($0.dropFirst("Bearer ".count)) }
    let user = token.flatMap { try? self.user($0) } ?? "nobody"
    try state.withLock { state in
      state.calls.append("\(call) \(user)")
      if let failure = state.failure { throw failure }
    }
  }

  private func token(_ email: String) -> String {
    let seconds = now() / 1000
    let lifetime = state.withLock(\.lifetimeSeconds)
    let payload: JSONValue = [
      "iat": .number(JSONNumber(seconds)), "exp": .number(JSONNumber(seconds + lifetime)),
      "sub": .string(String(email.prefix { $0 != "@" })), "iss": "feathers",
    ]
    let parts = ["{\"typ\":\"access\"}", payload.jsonText(), "signature"]
    return parts.map { Base64URL.text($0.utf8) }.joined(separator: ".")
  }

  /// The user of a token that the server takes.
  private func user(_ token: String) throws -> String {
    let parts = token.utf8.split(separator: UInt8(ascii: "."))
    guard parts.count == 3, let bytes = Base64URL.bytes(parts[1]),
      let payload = try? JSONValue(parsing: bytes), let user = payload["sub"]?.string,
      let expires = payload["exp"]?.int
    else { throw FeathersError(.notAuthenticated, "jwt malformed") }
    if Int64(expires) * 1000 <= now() { throw FeathersError(.notAuthenticated, "jwt expired") }
    if state.withLock({ $0.revoked.contains(token) }) {
      throw FeathersError(.notAuthenticated, "invalid signature")
    }
    return user
  }

  private struct Door: FeathersService {
    unowned let host: FeathersHost

    func create(_ data: JSONValue, _ params: ServiceParams) async throws -> JSONValue {
      try host.note("sign in by \(data["strategy"]?.string ?? "?")", params)
      let token: String
      if data["strategy"] == "jwt" {
        token = data["accessToken"]?.string ?? ""
      } else {
        let email = data["email"]?.string ?? ""
        let password = host.state.withLock { $0.passwords[email] }
        guard let password, password == data["password"]?.string else {
          throw FeathersError(.notAuthenticated, "Invalid login")
        }
        token = host.token(email)
      }
      let user = try host.user(token)
      return [
        "accessToken": .string(token), "authentication": ["strategy": data["strategy"] ?? .null],
        "user": ["id": .string(user), "email": .string("\(user)@x.org"), "name": .string(user)],
      ]
    }

    func remove(_ id: ServiceID?, _ params: ServiceParams) async throws -> JSONValue {
      try host.note("sign out", params)
      return [:]
    }
  }

  private struct Users: FeathersService {
    unowned let host: FeathersHost

    func create(_ data: JSONValue, _ params: ServiceParams) async throws -> JSONValue {
      try host.note("sign up", params)
      let email = data["email"]?.string ?? ""
      try host.state.withLock { state in
        if !state.allowsSignUp {
          throw FeathersError(.methodNotAllowed, "Method 'create' not allowed on service 'users'")
        }
        if state.passwords[email] != nil { throw FeathersError(.conflict, "email must be unique") }
        state.passwords[email] = data["password"]?.string
      }
      return ["email": .string(email)]
    }
  }

  private struct Messages: FeathersService {
    unowned let host: FeathersHost

    func find(_ params: ServiceParams) async throws -> JSONValue {
      try host.note("find", params)
      let token = params.headers["authorization"].map { String($0.dropFirst("Bearer ".count)) }
      _ = try host.user(token ?? "")
      return []
    }
  }
}
