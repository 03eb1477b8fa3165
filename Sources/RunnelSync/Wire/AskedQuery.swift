package import RunnelBase
package import RunnelTree

/// A query in the form in which a client asked it, which identifies it on its connection.
///
/// Two query objects may mean the same query, because clients move exclusive bounds to neighboring
/// keys. A listen is ended and revoked by the object that was sent.
///
/// Source: wire protocol, section A4.1.
package struct AskedQuery: Hashable, Sendable {
  /// The query.
  package let query: Query
  /// The object that was sent, with its members ordered by name; nil for all of the place.
  package let object: JSONValue?

  /// Makes a query from a client's object; no object, null and an empty object mean all of the
  /// place.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) that names the wrong member.
  package init(_ object: JSONValue?, at path: Path) throws(TreeError) {
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
  /// Makes a query with an object that means it; nil for all of the place.
  init(_ object: JSONValue?, showing query: Query) {
    (self.query, self.object) = (query, object)
  }
}

extension Query {
  /// The object that official clients send for this query, byte by byte, with members in their
  /// order.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) for a query that the wire format cannot express.
  func sentJSON() throws(TreeError) -> JSONValue {
    guard case .object(let members) = try wireJSON() else { return .object([]) }
    return .object(Query.sentOrder.compactMap { name in members.first { $0.name == name } })
  }

  private static let sentOrder = ["sp", "sn", "sin", "ep", "en", "ein", "l", "vf", "i"]
}
