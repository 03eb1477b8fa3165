import RunnelBase
import RunnelTree

/// The head of a request over HTTP.
package struct RESTRequest: Hashable, Sendable {
  /// A header of a request or an answer.
  package struct Header: Hashable, Sendable {
    /// The name; case does not matter.
    package var name: String
    /// The value.
    package var value: String

    /// Makes a header.
    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
  }

  /// The method, in upper case.
  package var method: String
  /// Path and query as they stand in the request line.
  package var target: String
  /// The headers.
  package var headers: [Header]

  /// Makes a request.
  package init(_ method: String, _ target: String, headers: [Header] = []) {
    (self.method, self.target, self.headers) = (method, target, headers)
  }

  /// The value of a header; the first one if there are several.
  package func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name }?.value
  }
}

/// An error answer that says what is wrong with a request.
struct RESTError: Error, Hashable {
  var status: Int
  var message: String
  /// The limit that was reached; nil for another error.
  var limit: RESTLimit?
  /// True if the path has more levels than any tree: that is counted, and no option raises it.
  var isTooDeep = false

  init(_ status: Int, _ message: String, limit: RESTLimit? = nil) {
    (self.status, self.message, self.limit) = (status, message, limit)
  }

  static let noJSONSuffix = RESTError(404, "append .json to your request URI to use the REST API.")
  static let invalidPath = RESTError(400, "Invalid path: Invalid token in path")
  static let noData = RESTError(400, "Error: No data supplied.")
  static let invalidData = RESTError(
    400, "Invalid data; couldn't parse JSON object, array, or value.")
  static let invalidKeys = RESTError(
    400, invalidData.message + " Perhaps you're using invalid characters in your key names.")
  static let tooLarge = RESTError(
    400, "Data to write exceeds the maximum size that can be modified with a single request.",
    limit: .writeBytes)
  static func importTooLarge(_ most: Int) -> RESTError {
    RESTError(
      400,
      tooLarge.message + " A PUT of an administrator has \(most) bytes at most (--max-import).",
      limit: .importBytes)
  }
  static let belowPriority = RESTError(
    400, "A priority has nothing below it: set it by PUT, remove it by DELETE.")
  static let listenToPriority = RESTError(
    400, "The events of a node with ?format=export tell its priority: listen to the node.")
  static let conditionOnPriority = RESTError(
    400, "if-match goes with nodes: a priority has no ETag of its own.")
  static let unauthorized = RESTError(401, "Unauthorized request.")
  static let permissionDenied = RESTError(401, "Permission denied")

  /// Makes the answer to a request that the tree refused.
  init(_ error: TreeError) {
    switch error.code {
    case .permissionDenied: self = .permissionDenied
    case .tooBig: self.init(400, error.message, limit: .readBytes)
    case .unavailable, .storage: self.init(503, error.message)
    case .invalidKey: self = .invalidKeys
    default: self.init(400, error.description)
    }
  }
}

extension TreeError {
  /// True if a place has more levels than any tree.
  var isOfDepth: Bool {
    guard code == .invalidPath, let path else { return false }
    return Path.pieces(of: path).count > TreeLimits.depthMax
  }
}

/// The place and the parameters of a request, decoded.
struct RESTTarget: Hashable {
  /// The resource that the path of a request names.
  enum Resource: Hashable {
    case place(Path)
    /// The priority of the node at a place.
    case priority(Path)
    /// Information about the connection itself, which is empty here.
    case info
    case rules
  }

  let resource: Resource
  /// The parameters in their order; the first of several with the same name counts.
  private let parameters: [RESTRequest.Header]

  init(_ target: String) throws(RESTError) {
    let halves = target.utf8.split(
      separator: UInt8(ascii: "?"), maxSplits: 1,
      omittingEmptySubsequences: false)
    parameters = halves.count > 1 ? try RESTTarget.parameters(halves[1]) : []
    resource = try RESTTarget.resource(halves[0])
  }

  subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

  func contains(_ name: String) -> Bool { self[name] != nil }

  private static func resource(_ path: Substring.UTF8View) throws(RESTError) -> Resource {
    let suffix = Array(".json".utf8)
    guard path.count >= suffix.count, path.suffix(suffix.count).elementsEqual(suffix) else {
      throw RESTError.noJSONSuffix
    }
    var pieces: [String] = []
    for piece in path.dropLast(suffix.count).split(separator: UInt8(ascii: "/")) {
      guard let text = PercentEncoding.decoded(piece, isPlusSpace: false), !text.contains("/")
      else {
        throw RESTError.invalidPath
      }
      pieces.append(text)
    }
    if pieces == [".settings", "rules"] { return .rules }
    if pieces.first == ".info" { return .info }
    let isPriority = pieces.last == WireName.priority
    if isPriority { pieces.removeLast() }
    var keys: [Key] = []
    do throws(TreeError) {
      for piece in pieces { keys.append(try Key(piece)) }
      let path = try Path(keys)
      return isPriority ? .priority(path) : .place(path)
    } catch {
      var refusal = RESTError(400, "Invalid path: \(error.message)")
      refusal.isTooDeep = error.isOfDepth
      throw refusal
    }
  }

  private static func parameters(
    _ text: Substring.UTF8View
  ) throws(RESTError) -> [RESTRequest.Header] {
    var parameters: [RESTRequest.Header] = []
    for pair in text.split(separator: UInt8(ascii: "&")) {
      let halves = pair.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentEncoding.decoded(halves[0], isPlusSpace: true),
        let value = halves.count > 1
          ? PercentEncoding.decoded(halves[1], isPlusSpace: true) : ""
      else {
        throw RESTError(400, "A query parameter is not UTF-8 in percent encoding.")
      }
      parameters.append(RESTRequest.Header(name, value))
    }
    return parameters
  }
}
