public import RunnelBase
package import RunnelTree

/// A request of a client.
///
/// Source: wire protocol, section A4.
package enum WireRequest: Hashable, Sendable {
  /// Tell the result of a query and every later change of it. `known` holds the hashes of the
  /// client's current data. Pushes for all but default queries carry the tag.
  case listen(AskedQuery, tag: Int?, known: KnownHash)
  /// Stop telling changes of a query.
  case unlisten(AskedQuery, tag: Int?)
  /// Tell the result of a query once.
  case get(AskedQuery)
  /// Do a write, once for each name.
  case write(Write, name: WriteID?)
  /// Do a write if the nodes at these places have these hashes, once for each name.
  case writeIf(Write, hashes: [PlaceHash], name: WriteID?)
  /// Set a place if its hash is this one.
  case compareAndSet(Path, JSONValue, hash: String, name: WriteID?)
  /// Register a disconnect request, or cancel it.
  case onDisconnect(DisconnectRequest)
  /// Act for the caller that a credential identifies.
  case authenticate(Credential)
  /// Act as an unauthenticated client.
  case unauthenticate
  /// The token that identifies an app; nil withdraws it.
  case appCheck(String?)
  /// Statistics of a client; they are not used.
  case statistics(JSONValue)
}

/// The credential of a client.
public struct Credential: Hashable, Sendable {
  /// The token, secret or other text.
  public var text: String
  /// True if the client presents it as an administrator's.
  public var isAdministrator: Bool
  /// True if an administrator wants to be treated as unauthenticated.
  public var isUnauthenticated: Bool
  /// The caller for whom an administrator wants to act, as rules see it; nil for the administrator.
  public var authVariable: JSONValue?

  /// Makes a credential.
  public init(
    _ text: String, isAdministrator: Bool = false, isUnauthenticated: Bool = false,
    authVariable: JSONValue? = nil
  ) {
    self.text = text
    self.isAdministrator = isAdministrator
    self.isUnauthenticated = isUnauthenticated
    self.authVariable = authVariable
  }
}

extension WireRequest {
  /// The values that are to be written, and whether they replace a single place; nil if none are.
  var writtenValues: (values: JSONValue, isSet: Bool)? {
    switch self {
    case .write(.set(_, let json), _), .writeIf(.set(_, let json), _, _),
      .compareAndSet(_, let json, _, _),
      .onDisconnect(.set(_, let json)):
      (json, true)
    case .write(.update(_, let members), _), .writeIf(.update(_, let members), _, _),
      .onDisconnect(.update(_, let members)):
      (.object(members), false)
    // Clients do not request copies and moves.
    case .write(.copy, _), .write(.move, _), .writeIf(.copy, _, _), .writeIf(.move, _, _),
      .onDisconnect(.cancel), .listen, .unlisten, .get, .authenticate, .unauthenticate, .appCheck,
      .statistics:
      nil
    }
  }
}

// MARK: Reading

extension WireRequest {
  /// Reads a request.
  ///
  /// O(n) in the body.
  ///
  /// - Parameters:
  ///   - action: the name of the action, `a` on the wire.
  ///   - body: the body of the request, `b` on the wire.
  /// - Throws: `TreeError` (`invalidMessage`, `invalidPath`, `invalidKey` or `invalidQuery`) that
  ///   says what is wrong.
  package init(action: String, body: JSONValue) throws(TreeError) {
    let body = try WireBody(body, "The request \"\(action.prefix(20))\"")
    guard let known = RequestAction(rawValue: action) else {
      throw body.invalid("there is no such action")
    }
    switch known {
    case .listen, .legacyListen: self = try WireRequest.listen(body)
    case .unlisten, .legacyUnlisten:
      self = .unlisten(try body.asked(), tag: try body.tag())
    case .get: self = .get(try body.asked())
    case .put: self = try WireRequest.put(body)
    case .merge: self = try WireRequest.merge(body)
    case .onDisconnectPut: self = try WireRequest.onDisconnectPut(body)
    case .onDisconnectMerge:
      self = .onDisconnect(.update(try body.path(), try body.members(WireName.data)))
    case .onDisconnectCancel: self = .onDisconnect(.cancel(try body.place().path))
    case .authenticate, .authenticateAdministrator:
      self = .authenticate(try body.credential(isAdministrator: known != .authenticate))
    case .unauthenticate: self = .unauthenticate
    case .appCheck: self = .appCheck(try body.string(WireName.token))
    case .endAppCheck: self = .appCheck(nil)
    case .statistics: self = .statistics(body.optional(WireName.counters) ?? .object([]))
    }
  }

