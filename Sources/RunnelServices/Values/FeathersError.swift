public import RunnelBase

/// An error of a service, with all that the server sent about it.
///
/// The JSON form has the members in the order in which Feathers writes them, and members that are
/// unknown here behind them, so that an error passes through unchanged.
public struct FeathersError: Error, Hashable, Sendable {
  /// The name: `NotFound`.
  public var name: String
  /// The message, for people.
  public var message: String
  /// The code, which over REST is the status of the answer.
  public var code: Int
  /// The name in the form of a CSS class: `not-found`.
  public var className: String
  /// What the thrower added; nil for nothing.
  public var data: JSONValue?
  /// The errors of single fields; nil for none.
  public var errors: JSONValue?
  /// The other members of the JSON form, in their order.
  public var rest: [JSONMember]

  /// Makes an error of a kind.
  ///
  /// An `errors` member of an object in `data` is lifted out of it, as Feathers does.
  public init(
    _ kind: Kind, _ message: String, data: JSONValue? = nil, errors: JSONValue? = nil
  ) {
    (name, code, className) = (kind.name, kind.code, kind.className)
    self.message = message
    (self.data, self.errors, rest) = (data, errors, [])
    guard errors == nil, case .object(let members)? = data, let lifted = data?["errors"] else {
      return
    }
    self.errors = lifted
    let left = members.filter { $0.name != "errors" }
    self.data = left.isEmpty ? nil : .object(left)
  }

  /// The kind that the code stands for; that of the name if the code is not one of Feathers'.
  public var kind: Kind { Kind(code: code) ?? Kind(name: name) ?? .generalError }
}

extension FeathersError: CustomStringConvertible {
  /// The name, the code and the message.
  public var description: String { "\(name) (\(code)): \(message)" }
}

// MARK: - Kinds

extension FeathersError {
  /// A kind of error: the name, the code and the class that belong together.
  public struct Kind: Hashable, Sendable {
    /// The name: `NotFound`.
    public let name: String
    /// The code: 404.
    public let code: Int
    /// The class: `not-found`.
    public let className: String

    private init(_ code: Int, _ name: String, _ className: String) {
      (self.code, self.name, self.className) = (code, name, className)
    }

    /// 400: the call makes no sense to the server.
    public static let badRequest = Kind(400, "BadRequest", "bad-request")
    /// 401: the caller is not signed in, or its token is not valid.
    public static let notAuthenticated = Kind(401, "NotAuthenticated", "not-authenticated")
    /// 402.
    public static let paymentError = Kind(402, "PaymentError", "payment-error")
    /// 403: the caller may not do this.
    public static let forbidden = Kind(403, "Forbidden", "forbidden")
    /// 404: there is no such service, or no such record.
    public static let notFound = Kind(404, "NotFound", "not-found")
    /// 405: the service does not have the method.
    public static let methodNotAllowed = Kind(405, "MethodNotAllowed", "method-not-allowed")
    /// 406.
    public static let notAcceptable = Kind(406, "NotAcceptable", "not-acceptable")
    /// 408: no answer came in time, and what became of a write is not known.
    public static let timeout = Kind(408, "Timeout", "timeout")
    /// 409: the record is there already, or was changed meanwhile.
    public static let conflict = Kind(409, "Conflict", "conflict")
    /// 410.
    public static let gone = Kind(410, "Gone", "gone")
    /// 411.
    public static let lengthRequired = Kind(411, "LengthRequired", "length-required")
    /// 422: the data break a rule of the service.
    public static let unprocessable = Kind(422, "Unprocessable", "unprocessable")
    /// 429: the caller is too fast.
    public static let tooManyRequests = Kind(429, "TooManyRequests", "too-many-requests")
    /// 499: the task that waited for the call was cancelled; no server sends it.
    public static let cancelled = Kind(499, "Cancelled", "cancelled")
    /// 500: any other error.
    public static let generalError = Kind(500, "GeneralError", "general-error")
    /// 501.
    public static let notImplemented = Kind(501, "NotImplemented", "not-implemented")
    /// 502: something between client and server answered in the server's place.
    public static let badGateway = Kind(502, "BadGateway", "bad-gateway")
    /// 503: the server cannot be reached, or does not serve now.
    public static let unavailable = Kind(503, "Unavailable", "unavailable")

    /// All kinds, by code.
    public static let all: [Kind] = [
      badRequest, notAuthenticated, paymentError, forbidden, notFound, methodNotAllowed,
      notAcceptable, timeout, conflict, gone, lengthRequired, unprocessable, tooManyRequests,
      cancelled, generalError, notImplemented, badGateway, unavailable,
    ]

    /// The kind with a code; nil if there is none.
    public init?(code: Int) {
      guard let kind = Kind.all.first(where: { $0.code == code }) else { return nil }
      self = kind
    }

    /// The kind with a name; nil if there is none.
    public init?(name: String) {
      guard let kind = Kind.all.first(where: { $0.name == name }) else { return nil }
      self = kind
    }

    /// The kind that an HTTP status stands for; those that Feathers has no error for are general errors.
    public init(status: Int) { self = Kind(code: status) ?? .generalError }
  }
}

