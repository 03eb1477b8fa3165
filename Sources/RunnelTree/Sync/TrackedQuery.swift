/// A query that the origin answers, or answered once, and what of its answer is kept here.
///
/// Queries that show all children of a place are one and the same here: the *default query* of the
/// place. What is known of the others is a set of keys.
///
/// Source: tree semantics, sections 5.1 and 15.
public struct TrackedQuery: Hashable, Sendable, Identifiable {
  /// Ascends in the order in which queries were first asked.
  public var id: Int64
  /// The question, as the origin is asked: see `Query.asked`.
  public var query: Query
  /// True while the origin tells every change of the answer.
  public var isActive = false
  /// True once the whole answer was told.
  public var isComplete = false
  /// When it was last active, in seconds since 1970.
  public var lastUse: Int64 = 0
  /// The children that belong to the answer; always empty for a default query.
  public var keys: Set<Key> = []

  /// Makes the record of a query that was not answered yet.
  public init(id: Int64, query: Query, lastUse: Int64 = 0) {
    self.id = id
    self.query = query
    self.lastUse = lastUse
  }

  /// True for the query that shows all children of its place.
  public var isDefault: Bool { query.loadsAllData }
}

extension Query {
  /// The query that an origin is asked in order to answer this one.
  ///
  /// One that shows all children needs their default query, whatever its order; so does one that only
  /// a local tree can answer: by several keys, with a filter, or from a row on whose value is children.
  public var asked: Query {
    if case .compound = index { return Query(path) }
    if [start, end].contains(where: { $0?.position.value == .children }) { return Query(path) }
    return loadsAllData || filter != nil ? Query(path) : self
  }
}

/// What is known of the children of a query's place.
public enum Knowledge: Hashable, Sendable {
  /// Each of them.
  case complete
  /// These alone; `isAnswer` if they are all that the query asks for.
  case keys(Set<Key>, isAnswer: Bool)

  /// True if what the query shows can be told with certainty.
  public var isAnswer: Bool {
    switch self {
    case .complete: true
    case .keys(_, let isAnswer): isAnswer
    }
  }
}
