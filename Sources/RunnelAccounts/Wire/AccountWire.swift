import RunnelBase
import RunnelStore

/// The form of questions to an account service, and of its answers.
///
/// Source: accounts interface, sections 1, 4 and 5.
enum AccountWire {
  /// A request: the name of the operation, or nil for the exchange of a refresh token, and its body.
  struct Question: Equatable {
    var operation: String?
    var body: Secret<[UInt8]>
    var contentType: String
  }

  private static let lifetimeSeconds: Int64 = 3600

  // MARK: Questions

  static func question(_ call: AccountCall) -> Question {
    if case .refresh(let token) = call {
      let text =
        "grant_type=refresh_token&refresh_token=" + PercentEncoding.encoded(token.reveal())
      return Question(
        operation: nil, body: Secret(Array(text.utf8)),
        contentType: "application/x-www-form-urlencoded")
    }
    let (operation, members) = parts(call)
    let body = JSONValue.object(members.map { JSONMember($0.0, $0.1) })
    return Question(
      operation: operation, body: Secret(body.jsonBytes()), contentType: "application/json")
  }

  private static func parts(_ call: AccountCall) -> (String, [(String, JSONValue)]) {
    let returns: (String, JSONValue) = ("returnSecureToken", true)
    switch call {
    case .signUp(let email, let password):
      return ("signUp", [("email", .string(email)), ("password", text(password)), returns])
    case .signUpAnonymously: return ("signUp", [returns])
    case .signIn(let email, let password):
      return (
        "signInWithPassword", [("email", .string(email)), ("password", text(password)), returns]
      )
    case .signInWithToken(let token):
      return ("signInWithCustomToken", [("token", text(token)), returns])
    case .link(let token, let email, let password):
      return (
        "signUp",
        [
          ("idToken", text(token)), ("email", .string(email)), ("password", text(password)),
          returns,
        ]
      )
    case .lookUp(let token): return ("lookup", [("idToken", text(token))])
    case .setPassword(let token, let password):
      return ("update", [("idToken", text(token)), ("password", text(password)), returns])
    case .setEmail(let token, let email):
      return ("update", [("idToken", text(token)), ("email", .string(email)), returns])
    case .setProfile(let token, let profile):
      return ("update", [("idToken", text(token))] + members(profile))
    case .sendVerification(let token):
      return ("sendOobCode", [("requestType", "VERIFY_EMAIL"), ("idToken", text(token))])
    case .sendEmailChange(let token, let email):
      return (
        "sendOobCode",
        [
          ("requestType", "VERIFY_AND_CHANGE_EMAIL"), ("idToken", text(token)),
          ("newEmail", .string(email)),
        ]
      )
    case .sendPasswordReset(let email):
      return ("sendOobCode", [("requestType", "PASSWORD_RESET"), ("email", .string(email))])
    case .checkCode(let code): return ("resetPassword", [("oobCode", mailed(code))])
    case .resetPassword(let code, let password):
      return ("resetPassword", [("oobCode", mailed(code)), ("newPassword", text(password))])
    case .applyCode(let code, let token):
      let shown = token.map { [("idToken", text($0)), returns] } ?? []
      return ("update", [("oobCode", mailed(code))] + shown)
    case .delete(let token): return ("delete", [("idToken", text(token))])
    case .refresh: return ("", [])
    }
  }

  private static func text(_ secret: Secret<String>) -> JSONValue { .string(secret.reveal()) }

  /// Returns the code in what was copied from a message: the code, the link with it, or the link's end.
  private static func mailed(_ copied: Secret<String>) -> JSONValue {
    let text = copied.reveal().filter { !$0.isWhitespace }
    let start = text.firstRange(of: "oobCode=")?.upperBound ?? text.startIndex
    return .string(String(text[start...].prefix { $0 != "&" && $0 != "#" }))
  }

  private static func members(_ profile: AccountProfile) -> [(String, JSONValue)] {
    var members: [(String, JSONValue)] = []
    var removed: [JSONValue] = []
    for (name, attribute, value) in [
      ("displayName", "DISPLAY_NAME", profile.displayName),
      ("photoUrl", "PHOTO_URL", profile.photoURL),
    ] {
      guard let value else { continue }
      if value.isEmpty {
        removed.append(.string(attribute))
      } else {
        members.append((name, .string(value)))
      }
    }
    return removed.isEmpty ? members : members + [("deleteAttribute", .array(removed))]
  }

  // MARK: Answers