// MARK: - JSON

extension FeathersError {
  private static let ownNames: Set<String> = [
    "name", "message", "code", "className", "data", "errors",
  ]

  /// The JSON form.
  public var json: JSONValue {
    var members = [
      JSONMember("name", .string(name)), JSONMember("message", .string(message)),
      JSONMember("code", .number(JSONNumber(Int64(code)))),
      JSONMember("className", .string(className)),
    ]
    if let data { members.append(JSONMember("data", data)) }
    if let errors { members.append(JSONMember("errors", errors)) }
    return .object(members + rest)
  }

  /// Reads the JSON form.
  ///
  /// What lacks a code is a general error, or one of the kind that its name tells: over a socket,
  /// errors that Feathers did not make have a message only. A text is taken for the message.
  public init(json: JSONValue) {
    let name = json["name"]?.string
    let code = json["code"]?.int
    let kind = code.flatMap { Kind(code: $0) } ?? name.flatMap { Kind(name: $0) } ?? .generalError
    self.code = code ?? kind.code
    self.name = name ?? kind.name
    className = json["className"]?.string ?? kind.className
    message = json["message"]?.string ?? json.string ?? kind.name
    data = json["data"]
    errors = json["errors"]
    rest = (json.object ?? []).filter { !FeathersError.ownNames.contains($0.name) }
  }

  /// Reads the body of an HTTP answer that reports a failure.
  ///
  /// A body that is not JSON, such as a page of a proxy, gives an error of the kind of the status.
  public init(status: Int, body: some Sequence<UInt8>) {
    if let json = try? JSONValue(parsing: body), json["message"]?.string != nil {
      self.init(json: json)
      if json["code"]?.int == nil, json["name"]?.string == nil {
        let kind = Kind(status: status)
        (name, code, className) = (kind.name, status, kind.className)
      }
      return
    }
    self.init(Kind(status: status), "The server answered with status \(status).")
    code = status
  }

  /// True if the body of an HTTP answer has an error that a service told.
  package static func isTold(in body: some Sequence<UInt8>) -> Bool {
    (try? JSONValue(parsing: body))?["message"]?.string != nil
  }

  /// True if the same call may succeed later: the server is busy, cannot be reached, or something else answered
  /// in its place.
  package var isRetryable: Bool {
    [408, 429, 502, 503, 504].contains(code) || data?["isSent"]?.bool == true
  }

  /// True if the call may have been done although there is no answer.
  package var mayBeDone: Bool {
    data?["isSent"]?.bool ?? [408, 502, 503, 504].contains(code)
  }

  /// Returns an error as one of a service; what is none becomes a general error with its text.
  public static func from(_ error: any Error) -> FeathersError {
    switch error {
    case let error as FeathersError: error
    case is CancellationError: FeathersError(.cancelled, "The call was cancelled.")
    default: FeathersError(.generalError, "\(error)")
    }
  }
}

extension FeathersError {
  /// The most fields, and the most characters of a field's message, that are told.
  private static let (fieldsMax, fieldMessageMax) = (20, 200)

  /// The errors of single fields in words, the first ones.
  ///
  /// They are in `errors`, or in `data`: by the names of the fields, or as a schema's validation lists them.
  package var fieldMessages: [(name: String, message: String)] {
    let named = [errors, data?["errors"]].lazy.compactMap { $0.map(FeathersError.messages) }
      .first { !$0.isEmpty }
    let found = named ?? (data?.array == nil ? [] : FeathersError.messages(of: data ?? .null))
    return found.prefix(FeathersError.fieldsMax).map { name, message in
      let isLong = message.count > FeathersError.fieldMessageMax
      return (name, isLong ? message.prefix(FeathersError.fieldMessageMax) + "…" : message)
    }
  }

  private static func messages(of errors: JSONValue) -> [(name: String, message: String)] {
    switch errors {
    case .object(let members):
      // An error that is an object has a message, mostly.
      members.prefix(fieldsMax).map { member in
        let words = member.value.string ?? member.value["message"]?.string
        return (member.name, words ?? member.value.jsonText())
      }
    case .array(let elements):
      elements.prefix(fieldsMax).compactMap { element in
        element["message"]?.string.map { (name(ofFieldIn: element), $0) }
      }
    default: []
    }
  }

  /// The dotted name of the field that an error of a schema's validation is about; empty for the whole record.
  private static func name(ofFieldIn error: JSONValue) -> String {
    let pointer = error["instancePath"]?.string ?? error["dataPath"]?.string ?? ""
    var names = pointer.split(separator: pointer.hasPrefix("/") ? "/" : ".").map { name in
      // A slash within a name is written as `~1`, and `~` as `~0`.
      name.split(separator: "~1", omittingEmptySubsequences: false)
        .map { $0.split(separator: "~0", omittingEmptySubsequences: false).joined(separator: "~") }
        .joined(separator: "/")
    }
    let params = error["params"]
    let missing = params?["missingProperty"]?.string ?? params?["additionalProperty"]?.string
    if let missing { names.append(missing) }
    return names.joined(separator: ".")
  }
}
