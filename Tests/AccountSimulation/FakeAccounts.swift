import Foundation
package import RunnelAccounts
package import RunnelBase
import RunnelNetwork
package import Synchronization

/// An account service that answers as the interface says, in memory.
package final class FakeAccounts: Sendable {
  /// How it fails.
  package enum Trouble: Equatable, Sendable {
    case none
    /// Nobody can reach it.
    case offline
    /// It answers with a status and no JSON.
    case status(Int)
    /// It does what it is asked, and the answer is lost.
    case losesAnswers
  }

  package struct Record: Sendable {
    package var id: String
    package var email: String?
    package var password: String?
    package var isVerified = false
    package var isDisabled = false
    package var name: String?
    package var photo: String?
    package var method: String
    package var validSince: Int64 = 0
    package var lastLogin: Int64
    package var claims: JSONValue = .object([])
  }

  package struct Code: Sendable {
    package var type: String
    package var user: String
    package var email: String?
    package var newEmail: String?
  }

  /// A write to the database of the accounts' users, which is taken and not carried out.
  package struct Write: Equatable, Sendable {
    package var target: String
    package var body: String
  }

  package struct State: Sendable {
    /// The writes that were taken.
    package var writes: [Write] = []
    package var records: [String: Record] = [:]
    /// The users of refresh tokens.
    package var refreshTokens: [String: String] = [:]
    package var codes: [String: Code] = [:]
    package var last = 0
    package var trouble = Trouble.none
    /// The operations that were asked for.
    package var asked: [String] = []
    /// How many seconds a sign-in is recent; nil for ever.
    package var recentSeconds: Int64?
    package var isPrivate = false
    package var rotates = false
    package var lifetimeSeconds: Int64 = 3600
    package var omitsUserID = false
    /// Whether a reset says that it made a new account for the address.
    package var partsAccounts = false
  }

  package let state = Mutex(State())
  package let now: @Sendable () -> Int64
  private struct Gate: Sendable {
    let pass: @Sendable (String) async -> Void
  }

  /// Passed before each answer.
  private let gate = Mutex<Gate?>(nil)

  package init(now: @escaping @Sendable () -> Int64) { self.now = now }

  /// The operations that were asked for since the last call.
  package func takeAsked() -> [String] {
    state.withLock { state in
      defer { state.asked = [] }
      return state.asked
    }
  }

  package func set(_ trouble: Trouble) { state.withLock { $0.trouble = trouble } }

  package func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  /// Sets what happens before each answer.
  package func hold(_ body: (@Sendable (String) async -> Void)?) {
    gate.withLock { $0 = body.map(Gate.init) }
  }

  /// Makes an account.
  package func add(_ id: String, _ email: String, _ password: String) {
    let time = now()
    state.withLock {
      $0.records[id] = Record(
        id: id, email: email, password: password, method: "password", lastLogin: time)
    }
  }

  /// Ends all sessions of a user.
  package func revoke(_ id: String) {
    let seconds = now() / 1000 + 1
    state.withLock { state in
      state.refreshTokens = state.refreshTokens.filter { $0.value != id }
      state.records[id]?.validSince = seconds
    }
  }

  /// The newest code of a type.
  package func code(_ type: String) -> String? {
    state.withLock { state in
      state.codes.filter { $0.value.type == type }.max { $0.key < $1.key }?.key
    }
  }

  /// Sends requests to this service without a network.
  package var transport: IdentityToolkit.Transport {
    { (request: WebRequest) async throws(NetworkError) in
      let operation = FakeAccounts.operation(request.address.target)
      if let gate = self.gate.withLock({ $0 }) { await gate.pass(operation) }
      let isWrite = request.method == "PATCH"
      let trouble = self.state.withLock { state in
        if !isWrite { state.asked.append(operation) }
        return state.trouble
      }
      if trouble == .offline { throw NetworkError("it cannot be reached") }
      if case .status(let status) = trouble { return (status, Array("<html>".utf8)) }
      if isWrite {
        let body = String(decoding: request.body ?? [], as: UTF8.self)
        let write = Write(target: request.address.target, body: body)
        self.state.withLock { $0.writes.append(write) }
        return (204, [])
      }
      let answer = self.answer(request.address.target, body: request.body ?? [])
      if trouble == .losesAnswers { throw NetworkError("the answer is lost") }
      return (answer.status, answer.body.jsonBytes())
    }
  }

  /// The word after the colon, or `token`.
  package static func operation(_ target: String) -> String {
    let path = target.prefix { $0 != "?" }
    return path.split(separator: ":").dropFirst().first.map(String.init) ?? "token"
  }

  /// Answers a request.
  package func answer(_ target: String, body: [UInt8]) -> (status: Int, body: JSONValue) {
    let time = now()
    return state.withLock { state in
      guard target.contains("?key="), !target.hasSuffix("?key=") else {
        return (
          403,
          [
            "error": [
              "code": 403, "message": "The request is missing a valid API key.",
              "status": "PERMISSION_DENIED",
            ]
          ]
        )
      }
      do throws(Refusal) {
        let operation = FakeAccounts.operation(target)
        if operation == "token" { return (200, try state.refresh(body, time)) }
        guard
          target.hasPrefix("/identitytoolkit.googleapis.com/v1/accounts:")
            || target.hasPrefix("/v1/accounts:"),
          let json = try? JSONValue(parsing: body)
        else { throw Refusal("NOT_FOUND") }
        return (200, try state.answer(operation, json, time))
      } catch {
        return (
          400,
          [
            "error": [
              "code": 400, "message": .string(error.word),
              "errors": [["message": .string(error.word), "reason": "invalid"]],
            ]
          ]
        )
      }
    }
  }
}

