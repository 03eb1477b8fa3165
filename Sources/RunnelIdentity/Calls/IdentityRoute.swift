import RunnelBase

/// The operation that a path leads to.
///
/// Source: authentication, sections 1, 6 and 7.
package struct IdentityRoute: Hashable, Sendable {
  package var operation: IdentityOperation
  package var isAdministrative = false

  /// True if a path belongs to the API, so that it names no place of a database.
  package static func owns(_ path: some StringProtocol) -> Bool {
    let pieces = pieces(of: path)
    guard let first = pieces.first else { return false }
    switch first {
    case "identitytoolkit", "emulator", "v1", "v2": return !path.hasSuffix(".json")
    default: return hosts.contains(first) || path == actionPath || path == keysPath
    }
  }

  /// The page on which a mailed link leads.
  package static let actionPath = "/.accounts/action"
  /// The public keys.
  package static let keysPath = "/.well-known/jwks.json"

  private static let hosts: Set<Substring> = [
    "identitytoolkit.googleapis.com", "securetoken.googleapis.com", "www.googleapis.com",
  ]

  private static func pieces(of path: some StringProtocol) -> [Substring] {
    Substring(path).split(separator: "/")
  }

  private static let accountOperations: [Substring: IdentityOperation] = [
    "signUp": .signUp, "signInWithPassword": .signInWithPassword,
    "signInWithCustomToken": .signInWithCustomToken, "signInWithEmailLink": .signInWithEmailLink,
    "lookup": .lookup, "update": .update, "delete": .delete, "sendOobCode": .sendOobCode,
    "resetPassword": .resetPassword, "createAuthUri": .createAuthUri,
  ]
  private static let administrativeOperations: [Substring: IdentityOperation] = [
    "batchCreate": .batchCreate, "batchDelete": .batchDelete, "query": .query,
    "lookup": .lookup, "update": .update, "delete": .delete, "sendOobCode": .sendOobCode,
    "createSessionCookie": .createSessionCookie,
  ]
  private static let legacyOperations: [Substring: IdentityOperation] = [
    "signupNewUser": .signUp, "verifyPassword": .signInWithPassword,
    "verifyCustomToken": .signInWithCustomToken, "getAccountInfo": .lookup,
    "setAccountInfo": .update, "deleteAccount": .delete, "getOobConfirmationCode": .sendOobCode,
    "resetPassword": .resetPassword, "createAuthUri": .createAuthUri,
    "emailLinkSignin": .signInWithEmailLink,
  ]
  /// The operations that the services have and this server has not.
  private static let missing: Set<Substring> = [
    "signInWithIdp", "signInWithPhoneNumber", "sendVerificationCode", "signInWithGameCenter",
    "verifyIosClient", "issueSamlResponse", "verifyAssertion", "verifyPhoneNumber",
    "revokeToken",
  ]

  /// Finds the operation of a request.
  ///
  /// - Throws: `IdentityError` if there is none, or it is not served.
  package static func of(
    _ head: IdentityRequestHead, isEmulator: Bool
  ) throws(IdentityError) -> IdentityRoute {
    var pieces = pieces(of: head.path)[...]
    switch pieces.first {
    case nil where isEmulator && head.method == "GET": return IdentityRoute(operation: .ready)
    case "emulator"?:
      if isEmulator { return try emulator(head.method, pieces.dropFirst()) }
      throw .unknownURL
    case "www.googleapis.com"?: pieces.removeFirst()
    case "identitytoolkit.googleapis.com"?, "securetoken.googleapis.com"?:
      pieces.removeFirst()
    default: break
    }
    if head.path == keysPath { return IdentityRoute(operation: .publicKeys) }
    switch pieces.first {
    case "identitytoolkit"?: return try legacy(head.method, pieces.dropFirst())
    case "v1"?: return try current(head.method, pieces.dropFirst())
    case "v2"?: return try second(head.method, pieces.dropFirst())
    default: throw .unknownURL
    }
  }

  private static func current(
    _ method: String, _ pieces: ArraySlice<Substring>
  ) throws(IdentityError) -> IdentityRoute {
    guard let first = pieces.first else { throw .unknownURL }
    if pieces.count == 1, method == "POST" {
      if first == "token" { return IdentityRoute(operation: .refresh) }
      if let name = suffix(of: first, after: "accounts:") {
        if let operation = accountOperations[name] { return IdentityRoute(operation: operation) }
        if missing.contains(name) { throw .unimplemented(String(name)) }
      }
    }
    if first == "projects", method == "GET", pieces.count == 1 {
      return IdentityRoute(operation: .project)
    }
    if ["recaptchaParams", "publicKeys", "sessionCookiePublicKeys"].contains(first),
      method == "GET"
    {
      if first == "recaptchaParams" { throw .unimplemented("recaptchaParams") }
      return IdentityRoute(operation: .publicKeys)
    }
    guard first == "projects", let project = pieces.dropFirst().first else { throw .unknownURL }
    return try administrative(method, project, pieces.dropFirst(2))
  }

  private static func administrative(
    _ method: String, _ project: Substring, _ pieces: ArraySlice<Substring>
  ) throws(IdentityError) -> IdentityRoute {
    if pieces.isEmpty, method == "POST", project.hasSuffix(":createSessionCookie") {
      return IdentityRoute(operation: .createSessionCookie, isAdministrative: true)
    }
    // Tenants are projects of their own, which this server does not have.
    guard let word = pieces.first else { throw .unknownURL }
    if word == "tenants" { throw .unimplemented("tenants") }
    guard pieces.count == 1 else { throw .unknownURL }
    if word == "accounts", method == "POST" {
      return IdentityRoute(operation: .create, isAdministrative: true)
    }
    guard let name = suffix(of: word, after: "accounts:") else { throw .unknownURL }
    if name == "batchGet", method == "GET" {
      return IdentityRoute(operation: .batchGet, isAdministrative: true)
    }
    if method == "POST", let operation = administrativeOperations[name] {
      return IdentityRoute(operation: operation, isAdministrative: true)
    }
    throw .unknownURL
  }

  private static func second(
    _ method: String, _ pieces: ArraySlice<Substring>
  ) throws(IdentityError) -> IdentityRoute {
    guard pieces.first == "projects", pieces.count == 3, pieces.last == "config" else {
      throw .unimplemented("/v2/" + pieces.joined(separator: "/").prefix(100))
    }
    switch method {
    case "GET": return IdentityRoute(operation: .getConfig, isAdministrative: true)
    case "PATCH": return IdentityRoute(operation: .updateConfig, isAdministrative: true)
    default: throw .unknownURL
    }
  }

  private static func legacy(
    _ method: String, _ pieces: ArraySlice<Substring>
  ) throws(IdentityError) -> IdentityRoute {
    guard pieces.count == 3, pieces.prefix(2) == ["v3", "relyingparty"], let name = pieces.last
    else { throw .unknownURL }
    if name == "getProjectConfig", method == "GET" { return IdentityRoute(operation: .project) }
    if name == "publicKeys", method == "GET" { return IdentityRoute(operation: .publicKeys) }
    if name == "downloadAccount" {
      return IdentityRoute(operation: .batchGet, isAdministrative: true)
    }
    guard method == "POST" else { throw .unknownURL }
    if name == "uploadAccount" {
      return IdentityRoute(operation: .batchCreate, isAdministrative: true)
    }
    if let operation = legacyOperations[name] { return IdentityRoute(operation: operation) }
    if missing.contains(name) { throw .unimplemented(String(name)) }
    throw .unknownURL
  }

  private static func emulator(
    _ method: String, _ pieces: ArraySlice<Substring>
  ) throws(IdentityError) -> IdentityRoute {
    let pieces = Array(pieces)
    if pieces == ["action"], method == "GET" { return IdentityRoute(operation: .action) }
    guard pieces.count == 4, pieces[0] == "v1", pieces[1] == "projects" else { throw .unknownURL }
    switch (method, pieces[3]) {
    case ("DELETE", "accounts"): return IdentityRoute(operation: .wipe)
    case ("GET", "config"): return IdentityRoute(operation: .emulatorConfig)
    case ("PATCH", "config"): return IdentityRoute(operation: .updateEmulatorConfig)
    case ("GET", "oobCodes"): return IdentityRoute(operation: .mailedCodes)
    case ("GET", "verificationCodes"): return IdentityRoute(operation: .verificationCodes)
    default: throw .unknownURL
    }
  }

  private static func suffix(of text: Substring, after prefix: String) -> Substring? {
    text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : nil
  }
}

