public import RunnelBase
public import RunnelTree

/// A query as a client asked it, by which it is told from others on the same connection.
///
/// Two query objects may mean the same: clients move exclusive bounds to neighbours of keys. Each is
/// listened to, ended and revoked by the object that was sent.
///
/// Source: wire protocol, section A4.1.
public struct AskedQuery: Hashable, Sendable {
  /// What it shows.
  public let query: Query
  /// The object that was sent, its members in the order of their names; nil for all that is at the
  /// place.
  public let object: JSONValue?

  /// Makes a query from what a client sent; no object, null and an empty one mean all of the place.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) that names the member which is wrong.
  public init(_ object: JSONValue?, at path: Path) throws(TreeError) {
    switch object {
    case nil, .null?, .object([])?:
      (query, self.object) = (Query(path), nil)
    case .object(let members)?:
      query = try Query(wire: .object(members), at: path)
      self.object = .object(members.sorted { $0.name < $1.name })
    default: throw TreeError(.invalidQuery, "A query is an object.", path: path.description)
    }
  }
}

extension AskedQuery {
  /// Makes a query of an object that means it; nil for all that is at the place.
  init(_ object: JSONValue?, showing query: Query) {
    (self.query, self.object) = (query, object)
  }
}

extension Query {
  /// The object that official clients send for this query, byte by byte: members in their order.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) for a query that the wire has no words for.
  func sentJSON() throws(TreeError) -> JSONValue {
    guard case .object(let members) = try wireJSON() else { return .object([]) }
    return .object(Query.sentOrder.compactMap { name in members.first { $0.name == name } })
  }

  private static let sentOrder = ["sp", "sn", "sin", "ep", "en", "ein", "l", "vf", "i"]
}
