import RunnelBase
import RunnelNetwork
package import RunnelSync
package import RunnelTree
import Synchronization

/// Reads from an origin by HTTP requests with the session's credential, beside the connection of a
/// replica: what a listen could tell only with all that stands below it.
///
/// Each answer is read up to a bound; what is longer is not read on.
package final class OriginReader: Sendable {
  /// The most bytes that are read to see what stands at a place.
  static let glanceBytesMax = 16 << 10
  /// The most bytes of a list of keys.
  static let levelBytesMax = 4 << 20
  /// The most bytes of a value or of rules.
  static let valueBytesMax = 4 << 20
  /// The longest wait for the head of an answer, in seconds.
  private static let headSeconds: Int64 = 30
  private static let redirectsMax = 3

  private let address: OriginAddress
  private let access: OriginAccess
  private let client: WebClient
  /// Whether the origin lists a part of the keys; false once it has refused to.
  private let listsParts = Mutex(true)

  /// Makes a reader; nil if the origin is not reached by HTTP requests of this kind.
  package init?(_ address: OriginAddress, as access: OriginAccess, _ options: OriginOptions) {
    guard options.socketFile == nil, !address.hasServices else { return nil }
    // Places are those of the whole database, whatever place the address names.
    self.address = (try? OriginAddress(address.name)) ?? address
    self.access = access
    client = WebClient(
      trustedFile: options.trustedFile, proxies: options.proxies, userAgent: options.userAgent)
  }

  // MARK: Keys

  /// Returns what stands at a place, without what stands below its children.
  ///
  /// Of a node it counts the keys within the first kilobytes of the answer.
  package func glance(at path: Path) async throws(OriginReadFailure) -> OriginGlance {
    let answer = try await get(path, [(name: "shallow", value: "true")], Self.glanceBytesMax)
    return try OriginGlance(answer.body, isWhole: answer.isWhole)
  }

  /// Returns a page of the keys of a place, in key order.
  ///
  /// An origin that lists only whole levels is asked for the whole one, up to a bound.
  ///
  /// - Parameters:
  ///   - path: the place.
  ///   - key: the key after which the page begins, which need not exist; nil for the first page.
  ///   - limit: the most keys.
  /// - Returns: the page.
  /// - Throws: `OriginReadFailure` if it cannot be read, or is too large.
  package func level(
    of path: Path, after key: Key? = nil, limit: Int
  ) async throws(OriginReadFailure) -> OriginLevel {
    if listsParts.withLock({ $0 }) {
      let answer = try await get(path, page(after: key, limit), Self.levelBytesMax, passing: 400)
      if answer.status == 400 {
        listsParts.withLock { $0 = false }
      } else if answer.isWhole {
        let level = try OriginLevel(answer.body, after: key, limit: limit)
        // A value has no keys, but this answer does not tell it from an empty place.
        if level != .empty || key != nil { return level }
      }
    }
    let answer = try await get(path, [(name: "shallow", value: "true")], Self.levelBytesMax)
    guard answer.isWhole else {
      throw OriginReadFailure(
        .tooLarge,
        "\(path) has more than \(Self.levelBytesMax >> 20) MB of keys, and the server lists them only "
          + "together.")
    }
    return try OriginLevel(answer.body, after: key, limit: limit)
  }

  private func page(after key: Key?, _ limit: Int) -> [(name: String, value: String)] {
    // One extra key tells whether there are others.
    var parameters = [
      (name: "shallow", value: "true"), (name: "limitToFirst", value: "\(limit + 1)"),
    ]
    guard let key else { return parameters }
    // The official command line sends keys as they are; one that reads as another value is quoted.
    let text = key.text
    let isPlain =
      switch try? JSONValue(parsing: "[\(text)]") {
      case nil: true
      case .array(let parts)?: parts.count == 1 && parts[0].double != nil
      default: false
      }
    parameters.append(
      (name: "startAfter", value: isPlain ? text : JSONValue.string(text).jsonText()))
    return parameters
  }

  // MARK: Values

  /// Returns the value at a place; nil if it is too large.
  package func value(at path: Path) async throws(OriginReadFailure) -> JSONValue? {
    let answer = try await get(path, [(name: "format", value: "export")], Self.valueBytesMax)
    guard answer.isWhole else { return nil }
    return try Self.json(answer.body)
  }

  /// Returns the text of the security rules of the database.
  ///
  /// - Throws: `OriginReadFailure`, also if the credential may not read them.
  package func rules() async throws(OriginReadFailure) -> [UInt8] {
    let keys = [Key(unchecked: ".settings"), Key(unchecked: "rules")]
    let answer = try await get(Path(unchecked: keys), [], Self.valueBytesMax)
    guard answer.isWhole else {
      throw OriginReadFailure(
        .tooLarge, "The rules are longer than \(Self.valueBytesMax >> 20) MB.")
    }
    return answer.body
  }

  fileprivate static func json(_ bytes: [UInt8]) throws(OriginReadFailure) -> JSONValue {
    do {
      return try JSONValue(parsing: bytes)
    } catch {
      throw OriginReadFailure(.refused, "The server sent an answer that is not JSON: \(error).")
    }
  }

  // MARK: Requests

  private typealias Answer = (status: Int, body: [UInt8], isWhole: Bool)

  /// Asks for a place; a credential that has expired is asked for anew, once.
  private func get(
    _ path: Path, _ parameters: [(name: String, value: String)], _ bytesMax: Int,
    passing status: Int? = nil
  ) async throws(OriginReadFailure) -> Answer {
    var isRefresh = false
    while true {
      let credential = try await credential(isRefresh: isRefresh)
      let request = try request(path, parameters, credential)
      let answer = try await answer(to: request, bytesMax)
      if answer.status == 200 || answer.status == status { return answer }
      let reason = (try? JSONValue(parsing: answer.body))?["error"]?.string ?? ""
      if answer.status == 401, !isRefresh, credential != nil, reason.contains("token") {
        isRefresh = true
        continue
      }
      throw OriginReadFailure(status: answer.status, reason, at: path)
    }
  }

  func credential(isRefresh: Bool) async throws(OriginReadFailure) -> Credential? {
    guard let provider = access.provider else { return nil }
    do {
      return try await provider(isRefresh)
    } catch {
      // The server was not asked, so what is known is not forbidden.
      throw OriginReadFailure(.unreachable, "\(error)")
    }
  }

  private func request(
    _ path: Path, _ parameters: [(name: String, value: String)], _ credential: Credential?
  ) throws(OriginReadFailure) -> WebRequest {
    var parameters = parameters
    var headers: [(name: String, value: String)] = []
    if let credential {
      // Servers accept a secret in this parameter only.
      let isSecret = credential.text.utf8.count == 40 && !credential.text.contains(".")
      if isSecret {
        parameters.append((name: "auth", value: credential.text))
      } else {
        headers.append((name: "Authorization", value: "Bearer \(credential.text)"))
      }
      let override = credential.isUnauthenticated ? JSONValue.null : credential.authVariable
      if let override {
        parameters.append((name: "auth_variable_override", value: override.jsonText()))
      }
    }
    let scheme = address.isSecure ? "https" : "http"
    let target = address.target(path, parameters)
    guard let place = WebAddress("\(scheme)://\(address.host)\(target)") else {
      throw OriginReadFailure(.refused, "\(address.name) is not the address of a server.")
    }
    if credential != nil, !place.isSafe {
      throw OriginReadFailure(
        .refused, "\(address.name) uses no TLS, so others could read the credential.")
    }
    var request = WebRequest("GET", place, headers: headers)
    request.headSeconds = Self.headSeconds
    return request
  }

  /// Sends a request; redirects are followed, but never to an address without TLS, and the credential goes
  /// to no other host.
  private func answer(
    to request: WebRequest, _ bytesMax: Int
  ) async throws(OriginReadFailure) -> Answer {
    var request = request
    do throws(NetworkError) {
      for _ in 0...Self.redirectsMax {
        let (answer, isWhole) = try await client.beginning(of: request, bytesMax: bytesMax)
        guard [301, 302, 307, 308].contains(answer.status),
          let target = answer.headers("location").first, let next = WebAddress(target),
          next.isSecure || !request.address.isSecure
        else { return (answer.status, answer.body, isWhole) }
        if next.host != request.address.host {
          request.headers.removeAll { $0.name == "Authorization" }
        }
        request.address = next
      }
    } catch {
      throw OriginReadFailure(.unreachable, error.message)
    }
    throw OriginReadFailure(.unreachable, "\(address.name) redirects too often.")
  }
}