/// A word by which the service refuses.
struct Refusal: Error {
  var word: String
  init(_ word: String) { self.word = word }
}

// MARK: Answers

extension FakeAccounts.State {
  mutating func next() -> String {
    last += 1
    return String(format: "%06d", last)
  }

  /// Returns the tokens of a user.
  private mutating func tokens(_ id: String, _ time: Int64) throws(Refusal) -> [JSONMember] {
    guard let record = records[id] else { throw Refusal("USER_NOT_FOUND") }
    let refreshToken = "refresh-\(next())"
    refreshTokens[refreshToken] = id
    return [
      JSONMember("idToken", .string(idToken(record, time))),
      JSONMember("refreshToken", .string(refreshToken)),
      JSONMember("expiresIn", .string(String(lifetimeSeconds))),
    ]
  }

  private mutating func idToken(_ record: FakeAccounts.Record, _ time: Int64) -> String {
    var members = record.claims.object ?? []
    if let name = record.name { members.append(JSONMember("name", .string(name))) }
    if let email = record.email {
      members += [
        JSONMember("email", .string(email)), JSONMember("email_verified", .bool(record.isVerified)),
      ]
    }
    let seconds = time / 1000
    if !omitsUserID {
      members += [
        JSONMember("user_id", .string(record.id)), JSONMember("sub", .string(record.id)),
      ]
    }
    members += [
      JSONMember("auth_time", .number(JSONNumber(record.lastLogin / 1000))),
      JSONMember("iat", .number(JSONNumber(seconds))),
      JSONMember("exp", .number(JSONNumber(seconds + lifetimeSeconds))),
      JSONMember("aud", "demo"), JSONMember("iss", "https://securetoken.google.com/demo"),
      JSONMember("jti", .string(next())),
      JSONMember("firebase", ["sign_in_provider": .string(record.method)]),
    ]
    let head: JSONValue = ["alg": "none", "typ": "JWT"]
    return Self.encoded(head.jsonBytes()) + "."
      + Self.encoded(JSONValue.object(members).jsonBytes()) + "."
  }

