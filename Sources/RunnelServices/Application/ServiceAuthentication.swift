public import RunnelBase
import Synchronization

/// Where the token of who is signed in is kept.
public protocol AuthenticationStorage: Sendable {
  /// The token that is stored under a key; nil for none.
  func token(_ key: String) -> String?
  /// Stores a token under a key; nil removes it.
  func setToken(_ token: String?, _ key: String)
}

/// Keeps tokens as long as the program runs.
public final class MemoryAuthenticationStorage: AuthenticationStorage {
  private let tokens = Mutex<[String: String]>([:])

  /// Makes an empty storage.
  public init() {}

  /// The token that is stored under a key; nil for none.
  public func token(_ key: String) -> String? { tokens.withLock { $0[key] } }

  /// Stores a token under a key; nil removes it.
  public func setToken(_ token: String?, _ key: String) { tokens.withLock { $0[key] = token } }
}

/// How an application signs in.
public struct AuthenticationOptions: Sendable {
  /// The path of the authentication service.
  public var path = "authentication"
  /// The strategy that takes a token.
  public var strategy = "jwt"
  /// The name of the user in answers.
  public var entity = "user"
  /// The key of the token in the storage.
  public var storageKey = "feathers-jwt"
  /// Where the token is kept.
  public var storage: any AuthenticationStorage
  /// What is sent to sign in again after the token has expired, such as an email and a password;
  /// nil to stay signed out.
  public var credentials: (@Sendable () async -> JSONValue?)?
  /// True if no call is sent as nobody: without a token it signs in first, or fails.
  public var isRequired = false

  /// Makes options; without arguments the token lasts as long as the program.
  public init(
    path: String = "authentication",
    storage: any AuthenticationStorage = MemoryAuthenticationStorage(),
    credentials: (@Sendable () async -> JSONValue?)? = nil
  ) {
    (self.path, self.storage, self.credentials) = (ServicePath.trimmed(path), storage, credentials)
  }
}

/// Who is signed in at a server.
public enum AuthenticationState: Hashable, Sendable {
  /// Nobody.
  case signedOut
  /// Somebody: the user as the server tells, or null, and when the token expires in seconds since
  /// 1970, if it tells.
  case signedIn(user: JSONValue, expires: Int64?)
  /// Nobody any more: the server has refused the token.
  case expired
}

/// Signs in at a server, keeps the token, and signs in again when needed.
///
/// Rules: a token is dropped only if the server refuses it (401 to 407) when it is asked to sign
/// in, so it survives a lost connection. A call that is refused with 401 leads to one attempt to
/// sign in again; calls that are refused at the same time share it.
public final class ServiceAuthentication: Sendable {
  private struct Values {
    var options = AuthenticationOptions()
    var state = AuthenticationState.signedOut
    var renewal: Task<Bool, Never>?
    /// Why the last attempt to sign in again failed.
    var failure: FeathersError?
    /// Why the calls of the present connection are not sent.
    var refusal: FeathersError?
    var observers: [Int: @Sendable (AuthenticationState) -> Void] = [:]
    var lastObserver = 0
  }

  private let provider: (any ServiceProvider)?
  private let values = Mutex(Values())

  init(_ provider: (any ServiceProvider)?) { self.provider = provider }

  /// Changes the options; the stored token of the new ones is used from then on.
  public func configure(_ options: AuthenticationOptions) {
    values.withLock { $0.options = options }
  }

  /// The token that is stored; nil for none.
  public var token: String? { options.storage.token(options.storageKey) }

  /// Who is signed in.
  public var state: AuthenticationState { values.withLock(\.state) }

  /// Calls a function after each change of who is signed in, until the listener is cancelled.
  public func onChange(
    _ tell: @escaping @Sendable (AuthenticationState) -> Void
  ) -> ServiceListener {
    let id = values.withLock { values in
      values.lastObserver += 1
      values.observers[values.lastObserver] = tell
      return values.lastObserver
    }
    return ServiceListener { [weak self] in _ = self?.values.withLock { $0.observers[id] = nil } }
  }

  var options: AuthenticationOptions { values.withLock(\.options) }

  func isPath(_ path: String) -> Bool { ServicePath.trimmed(path) == options.path }

  private func set(_ state: AuthenticationState) {
    let observers = values.withLock { values in
      defer { values.state = state }
      return values.state == state ? [] : Array(values.observers.values)
    }
    for observer in observers { observer(state) }
  }
}

// MARK: - Signing in and out

extension ServiceAuthentication {
  /// Signs in with credentials, such as a strategy, an email and a password.
  ///
  /// - Returns: the answer of the server, with the token and, of most servers, the user.
  /// - Throws: the error of the server. The earlier token is kept unless the server refused it.
  public func signIn(_ credentials: JSONValue) async throws(FeathersError) -> JSONValue {
    try await signIn(credentials, isRenewal: false)
  }

  private func signIn(
    _ credentials: JSONValue, isRenewal: Bool
  ) async throws(FeathersError) -> JSONValue {
    let options = options
    let given = credentials["accessToken"]?.string
    do throws(FeathersError) {
      let answer = try await send(.create(data: credentials), options, isRenewal: isRenewal)
      guard let token = answer["accessToken"]?.string ?? given else {
        throw FeathersError(
          .generalError, "The answer of the authentication service has no accessToken.",
          data: answer)
      }
      options.storage.setToken(token, options.storageKey)
      values.withLock { $0.refusal = nil }
      set(
        .signedIn(
          user: answer[options.entity] ?? .null,
          expires: answer["authentication"]?["payload"]?["exp"]?.int.map { Int64($0) }
            ?? WebToken.expiry(token)))
      return answer
    } catch {
      if let given, (401...407).contains(error.code), given == token { drop(.expired) }
      throw error
    }
  }

