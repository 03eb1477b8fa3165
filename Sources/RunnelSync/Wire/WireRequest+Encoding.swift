package import RunnelBase
package import RunnelTree

// Requests as official clients send them, byte by byte. Source: wire protocol, sections A4 and A7.1.

extension WireRequest {
  /// The name of the action, `a` on the wire.
  package var action: String { requestAction.rawValue }

  private var requestAction: RequestAction {
    switch self {
    case .listen: .listen
    case .unlisten: .unlisten
    case .get: .get
    case .write(let write, _): write.putPath == nil ? .merge : .put
    case .compareAndSet: .put
    case .writeIf: .merge
    case .onDisconnect(.set): .onDisconnectPut
    case .onDisconnect(.update): .onDisconnectMerge
    case .onDisconnect(.cancel): .onDisconnectCancel
    case .authenticate(let credential):
      credential.isAdministrator ? .authenticateAdministrator : .authenticate
    case .unauthenticate: .unauthenticate
    case .appCheck(let token): token == nil ? .endAppCheck : .appCheck
    case .statistics: .statistics
    }
  }

  /// The body of the request, `b` on the wire.
  ///
  /// - Throws: `TreeError` for requests that the wire format cannot express: a query with a filter,
  ///   and copies and moves, which are sent as the writes that they result in.
  package func body() throws(TreeError) -> JSONValue {
    switch self {
    case .listen(let asked, let tag, let known):
      var members = try asked.members(tag: tag)
      members.append(JSONMember(WireName.hash, .string(known.whole)))
      if let ranges = known.ranges {
        members.append(JSONMember(WireName.compoundHash, ranges.json))
      }
      return .object(members)
    case .unlisten(let asked, let tag): return .object(try asked.members(tag: tag))
    case .get(let asked):
      let query = try asked.query.sentJSON()
      return .object([asked.pathMember, JSONMember(WireName.query, query)])
    case .write(let write, let name): return try write.body(name: name)
    case .writeIf(let write, let hashes, let name):
      return try write.merging.body(name: name, hashes: hashes)
    case .compareAndSet(let path, let json, let hash, let name):
      let members = [
        JSONMember(WireName.path, .string(path.description)), JSONMember(WireName.data, json),
        JSONMember(WireName.hash, .string(hash)),
      ]
      return .object(members + WireRequest.members(name))
    case .onDisconnect(let request): return request.body
    case .authenticate(let credential): return credential.body
    case .unauthenticate, .appCheck(nil): return .object([])
    case .appCheck(let token?): return [WireName.token: .string(token)]
    case .statistics(let counters): return [WireName.counters: counters]
    }
  }

  fileprivate static func members(_ name: WriteID?) -> [JSONMember] {
    guard let name else { return [] }
    let pair: JSONValue = [.string(name.client), .number(JSONNumber(name.number))]
    return [JSONMember(WireName.writeName, pair)]
  }
}

extension AskedQuery {
  fileprivate var pathMember: JSONMember {
    JSONMember(WireName.path, .string(query.path.description))
  }

  /// The members that name the query; a query without a tag is the default query of its place.
  fileprivate func members(tag: Int?) throws(TreeError) -> [JSONMember] {
    guard let tag else { return [pathMember] }
    return [
      pathMember, JSONMember(WireName.query, try query.sentJSON()),
      JSONMember(WireName.tag, .number(JSONNumber(Int64(tag)))),
    ]
  }
}

extension Write {
  /// The path at which the write is a put; nil if the write is a merge.
  fileprivate var putPath: String? {
    switch self {
    case .set(let path, _): path.description
    case .update(let path, let members) where members.map(\.name) == [WireName.priority]:
      (path.isRoot ? "" : path.description) + "/" + WireName.priority
    case .update, .copy, .move: nil
    }
  }

  /// The same write as a merge, which can have hashes; the root can only be put.
  fileprivate var merging: Write {
    guard case .set(let path, let json) = self, let parent = path.parent, let key = path.lastKey
    else { return self }
    return .update(parent, [JSONMember(key.text, json)])
  }

  /// The expected hashes by their places, which are below that of the merge.
  private func hashMembers(_ hashes: [PlaceHash]) -> [JSONMember] {
    guard case .update(let path, _) = self, !hashes.isEmpty else { return [] }
    let members = hashes.compactMap { expected in
      expected.path.relative(to: path).map { below in
        JSONMember(below.keys.map(\.text).joined(separator: "/"), .string(expected.hash))
      }
    }
    return [JSONMember(WireName.placeHashes, .object(members))]
  }

  fileprivate func body(
    name: WriteID?, hashes: [PlaceHash] = []
  ) throws(TreeError) -> JSONValue {
    let data: JSONValue
    let path: String
    switch self {
    case .set(let place, let json): (path, data) = (place.description, json)
    case .update(let place, let members):
      path = putPath ?? place.description
      data = putPath == nil ? .object(members) : members[0].value
    case .copy(_, let target), .move(_, let target):
      throw TreeError(
        .invalidValue, "The wire protocol has no copies: send the resulting value.",
        path: target.description)
    }
    let members = [JSONMember(WireName.path, .string(path)), JSONMember(WireName.data, data)]
    return .object(members + hashMembers(hashes) + WireRequest.members(name))
  }
}

extension DisconnectRequest {
  fileprivate var body: JSONValue {
    switch self {
    case .set(let path, let json): [WireName.path: .string(path.description), WireName.data: json]
    case .update(let path, let members):
      [WireName.path: .string(path.description), WireName.data: .object(members)]
    case .cancel(let path): [WireName.path: .string(path.description), WireName.data: .null]
    }
  }
}

extension Credential {
  fileprivate var body: JSONValue {
    var members = [JSONMember(WireName.credential, .string(text))]
    if isUnauthenticated { members.append(JSONMember(WireName.isUnauthenticated, true)) }
    if let authVariable { members.append(JSONMember(WireName.authVariable, authVariable)) }
    return .object(members)
  }
}