/// The reason why something could not be read from an origin.
package struct OriginReadFailure: Error, Hashable, Sendable {
  /// The kinds of reasons.
  package enum Cause: Hashable, Sendable {
    /// The origin gave no answer, or cannot answer at the moment.
    case unreachable
    /// The credential does not allow it.
    case forbidden
    /// There is more than is read.
    case tooLarge
    /// The origin refused for another reason.
    case refused
  }

  /// The kind of the reason.
  package var cause: Cause
  /// The reason for people.
  package var message: String

  /// Makes a failure.
  package init(_ cause: Cause, _ message: String) { (self.cause, self.message) = (cause, message) }

  fileprivate init(status: Int, _ reason: String, at path: Path) {
    switch status {
    case 401, 403:
      self.init(.forbidden, reason.isEmpty ? "The server forbids reading \(path)." : reason)
    case 429, 500..<600:
      self.init(.unreachable, "The server cannot answer at the moment (status \(status)).")
    default:
      self.init(
        .refused, "The server answered with status \(status)\(reason.isEmpty ? "" : ": \(reason)")."
      )
    }
  }
}

/// A page of the keys of a place.
package enum OriginLevel: Hashable, Sendable {
  /// Nothing stands there, or no key is left.
  case empty
  /// A value stands there.
  case value(JSONValue)
  /// The keys, in key order, and whether others come after them.
  case keys([Key], hasMore: Bool)

  /// Reads the answer to a shallow request; a server may have sent more keys than were asked for, and in
  /// any order.
  ///
  /// - Parameters:
  ///   - body: the answer.
  ///   - key: the key after which the page begins; nil for the first page.
  ///   - limit: the most keys of the page.
  /// - Throws: `OriginReadFailure` if the answer is not JSON.
  init(_ body: [UInt8], after key: Key?, limit: Int) throws(OriginReadFailure) {
    let names: [String]
    switch try OriginReader.json(body) {
    case .null:
      self = .empty
      return
    case .bool(let bool):
      self = .value(.bool(bool))
      return
    case .number(let number):
      self = .value(.number(number))
      return
    case .string(let text):
      self = .value(.string(text))
      return
    case .object(let members): names = members.map(\.name)
    // A server may send children whose keys are 0, 1, 2 … as an array.
    case .array(let elements):
      names = elements.indices.filter { !elements[$0].isNull }.map { String($0) }
    }
    // Names that are no keys, such as .priority, are no children.
    var keys = names.compactMap { try? Key($0) }
    if let key { keys.removeAll { $0 <= key } }
    keys.sort()
    self = keys.isEmpty ? .empty : .keys(Array(keys.prefix(limit)), hasMore: keys.count > limit)
  }
}

