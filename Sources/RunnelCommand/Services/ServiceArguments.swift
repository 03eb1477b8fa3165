import ArgumentParser
import RunnelBase
import RunnelClient
import RunnelNetwork
import RunnelServices
import RunnelServicesNetwork
import Synchronization

/// How a server is asked for its services.
enum ServiceTransport: String, CaseIterable, ExpressibleByArgument {
  /// A socket, or REST if the server has no Socket.IO.
  case auto
  /// REST.
  case rest
  /// Socket.IO, by a web socket or by polling.
  case socket
  /// Socket.IO by a web socket alone.
  case websocket
  /// Socket.IO by polling alone.
  case polling

  var carrying: SocketSession.Carrying {
    switch self {
    case .websocket: .socketOnly
    case .polling: .pollingOnly
    default: .socketFirst
    }
  }
}

/// The query of a call.
struct ServiceQueryOptions: ParsableArguments {
  @Option(
    name: .customLong("query"),
    help: ArgumentHelp("The query in JSON, with the operators of Feathers.", valueName: "json"),
    transform: ServiceQueryOptions.object)
  var given: ServiceQuery?
  @Option(
    help: ArgumentHelp(
      "A field to sort by, or FIELD:desc; given again, the next field.", valueName: "field"))
  var sort: [String] = []
  @Option(help: "The most records; 0 counts only.") var limit: Int?
  @Option(help: "The number of records to pass over.") var skip: Int?
  @Option(help: ArgumentHelp("The fields, with commas between them.", valueName: "fields"))
  var select: String?

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit is 0 or more, not \(limit).") }
    if let skip, skip < 0 { throw ValidationError("--skip is 0 or more, not \(skip).") }
  }

  /// The query.
  func query() throws -> ServiceQuery {
    var query = given ?? ServiceQuery()
    for term in sort {
      let halves = term.split(separator: ":", maxSplits: 1)
      guard let field = halves.first, halves.count < 2 || ["asc", "desc"].contains(halves[1]) else {
        throw ValidationError("--sort is FIELD, FIELD:asc or FIELD:desc, not \(term).")
      }
      query = query.sort(
        String(field), halves.count > 1 && halves[1] == "desc" ? .descending : .ascending)
    }
    if let limit { query = query.limit(limit) }
    if let skip { query = query.skip(skip) }
    if let select { query = query.select(select.split(separator: ",").map(String.init)) }
    return query
  }

  static func object(_ text: String) throws -> ServiceQuery {
    guard let query = ServiceQuery(json: try CommandLineJSON.value(text)) else {
      throw ValidationError("a query is a JSON object.")
    }
    return query
  }
}

/// The query of a call that changes one record, or with `--all` all that match.
///
/// Servers do not look at `$limit` and `$skip` then: they would change more than was meant.
struct ServiceChangeOptions: ParsableArguments {
  @Option(
    name: .customLong("query"),
    help: ArgumentHelp("The query in JSON, with the operators of Feathers.", valueName: "json"),
    transform: ServiceQueryOptions.object)
  var given: ServiceQuery?
  @Option(help: ArgumentHelp("The fields, with commas between them.", valueName: "fields"))
  var select: String?
  @Option(help: .hidden) var sort: [String] = []
  @Option(help: .hidden) var limit: String?
  @Option(help: .hidden) var skip: String?

  func validate() throws {
    let options = [
      ("--limit", limit != nil || given?["$limit"] != nil),
      ("--skip", skip != nil || given?["$skip"] != nil),
      ("--sort", !sort.isEmpty || given?["$sort"] != nil),
    ]
    if let (name, _) = options.first(where: \.1) {
      throw ValidationError(
        "\(name) chooses no records here: all that match the query are changed. Narrow the query instead."
      )
    }
  }

  /// The query.
  func query() -> ServiceQuery {
    let query = given ?? ServiceQuery()
    return select.map { query.select($0.split(separator: ",").map(String.init)) } ?? query
  }
}

/// How a server is reached, and who asks.
struct ServiceAccessOptions: ParsableArguments {
  @Option(help: "How the server is asked.") var transport = ServiceTransport.auto
  @Option(
    help: ArgumentHelp(
      "The JSON file with what is sent to sign in, such as a strategy, an email and a password.",
      valueName: "file"), completion: .file())
  var signIn: String?
  @Option(
    help: ArgumentHelp(
      "A header that each request has, such as that of a gateway.", valueName: "name: value"))
  var header: [String] = []
  @Option(help: "The longest time for the answer, in seconds.") var timeout = 20
  @OptionGroup var origin: OriginArguments