  /// Reads an answer; `service` is its name for messages.
  static func reply(
    to call: AccountCall, status: Int, body: [UInt8], service: String
  ) -> Result<AccountReply, AccountFailure> {
    // A body that is not JSON tells nothing.
    let json = try? JSONValue(parsing: body)
    guard status == 200 else { return .failure(failure(status, json, service)) }
    guard let json, json.object != nil else { return .failure(.malformed("it is not JSON")) }
    switch call {
    case .refresh: return .success(refreshed(json))
    case .lookUp:
      guard let record = json["users"]?[0], let user = user(record) else {
        return .failure(.malformed("it has no user"))
      }
      var reply = AccountReply()
      (reply.userID, reply.user) = (user.id, user)
      return .success(reply)
    default: return .success(reply(json))
    }
  }

  /// Makes the failure for an answer with an error.
  ///
  /// Only a refusal (4xx) has a word of the service: an error of the server says nothing about a
  /// credential.
  private static func failure(
    _ status: Int, _ json: JSONValue?, _ service: String
  ) -> AccountFailure {
    let error = json?["error"]
    let text = error?["message"]?.string ?? error?.string ?? ""
    if status == 429 || status == 503 || status >= 500 || status < 400 {
      return AccountFailure(
        status == 429 ? .tooManyAttempts : .unavailable,
        "\(service) cannot answer at the moment: status \(status).")
    }
    let word = text.prefix { $0 == "_" || ("A"..."Z").contains($0) || $0.isNumber }
    let rest = text.dropFirst(word.count)
    if !word.isEmpty, rest.isEmpty || rest.drop(while: { $0 == " " }).hasPrefix(":") {
      return AccountFailure(service: text)
    }
    if error?["status"] == nil, [404, 405, 501].contains(status) {
      return AccountFailure(.noAccounts, "\(service) has no accounts.")
    }
    let name = error?["status"]?.string ?? "status-\(status)"
    let reason = text.isEmpty ? "" : " \(text.prefix(200))"
    return AccountFailure(
      AccountFailure.Code(rawValue: name.lowercased().replacing("_", with: "-")),
      "\(service) refused the request with status \(status).\(reason)")
  }

  private static func refreshed(_ json: JSONValue) -> AccountReply {
    var reply = AccountReply()
    reply.userID = json["user_id"]?.string
    reply.idToken = (json["id_token"]?.string ?? json["access_token"]?.string).map { Secret($0) }
    reply.refreshToken = json["refresh_token"]?.string.map { Secret($0) }
    reply.lifetimeSeconds = number(json["expires_in"])
    return reply
  }

  private static func reply(_ json: JSONValue) -> AccountReply {
    var reply = AccountReply()
    reply.userID = json["localId"]?.string
    reply.idToken = json["idToken"]?.string.map { Secret($0) }
    reply.refreshToken = json["refreshToken"]?.string.map { Secret($0) }
    reply.lifetimeSeconds = number(json["expiresIn"])
    if let type = json["requestType"]?.string {
      reply.code = AccountCode(
        purpose(type), email: json["email"]?.string, newEmail: json["newEmail"]?.string)
      reply.code?.isOfNewAccount = json["isNewUser"]?.bool == true
    }
    return reply
  }

  private static func purpose(_ type: String) -> AccountCode.Purpose {
    switch type {
    case "PASSWORD_RESET": .passwordReset
    case "VERIFY_EMAIL": .emailVerification
    case "VERIFY_AND_CHANGE_EMAIL": .emailChange
    case "RECOVER_EMAIL": .emailRecovery
    case "EMAIL_SIGNIN": .signIn
    default: .other(type)
    }
  }

  private static func user(_ record: JSONValue) -> AccountUser? {
    guard let id = record["localId"]?.string, !id.isEmpty else { return nil }
    var user = AccountUser(id: id)
    user.email = record["email"]?.string
    user.isEmailVerified = record["emailVerified"]?.bool ?? false
    user.displayName = record["displayName"]?.string
    user.photoURL = record["photoUrl"]?.string
    user.created = number(record["createdAt"])
    user.lastSignIn = number(record["lastLoginAt"])
    let providers = record["providerUserInfo"]?.array ?? []
    if providers.contains(where: { $0["providerId"]?.string == "password" }) {
      user.method = "password"
    }
    return user
  }

  /// A whole number, which may be written as text.
  private static func number(_ json: JSONValue?) -> Int64? {
    json?.string.flatMap { Int64($0) } ?? json?.int.map { Int64($0) }
  }
}
