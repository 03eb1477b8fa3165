import RunnelBase
public import RunnelTree

// Bounds of queries that are variables of Swift types: `queryStarting(atValue: id)`. The compiler
// takes these functions only if the bound is no JSON.

extension Queryable {
  /// The same query, starting at a value and, among equal values, at a key.
  ///
  /// - Parameters:
  ///   - value: a text, a number, a Boolean, or a date as it is stored.
  ///   - childKey: among equal values, the key.
  /// - Returns: the query with the bound.
  /// - Throws: `TreeError`, as for JSON; (`invalidQuery`) for a variable that is nil or no leaf.
  @_disfavoredOverload
  public func queryStarting(
    atValue value: some Encodable, childKey: String? = nil
  ) throws(TreeError) -> DatabaseQuery {
    try queryStarting(atValue: try json(ofBound: value), childKey: childKey)
  }

  /// The same query after a value; with a key, after the child with this value and key.
  ///
  /// - Parameters:
  ///   - value: a text, a number, a Boolean, or a date as it is stored.
  ///   - childKey: among equal values, the key.
  /// - Returns: the query with the bound.
  /// - Throws: `TreeError`, as for JSON; (`invalidQuery`) for a variable that is nil or no leaf.
  @_disfavoredOverload
  public func queryStarting(
    afterValue value: some Encodable, childKey: String? = nil
  ) throws(TreeError) -> DatabaseQuery {
    try queryStarting(afterValue: try json(ofBound: value), childKey: childKey)
  }

  /// The same query, ending at a value and, among equal values, at a key.
  ///
  /// - Parameters:
  ///   - value: a text, a number, a Boolean, or a date as it is stored.
  ///   - childKey: among equal values, the key.
  /// - Returns: the query with the bound.
  /// - Throws: `TreeError`, as for JSON; (`invalidQuery`) for a variable that is nil or no leaf.
  @_disfavoredOverload
  public func queryEnding(
    atValue value: some Encodable, childKey: String? = nil
  ) throws(TreeError) -> DatabaseQuery {
    try queryEnding(atValue: try json(ofBound: value), childKey: childKey)
  }

  /// The same query before a value; with a key, before the child with this value and key.
  ///
  /// - Parameters:
  ///   - value: a text, a number, a Boolean, or a date as it is stored.
  ///   - childKey: among equal values, the key.
  /// - Returns: the query with the bound.
  /// - Throws: `TreeError`, as for JSON; (`invalidQuery`) for a variable that is nil or no leaf.
  @_disfavoredOverload
  public func queryEnding(
    beforeValue value: some Encodable, childKey: String? = nil
  ) throws(TreeError) -> DatabaseQuery {
    try queryEnding(beforeValue: try json(ofBound: value), childKey: childKey)
  }

  /// The same query for the children whose value is the given one; with a key, for the one child.
  ///
  /// - Parameters:
  ///   - value: a text, a number, a Boolean, or a date as it is stored.
  ///   - childKey: the key.
  /// - Returns: the query with the bound.
  /// - Throws: `TreeError`, as for JSON; (`invalidQuery`) for a variable that is nil or no leaf.
  @_disfavoredOverload
  public func queryEqual(
    toValue value: some Encodable, childKey: String? = nil
  ) throws(TreeError) -> DatabaseQuery {
    try queryEqual(toValue: try json(ofBound: value), childKey: childKey)
  }

  private func json(ofBound value: some Encodable) throws(TreeError) -> JSONValue {
    let place = databaseQuery.query.path
    let json: JSONValue
    do throws(DataCodingError) {
      json = try NodeEncoder().json(value, at: place)
    } catch {
      throw TreeError(.invalidQuery, "The bound of the query is refused: \(error)")
    }
    // The null value itself is asked for by the literal.
    if json.isNull {
      throw TreeError(
        .invalidQuery,
        "The bound of the query is nil: unwrap the variable, or write `nil` for places without a value.",
        path: place.description)
    }
    return json
  }
}
