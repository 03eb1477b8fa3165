public import RunnelBase
public import RunnelTree

/// What a client asks for.
///
/// Source: wire protocol, section A4.
public enum WireRequest: Hashable, Sendable {
  /// Tell the answer of a query and every change of it; what is known already is told by its hash.
  /// Pushes for all but default queries carry the tag.
  case listen(AskedQuery, tag: Int?, known: KnownHash)
  /// Tell no more of a query.
  case unlisten(AskedQuery, tag: Int?)
  /// Tell the answer of a query once.
  case get(AskedQuery)
  /// Do a write, once for each name.
  case write(Write, name: WriteID?)
  /// Set a place, if the hash of what stands there is this one.
  case compareAndSet(Path, JSONValue, hash: String, name: WriteID?)
  /// Do something when the connection ends, or do it no longer.
  case onDisconnect(DisconnectRequest)
  /// Speak for whom a credential names.
  case authenticate(Credential)
  /// Speak for nobody.
  case unauthenticate
  /// The token by which an app is known; nil takes it back.
  case appCheck(String?)
  /// What a client counted; nobody reads it.
  case statistics(JSONValue)
}

/// By what a client says who it is.
public struct Credential: Hashable, Sendable {
  /// The token, secret or other text.
  public var text: String
  /// True if the client takes it for that of an administrator.
  public var isAdministrator: Bool
  /// True if an administrator wants to be treated as nobody.
  public var isUnauthenticated: Bool
  /// For whom an administrator wants to speak, as rules see it; nil for himself.
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

// MARK: Reading

extension WireRequest {
  /// Reads a request.
  ///
  /// O(n) in the body.
  ///
  /// - Parameters:
  ///   - action: the word that says what is asked for, `a` on the wire.
  ///   - body: what goes with it, `b` on the wire.
  /// - Throws: `TreeError` (`invalidMessage`, `invalidPath`, `invalidKey` or `invalidQuery`) that names
  ///   what is wrong.
  public init(action: String, body: JSONValue) throws(TreeError) {
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
    case .merge:
      self = .write(
        .update(try body.path(), try body.members(WireName.data)), name: try body.writeName())
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

  /// The name by which a write is done once.
  fileprivate func writeName() throws(TreeError) -> WriteID? {
    guard let json = optional(WireName.writeName) else { return nil }
    guard case .array(let parts) = json, parts.count == 2, case .string(let client) = parts[0],
      case .number(let number) = parts[1], let integer = number.integer,
      let name = WriteID(client: client, number: integer)
    else {
      throw invalid("\"\(WireName.writeName)\" is no pair of a client's name and a number from 1")
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
  /// What replaces the node at a place, or its priority.
  init(replacing place: WirePlace, _ json: JSONValue) {
    self =
      place.isPriority
      ? .update(place.path, [JSONMember(WireName.priority, json)]) : .set(place.path, json)
  }
}
