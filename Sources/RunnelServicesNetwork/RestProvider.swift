public import RunnelBase
public import RunnelNetwork
public import RunnelServices
import Synchronization

/// How services of another host are asked.
public struct ServiceAccess: Sendable {
  /// A PEM file of the certificates to trust, instead of those that the system trusts.
  public var trustedFile: String?
  /// The proxy for addresses with TLS.
  public var proxies = WebProxies.none
  /// What the server is told about the program.
  public var userAgent = "runnel"
  /// Headers that each request has, such as the key of a gateway.
  public var headers: [String: String] = [:]
  /// The longest time for a call over REST, in milliseconds.
  public var callMilliseconds: Int64 = 20_000
  /// How often a `find` or `get` over REST is repeated if the server cannot be reached or is busy.
  public var retriesMax = 3
  /// Times and transports of a socket.
  public var socket = SocketSession.Options()
  /// The path of Socket.IO on the server.
  public var socketPath = "/socket.io/"
  /// True for servers of Feathers 2, which understand `path::method` only.
  public var usesJoinedNames = false

  /// Makes the usual access.
  public init() {}

  func client() -> WebClient {
    WebClient(trustedFile: trustedFile, proxies: proxies, userAgent: userAgent)
  }

  /// What is said of a write that was sent and got no answer that tells what became of it.
  package static let unknownOutcome = "what became of the call is not known"

  /// The most bytes of an answer.
  static let answerBytesMax = 256 << 20
}

/// Asks the services of a server over REST.
///
/// A server tells of no events over REST: the application raises those of its own calls.
public final class RestProvider: ServiceProvider {
  private let base: String
  private let access: ServiceAccess
  private let client: WebClient
  private let isClosed = Mutex(false)

  /// Makes a provider for the services below an address.
  public init(_ address: WebAddress, _ access: ServiceAccess = ServiceAccess()) {
    let path = address.target.prefix { $0 != "?" }
    base = address.bare + (path.hasSuffix("/") ? path.dropLast() : path)
    self.access = access
    client = access.client()
  }

  /// False: over REST a server tells of no events.
  public var hasEvents: Bool { false }

  /// Needs nothing.
  public func attach(_ link: ProviderLink) {}

  /// Refuses calls from then on.
  public func close() { isClosed.withLock { $0 = true } }

  /// Makes a call.
  public func call(_ call: ProviderCall) async throws(FeathersError) -> JSONValue {
    if isClosed.withLock({ $0 }) {
      throw FeathersError(.unavailable, "The connection was closed by the program.")
    }
    guard call.request.method == .find, let parts = call.request.query.splitForREST else {
      try call.request.query.checkLists()
      return try await single(call)
    }
    return try await joined(call, parts)
  }

  // MARK: Long lists

  /// Asks for each part of a long list, and joins the answers.
  private func joined(
    _ call: ProviderCall, _ parts: [ServiceQuery]
  ) async throws(FeathersError) -> JSONValue {
    var records: [JSONValue] = []
    var seen: Set<JSONValue> = []
    var limit: Int?
    for part in parts {
      var call = call
      call.request.query = part
      let result = ServiceResult(try await single(call))
      if let page = result.page {
        if page.total.map({ $0 > page.records.count }) ?? true {
          throw FeathersError(
            .badRequest,
            "The list is too long for one request over REST, and the server returns pages: use the "
              + "socket, or fewer values.")
        }
        limit = page.limit ?? limit
      }
      records += result.records.filter { seen.insert($0).inserted }
    }
    guard let limit else { return .array(records) }
    return ServicePage(total: records.count, limit: limit, skip: 0, records: records).json
  }

  // MARK: One request

  private func single(_ call: ProviderCall) async throws(FeathersError) -> JSONValue {
    let request = try webRequest(call)
    let isRead = call.request.method == .find || call.request.method == .get
    var attempt = 0
    while true {
      let failure: FeathersError
      var pause: Int64?
      do throws(FeathersError) {
        let answer = try await answer(request, isRead)
        if let error = RestProvider.redirection(answer) { throw error }
        if (200..<300).contains(answer.status) { return try RestProvider.value(answer, isRead) }
        failure = RestProvider.failure(answer, isRead)
        pause = answer.headers("Retry-After").first.flatMap { Int64($0) }.map { $0 * 1000 }
      } catch {
        failure = error
      }
      guard isRead, attempt < access.retriesMax,
        [408, 429, 502, 503, 504].contains(failure.code)
      else { throw failure }
      let step = 1000 * Double(1 << attempt)
      let wait = pause ?? Int64(step * Double.random(in: 0.5...1.5))
      attempt += 1
      do {
        try await NetworkTasks.sleep(milliseconds: min(wait, 30_000))
      } catch {
        throw FeathersError.from(error)
      }
    }
  }

