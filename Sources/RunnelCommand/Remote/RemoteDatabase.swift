import Glibc
import RunnelAccounts
import RunnelBase
import RunnelClient
import RunnelNetwork
import RunnelStore
import RunnelSync
import RunnelTree

/// A server's database, for commands that do one thing and send HTTP requests for it.
///
/// A request that the server cannot answer at the moment is retried a few times. Each write has an
/// id, so that a Runnel server does it only once. Other servers do not know these ids, so an
/// increment is retried only on Runnel's servers if it may already have been done.
final class RemoteDatabase {
  /// The outcome of one attempt at a request.
  private enum Outcome {
    /// The server did the request.
    case answered(WebExchange)
    /// The server refused the request; a retry does not help.
    case refused(Failure)
    /// The server refused a condition: something else stands there.
    case changed(PlaceChanged)
    /// The server refused the token of the account; another one may help.
    case tokenRefused(Failure)
    /// The attempt failed; a retry may succeed. `mayBeDone` if the server may have done the
    /// request.
    case temporary(Failure, mayBeDone: Bool)
  }

  /// The outcome of a write is not known: its request was sent, and the answer was lost.
  struct UnknownOutcome: Error {
    /// What happened, as sentences.
    var reason: String

    /// The reason why a command ends that need not say more.
    var failure: Failure {
      Failure(
        "\(reason) What became of the write is not known: look before you repeat it.",
        status: .retryable)
    }
  }

  /// A write was not done, since its places do not have the tag that it was sent with.
  struct PlaceChanged: Error {
    /// The hashes of the places of an update, in its order; nil for another write, or if they are not told.
    var hashes: [String]?
  }

  private static let triesMax = 5
  private static let firstDelayMilliseconds: UInt32 = 200
  /// The longest wait for an answer to a request that is quickly sent, in seconds.
  private static let headSeconds: Int64 = 30
  /// The most bytes of a request that is quickly sent.
  private static let quickBytesMax = 65_536
  /// How long a command waits without a word, in seconds.
  private static let silentSeconds = 5
  private static let answerBytesMax = 1 << 30
  private static let errorBytesMax = 65_536
  /// What a server says if the rules deny a request, and not the token.
  private static let denied = "Permission denied"
  /// The ETag of an empty place.
  static let emptyTag = "null_etag"
  /// The header with the id of a write.
  private static let writeHeader = "X-Runnel-Write"
  /// The headers with the tag that the place of a write, or the places of an update, must have.
  private static let (placeHeader, updateHeader) = ("if-match", "X-Runnel-Match")

  let address: OriginAddress
  let choice: OriginChoice
  private var token: String?
  /// The accounts, if the token is that of the user who is signed in.
  private let account: AccountPlace?
  private let client: WebClient
  /// The random name of this command, the first part of the ids of its writes.
  private let writer: String
  private var writeCount = 0
  /// Whether it was opened to be written.
  private let isForChange: Bool

  init(_ choice: OriginChoice, isForChange: Bool = false) throws {
    (self.choice, address) = (choice, choice.address)
    self.isForChange = isForChange
    if address.hasServices {
      throw Failure(
        "\(choice.name) is a Feathers server: `runnel service` calls its services, and `runnel open` "
          + "shows them.", status: .usage)
    }
    let arguments = choice.arguments
    client = arguments.client
    switch try arguments.credentials() {
    case .token(let given)?: (token, account) = (given, nil)
    case .account(let key)?: (token, account) = (try RemoteDatabase.accessToken(key, client), nil)
    case nil:
      let place = AccountPlace.known(choice)
      token = try place?.token()?.reveal()
      account = token == nil ? nil : place
      if token == nil { place?.tellEnd() }
    }
    let numbers = (0..<2).map { _ in UInt64.random(in: 0...(.max)) }
    writer = numbers.map { String($0, radix: 36) }.joined()
  }

  /// Exchanges a service account's key for an access token.
  private static func accessToken(
    _ key: ServiceAccountKey, _ client: WebClient
  ) throws(NetworkError) -> String {
    let exchange = try client.send(key.request())
    return try key.token(
      in: exchange.body(bytesMax: errorBytesMax), status: exchange.status)
  }

  /// The name of the database in messages.
  var name: String { choice.name }

  // MARK: Reading

  /// Requests the result of a query.
  ///
  /// - Throws: `Failure` with the server's error.
  func get(
    _ query: Query, _ parameters: [(name: String, value: String)] = [], accept: String? = nil,
    wantsTag: Bool = false
  ) throws -> WebExchange {
    let asked: [(name: String, value: String)]
    do throws(TreeError) {
      asked = try query.requestParameters()
    } catch {
      throw Failure("A server does not support this query: \(error.message)", status: .usage)
    }
    var headers = accept.map { [(name: "Accept", value: $0)] } ?? []
    if wantsTag { headers.append((name: "X-Firebase-ETag", value: "true")) }
    return try ask(
      request("GET", query.path, asked + parameters, headers), "read \(query.path)",
      isRepeatable: true)
  }

