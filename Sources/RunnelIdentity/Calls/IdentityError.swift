package import RunnelBase

/// An error of the API, in its own words.
///
/// Source: authentication, sections 1 and 9.
package struct IdentityError: Error, Hashable, Sendable {
  /// The status of HTTP.
  package var status: Int
  /// The code, and maybe an explanation: `EMAIL_EXISTS`, `WEAK_PASSWORD : Password should …`.
  package var message: String
  /// The name of the status; nil for errors of an operation.
  package var statusName: String?
  package var reason: String
  /// True if the body has the form of an emulator's answers to clicks on links.
  package var isOfLink = false

  package init(
    _ message: String, status: Int = 400, statusName: String? = nil, reason: String = "invalid"
  ) {
    (self.message, self.status, self.statusName) = (message, status, statusName)
    self.reason = reason
  }

  /// The code without the explanation.
  package var code: String {
    String(message.prefix { $0 != ":" && $0 != " " })
  }

  /// The body of the answer.
  package var json: JSONValue {
    if isOfLink {
      return [
        "authEmulator": [
          "error": .string(message), "instructions": "Ask for a new link, and open that.",
        ]
      ]
    }
    var members: [JSONMember] = [
      JSONMember("code", .number(JSONNumber(Int64(status)))),
      JSONMember("message", .string(message)),
      JSONMember(
        "errors",
        [["message": .string(message), "reason": .string(reason), "domain": "global"]]),
    ]
    if let statusName { members.append(JSONMember("status", .string(statusName))) }
    return ["error": .object(members)]
  }

  // MARK: Errors of requests

  package static let unknownURL = IdentityError(
    "Not Found", status: 404, statusName: "NOT_FOUND", reason: "notFound")

  package static let missingKey = IdentityError(
    "The request is missing a valid API key.", status: 403, statusName: "PERMISSION_DENIED",
    reason: "forbidden")

  package static let unauthenticated = IdentityError(
    "Request is missing required authentication credential.", status: 401,
    statusName: "UNAUTHENTICATED", reason: "required")

  package static let badCredential = IdentityError(
    "Request had invalid authentication credentials.", status: 401, statusName: "UNAUTHENTICATED",
    reason: "authError")

  package static let tooLarge = IdentityError(
    "The request is too large.", status: 413, statusName: "INVALID_ARGUMENT", reason: "tooLarge")

  package static func unimplemented(_ what: String) -> IdentityError {
    IdentityError(
      "\(what) is not served here.", status: 501, statusName: "NOT_IMPLEMENTED",
      reason: "notImplemented")
  }

  package static func badJSON(_ what: String) -> IdentityError {
    IdentityError(
      "Invalid JSON payload received. \(what)", statusName: "INVALID_ARGUMENT",
      reason: "parseError")
  }

  package static let unavailable = IdentityError(
    "INTERNAL_ERROR : The accounts cannot be read or written now", status: 503,
    statusName: "UNAVAILABLE", reason: "backendError")

  /// The error of a client that tries too often, or of a server that has too much to do.
  package static let tooManyAttempts = IdentityError(
    "TOO_MANY_ATTEMPTS_TRY_LATER : Too many attempts: try again later")

  /// The error of a client that has to wait, with how long: in seconds, from two minutes on in minutes.
  package static func tooManyAttempts(waiting seconds: Int64) -> IdentityError {
    let isLong = seconds > 119
    let count = isLong ? (seconds + 59) / 60 : seconds
    let unit = (isLong ? "minute" : "second") + (count == 1 ? "" : "s")
    return IdentityError(tooManyAttempts.message.replacing("later", with: "in \(count) \(unit)"))
  }

  /// The explanation that follows the code; nil if there is none.
  package var explanation: Substring? {
    message.firstRange(of: " : ").map { message[$0.upperBound...] }
  }
}

/// The reason why a decision stops before its answer.
package enum IdentityStop: Error {
  /// The request is refused.
  case error(IdentityError)
  /// Passwords have to be hashed or checked first; then the request is decided again.
  case work([PasswordWork])
  /// The accounts cannot be read.
  case storage(any Error)

  /// The refusal with an error of an operation.
  package static func refused(_ message: String) -> IdentityStop { .error(IdentityError(message)) }
}
