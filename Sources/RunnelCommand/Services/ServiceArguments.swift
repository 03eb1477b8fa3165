import ArgumentParser
import RunnelBase
import RunnelNetwork
import RunnelServices
import RunnelServicesNetwork

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
    _ = try query()
  }

  /// The query.
  func query() throws -> ServiceQuery {
    var query = given ?? ServiceQuery()
    for term in sort {
      let halves = term.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard let field = halves.first, !field.isEmpty,
        halves.count < 2 || ["asc", "desc"].contains(halves[1])
      else {
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
  func access(_ origin: OriginArguments) throws -> ServiceAccess {
    var access = ServiceAccess(origin)
    access.headers = try headers()
    access.callMilliseconds = Int64(timeout) * 1000
    access.retriesMax = 0
    access.socket.callMilliseconds = Int64(timeout) * 1000
    access.socket.carrying = transport.carrying
    access.socket.isPatient = false
    return access
  }
}

/// The service that a command is about.
struct ServiceTarget: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "The address of the server, such as https://api.example.com, or the name of a profile.",
      valueName: "address"),
    completion: DatabaseCompletion.profiles, transform: ServiceTarget.server)
  var server: String
  @Argument(help: "The path of the service, such as messages.", transform: ServiceTarget.path)
  var path: String

  /// Returns the address in a text, which may begin as `runnel open` has it; nil if it is none.
  static func address(_ text: String) -> WebAddress? {
    WebAddress(text.hasPrefix("feathers+") ? String(text.dropFirst("feathers+".count)) : text)
  }

  private static func server(_ text: String) throws -> String {
    let name = text.hasSuffix(":") ? String(text.dropLast()) : text
    if address(text) != nil || OriginChoice.names.contains(name) { return text }
    throw ValidationError(
      "write an address that begins with https:// or http:// and names a host, or the name of a profile"
        + "\(OriginChoice.question(for: name)).")
  }

  private static func path(_ text: String) throws -> String {
    let path = text.split(separator: "/").joined(separator: "/")
    if path.isEmpty { throw ValidationError("the path of a service is empty.") }
    return path
  }
}

/// The id of a record, as a word of the command line.
enum ServiceIDWord {
  /// Returns the id.
  ///
  /// - Throws: `ValidationError` if the word is data, as of a user who has forgotten the id.
  static func id(_ word: String) throws -> String {
    let first = word.first { !$0.isWhitespace }
    if word == InputDocument.standardInputName || first == "{" || first == "[" {
      throw ValidationError("data stand where the id of the record belongs: \(word.prefix(40))")
    }
    return word
  }
}
