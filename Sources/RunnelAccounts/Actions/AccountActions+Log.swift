public import RunnelBase
public import RunnelStore

// Logs of the actions about the session.

private enum LogField {
  static let userId = "userId"
  static let email = "email"
  static let emailVerified = "emailVerified"
  static let reason = "reason"
  static let request = "request"
  static let code = "code"
  static let message = "message"
  static let service = "service"
}

extension ActionRegistry {
  /// Adds all actions about the session, so that they can be read from a log.
  public mutating func registerAccountActions() {
    register(UserIdentified.self)
    register(UserLoggedIn.self)
    register(UserSignedUp.self)
    register(UserLoggedOut.self)
    register(PasswordChanged.self)
    register(EmailChanged.self)
    register(PasswordReset.self)
    register(EmailVerificationSent.self)
    register(UserAuthFailed.self)
  }
}

extension JSONValue {
  fileprivate func text(_ name: String) throws(ActionLogError) -> String {
    guard let text = self[name]?.string else {
      throw ActionLogError(.malformed, "\"\(name)\" is missing.")
    }
    return text
  }
}

extension AccountFailure {
  fileprivate var json: JSONValue {
    var members = [
      JSONMember(LogField.code, .string(code.rawValue)),
      JSONMember(LogField.message, .string(message)),
    ]
    if let serviceCode { members.append(JSONMember(LogField.service, .string(serviceCode))) }
    return .object(members)
  }

  fileprivate init(_ json: JSONValue) throws(ActionLogError) {
    self.init(
      Code(rawValue: try json.text(LogField.code)), try json.text(LogField.message),
      serviceCode: json[LogField.service]?.string)
  }
}

extension UserIdentified: LoggableAction {
  /// `UserIdentified`.
  public static var kind: String { "UserIdentified" }

  /// The user.
  public func json() -> JSONValue {
    [LogField.userId: .string(userId), LogField.emailVerified: .bool(emailVerified)]
  }

  /// Reads the user.
  public init(json: JSONValue) throws {
    self.init(
      userId: try json.text(LogField.userId),
      emailVerified: json[LogField.emailVerified]?.bool ?? false)
  }
}

extension UserLoggedIn: LoggableAction {
  /// `UserLoggedIn`.
  public static var kind: String { "UserLoggedIn" }

  /// The user.
  public func json() -> JSONValue {
    let email = email.map { JSONValue.string($0) } ?? .null
    return [
      LogField.userId: .string(userId), LogField.emailVerified: .bool(emailVerified),
      LogField.email: email,
    ]
  }

  /// Reads the user.
  public init(json: JSONValue) throws {
    self.init(
      userId: try json.text(LogField.userId),
      emailVerified: json[LogField.emailVerified]?.bool ?? false,
      email: json[LogField.email]?.string)
  }
}

extension UserSignedUp: LoggableAction {
  /// `UserSignedUp`.
  public static var kind: String { "UserSignedUp" }

  /// The user.
  public func json() -> JSONValue {
    [LogField.userId: .string(userId), LogField.email: .string(email)]
  }

  /// Reads the user.
  public init(json: JSONValue) throws {
    self.init(userId: try json.text(LogField.userId), email: try json.text(LogField.email))
  }
}

extension UserLoggedOut: LoggableAction {
  /// `UserLoggedOut`.
  public static var kind: String { "UserLoggedOut" }

  /// The reason.
  public func json() -> JSONValue { [LogField.reason: reason?.json ?? .null] }

  /// Reads the reason.
  public init(json: JSONValue) throws {
    let reason = json[LogField.reason] ?? .null
    self.init(reason: reason.isNull ? nil : try AccountFailure(reason))
  }
}

extension PasswordChanged: LoggableAction {
  /// `PasswordChanged`.
  public static var kind: String { "PasswordChanged" }

  /// Nothing.
  public func json() -> JSONValue { .object([]) }

  /// Makes the action.
  public init(json: JSONValue) { self.init() }
}

extension EmailChanged: LoggableAction {
  /// `EmailChanged`.
  public static var kind: String { "EmailChanged" }

  /// The address.
  public func json() -> JSONValue { [LogField.email: .string(email)] }

  /// Reads the address.
  public init(json: JSONValue) throws { self.init(email: try json.text(LogField.email)) }
}

extension PasswordReset: LoggableAction {
  /// `PasswordReset`.
  public static var kind: String { "PasswordReset" }

  /// Nothing.
  public func json() -> JSONValue { .object([]) }

  /// Makes the action.
  public init(json: JSONValue) { self.init() }
}

extension EmailVerificationSent: LoggableAction {
  /// `EmailVerificationSent`.
  public static var kind: String { "EmailVerificationSent" }

  /// Nothing.
  public func json() -> JSONValue { .object([]) }

  /// Makes the action.
  public init(json: JSONValue) { self.init() }
}

extension UserAuthFailed: LoggableAction {
  /// `UserAuthFailed`.
  public static var kind: String { "UserAuthFailed" }

  /// The request and its failure.
  public func json() -> JSONValue {
    [LogField.request: .string(reason.name), LogField.reason: reason.failure.json]
  }

  /// Reads the request and its failure.
  public init(json: JSONValue) throws {
    let failure = try AccountFailure(json[LogField.reason] ?? .null)
    let name = try json.text(LogField.request)
    guard let reason = Reason(name: name, failure) else {
      throw ActionLogError(.malformed, "\"\(name)\" is no request of this library.")
    }
    self.init(reason)
  }
}