  /// Returns the JSON value in a response.
  func json(_ exchange: WebExchange) throws -> JSONValue {
    do {
      return try JSONValue(parsing: exchange.body(bytesMax: RemoteDatabase.answerBytesMax))
    } catch let error as NetworkError {
      throw Failure(error.message, status: .retryable)
    } catch {
      throw Failure("\(name) sent a response that is not JSON: \(error).")
    }
  }

  /// Passes a response on in pieces, each of which ends at the end of a character.
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
        "\(error.message) The output is incomplete.", status: .retryable)
    }
    try write(rest[...])
  }

  // MARK: Writing

  /// Sends a write as one request, and returns when the server has done it.
  ///
  /// - Parameters:
  ///   - write: the write.
  ///   - tag: the tag that its place, or the places of an update, must have at that time; nil for any.
  /// - Throws: `PlaceChanged` if they have another; `Failure` with the server's error, or if the profile is
  ///   read-only.
  func write(_ write: Write, ifTag tag: String? = nil) throws {
    do {
      try send(write, ifTag: tag)
    } catch let unknown as UnknownOutcome {
      throw unknown.failure
    }
  }

  /// Sends a write as `write` does.
  ///
  /// - Throws: `UnknownOutcome` if it may have been done; otherwise `PlaceChanged`, or `Failure` with the
  ///   server's error, or if the profile is read-only.
  func send(_ write: Write, ifTag tag: String? = nil) throws {
    try choice.requireWriting()
    writeCount += 1
    var headers = [(name: RemoteDatabase.writeHeader, value: "\(writer) \(writeCount)")]
    let silent = [(name: "print", value: "silent")]
    let (request, place): (WebRequest, Path)
    switch write {
    case .set(let path, let json):
      place = path
      if let tag { headers.append((RemoteDatabase.placeHeader, tag)) }
      request = try self.request("PUT", path, silent, headers, json.jsonBytes())
    case .update(let path, let members):
      place = path
      if let tag { headers.append((RemoteDatabase.updateHeader, tag)) }
      let body = JSONValue.object(members).jsonBytes()
      request = try self.request("PATCH", path, silent, headers, body)
    case .copy, .move: preconditionFailure("Copies and moves are not sent to a server.")
    }
    _ = try ask(
      request, "write \(place), or not this value", isRepeatable: !write.holdsIncrement
    ) { [self] in try knowsWriteIDs(at: place) }
  }

  /// Returns whether the server knows the ids of writes, as Runnel's servers do; nil if it does not answer.
  ///
  /// Such a server refuses a read with a wrong id, and others pass over it.
  private func knowsWriteIDs(at place: Path) throws -> Bool? {
    let quick = [(name: "shallow", value: "true"), (name: "print", value: "silent")]
    let wrong = [(name: RemoteDatabase.writeHeader, value: "?")]
    let request = try request("GET", place, quick, wrong)
    do throws(NetworkError) {
      let exchange = try client.send(request)
      if exchange.status >= 500 || exchange.status == 429 { return nil }
      guard exchange.status == 400 else { return false }
      let body = try exchange.body(bytesMax: RemoteDatabase.errorBytesMax)
      let told = (try? JSONValue(parsing: body))?["error"]?.string
      return told?.hasPrefix(RemoteDatabase.writeHeader) ?? false
    } catch {
      return nil
    }
  }

  // MARK: Requests

  private func request(
    _ method: String, _ path: Path, _ parameters: [(name: String, value: String)],
    _ headers: [(name: String, value: String)], _ body: [UInt8]? = nil
  ) throws -> WebRequest {
    var (parameters, headers) = (parameters, headers)
    if let token {
      // Servers accept a secret in this parameter only.
      let isSecret = token.utf8.count == 40 && !token.contains(".")
      if isSecret { parameters.append(("auth", token)) }
      if !isSecret { headers.append(RemoteDatabase.header(of: token)) }
    }
    let scheme = address.isSecure ? "https" : "http"
    let target = address.target(path, parameters)
    guard let place = WebAddress("\(scheme)://\(address.host)\(target)") else {
      throw Failure("\(name) is not the address of a server.", status: .usage)
    }
    if token != nil, !place.isSafe {
      throw Failure(
        "\(name) uses no TLS, so others could read the token: use https.",
        status: .usage)
    }
    var request = WebRequest(method, place, headers: headers, body: body)
    // A namespace that was moved to another store is written there.
    request.isSentOn = true
    if body.map(\.count) ?? 0 <= RemoteDatabase.quickBytesMax {
      request.headSeconds = RemoteDatabase.headSeconds
    }
    return request
  }

  /// Sends a request until it is answered.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - deed: what the request does, for the message that the rules deny it.
  ///   - isRepeatable: whether it may be done twice.
  ///   - knowsIDs: whether the server does it once only, though it is sent twice; nil if it does not answer.
  /// - Returns: the answer of a request that was done.
  /// - Throws: `Failure` with the server's error; `PlaceChanged` if a condition does not hold; `UnknownOutcome` if
  ///   the server may have done a write.
  private func ask(
    _ request: WebRequest, _ deed: String, isRepeatable: Bool,
    knowsIDs: () throws -> Bool? = { false }
  ) throws -> WebExchange {
    var (request, hasNewToken, isRepeatable) = (request, false, isRepeatable)
    var delay = RemoteDatabase.firstDelayMilliseconds
    // The failure of the newest attempt that may have done the request.
    var lost: Failure?
    for attempt in 1...RemoteDatabase.triesMax {
      if let lost, !isRepeatable {
        switch try knowsIDs() {
        case true?: isRepeatable = true
        case nil where attempt < RemoteDatabase.triesMax:
          usleep(delay * 1000)
          delay *= 2
          continue
        default: throw end(lost, afterLost: lost, of: request)
        }
      }
      let notice = request.headSeconds == nil ? nil : waitNotice(attempt)
      let outcome = outcome(request, deed)
      notice?.cancel()
      switch outcome {
      case .answered(let exchange): return exchange
      case .refused(let failure): throw end(failure, afterLost: lost, of: request)
      case .changed(let changed): throw changed
      case .tokenRefused(let failure):
        if hasNewToken || attempt == RemoteDatabase.triesMax {
          throw end(failure, afterLost: lost, of: request)
        }
        hasNewToken = true
        let new: (name: String, value: String)
        do {
          new = RemoteDatabase.header(of: try newToken())
        } catch {
          if lost == nil { throw error }
          let reason = (error as? Failure)?.message ?? "\(error)"
          throw end(Failure(reason), afterLost: lost, of: request)
        }
        request.headers.removeAll { $0.name == new.name }
        request.headers.append(new)
        continue
      case .temporary(let failure, let mayBeDone):
        if mayBeDone { lost = failure }
        if attempt == RemoteDatabase.triesMax {
          throw end(failure, afterLost: lost, of: request)
        }
      }
      usleep(delay * 1000)
      delay *= 2
    }
    preconditionFailure("The last attempt returns or throws.")
  }

  /// Returns the error of a request that ended with a failure, after an attempt whose answer was lost or none.
  ///
  /// A read before the first write of a command says that nothing was changed.
  private func end(
    _ failure: Failure, afterLost lost: Failure?, of request: WebRequest
  ) -> any Error {
    if request.method == "GET", isForChange, writeCount == 0 {
      return Failure("\(failure.message) Nothing was changed.", status: failure.status)
    }
    guard let lost, request.method != "GET" else { return failure }
    if lost.message == failure.message { return UnknownOutcome(reason: failure.message) }
    return UnknownOutcome(reason: "\(lost.message) Then: \(failure.message)")
  }

  /// Says after a while that the command waits for the server; it is to be cancelled with the answer.
  private func waitNotice(_ attempt: Int) -> Task<Void, any Error> {
    let tries = attempt == 1 ? "" : " (attempt \(attempt) of \(RemoteDatabase.triesMax))"
    let text = "\(name) has not answered yet\(tries). Waiting; Ctrl-C ends the command."
    return Task {
      try await Task.sleep(for: .seconds(RemoteDatabase.silentSeconds))
      StandardError.say(text)
    }
  }

  private static func header(of token: String) -> (name: String, value: String) {
    ("Authorization", "Bearer \(token)")
  }

  /// Exchanges the token of the account, which the server has refused.
  ///
  /// - Throws: `Failure` if the session has ended, which is remembered then.
  private func newToken() throws -> String {
    guard let account, let refused = token else {
      preconditionFailure("The token is that of an account.")
    }
    let (session, _) = try account.session()
    let new = try account.answer { try await session.idToken(refused: Secret(refused)) }.reveal()
    token = new
    return new
  }

  private func outcome(_ request: WebRequest, _ deed: String) -> Outcome {
    var isAnswered = false
    do throws(NetworkError) {
      let exchange = try client.send(request)
      if (200..<300).contains(exchange.status) {
        guard let foreign = RemoteDatabase.foreignType(of: exchange) else {
          return .answered(exchange)
        }
        let text =
          "\(name) answered with \(foreign), which no server of this protocol does. A proxy or a network in between "
          + "may want you to sign in first."
        return .temporary(Failure(text, status: .retryable), mayBeDone: true)
      }
      isAnswered = true
      if exchange.status == 412, request.headers.contains(where: RemoteDatabase.isCondition) {
        return .changed(try changed(exchange, request))
      }
      let (told, text) = try reason(exchange, deed)
      switch exchange.status {
      case 401 where account != nil && told != RemoteDatabase.denied:
        return .tokenRefused(Failure(text))
      case 429, 503: return .temporary(Failure(text, status: .retryable), mayBeDone: false)
      case 500..<600: return .temporary(Failure(text, status: .retryable), mayBeDone: true)
      default: return .refused(Failure(text))
      }
    } catch {
      return .temporary(
        Failure(error.message, status: .retryable), mayBeDone: isAnswered || error.isSent)
    }
  }

  private static func isCondition(_ header: (name: String, value: String)) -> Bool {
    [placeHeader, updateHeader].contains(header.name)
  }

  /// What a server tells of a condition that does not hold.
  ///
  /// The value that it tells of a single place may be large, and is not read.
  private func changed(
    _ exchange: WebExchange, _ request: WebRequest
  ) throws(NetworkError) -> PlaceChanged {
    guard request.method == "PATCH" else {
      exchange.close()
      return PlaceChanged()
    }
    let bytes = try exchange.body(bytesMax: RemoteDatabase.answerBytesMax)
    // An answer that is no list of texts is that of another server.
    guard case .array(let elements)? = try? JSONValue(parsing: bytes) else { return PlaceChanged() }
    let hashes = elements.compactMap(\.string)
    return PlaceChanged(hashes: hashes.count == elements.count ? hashes : nil)
  }

  /// The type of an answer that has content which is neither JSON nor events; nil if it has none, or does not tell.
  private static func foreignType(of exchange: WebExchange) -> String? {
    guard exchange.status != 204, let header = exchange.header("Content-Type") else { return nil }
    let type = header.prefix { $0 != ";" && $0 != " " }.lowercased()
    return type.contains("json") || type == "text/event-stream" ? nil : String(type.prefix(40))
  }

  /// Returns what the server told of a request that it refused, and the message about it.
  private func reason(
    _ exchange: WebExchange, _ deed: String
  ) throws(NetworkError) -> (told: String?, text: String) {
    let bytes = try exchange.body(bytesMax: RemoteDatabase.errorBytesMax)
    // A body that is not JSON has no reason in it.
    let told = (try? JSONValue(parsing: bytes))?["error"]?.string
    let text = told.map { ": \($0)" } ?? ""
    let place = exchange.status == 401 ? AccountPlace.known(choice) : nil
    let ended = place?.ended
    let advice =
      ended.map { end in
        let reason = end.reason.trimmingPrefix("Session ended: ")
        return " The session of \(end.user.email ?? end.user.id) has ended: \(reason)"
      } ?? ""
    let signIn =
      exchange.status == 401
      ? " Sign in with `runnel login`, or give a token with --token-file or "
        + "\(OriginArguments.tokenVariable)." + (place?.choosing.map { " " + $0 } ?? "") : ""
    let end = text.hasSuffix(".") ? "" : "."
    // A balancer without servers says nothing that helps.
    let isUnserved = told == nil && [502, 503, 504].contains(exchange.status)
    let again =
      isUnserved ? " No server behind that address takes requests now: try again in a moment." : ""
    let message = "\(name) answered with status \(exchange.status)\(text)\(end)\(again)"
    if token == nil { return (told, message + advice + signIn) }
    return (told, message + (told == RemoteDatabase.denied ? denial(of: deed) : ""))
  }

  /// Returns who may not do what, by the rules, and what finds the reason.
  private func denial(of deed: String) -> String {
    // An account that cannot be read any more has no name here.
    let user = (try? account?.signedIn())?.map(\.user)
    let who = user.map { $0.email ?? $0.id } ?? "this token"
    // A link may have confirmed the address, and the token does not say so before it is exchanged.
    let isUnconfirmed = user.map { $0.email != nil && !$0.isEmailVerified } ?? false
    return
      " The rules do not let \(who) \(deed): `runnel rules explain` finds the rule in a copy of them."
      + (isUnconfirmed
        ? " If the address was confirmed since the sign-in, `runnel whoami \(choice.word) --check` comes first."
        : "")
  }
}

extension [UInt8] {
  /// The index after the last complete UTF-8 character.
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
