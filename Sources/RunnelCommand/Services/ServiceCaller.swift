import RunnelAccounts
import RunnelApp
import RunnelBase
import RunnelClient
import RunnelNetwork
import RunnelServices
import RunnelServicesNetwork
import RunnelStore
import RunnelSync
import RunnelWorkspace

/// A service of a server, and who asks.
struct ServiceCaller: Sendable {
  /// The server.
  let address: WebAddress
  /// The path of the service.
  let path: String
  /// How the server is asked.
  var access: ServiceAccess
  private let transport: ServiceTransport
  private let token: String?
  private let credentials: JSONValue?
  /// The tokens of the account that is signed in, for a profile.
  private let tokens: OriginAccess.Provider?
  /// The profile that was named; nil for an address.
  private let choice: OriginChoice?

  /// Finds out which server is meant, and who asks: by the options, or else as the profile says.
  ///
  /// - Throws: `Failure` if the profile is of another kind, or the credentials cannot be read or would go over
  ///   an open line; `ConfigurationError` for a profile with a mistake.
  init(_ target: ServiceTarget, _ options: ServiceAccessOptions) throws {
    path = target.path
    transport = options.transport
    var origin = options.origin
    var choice: OriginChoice?
    if let address = ServiceTarget.address(target.server) {
      self.address = address
    } else {
      // A file of the name is not meant.
      let name = target.server.hasSuffix(":") ? target.server : target.server + ":"
      guard let found = try OriginChoice(name, origin), found.address.hasServices else {
        throw Failure(
          "\(target.server) is no Feathers server: `url` of the profile of one begins with "
            + "feathers+https://.", status: .usage)
      }
      address = try found.servicesHost()
      origin = found.arguments
      choice = found
    }
    self.choice = choice
    access = try options.access(origin)
    credentials = try (options.signIn ?? choice?.profile?.signInFile).map(OriginChoice.credentials)
    // Who names credentials means them, and not the token of the environment.
    let hasToken = options.signIn == nil || options.origin.tokenFile != nil
    let given = hasToken ? try OriginChoice.servicesToken(origin) : nil
    if given == nil, credentials == nil, let choice, let place = AccountPlace.known(choice) {
      token = try place.token()?.reveal()
      if token == nil { place.tellEnd() }
      tokens = try place.access()?.provider
    } else {
      (token, tokens) = (given, nil)
    }
    if token != nil || credentials != nil, !address.isSafe {
      throw Failure(
        "\(address.bare) uses no TLS, so others could read the token: use https.",
        status: .usage)
    }
  }

  /// Makes an application that asks as the user, and sends nothing as nobody if there is one.
  func application(_ provider: any ServiceProvider) -> Feathers {
    let app = Feathers(provider: provider)
    var options = AuthenticationOptions()
    options.storage.setToken(token, options.storageKey)
    if let credentials { options.credentials = { credentials } }
    if let tokens {
      options.credentials = {
        // The first one was refused, or is over.
        guard let token = try? await tokens(true) else { return nil }
        return ["strategy": "jwt", "accessToken": .string(token.text)]
      }
    }
    options.isRequired = token != nil || credentials != nil
    app.configure(auth: options)
    return app
  }

  // MARK: Calls

  /// Makes a call.
  ///
  /// - Throws: `Failure` with the error of the server, if the profile is read-only, or if records would be
  ///   changed over REST that do not match the query.
  func perform(_ request: ServiceRequest) throws -> ServiceResult {
    let isRead = [.find, .get].contains(request.method)
    if !isRead { try choice?.requireWriting() }
    return try ask(isRead: isRead) { (service, isREST) async throws(FeathersError) in
      let check = isREST ? RESTQueryCheck(request) : nil
      if !isRead { try await check?.requireMatches(service) }
      let result = try await service.request(request)
      if request.method == .find { check?.tellStrangers(in: result) }
      check?.tellIfNothing(result)
      try ServiceCaller.check(result, of: request)
      return result
    }
  }

  /// Asks for consent to change all records that match, at a terminal or if the profile wants it; without a query
  /// also elsewhere, as all records are concerned then.
  ///
  /// - Throws: `Failure` if there is none.
  func requireConsent(_ deed: String, _ request: ServiceRequest, isGiven: Bool) throws {
    try choice?.requireWriting()
    if isGiven { return }
    let query = request.query.conditions
    let isAsked = StandardInput.isTerminal || choice?.confirms ?? false
    if !isAsked, !query.isEmpty { return }
    let count =
      try !isAsked
      ? nil
      : ask(isRead: true) {
        (service, isREST) async throws(FeathersError) -> Int? in
        // What cannot be sent is refused before anything is asked.
        if isREST { _ = try QueryString.encoded(request.query) }
        if isREST, let check = RESTQueryCheck(request) {
          return try await check.requireMatches(service)
        }
        return try await service.count(query)
      }
    let which = query.isEmpty ? "" : " that match \(query.json.jsonText())"
    let number = count.map { " (\($0) now)" } ?? ""
    let records = "all records of \(path) at \(address.bare)\(which)\(number)"
    try Consent(isGiven: false).require(
      "\(deed) \(records)?", because: "This is to be confirmed: \(deed.lowercased()) \(records).")
  }

