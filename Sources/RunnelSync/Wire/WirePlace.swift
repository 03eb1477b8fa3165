import RunnelBase
import RunnelTree

/// A place named by a path on the wire: a node, or the priority of one.
///
/// The first slash of an absolute path is optional. Source: wire protocol, the conventions.
struct WirePlace {
  /// The place of the node.
  let path: Path
  /// True if the last piece is `.priority`.
  let isPriority: Bool

  /// Reads the text of a path.
  ///
  /// - Throws: `TreeError` (`invalidKey` or `invalidPath`) that names the wrong part.
  init(_ text: String) throws(TreeError) {
    try Path.checkLength(of: text)
    let pieces = Path.pieces(of: text)
    isPriority = pieces.last == WireName.priority
    path = isPriority ? try Path(pieces.dropLast().joined(separator: "/")) : try Path(text)
  }
}

/// The members of a message that is being read, with errors that name missing or wrong members.
struct WireBody {
  let json: JSONValue
  /// The name of the message in errors: `The request "q"`.
  let subject: String

  init(_ json: JSONValue, _ subject: String) throws(TreeError) {
    (self.json, self.subject) = (json, subject)
    guard case .object = json else { throw invalid("it is not an object") }
  }

  func invalid(_ reason: String) -> TreeError {
    TreeError(.invalidMessage, "\(subject) cannot be read: \(reason).")
  }

  /// A member; nil if it is missing or null.
  func optional(_ name: String) -> JSONValue? {
    let value = json[name]
    return value == .null ? nil : value
  }

  func required(_ name: String) throws(TreeError) -> JSONValue {
    guard let value = json[name] else { throw invalid("it has no \"\(name)\"") }
    return value
  }

  func string(_ name: String) throws(TreeError) -> String {
    guard case .string(let text) = try required(name) else {
      throw invalid("\"\(name)\" is not a string")
    }
    return text
  }

  func optionalString(_ name: String) throws(TreeError) -> String? {
    optional(name) == nil ? nil : try string(name)
  }

  func integer(_ name: String) throws(TreeError) -> Int64 {
    guard case .number(let number) = try required(name), let integer = number.integer else {
      throw invalid("\"\(name)\" is not a whole number")
    }
    return integer
  }

  func place() throws(TreeError) -> WirePlace { try WirePlace(try string(WireName.path)) }

  /// The path of a node; a path of a priority is refused.
  func path() throws(TreeError) -> Path {
    let place = try place()
    if place.isPriority { throw invalid("its path ends in \(WireName.priority)") }
    return place.path
  }

  func members(_ name: String) throws(TreeError) -> [JSONMember] {
    guard case .object(let members) = try required(name) else {
      throw invalid("\"\(name)\" is not an object of values by path")
    }
    return members
  }
}
