import RunnelBase
import RunnelTree

/// A request that was read: what the client asks for, and the style of the answer.
struct RESTCall {
  enum Method: Hashable {
    case get
    case put
    case post
    case patch
    case delete
  }

  /// The style in which an answer is written.
  struct Style: Hashable {
    var isPretty = false
    var isSilent = false
    /// The function name of a JSONP answer; nil for plain JSON.
    var callback: String?
    var download: String?
  }

  let method: Method
  let target: RESTTarget
  private(set) var style = Style()
  private(set) var form = TreeExport.Form.plain
  let isStream: Bool
  /// True if the client asks for the hash of the place.
  let wantsHash: Bool
  /// The hash that the place must have, or the tag that the places of an update must have; nil if there is no
  /// condition.
  private(set) var condition: String?
  /// The hash that the client knows.
  private(set) var knownHash: String?
  private(set) var writeName: WriteID?
  /// The timeout of a read, in milliseconds; nil for none.
  private(set) var timeoutMilliseconds: Int64?

  init(_ request: RESTRequest) throws(RESTError) {
    target = try RESTTarget(request.target)
    method = try RESTCall.method(of: request, target)
    let accepts = request.header("accept") ?? ""
    isStream = method == .get && accepts.contains("text/event-stream")
    let tags = ["if-match", "if-none-match"].map { request.header($0).map(RESTCall.unquoted) }
    wantsHash =
      request.header("x-firebase-etag")?.lowercased() == "true" || tags.contains { $0 != nil }
    (condition, knownHash) = (tags[0], tags[1])
    if condition != nil, method != .put, method != .delete {
      throw RESTError(400, "if-match goes with PUT and DELETE only.")
    }
    if let tag = request.header("x-runnel-match") {
      if method != .patch { throw RESTError(400, "X-Runnel-Match goes with PATCH only.") }
      condition = RESTCall.unquoted(tag)
    }
    try readStyle()
    try readForm()
    try readWriteName(request)
    if method != .get, method != .delete { try RESTCall.requirePlainBody(request) }
    timeoutMilliseconds = try target["timeout"].map(RESTCall.timeout)
  }

  private static func method(
    of request: RESTRequest, _ target: RESTTarget
  ) throws(RESTError) -> Method {
    var name = request.method
    if name == "POST" {
      let other = request.header("x-http-method-override") ?? target["x-http-method-override"]
      name = other?.uppercased() ?? name
    }
    switch name {
    case "GET": return .get
    case "PUT": return .put
    case "POST": return .post
    case "PATCH": return .patch
    case "DELETE": return .delete
    default:
      throw RESTError(
        405, "The method \(name.prefix(20)) is not known here: use GET, PUT, POST, PATCH or DELETE."
      )
    }
  }

  /// Refuses a body that is compressed: bodies are not unpacked here.
  private static func requirePlainBody(_ request: RESTRequest) throws(RESTError) {
    let coding = request.header("content-encoding")?.lowercased() ?? ""
    if coding.isEmpty || coding == "identity" { return }
    throw RESTError(
      415, "A body with Content-Encoding is not understood here: send the JSON as it is.")
  }

  /// The tag without quotes, for comparison; the tag of nothing becomes empty.
  private static func unquoted(_ tag: String) -> String {
    var tag = tag
    if tag.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") {
      tag = String(tag.dropFirst().dropLast())
    }
    return tag == RESTCall.nullTag ? "" : tag
  }

  private static let nullTag = "null_etag"

  /// The tag for a hash.
  static func tag(of hash: String) -> String { hash.isEmpty ? nullTag : hash }

  // MARK: Parameters

  private mutating func readStyle() throws(RESTError) {
    style.isPretty = target["print"] == "pretty"
    style.isSilent = target["print"] == "silent"
    if let name = target["callback"], method == .get {
      guard RESTCall.isIdentifier(name) else {
        throw RESTError(400, "callback must be the name of a function")
      }
      style.callback = name
    }
    if let name = target["download"], method == .get { style.download = name }
  }

  private static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first),
      name.utf8.count <= 128
    else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
        UInt8(ascii: "."):
        true
      default: false
      }
    }
  }

  private mutating func readForm() throws(RESTError) {
    if target["shallow"] == "true" {
      form = .shallow
    } else if target["format"] == "export" {
      form = .export
    }
  }

  private mutating func readWriteName(_ request: RESTRequest) throws(RESTError) {
    guard let text = request.header("x-runnel-write") else { return }
    let pieces = text.split(separator: " ").map(String.init)
    guard pieces.count == 2, let number = Int64(pieces[1]),
      let name = WriteID(client: pieces[0], number: number)
    else {
      throw RESTError(400, "X-Runnel-Write is the name of a client and a number from 1.")
    }
    writeName = name
  }

  /// The milliseconds in `3ms`, `3s` or `3min`, at most 15 minutes.
  private static func timeout(_ text: String) throws(RESTError) -> Int64 {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let factors: [String: Int64] = ["ms": 1, "s": 1000, "min": 60_000]
    let most: Int64 = 900_000
    guard let number = Int64(digits), number > 0,
      let factor = factors[String(text.dropFirst(digits.count))],
      !number.multipliedReportingOverflow(by: factor).overflow, number * factor <= most
    else { throw RESTError(400, "timeout must be a time like 3ms, 3s or 3min, at most 15min") }
    return number * factor
  }

  // MARK: The parts of a call

  /// The query of a read.
  func query(at path: Path) throws(RESTError) -> Query {
    try RESTQuery(target: target, path: path, isShallow: form == .shallow).query()
  }

  /// The credential in the request's header or parameters, or nil if there is none.
  static func credential(
    _ request: RESTRequest, _ target: RESTTarget
  ) throws(RESTError) -> Credential? {
    var credential: Credential?
    let bearer = "bearer "
    if let header = request.header("authorization"), header.lowercased().hasPrefix(bearer) {
      credential = Credential(String(header.dropFirst(bearer.count)), isAdministrator: true)
    } else if let token = target["access_token"] {
      credential = Credential(token, isAdministrator: true)
    } else if let token = target["auth"] {
      credential = Credential(token)
    }
    guard let text = target["auth_variable_override"] else { return credential }
    guard var other = credential else { throw RESTError.unauthorized }
    // Text that is no JSON is treated like JSON that is no object.
    switch try? JSONValue(parsing: text) {
    case .null?: other.isUnauthenticated = true
    case .object(let members)?: other.authVariable = .object(members)
    default: throw RESTError(400, "auth_variable_override must be a JSON object or null")
    }
    return other
  }
}
