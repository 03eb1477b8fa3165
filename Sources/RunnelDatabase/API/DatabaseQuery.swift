public import RunnelBase
public import RunnelTree

/// A query of an open database: which children of a place, and in which order.
///
/// It is built step by step from a `Reference`; each step refuses what contradicts the steps
/// before. It is a value: it may be kept, compared, and used on any thread. `RunnelTree.Query` is
/// the query without the database.
///
/// Source: tree semantics, section 5.
public struct DatabaseQuery: Hashable, Sendable {
  /// The database.
  public let database: Database
  /// The query.
  public let query: Query

  /// Makes a query of a database.
  public init(database: Database, query: Query) {
    self.database = database
    self.query = query
  }

  /// The place whose children are asked for.
  public var reference: Reference { Reference(database: database, path: query.path) }

  /// True if both are the same query of the same database.
  public static func == (left: DatabaseQuery, right: DatabaseQuery) -> Bool {
    left.database === right.database && left.query == right.query
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(database))
    hasher.combine(query)
  }
}

extension DatabaseQuery: Queryable {
  /// The query itself.
  public var databaseQuery: DatabaseQuery { self }
}

extension DatabaseQuery {
  /// The snapshot of a row for observers.
  func snapshot(of row: TreeRow, _ pending: [Path]) -> DataSnapshot {
    DataSnapshot(
      reference: Reference(
        database: database, path: Path(unchecked: query.path.keys + [row.key])),
      node: row.node ?? .empty, pending: pending)
  }

  /// The snapshot of all rows for observers.
  func snapshot(of node: Node, _ pending: [Path]) -> DataSnapshot {
    DataSnapshot(
      reference: reference, node: node, index: query.index, pending: pending,
      isWhole: query.loadsAllData)
  }
}

/// A place of a database, or a query of its children: it can be read and observed.
public protocol Queryable: Sendable {
  /// The query.
  var databaseQuery: DatabaseQuery { get }
}

// MARK: Building

extension Queryable {
  /// The same query, ordered by the value at a path below each child: `score`, `name/last`.
  ///
  /// Children without such a value come first. A declared index makes this fast.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an order was chosen before, a bound was set that is
  ///   not a bound of this order, or the path is empty or the name of another order; (`invalidKey`)
  ///   if the path is invalid.
  public func queryOrdered(byChild path: String) throws(TreeError) -> DatabaseQuery {
    let other: String? =
      switch path {
      case "$key", ".key": "queryOrderedByKey()"
      case "$value", ".value": "queryOrderedByValue()"
      case "$priority", ".priority": "queryOrderedByPriority()"
      default: nil
      }
    if let other {
      throw TreeError(
        .invalidQuery, "\"\(path)\" is the name of no child: use \(other) instead.",
        path: databaseQuery.query.path.description)
    }
    let child = try Path(path)
    return try building { query throws(TreeError) in try query.ordered(by: .child(child)) }
  }

  /// The same query, in the order of keys.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an order or a bound was chosen before.
  public func queryOrderedByKey() throws(TreeError) -> DatabaseQuery {
    try building { query throws(TreeError) in try query.ordered(by: .key) }
  }

  /// The same query, in the order of the children's own values.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an order was chosen before.
  public func queryOrderedByValue() throws(TreeError) -> DatabaseQuery {
    try building { query throws(TreeError) in try query.ordered(by: .value) }
  }

  /// The same query, in the order of priorities, which is also that of a query without an order.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an order was chosen before.
  public func queryOrderedByPriority() throws(TreeError) -> DatabaseQuery {
    try building { query throws(TreeError) in try query.ordered(by: .priority) }
  }

  /// The same query, ordered by several components, the first one first, and then by the key.
  ///
  /// An origin that supports only one component refuses it.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an order was chosen before, or the components are
  ///   refused.
  public func queryOrdered(by keys: [SortKey]) throws(TreeError) -> DatabaseQuery {
    try building { query throws(TreeError) in try query.ordered(by: keys) }
  }