  /// Sends a request and waits for the answer, but not longer than a call may take.
  private func answer(
    _ request: WebRequest, _ isRead: Bool
  ) async throws(FeathersError) -> WebAnswer {
    let (client, limit) = (client, access.callMilliseconds)
    do {
      return try await withThrowingTaskGroup(of: WebAnswer?.self) { group in
        group.addTask {
          try await client.answer(to: request, bytesMax: ServiceAccess.answerBytesMax)
        }
        group.addTask {
          try await NetworkTasks.sleep(milliseconds: limit)
          return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let answer = first else {
          throw FeathersError(
            .timeout,
            RestProvider.text("The server did not answer within \(limit / 1000) s.", isRead),
            data: ["isSent": true])
        }
        return answer
      }
    } catch {
      if Task.isCancelled { throw FeathersError(.cancelled, "The call was cancelled.") }
      if let error = error as? NetworkError {
        let text = error.isSent ? RestProvider.text(error.message, isRead) : error.message
        throw FeathersError(.unavailable, text, data: ["isSent": .bool(error.isSent)])
      }
      throw FeathersError.from(error)
    }
  }

  /// The text for a call that was sent and got no answer: of a write it says that its outcome is not known.
  private static func text(_ reason: String, _ isRead: Bool) -> String {
    isRead ? reason : "\(reason.dropLast()): \(ServiceAccess.unknownOutcome)."
  }

  private func webRequest(_ call: ProviderCall) throws(FeathersError) -> WebRequest {
    let request = call.request
    var path = "/" + RestProvider.escapedPath(call.path)
    if let id = request.id {
      if id.text.isEmpty { throw FeathersError(.badRequest, "The id of a record is not empty.") }
      path += "/" + QueryString.pathSegment(id.text)
    }
    let query = try QueryString.encoded(request.query)
    if !query.isEmpty { path += "?" + query }
    guard let address = WebAddress(base + path) else {
      throw FeathersError(.badRequest, "\(base + path) is not an address.")
    }
    var headers = [(name: "Accept", value: "application/json")]
    headers += access.headers.merging(call.headers) { $1 }.map { ($0.key, $0.value) }
    if let token = call.token { headers.append(("Authorization", "Bearer \(token)")) }
    if case .custom(let name) = request.method { headers.append(("X-Service-Method", name)) }
    var body: [UInt8]?
    if request.method.hasData, request.method != .remove {
      var writer = JSONWriter()
      writer.writeValue(request.data ?? .null)
      body = writer.takeBytes()
      headers.append(("Content-Type", "application/json"))
    }
    return WebRequest(RestProvider.verb(request.method), address, headers: headers, body: body)
  }

  private static func escapedPath(_ path: String) -> String {
    path.split(separator: "/").map { QueryString.escapedSegment($0) }.joined(separator: "/")
  }

  private static func verb(_ method: ServiceMethod) -> String {
    switch method {
    case .find, .get: "GET"
    case .create, .custom: "POST"
    case .update: "PUT"
    case .patch: "PATCH"
    case .remove: "DELETE"
    }
  }

  /// Returns the error for an answer that sends the caller to another address; nil for others.
  private static func redirection(_ answer: WebAnswer) -> FeathersError? {
    guard (300..<400).contains(answer.status),
      let target = answer.headers("Location").first
    else { return nil }
    return FeathersError(
      .generalError, "The server sends the caller to \(target.prefix(200)): use that address.")
  }

  /// The error of an answer without success.
  ///
  /// What fails with 500 and above, and has no error that a service told, may be a proxy's: it says nothing of the
  /// call, which was sent.
  private static func failure(_ answer: WebAnswer, _ isRead: Bool) -> FeathersError {
    var error = FeathersError(status: answer.status, body: answer.body)
    // Of 502, 503 and 504 that is known, whoever sends them.
    guard answer.status >= 500, ![501, 502, 503, 504].contains(answer.status),
      !FeathersError.isTold(in: answer.body)
    else { return error }
    error.message = text(error.message, isRead)
    error.data = ["isSent": true]
    return error
  }

  private static func value(
    _ answer: WebAnswer, _ isRead: Bool
  ) throws(FeathersError) -> JSONValue {
    if answer.status == 204 || answer.body.isEmpty && isRead { return .null }
    do throws(JSONError) {
      return try JSONValue(parsing: answer.body)
    } catch {
      let isJSON = answer.body.first.map { $0 == 0x7B || $0 == 0x5B } ?? false
      var reason = "The answer with status \(answer.status) is not JSON (\(error))"
      if isRead {
        reason += ": is this the address of a Feathers server?"
        throw FeathersError(.generalError, reason)
      }
      if isJSON { reason = "The answer breaks off (\(error))" }
      if answer.body.isEmpty { reason = "The answer with status \(answer.status) is empty" }
      // A proxy may have sent it, before the server or after.
      throw FeathersError(.unavailable, text(reason + ".", isRead), data: ["isSent": true])
    }
  }
}

extension ServiceQuery {
  /// - Throws: `BadRequest` for a list that is not split only because the answers could not be joined.
  fileprivate func checkLists() throws(FeathersError) {
    let filters = ["$limit", "$skip", "$sort"].filter { self[$0] != nil }
    var plain = self
    for name in filters { plain[name] = JSONValue?.none }
    if filters.isEmpty || plain.splitForREST == nil { return }
    throw FeathersError(
      .badRequest,
      "A list of more than \(QueryString.elementsMax) values is sent over REST in parts, which cannot be joined "
        + "with \(filters.joined(separator: ", ")): leave that out, or use the socket.")
  }

  /// The queries into which one with a long `$in` is split for REST; nil if it need not or cannot be.
  ///
  /// With an order or a page the answers could not be joined.
  var splitForREST: [ServiceQuery]? {
    let most = QueryString.elementsMax
    guard self["$limit"] == nil, self["$skip"] == nil, self["$sort"] == nil,
      let field = members.first(where: {
        !$0.name.hasPrefix("$") && $0.value["$in"]?.array?.count ?? 0 > most
      }), let values = field.value["$in"]?.array, let conditions = field.value.object
    else { return nil }
    return stride(from: 0, to: values.count, by: most).map { start in
      let part = JSONValue.array(Array(values[start..<min(start + most, values.count)]))
      var query = self
      query[field.name] = .object(
        conditions.map { $0.name == "$in" ? JSONMember("$in", part) : $0 })
      return query
    }
  }
}