  /// Signs in again with the stored token.
  ///
  /// - Throws: `NotAuthenticated` if no token is stored, or the error of the server.
  public func signInAgain() async throws(FeathersError) -> JSONValue {
    try await signInAgain(isRenewal: false)
  }

  private func signInAgain(isRenewal: Bool) async throws(FeathersError) -> JSONValue {
    guard let token else {
      throw FeathersError(.notAuthenticated, "No accessToken is stored: sign in first.")
    }
    return try await signIn(
      ["strategy": .string(options.strategy), "accessToken": .string(token)], isRenewal: isRenewal)
  }

  /// Signs out; the token is forgotten even if the server cannot be reached.
  ///
  /// - Returns: the answer of the server; null if it could not be asked.
  @discardableResult
  public func signOut() async -> JSONValue {
    let options = options
    let request = ServiceRequest.remove(id: nil)
    let answer = try? await send(request, options)
    drop(.signedOut)
    return answer ?? .null
  }

  private func drop(_ state: AuthenticationState) {
    let options = options
    options.storage.setToken(nil, options.storageKey)
    set(state)
  }

  private func send(
    _ request: ServiceRequest, _ options: AuthenticationOptions, isRenewal: Bool = false
  ) async throws(FeathersError) -> JSONValue {
    guard let provider else {
      throw FeathersError(
        .notImplemented, "The application has no provider: there is no server to sign in at.")
    }
    let isSignIn = request.method == .create
    var call = ProviderCall(
      path: options.path, request, token: isSignIn ? nil : token, isSignIn: isSignIn)
    call.isRenewal = isRenewal
    return try await provider.call(call)
  }

  /// Signs in on a connection that was just made, if a token is stored.
  func connected() async {
    if token == nil, options.credentials == nil {
      return values.withLock { $0.refusal = nil }
    }
    let isDone = await renew(after: token)
    values.withLock { values in
      let isSending = isDone || !values.options.isRequired
      values.refusal = isSending ? nil : values.failure ?? ServiceAuthentication.nobody
    }
  }

  /// Why somebody who has to be signed in is not, on the last connection; nil if calls are sent.
  package var refusal: FeathersError? { values.withLock(\.refusal) }

  private static let nobody = FeathersError(.notAuthenticated, "Nobody is signed in.")

  /// The server has ended the session: the next connection signs in again.
  func isRefused() {
    if case .signedIn = state { set(.expired) }
  }

  /// Signs in again after a call with a token was refused; returns whether that succeeded.
  func renew(after used: String?) async -> Bool {
    // Somebody else has signed in meanwhile.
    if let token, token != used { return true }
    let task = values.withLock { values -> Task<Bool, Never> in
      if let renewal = values.renewal { return renewal }
      let task = Task { [weak self] in
        let isDone = await self?.attempt() ?? false
        self?.values.withLock { $0.renewal = nil }
        return isDone
      }
      values.renewal = task
      return task
    }
    return await task.value
  }

  /// Makes sure that a call is not sent as nobody, if somebody has to be signed in.
  ///
  /// - Throws: the error of the attempt to sign in.
  func require() async throws(FeathersError) {
    guard options.isRequired, token == nil else { return }
    if await renew(after: nil) { return }
    throw values.withLock(\.failure)
      ?? ServiceAuthentication.nobody
  }

  /// Signs in with the stored token, or else with credentials.
  private func attempt() async -> Bool {
    var failure: FeathersError?
    if token != nil {
      do {
        _ = try await signInAgain(isRenewal: true)
        return ended(with: nil)
      } catch  where !(401...407).contains(error.code) {
        return ended(with: error)
      } catch {
        failure = error
      }
    }
    guard let credentials = await options.credentials?() else {
      values.withLock { $0.failure = failure }
      return false
    }
    do throws(FeathersError) {
      _ = try await signIn(credentials, isRenewal: true)
      return ended(with: nil)
    } catch {
      return ended(with: error)
    }
  }

  /// Keeps how an attempt to sign in again has ended; returns whether it succeeded.
  private func ended(with failure: FeathersError?) -> Bool {
    values.withLock { $0.failure = failure }
    return failure == nil
  }
}

extension Feathers {
  /// Configures how the application signs in.
  public func configure(auth options: AuthenticationOptions) { authentication.configure(options) }

  /// Signs in with credentials, such as a strategy, an email and a password.
  ///
  /// - Throws: the error of the server.
  @discardableResult
  public func authenticate(_ credentials: JSONValue) async throws(FeathersError) -> JSONValue {
    try await authentication.signIn(credentials)
  }

  /// Signs in again with the stored token.
  ///
  /// - Throws: `NotAuthenticated` if no token is stored, or the error of the server.
  @discardableResult
  public func reAuthenticate() async throws(FeathersError) -> JSONValue {
    try await authentication.signInAgain()
  }

  /// Signs out; the token is forgotten even if the server cannot be reached.
  @discardableResult
  public func logout() async -> JSONValue { await authentication.signOut() }
}

/// The parts of a JSON web token that a client can read.
enum WebToken {
  /// Returns when a token expires, in seconds since 1970; nil if it does not tell.
  static func expiry(_ token: String) -> Int64? {
    let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = Base64URL.bytes(parts[1]),
      let payload = try? JSONValue(parsing: bytes)
    else { return nil }
    return payload["exp"]?.double.flatMap { Int64(exactly: $0.rounded(.down)) }
  }
}