  /// The same query for the children that meet a condition; a limit counts only these.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a filter is set, or the predicate is refused.
  public func queryFiltered(by predicate: ChildPredicate) throws(TreeError) -> DatabaseQuery {
    try building { query throws(TreeError) in try query.filtered(by: predicate) }
  }

  /// The same query, starting at a value and, among equal values, at a key.
  ///
  /// In key order the value is a key, and there is no second one.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a start is set, or this order has no such value;
  ///   (`invalidKey`) if the key is invalid.
  public func queryStarting(
    atValue value: JSONValue, childKey: String? = nil
  ) throws(TreeError) -> DatabaseQuery {
    let bound = try QueryBound(value, childKey)
    return try building { query throws(TreeError) in
      try query.starting(at: bound.value, key: bound.key)
    }
  }

  /// The same query after a value; with a key, after the child with this value and key.
  ///
  /// - Throws: `TreeError`, as `queryStarting(atValue:childKey:)`.
  public func queryStarting(
    afterValue value: JSONValue, childKey: String? = nil
  ) throws(TreeError) -> DatabaseQuery {
    let bound = try QueryBound(value, childKey)
    return try building { query throws(TreeError) in
      try query.starting(at: bound.value, key: bound.key, isInclusive: false)
    }
  }

  /// The same query, ending at a value and, among equal values, at a key.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if an end is set, or this order has no such value;
  ///   (`invalidKey`) if the key is invalid.
  public func queryEnding(
    atValue value: JSONValue, childKey: String? = nil
  ) throws(TreeError) -> DatabaseQuery {
    let bound = try QueryBound(value, childKey)
    return try building { query throws(TreeError) in
      try query.ending(at: bound.value, key: bound.key)
    }
  }

  /// The same query before a value; with a key, before the child with this value and key.
  ///
  /// - Throws: `TreeError`, as `queryEnding(atValue:childKey:)`.
  public func queryEnding(
    beforeValue value: JSONValue, childKey: String? = nil
  ) throws(TreeError) -> DatabaseQuery {
    let bound = try QueryBound(value, childKey)
    return try building { query throws(TreeError) in
      try query.ending(at: bound.value, key: bound.key, isInclusive: false)
    }
  }

  /// The same query for the children whose value is the given one; with a key, for the one child.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a start or an end is set, or this order has no such
  ///   value; (`invalidKey`) if the key is invalid.
  public func queryEqual(
    toValue value: JSONValue, childKey: String? = nil
  ) throws(TreeError) -> DatabaseQuery {
    let bound = try QueryBound(value, childKey)
    return try building { query throws(TreeError) in
      try query.equal(to: bound.value, key: bound.key)
    }
  }

  /// The same query for the first `count` children of the range.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a limit is set, or `count` is less than 1.
  public func queryLimited(toFirst count: Int) throws(TreeError) -> DatabaseQuery {
    try building { query throws(TreeError) in try query.limited(to: count, from: .first) }
  }

  /// The same query for the last `count` children of the range.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if a limit is set, or `count` is less than 1.
  public func queryLimited(toLast count: Int) throws(TreeError) -> DatabaseQuery {
    try building { query throws(TreeError) in try query.limited(to: count, from: .last) }
  }

  private func building(
    _ step: (Query) throws(TreeError) -> Query
  ) throws(TreeError) -> DatabaseQuery {
    let query = databaseQuery
    return DatabaseQuery(database: query.database, query: try step(query.query))
  }
}

/// A bound, as the caller of a query's step gives it.
struct QueryBound {
  var value: IndexValue
  var key: Key?

  init(_ json: JSONValue, _ key: String?) throws(TreeError) {
    switch json {
    case .null: value = .null
    // The query refuses this value with a reason.
    case .array, .object: value = .children
    case .bool, .number, .string: value = Leaf(json).map(IndexValue.leaf) ?? .null
    }
    if let key { self.key = try Key(key) }
  }
}