  private static func listen(_ body: WireBody) throws(TreeError) -> WireRequest {
    let asked = try body.asked()
    let tag = asked.object == nil ? nil : try body.tag()
    if asked.object != nil, tag == nil {
      throw body.invalid("a query has a tag in \"\(WireName.tag)\", by which it is told")
    }
    var known = KnownHash(whole: try body.optionalString(WireName.hash) ?? "")
    if let ranges = body.optional(WireName.compoundHash) {
      known.ranges = try CompoundHash(json: ranges)
    }
    return .listen(asked, tag: tag, known: known)
  }

  private static func put(_ body: WireBody) throws(TreeError) -> WireRequest {
    let place = try body.place()
    let json = try body.required(WireName.data)
    let name = try body.writeName()
    guard let hash = try body.optionalString(WireName.hash) else {
      return .write(Write(replacing: place, json), name: name)
    }
    if place.isPriority { throw body.invalid("a priority alone cannot be set on a condition") }
    return .compareAndSet(place.path, json, hash: hash, name: name)
  }

  private static func merge(_ body: WireBody) throws(TreeError) -> WireRequest {
    let path = try body.path()
    let write = Write.update(path, try body.members(WireName.data))
    let name = try body.writeName()
    guard body.optional(WireName.placeHashes) != nil else { return .write(write, name: name) }
    var hashes: [PlaceHash] = []
    for member in try body.members(WireName.placeHashes) {
      guard case .string(let hash) = member.value else {
        throw body.invalid("\"\(WireName.placeHashes)\" is not an object of hashes by path")
      }
      hashes.append(PlaceHash(try path.appending(Path(member.name)), hash))
    }
    return .writeIf(write, hashes: hashes, name: name)
  }

  private static func onDisconnectPut(_ body: WireBody) throws(TreeError) -> WireRequest {
    let place = try body.place()
    let json = try body.required(WireName.data)
    if place.isPriority {
      return .onDisconnect(.update(place.path, [JSONMember(WireName.priority, json)]))
    }
    return .onDisconnect(.set(place.path, json))
  }
}

extension WireBody {
  fileprivate func asked() throws(TreeError) -> AskedQuery {
    try AskedQuery(json[WireName.query], at: path())
  }

  fileprivate func tag() throws(TreeError) -> Int? {
    guard optional(WireName.tag) != nil else { return nil }
    guard let tag = Int(exactly: try integer(WireName.tag)) else {
      throw invalid("its tag is too large")
    }
    return tag
  }

  /// The name under which a write is done once.
  fileprivate func writeName() throws(TreeError) -> WriteID? {
    guard let json = optional(WireName.writeName) else { return nil }
    guard case .array(let parts) = json, parts.count == 2, case .string(let client) = parts[0],
      case .number(let number) = parts[1], let integer = number.integer,
      let name = WriteID(client: client, number: integer)
    else {
      throw invalid(
        "\"\(WireName.writeName)\" is not a pair of a client's name and a number from 1")
    }
    return name
  }

  fileprivate func credential(isAdministrator: Bool) throws(TreeError) -> Credential {
    Credential(
      try string(WireName.credential), isAdministrator: isAdministrator,
      isUnauthenticated: json[WireName.isUnauthenticated] == .bool(true),
      authVariable: json[WireName.authVariable])
  }
}

extension Write {
  /// Makes the write that replaces the node at a place, or its priority.
  init(replacing place: WirePlace, _ json: JSONValue) {
    self =
      place.isPriority
      ? .update(place.path, [JSONMember(WireName.priority, json)]) : .set(place.path, json)
  }
}