  func validate() throws {
    if !(1...3600).contains(timeout) {
      throw ValidationError("--timeout is from 1 to 3600 seconds, not \(timeout).")
    }
    _ = try headers()
  }

  private func headers() throws -> [String: String] {
    var headers: [String: String] = [:]
    for text in header {
      guard let colon = text.firstIndex(of: ":"), colon != text.startIndex,
        text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
      else { throw ValidationError("--header is NAME: VALUE in printable ASCII.") }
      headers[String(text[..<colon])] = String(
        text[text.index(after: colon)...].drop { $0 == " " })
    }
    return headers
  }

  /// The access to a server.
  func access() throws -> ServiceAccess {
    var access = ServiceAccess()
    access.trustedFile = origin.trustedFile
    access.proxies = origin.options.proxies
    access.userAgent = OriginArguments.userAgent
    access.headers = try headers()
    access.callMilliseconds = Int64(timeout) * 1000
    access.retriesMax = 0
    access.socket.callMilliseconds = Int64(timeout) * 1000
    access.socket.carrying = transport.carrying
    access.socket.isPatient = false
    return access
  }

  /// The token to sign in with; nil for none.
  func token() throws -> String? {
    switch try origin.credentials() {
    case .token(let token)?: return token
    case .account?:
      throw Failure(
        "--token-file holds a service account's key; a Feathers server takes a token.",
        status: .usage)
    case nil: return nil
    }
  }

  /// The credentials of `--sign-in`; nil for none.
  func credentials() throws -> JSONValue? {
    guard let signIn else { return JSONValue?.none }
    let bytes = try OriginArguments.bytes(of: signIn)
    guard let json = try? JSONValue(parsing: bytes), case .object = json else {
      throw Failure("\(signIn) is no JSON object with credentials.")
    }
    return json
  }
}

/// The service that a command is about.
struct ServiceTarget: ParsableArguments {
  @Argument(
    help: "The address of the server, such as https://api.example.com.",
    transform: ServiceTarget.address)
  var address: WebAddress
  @Argument(help: "The path of the service, such as messages.", transform: ServiceTarget.path)
  var path: String

  private static func address(_ text: String) throws -> WebAddress {
    // As `runnel open` has it.
    let web = text.hasPrefix("feathers+") ? String(text.dropFirst("feathers+".count)) : text
    guard let address = WebAddress(web) else {
      throw ValidationError(
        "an address begins with https:// or http:// and names a host; `url` of a profile says which."
      )
    }
    return address
  }

  private static func path(_ text: String) throws -> String {
    let path = text.split(separator: "/").joined(separator: "/")
    if path.isEmpty { throw ValidationError("the path of a service is empty.") }
    return path
  }

  // MARK: Calls

  /// Makes a call, signed in if asked for.
  ///
  /// - Throws: `Failure` with the error of the server.
  func perform(
    _ request: ServiceRequest, _ options: ServiceAccessOptions
  ) throws -> ServiceResult {
    let access = try options.access()
    let (token, credentials) = try secrets(options)
    let (address, path, transport) = (address, path, options.transport)
    return try AsyncWork.wait {
      do throws(FeathersError) {
        if transport != .rest {
          do throws(FeathersError) {
            let result = try await ServiceTarget.call(
              SocketProvider(address, access), path, request, token, credentials)
            return try ServiceTarget.checked(result, of: request)
          } catch {
            // Only if nothing was sent is there another way.
            guard transport == .auto, error.data?["isSent"] == false else {
              throw error
            }
          }
        }
        return try await ServiceTarget.call(
          RestProvider(address, access), path, request, token, credentials)
      } catch {
        throw ServiceTarget.failure(error, isRead: [.find, .get].contains(request.method))
      }
    }
  }

  /// Returns the token and the credentials.
  ///
  /// - Throws: `Failure` if others could read them on the way.
  private func secrets(
    _ options: ServiceAccessOptions
  ) throws -> (token: String?, credentials: JSONValue?) {
    let secrets = (token: try options.token(), credentials: try options.credentials())
    if secrets.token != nil || secrets.credentials != nil, !address.isSafe {
      throw Failure(
        "\(address.bare) uses no TLS, so others could read the token: use https.",
        status: .usage)
    }
    return secrets
  }