/// What stands at a place, as far as the beginning of an answer tells.
package enum OriginGlance: Hashable, Sendable {
  /// Nothing.
  case empty
  /// A value; nil for a long text.
  case value(JSONValue?)
  /// A node with at least this number of children, or exactly if these are all.
  case keys(Int, isAll: Bool)

  /// Reads the beginning of the answer to a shallow request.
  init(_ body: [UInt8], isWhole: Bool) throws(OriginReadFailure) {
    guard isWhole else {
      let isNode = body.first == UInt8(ascii: "{") || body.first == UInt8(ascii: "[")
      self = isNode ? .keys(OriginGlance.memberCount(body), isAll: false) : .value(nil)
      return
    }
    switch try OriginLevel(body, after: nil, limit: .max) {
    case .empty: self = .empty
    case .value(let value): self = .value(value)
    case .keys(let keys, _): self = .keys(keys.count, isAll: true)
    }
  }

  /// The number of members that the beginning of an object surely has.
  private static func memberCount(_ body: [UInt8]) -> Int {
    // Within a key, a quote follows a backslash.
    let end = Array("\":true".utf8)
    var count = 0
    var index = 1
    while index + end.count <= body.count {
      if body[index] == end[0], body[index - 1] != UInt8(ascii: "\\"),
        body[index..<index + end.count].elementsEqual(end)
      {
        count += 1
        index += end.count
      } else {
        index += 1
      }
    }
    return max(count, 1)
  }
}