extension IdentityCall {
  /// Reads a request.
  ///
  /// - Throws: `IdentityError` if the path leads nowhere, or the body is no JSON.
  package init(
    _ head: IdentityRequestHead, body: [UInt8], isEmulator: Bool
  ) throws(IdentityError) {
    let route = try IdentityRoute.of(head, isEmulator: isEmulator)
    let parameters = head.parameters
    let fields = try IdentityCall.fields(head, route, body, parameters)
    let isOldTransfer = ["downloadAccount", "uploadAccount"].contains { head.path.hasSuffix($0) }
    if isOldTransfer, fields.value("targetProjectId") == nil {
      throw IdentityError("INSUFFICIENT_PERMISSION")
    }
    let key = head.key ?? parameters.first { $0.name == "key" }?.value.string
    self.init(
      route.operation, fields, isAdministrative: route.isAdministrative,
      credential: IdentityCall.credential(head.authorization), hasKey: key?.isEmpty == false)
  }

  private static func credential(_ text: String?) -> CallCredential {
    guard let text else { return .none }
    let halves = text.split(separator: " ", maxSplits: 1)
    guard halves.count == 2, halves[0].lowercased() == "bearer" else { return .bearer("") }
    return .bearer(String(halves[1]))
  }

  private static func fields(
    _ head: IdentityRequestHead, _ route: IdentityRoute, _ body: [UInt8],
    _ parameters: [JSONMember]
  ) throws(IdentityError) -> CallFields {
    // A wipe may have a body, which means nothing.
    if head.method == "GET" || head.method == "DELETE" { return CallFields(.object(parameters)) }
    if body.isEmpty { return CallFields() }
    let type = head.contentType?.lowercased() ?? ""
    if route.operation == .refresh, type.hasPrefix("application/x-www-form-urlencoded") {
      guard let members = IdentityRequestHead.members(ofForm: body) else {
        throw .badJSON("The body is no form.")
      }
      return CallFields(.object(members))
    }
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: body)
    } catch {
      throw .badJSON("\(error)")
    }
    guard case .object = json else { throw .badJSON("An object is expected.") }
    return CallFields(json)
  }
}