  private static func call(
    _ provider: any ServiceProvider, _ path: String, _ request: ServiceRequest, _ token: String?,
    _ credentials: JSONValue?
  ) async throws(FeathersError) -> ServiceResult {
    let app = application(provider, token)
    defer { app.close() }
    if let credentials { try await app.authenticate(credentials) }
    return try await app.service(path).request(request)
  }

  private static func application(
    _ provider: any ServiceProvider, _ token: String?
  ) -> Feathers {
    let app = Feathers(provider: provider)
    let options = AuthenticationOptions()
    options.storage.setToken(token, options.storageKey)
    app.configure(auth: options)
    return app
  }

  /// Returns the answer to a call over a socket.
  ///
  /// - Throws: `BadGateway` if a record was to be created, and the answer has none.
  private static func checked(
    _ result: ServiceResult, of request: ServiceRequest
  ) throws(FeathersError) -> ServiceResult {
    guard request.method == .create, request.data != .array([]) else { return result }
    if result.records.contains(where: { !$0.isNull }) { return result }
    throw FeathersError(
      .badGateway, "The answer has no record that was created.", data: ["isSent": true])
  }

  /// The most characters of what a server says that are printed.
  private static let shownMax = 2_000

  private static func shown(_ text: String) -> String {
    text.count > shownMax ? text.prefix(shownMax) + "…" : text
  }

  private static func failure(_ error: FeathersError, isRead: Bool = true) -> Failure {
    var message = shown(error.description)
    let mayBeDone = error.data?["isSent"]?.bool ?? [408, 502, 503, 504].contains(error.code)
    if !isRead, mayBeDone, !message.contains(ServiceAccess.unknownOutcome) {
      message += "\n  \(ServiceAccess.unknownOutcome)"
    }
    if let errors = error.errors, errors != .object([]), errors != .array([]) {
      message += "\n  errors: \(shown(errors.jsonText()))"
    }
    if let data = error.data, data["isSent"] == nil {
      message += "\n  data: \(shown(data.jsonText()))"
    }
    let isRetryable = [408, 429, 502, 503, 504].contains(error.code)
    return Failure(message, status: isRetryable ? .retryable : .failure)
  }

  // MARK: Events

  /// Passes the events of the service on, until the program is ended.
  ///
  /// - Throws: `Failure` if the server refuses, and what `tell` throws.
  func watch(
    _ options: ServiceAccessOptions, _ tell: @escaping @Sendable (ServiceEventRecord) throws -> Void
  ) throws {
    var access = try options.access()
    access.socket.isPatient = true
    let (token, credentials) = try secrets(options)
    let provider = SocketProvider(address, access)
    let app = ServiceTarget.application(provider, token)
    let (path, host) = (path, address.bare)
    defer { app.close() }
    try AsyncWork.wait {
      if let credentials {
        do throws(FeathersError) {
          try await app.authenticate(credentials)
        } catch {
          throw ServiceTarget.failure(error)
        }
      }
      let events = app.service(path).events()
      provider.connect()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          if let error = await ServiceTarget.absence(of: app.service(path)) {
            throw ServiceTarget.failure(error)
          }
          for await record in events { try tell(record) }
        }
        group.addTask { try await ServiceTarget.follow(provider.states, host) }
        // The first to end has failed.
        _ = try await group.next()
        group.cancelAll()
      }
    }
  }

  /// The error of a service that is not there; nil if it is, or if that cannot be told.
  private static func absence(of service: ServiceHandle) async -> FeathersError? {
    do throws(FeathersError) {
      _ = try await service.find(ServiceQuery().limit(0))
      return nil
    } catch {
      return error.code == 404 ? error : nil
    }
  }

  /// Says on standard error when the connection is lost and found.
  private static func follow(
    _ states: AsyncStream<SocketSession.State>, _ host: String
  ) async throws {
    var isLost = false
    for await state in states {
      switch state {
      case .waiting(_, let reason):
        // A reason may begin with the address.
        let start = reason.hasPrefix(host) ? "" : "\(host): "
        if !isLost { StandardError.say(start + reason + ". The connection is made again.") }
        isLost = true
      case .connected:
        if isLost { StandardError.say("\(host) is connected again; events may be missing.") }
        isLost = false
      case .refused(let reason): throw Failure("\(host) refuses the connection: \(reason)")
      case .absent(let reason):
        throw Failure("\(host) has no Socket.IO, and tells of no events over REST: \(reason)")
      default: break
      }
    }
  }
}
