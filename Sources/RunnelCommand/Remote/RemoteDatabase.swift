import Glibc
import RunnelBase
import RunnelClient
import RunnelNetwork
import RunnelSync
import RunnelTree

/// A server's database, for commands that do one thing: each is a request over HTTP.
///
/// A request that the server cannot answer now is sent again, a few times. A write has a name, under which a
/// server of ours does it once. To other servers a write that adds to a number is not sent again if it may have
/// been done.
final class RemoteDatabase {
  /// What came of a request.
  private enum Outcome {
    case answered(WebExchange)
    case refused(Failure)
    /// It may be answered later; it was done already if `mayBeDone`, perhaps.
    case passing(Failure, mayBeDone: Bool)
  }

  private static let triesMax = 5
  private static let firstDelayMilliseconds: UInt32 = 200
  private static let answerBytesMax = 1 << 30
  private static let errorBytesMax = 65_536

  let address: OriginAddress
  private let token: String?
  private let client: WebClient
  /// By what the writes of this command are told from all others.
  private let writer: String
  private var writeCount = 0

  init(_ address: OriginAddress, _ arguments: OriginArguments) throws {
    self.address = address
    client = arguments.client
    token =
      switch try arguments.proof() {
      case .token(let token)?: token
      case .account(let key)?: try RemoteDatabase.accessToken(key, client)
      case nil: nil
      }
    let numbers = (0..<2).map { _ in UInt64.random(in: 0...(.max)) }
    writer = numbers.map { String($0, radix: 36) }.joined()
  }

  /// What the address in a key file gives for it.
  private static func accessToken(
    _ key: ServiceAccountKey, _ client: WebClient
  ) throws(NetworkError) -> String {
    let exchange = try client.send(key.request())
    return try key.token(
      in: exchange.body(bytesMax: errorBytesMax), status: exchange.status)
  }

  /// How messages call it.
  var name: String { address.name }

  // MARK: Reading

  /// Asks for what a query shows.
  ///
  /// - Throws: `Failure` that says what the server answered.
  func get(
    _ query: Query, _ parameters: [(name: String, value: String)] = [], accept: String? = nil
  ) throws -> WebExchange {
    let asked: [(name: String, value: String)]
    do throws(TreeError) {
      asked = try query.requestParameters()
    } catch {
      throw Failure("A server is not asked this: \(error.message)", status: .usage)
    }
    let headers = accept.map { [(name: "Accept", value: $0)] } ?? []
    return try ask(
      request("GET", query.path, asked + parameters, headers), isRepeatable: true)
  }

  /// The value that an answer holds.
  func json(_ exchange: WebExchange) throws -> JSONValue {
    do {
      return try JSONValue(parsing: exchange.body(bytesMax: RemoteDatabase.answerBytesMax))
    } catch let error as NetworkError {
      throw Failure(error.message, status: .retryable)
    } catch {
      throw Failure("\(name) answers with what is no JSON: \(error).")
    }
  }

  /// Hands an answer on piece by piece, each of whole characters.
  func copy(_ exchange: WebExchange, to write: (ArraySlice<UInt8>) throws -> Void) throws {
    var rest: [UInt8] = []
    do {
      while let piece = try exchange.next() {
        rest += piece
        let end = rest.endOfWholeCharacters
        try write(rest[..<end])
        rest.removeFirst(end)
      }
    } catch let error as NetworkError {
      throw Failure(
        "\(error.message) What was printed is not all of it.", status: .retryable)
    }
    try write(rest[...])
  }

  // MARK: Writing

  /// Does a write of one request; returns when the server has done it.
  ///
  /// - Throws: `Failure` that says what the server answered.
  func write(_ write: Write) throws {
    writeCount += 1
    let headers = [(name: "X-Runnel-Write", value: "\(writer) \(writeCount)")]
    let silent = [(name: "print", value: "silent")]
    let request: WebRequest
    switch write {
    case .set(let path, let json):
      request = try self.request("PUT", path, silent, headers, json.jsonBytes())
    case .update(let path, let members):
      let body = JSONValue.object(members).jsonBytes()
      request = try self.request("PATCH", path, silent, headers, body)
    case .copy, .move: preconditionFailure("A server is not asked to copy.")
    }
    _ = try ask(request, isRepeatable: !write.holdsIncrement)
  }

  // MARK: Requests

  private func request(
    _ method: String, _ path: Path, _ parameters: [(name: String, value: String)],
    _ headers: [(name: String, value: String)], _ body: [UInt8]? = nil
  ) throws -> WebRequest {
    var (parameters, headers) = (parameters, headers)
    if let token {
      // Such a secret is known by this parameter only.
      let isSecret = token.utf8.count == 40 && !token.contains(".")
      if isSecret { parameters.append(("auth", token)) }
      if !isSecret { headers.append(("Authorization", "Bearer \(token)")) }
    }
    let scheme = address.isSecure ? "https" : "http"
    let target = address.target(path, parameters)
    guard let place = WebAddress("\(scheme)://\(address.host)\(target)") else {
      throw Failure("\(name) is no address of a server.", status: .usage)
    }
    if token != nil, !place.isSafe {
      throw Failure(
        "\(name) is reached without TLS, where others could read the token: use https.",
        status: .usage)
    }
    return WebRequest(method, place, headers: headers, body: body)
  }

  private func ask(_ request: WebRequest, isRepeatable: Bool) throws -> WebExchange {
    var delay = RemoteDatabase.firstDelayMilliseconds
    for attempt in 1...RemoteDatabase.triesMax {
      switch outcome(request) {
      case .answered(let exchange): return exchange
      case .refused(let failure): throw failure
      case .passing(let failure, let mayBeDone):
        if attempt == RemoteDatabase.triesMax || (mayBeDone && !isRepeatable) { throw failure }
      }
      usleep(delay * 1000)
      delay *= 2
    }
    preconditionFailure("The last attempt returns or throws.")
  }

  private func outcome(_ request: WebRequest) -> Outcome {
    do throws(NetworkError) {
      let exchange = try client.send(request)
      if (200..<300).contains(exchange.status) { return .answered(exchange) }
      let text = try reason(exchange)
      switch exchange.status {
      case 429, 503: return .passing(Failure(text, status: .retryable), mayBeDone: false)
      case 500..<600: return .passing(Failure(text, status: .retryable), mayBeDone: true)
      default: return .refused(Failure(text))
      }
    } catch {
      return .passing(Failure(error.message, status: .retryable), mayBeDone: true)
    }
  }

  /// What the server says of a request that it refuses.
  private func reason(_ exchange: WebExchange) throws(NetworkError) -> String {
    let bytes = try exchange.body(bytesMax: RemoteDatabase.errorBytesMax)
    // What is no JSON says nothing.
    let told = (try? JSONValue(parsing: bytes))?["error"]?.string
    let text = told.map { ": \($0)" } ?? ""
    let advice =
      exchange.status == 401
      ? " Give a token by --token-file or \(OriginArguments.tokenVariable)." : ""
    let end = text.hasSuffix(".") ? "" : "."
    return "\(name) answers with the status \(exchange.status)\(text)\(end)"
      + (token == nil ? advice : "")
  }
}

extension [UInt8] {
  /// The end of the last whole character in UTF-8.
  fileprivate var endOfWholeCharacters: Int {
    for back in 1...3 where back <= count {
      let byte = self[count - back]
      if byte < 0x80 { return count }
      if byte >= 0xC0 {
        let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
        return length > back ? count - back : count
      }
    }
    return count
  }
}