  static func encoded(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  package static func claims(_ token: String) -> JSONValue? {
    let pieces = token.split(separator: ".", omittingEmptySubsequences: false)
    guard pieces.count == 3 else { return nil }
    var text = pieces[1].replacing("-", with: "+").replacing("_", with: "/")
    while text.count % 4 != 0 { text += "=" }
    return Data(base64Encoded: String(text)).flatMap { try? JSONValue(parsing: [UInt8]($0)) }
  }

  /// Returns the record of an ID token.
  private func record(
    _ json: JSONValue, _ time: Int64
  ) throws(Refusal) -> FakeAccounts.Record {
    guard let token = json["idToken"]?.string else { throw Refusal("MISSING_ID_TOKEN") }
    guard let claims = Self.claims(token), let id = claims["user_id"]?.string else {
      throw Refusal("INVALID_ID_TOKEN")
    }
    guard let record = records[id] else { throw Refusal("USER_NOT_FOUND") }
    if Int64(claims["iat"]?.int ?? 0) < record.validSince { throw Refusal("TOKEN_EXPIRED") }
    if Int64(claims["exp"]?.int ?? 0) * 1000 <= time { throw Refusal("TOKEN_EXPIRED") }
    if record.isDisabled { throw Refusal("USER_DISABLED") }
    return record
  }

  private func checkRecent(_ json: JSONValue, _ time: Int64) throws(Refusal) {
    let claims = Self.claims(json["idToken"]?.string ?? "")
    let signIn = Int64(claims?["auth_time"]?.int ?? 0)
    if let recentSeconds, time / 1000 - signIn > recentSeconds {
      throw Refusal("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    }
  }

  private func owner(_ email: String) -> FakeAccounts.Record? {
    records.values.first { $0.email == email }
  }

  private static func email(_ json: JSONValue?) throws(Refusal) -> String {
    guard let text = json?.string, !text.isEmpty else { throw Refusal("MISSING_EMAIL") }
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
      throw Refusal("INVALID_EMAIL")
    }
    return text.lowercased()
  }

  private static func password(_ json: JSONValue?) throws(Refusal) -> String {
    guard let text = json?.string, !text.isEmpty else { throw Refusal("MISSING_PASSWORD") }
    if text.count < 6 {
      throw Refusal("WEAK_PASSWORD : Password should be at least 6 characters")
    }
    return text
  }

  mutating func answer(
    _ operation: String, _ json: JSONValue, _ time: Int64
  ) throws(Refusal) -> JSONValue {
    switch operation {
    case "signUp": try signUp(json, time)
    case "signInWithPassword": try signIn(json, time)
    case "signInWithCustomToken": try signInWithToken(json, time)
    case "lookup": ["users": [Self.described(try record(json, time))]]
    case "update": try update(json, time)
    case "sendOobCode": try sendCode(json, time)
    case "resetPassword": try reset(json, time)
    case "delete":
      try {
        (state: inout Self) throws(Refusal) in
        let record = try state.record(json, time)
        try state.checkRecent(json, time)
        state.records[record.id] = nil
        return ["kind": "identitytoolkit#DeleteAccountResponse"]
      }(&self)
    default: throw Refusal("NOT_FOUND")
    }
  }

  private mutating func signUp(_ json: JSONValue, _ time: Int64) throws(Refusal) -> JSONValue {
    var record: FakeAccounts.Record
    if json["idToken"] != nil {
      record = try self.record(json, time)
    } else {
      record = FakeAccounts.Record(id: "user-\(next())", method: "anonymous", lastLogin: time)
    }
    if json["email"] != nil || json["password"] != nil {
      let email = try Self.email(json["email"])
      let password = try Self.password(json["password"])
      if let other = owner(email), other.id != record.id { throw Refusal("EMAIL_EXISTS") }
      (record.email, record.password, record.method) = (email, password, "password")
    }
    record.lastLogin = time
    records[record.id] = record
    return .object(
      [JSONMember("localId", .string(record.id))] + (try tokens(record.id, time)))
  }

  private mutating func signIn(_ json: JSONValue, _ time: Int64) throws(Refusal) -> JSONValue {
    let email = try Self.email(json["email"])
    guard let password = json["password"]?.string, !password.isEmpty else {
      throw Refusal("MISSING_PASSWORD")
    }
    guard let record = owner(email) else {
      throw Refusal(isPrivate ? "INVALID_LOGIN_CREDENTIALS" : "EMAIL_NOT_FOUND")
    }
    if record.isDisabled { throw Refusal("USER_DISABLED") }
    guard record.password == password else {
      throw Refusal(isPrivate ? "INVALID_LOGIN_CREDENTIALS" : "INVALID_PASSWORD")
    }
    records[record.id]?.lastLogin = time
    let id: [JSONMember] = omitsUserID ? [] : [JSONMember("localId", .string(record.id))]
    return .object(id + (try tokens(record.id, time)))
  }

  private mutating func signInWithToken(
    _ json: JSONValue, _ time: Int64
  ) throws(Refusal) -> JSONValue {
    guard let text = json["token"]?.string else { throw Refusal("MISSING_CUSTOM_TOKEN") }
    guard let token = try? JSONValue(parsing: text), let id = token["uid"]?.string else {
      throw Refusal("INVALID_CUSTOM_TOKEN : Invalid assertion format")
    }
    var record =
      records[id] ?? FakeAccounts.Record(id: id, method: "custom", lastLogin: time)
    record.claims = token["claims"] ?? .object([])
    records[id] = record
    return .object(try tokens(id, time))
  }

  private mutating func update(_ json: JSONValue, _ time: Int64) throws(Refusal) -> JSONValue {
    if let code = json["oobCode"]?.string { return try use(code, json, time) }
    guard json["idToken"] != nil else {
      throw Refusal("INVALID_REQ_TYPE : Unsupported request parameters.")
    }
    var record = try record(json, time)
    var isChanged = false
    if json["password"] != nil {
      try checkRecent(json, time)
      record.password = try Self.password(json["password"])
      isChanged = true
    }
    if json["email"] != nil {
      try checkRecent(json, time)
      let email = try Self.email(json["email"])
      if let other = owner(email), other.id != record.id { throw Refusal("EMAIL_EXISTS") }
      (record.email, record.isVerified) = (email, false)
      isChanged = true
    }
    record.name = json["displayName"]?.string ?? record.name
    record.photo = json["photoUrl"]?.string ?? record.photo
    for attribute in json["deleteAttribute"]?.array ?? [] {
      if attribute == "DISPLAY_NAME" { record.name = nil }
      if attribute == "PHOTO_URL" { record.photo = nil }
    }
    if isChanged {
      record.validSince = time / 1000
      refreshTokens = refreshTokens.filter { $0.value != record.id }
    }
    records[record.id] = record
    let id = JSONMember("localId", .string(record.id))
    return .object(isChanged ? [id] + (try tokens(record.id, time)) : [id])
  }

  private mutating func use(
    _ text: String, _ json: JSONValue, _ time: Int64
  ) throws(Refusal) -> JSONValue {
    guard let code = codes[text], code.type != "PASSWORD_RESET" else {
      throw Refusal("INVALID_OOB_CODE")
    }
    codes[text] = nil
    records[code.user]?.isVerified = true
    guard let email = code.newEmail else {
      return ["localId": .string(code.user), "emailVerified": true]
    }
    // A token that is not good is ignored, as Runnel's server does.
    let holder = json["idToken"] == nil ? nil : try? record(json, time)
    records[code.user]?.email = email
    records[code.user]?.validSince = time / 1000
    refreshTokens = refreshTokens.filter { $0.value != code.user }
    let id = JSONMember("localId", .string(code.user))
    return .object(holder?.id == code.user ? [id] + (try tokens(code.user, time)) : [id])
  }

  private mutating func sendCode(_ json: JSONValue, _ time: Int64) throws(Refusal) -> JSONValue {
    guard let type = json["requestType"]?.string else { throw Refusal("MISSING_REQ_TYPE") }
    var code: FakeAccounts.Code
    if type == "PASSWORD_RESET" {
      let email = try Self.email(json["email"])
      guard let record = owner(email) else {
        if isPrivate { return ["email": .string(email)] }
        throw Refusal("EMAIL_NOT_FOUND")
      }
      code = FakeAccounts.Code(type: type, user: record.id, email: email)
    } else {
      let record = try record(json, time)
      guard let email = record.email else { throw Refusal("MISSING_EMAIL") }
      code = FakeAccounts.Code(type: type, user: record.id, email: email)
      if type == "VERIFY_AND_CHANGE_EMAIL" {
        try checkRecent(json, time)
        code.newEmail = try Self.email(json["newEmail"])
      }
    }
    codes["code-\(next())"] = code
    return ["email": .string(code.email ?? "")]
  }

  private mutating func reset(_ json: JSONValue, _ time: Int64) throws(Refusal) -> JSONValue {
    guard let text = json["oobCode"]?.string else { throw Refusal("MISSING_OOB_CODE") }
    guard let code = codes[text] else { throw Refusal("INVALID_OOB_CODE") }
    if json["newPassword"] != nil {
      guard code.type == "PASSWORD_RESET" else { throw Refusal("INVALID_OOB_CODE") }
      records[code.user]?.password = try Self.password(json["newPassword"])
      codes[text] = nil
    }
    var told: [JSONMember] = [
      JSONMember("requestType", .string(code.type)),
      JSONMember("email", .string(code.email ?? "")),
    ]
    if json["newPassword"] != nil, partsAccounts { told.append(JSONMember("isNewUser", true)) }
    return .object(told)
  }

  mutating func refresh(_ body: [UInt8], _ time: Int64) throws(Refusal) -> JSONValue {
    let fields = String(decoding: body, as: UTF8.self).split(separator: "&")
    guard fields.contains("grant_type=refresh_token") else { throw Refusal("INVALID_GRANT_TYPE") }
    let name = "refresh_token="
    guard let field = fields.first(where: { $0.hasPrefix(name) }) else {
      throw Refusal("MISSING_REFRESH_TOKEN")
    }
    let token = String(field.dropFirst(name.count))
    guard let id = refreshTokens[token] else { throw Refusal("INVALID_REFRESH_TOKEN") }
    guard let record = records[id] else { throw Refusal("USER_NOT_FOUND") }
    if record.isDisabled { throw Refusal("USER_DISABLED") }
    var answer = token
    if rotates {
      refreshTokens[token] = nil
      answer = "refresh-\(next())"
      refreshTokens[answer] = id
    }
    return [
      "id_token": .string(idToken(record, time)), "refresh_token": .string(answer),
      "expires_in": .string(String(lifetimeSeconds)), "token_type": "Bearer",
      "user_id": .string(id),
    ]
  }

  private static func described(_ record: FakeAccounts.Record) -> JSONValue {
    var members = [
      JSONMember("localId", .string(record.id)),
      JSONMember("emailVerified", .bool(record.isVerified)),
      JSONMember("createdAt", "1750000000000"),
      JSONMember("lastLoginAt", .string(String(record.lastLogin))),
    ]
    if let email = record.email {
      members += [
        JSONMember("email", .string(email)),
        JSONMember("providerUserInfo", [["providerId": "password"]]),
      ]
    }
    if let name = record.name { members.append(JSONMember("displayName", .string(name))) }
    return .object(members)
  }
}
