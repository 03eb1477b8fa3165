package import RunnelBase
package import RunnelTree

/// Decodes the pushes of an origin from the wire into messages for a replica.
///
/// A push is an object with an action and a body. Four actions concern a replica; the others
/// concern the connection or a log, and are not decoded here.
///
/// | Action | Body | Message |
/// |---|---|---|
/// | `d` | a place, data, maybe a tag | `push` of a node or of a priority |
/// | `m` | a place, values by relative path, maybe a tag | `push` of a merge |
/// | `rm` | a place, ranges, maybe a tag | `ranges` |
/// | `c` | a place, maybe queries | `listenRevoked`, once for each query |
///
/// Source: wire protocol, section A5.
package struct PushDecoder: Sendable {
  /// Makes a decoder.
  package init() {}

  /// True for an action that concerns a replica.
  package func reads(_ action: String) -> Bool { Action(rawValue: action) != nil }

  /// Decodes a push.
  ///
  /// O(n) in the body.
  ///
  /// - Parameters:
  ///   - action: the action of the push, `a` on the wire.
  ///   - body: the body of the push, `b` on the wire.
  /// - Returns: the messages, in order; more than one if several queries are revoked.
  /// - Throws: `TreeError` (`invalidMessage`, `invalidPath`, `invalidKey`, `invalidValue` or
  ///   `invalidQuery`) that names what is wrong; then no part of the push may be used.
  package func messages(
    action: String, body: JSONValue
  ) throws(TreeError) -> [OriginMessage] {
    guard let known = Action(rawValue: action) else {
      throw TreeError(
        .invalidMessage, "The push \"\(action)\" is not known: it concerns no data.")
    }
    let body = try PushBody(body, of: known)
    switch known {
    case .data: return [try body.dataMessage()]
    case .merge: return [try body.mergeMessage()]
    case .ranges: return [try body.rangesMessage()]
    case .revocation: return try body.revocationMessages()
    }
  }
}

/// The actions that concern a replica, as they are spelled on the wire.
private enum Action: String {
  case data = "d"
  case merge = "m"
  case ranges = "rm"
  case revocation = "c"
}

/// The members of a body, as they are spelled on the wire.
private enum MemberName {
  static let path = "p"
  static let data = "d"
  static let tag = "t"
  static let queries = "q"
  static let rangeStart = "s"
  static let rangeEnd = "e"
  static let rangeNode = "m"
  static let priority = ".priority"
}

/// The body of a push that is being read.
private struct PushBody {
  private let json: JSONValue
  private let action: Action
  /// The place, without `.priority` at its end.
  private let path: Path
  private let isPriority: Bool

  init(_ json: JSONValue, of action: Action) throws(TreeError) {
    guard case .object = json, case .string(let text)? = json[MemberName.path] else {
      throw TreeError(
        .invalidMessage,
        "The body of the push \"\(action.rawValue)\" is not an object with a path in \"p\".")
    }
    (self.json, self.action) = (json, action)
    let place = try WirePlace(text)
    (path, isPriority) = (place.path, place.isPriority)
    if isPriority, action != .data { throw invalid("its path ends in .priority") }
  }

  private func invalid(_ reason: String) -> TreeError {
    TreeError(
      .invalidMessage, "The push \"\(action.rawValue)\" cannot be read: \(reason).",
      path: path.description)
  }

  private func data() throws(TreeError) -> JSONValue {
    guard let data = json[MemberName.data] else { throw invalid("it has no data in \"d\"") }
    return data
  }

  private func tag() throws(TreeError) -> Int? {
    guard let value = json[MemberName.tag], value != .null else { return nil }
    guard case .number(let number) = value, let tag = number.integer.flatMap({ Int(exactly: $0) })
    else { throw invalid("its tag in \"t\" is not a whole number") }
    return tag
  }
}

// MARK: Data

extension PushBody {
  func dataMessage() throws(TreeError) -> OriginMessage {
    let data = try data()
    let push =
      isPriority
      ? Replica.Push.priority(try priority(data, at: path))
      : .set(try Node(json: data, at: path))
    return .push(push, path, tag: try tag())
  }

  func mergeMessage() throws(TreeError) -> OriginMessage {
    guard case .object(let members) = try data() else {
      throw invalid("its data in \"d\" are no object of values by path")
    }
    var parts: [Assignment] = []
    for member in members { parts.append(try part(member)) }
    return .push(.merge(parts), path, tag: try tag())
  }

  /// A member of a merge; its name is a path that begins at the place.
  private func part(_ member: JSONMember) throws(TreeError) -> Assignment {
    let below = try WirePlace(member.name)
    let place = try path.appending(below.path)
    let target: Assignment.Target =
      below.isPriority
      ? .priority(try priority(member.value, at: place))
      : .node(try Node(json: member.value, at: place))
    return Assignment(path: below.path, target: target)
  }

  private func priority(_ json: JSONValue, at place: Path) throws(TreeError) -> Leaf? {
    do throws(TreeError) {
      return try Node.importedPriority(json)
    } catch {
      throw TreeError(error.code, error.message, path: place.description)
    }
  }

  func rangesMessage() throws(TreeError) -> OriginMessage {
    guard case .array(let elements) = try data() else {
      throw invalid("its data in \"d\" are no list of ranges")
    }
    var merges: [RangeMerge] = []
    for element in elements { merges.append(try range(element)) }
    return .ranges(merges, path, tag: try tag())
  }

  private func range(_ json: JSONValue) throws(TreeError) -> RangeMerge {
    guard let node = json[MemberName.rangeNode] else {
      throw invalid("a range has no data in \"m\"")
    }
    return RangeMerge(
      after: try position(json[MemberName.rangeStart]),
      through: try position(json[MemberName.rangeEnd]), node: try Node(json: node, at: path))
  }

  private func position(_ json: JSONValue?) throws(TreeError) -> LeafPosition? {
    switch json {
    case nil, .null?: return nil
    case .string(let text)?: return try LeafPosition(text)
    default: throw invalid("the end of a range is not a path")
    }
  }
}

// MARK: Revocations

extension PushBody {
  /// The messages of a revocation; without queries, the default query of the place is revoked.
  func revocationMessages() throws(TreeError) -> [OriginMessage] {
    let given: [JSONValue]
    switch json[MemberName.queries] {
    case nil, .null?: given = []
    case .array(let elements)?: given = elements
    case let other?: given = [other]
    }
    let error = TreeError(.permissionDenied, "Permission denied", path: path.description)
    if given.isEmpty { return [.listenRevoked(Query(path), error)] }
    var messages: [OriginMessage] = []
    for query in given {
      messages.append(.listenRevoked(try Query(wire: query, at: path), error))
    }
    return messages
  }
}