  /// Asks for consent to change or remove one record, if the profile wants it.
  ///
  /// - Throws: `Failure` if there is none.
  func requireConsent(_ deed: String, _ id: String, isGiven: Bool) throws {
    try choice?.requireWriting()
    guard let choice, choice.confirms else { return }
    let record = ControlCharacters.escapedLine("\(id) in \(path) of \(choice.name)")
    try Consent(isGiven: isGiven).require(
      "\(deed) \(record)? Nothing brings back what is gone then.",
      because: "This would \(deed.lowercased()) \(record).")
  }

  /// Asks over Socket.IO, or over REST if nothing could be sent so.
  private func ask<Value: Sendable>(
    isRead: Bool,
    _ body: @escaping @Sendable (ServiceHandle, _ isREST: Bool) async throws(FeathersError) -> Value
  ) throws -> Value {
    try AsyncWork.wait {
      do throws(FeathersError) {
        if transport != .rest {
          do throws(FeathersError) {
            return try await ask(SocketProvider(address, access), isREST: false, body)
          } catch {
            guard transport == .auto, error.data?["isSent"] == false else { throw error }
          }
        }
        return try await ask(RestProvider(address, access), isREST: true, body)
      } catch {
        throw ServiceCaller.failure(error, isRead: isRead)
      }
    }
  }

  private func ask<Value>(
    _ provider: any ServiceProvider, isREST: Bool,
    _ body: (ServiceHandle, _ isREST: Bool) async throws(FeathersError) -> Value
  ) async throws(FeathersError) -> Value {
    let app = application(provider)
    defer { app.close() }
    return try await body(app.service(path), isREST)
  }

  /// Checks the answer to a write: it may come from something between here and the server.
  ///
  /// - Throws: `BadGateway` if it has no record that was written.
  private static func check(
    _ result: ServiceResult, of request: ServiceRequest
  ) throws(FeathersError) {
    let deed: String
    switch request.method {
    case .create: deed = "created"
    case .update, .patch: deed = "changed"
    case .remove: deed = "removed"
    case .find, .get, .custom: return
    }
    let isObject = { (json: JSONValue) in if case .object = json { true } else { false } }
    if isObject(result.json) { return }
    if request.id == nil, case .array(let records) = result.json, records.allSatisfy(isObject) {
      guard request.method == .create else { return }
      if case .array(let data)? = request.data, records.isEmpty == data.isEmpty { return }
    }
    throw FeathersError(
      .badGateway,
      "The answer has no record that was \(deed): \(result.json.jsonText().prefix(200))",
      data: ["isSent": true])
  }

  // MARK: Failures

  /// The most characters of what a server says that are printed.
  private static let shownMax = 2_000

  private static func shown(_ text: String) -> String {
    text.count > shownMax ? text.prefix(shownMax) + "…" : text
  }

  /// The failure for an error of the server.
  static func failure(_ error: FeathersError, isRead: Bool = true) -> Failure {
    var message = shown(error.description)
    if !isRead, error.mayBeDone, !message.contains(ServiceAccess.unknownOutcome) {
      message += "\n  \(ServiceAccess.unknownOutcome)"
    }
    if let errors = error.errors, errors != .object([]), errors != .array([]) {
      message += "\n  errors: \(shown(errors.jsonText()))"
    }
    if let data = error.data, data["isSent"] == nil {
      message += "\n  data: \(shown(data.jsonText()))"
    }
    return Failure(message, status: error.isRetryable ? .retryable : .failure)
  }
}

extension ServiceHandle {
  /// Returns how many records match a query of conditions; nil if the server does not tell.
  fileprivate func count(_ query: ServiceQuery) async throws(FeathersError) -> Int? {
    do throws(FeathersError) {
      if let total = try await find(query.limit(0)).page?.total { return total }
      let result = try await find(query)
      return result.page == nil ? result.records.count : nil
    } catch {
      if [400, 403, 405].contains(error.code) { return nil }
      throw error
    }
  }
}
