/// A query that the origin answers or has once answered, and the part of its answer that is kept
/// here.
///
/// All queries that show every child of a place are one and the same here: the *default query* of
/// the place. For other queries, the keys in the answer are kept.
///
/// Source: tree semantics, sections 5.1 and 15.
package struct TrackedQuery: Hashable, Sendable, Identifiable {
  /// The id; ids ascend in the order in which queries were first asked.
  package var id: Int64
  /// The query as the origin is asked: see `Query.asked(_:)`.
  package var query: Query
  /// True while the origin sends every change of the answer.
  package var isActive = false
  /// True once the whole answer was received.
  package var isComplete = false
  /// The time at which it was last active, in seconds since 1970.
  package var lastUse: Int64 = 0
  /// The children that belong to the answer; always empty for a default query.
  package var keys: Set<Key> = []
  /// True if `keys` is empty because the keys are in the storage only: an answer of many children that is not
  /// active.
  package var isDormant = false

  /// The most keys of an answer that is not active that a storage gives with the record.
  package static let awakeKeysMax = 200

  /// Makes the record of a query that was not answered yet.
  package init(id: Int64, query: Query, lastUse: Int64 = 0) {
    self.id = id
    self.query = query
    self.lastUse = lastUse
  }

  /// True for the query that shows all children of its place.
  package var isDefault: Bool { query.loadsAllData }
}

/// The queries that an origin can answer.
package enum OriginReach: Hashable, Sendable {
  /// Ranges of an order by one component, as the wire protocol has them.
  case ranges
  /// Every query, also one by several components or with a filter.
  case everything

  /// True if the origin compares each write with its base itself, and refuses it where others have changed
  /// the same.
  var comparesBases: Bool { self == .everything }
}

extension Query {
  /// The query that an origin is asked in order to answer this one.
  ///
  /// A query that shows all children needs their default query, whatever its order. So does a query
  /// that the origin cannot answer: for one that answers ranges, a query by several components, one
  /// with a filter, or one that starts or ends at a row whose value is children.
  package func asked(_ reach: OriginReach) -> Query {
    if loadsAllData { return Query(path) }
    if reach == .everything { return self }
    if case .compound = index { return Query(path) }
    if [start, end].contains(where: { $0?.position.value == .children }) { return Query(path) }
    return filter != nil ? Query(path) : self
  }
}

/// The children of a query's place that are known.
public enum Knowledge: Hashable, Sendable {
  /// All children are known.
  case complete
  /// Only these children are known; `isAnswer` if they are all that the query asks for.
  case keys(Set<Key>, isAnswer: Bool)
  /// All children that are stored are known but these; there may be more.
  case allBut(Set<Key>)

  /// True if the result of the query is certain.
  public var isAnswer: Bool {
    switch self {
    case .complete: true
    case .keys(_, let isAnswer): isAnswer
    case .allBut: false
    }
  }

  /// True if a child that is stored is known.
  package func covers(_ key: Key) -> Bool {
    switch self {
    case .complete: true
    case .keys(let keys, _): keys.contains(key)
    case .allBut(let keys): !keys.contains(key)
    }
  }

  /// The children that are known only before or only after a change of the knowledge; nil if they cannot be
  /// told one by one.
  func difference(from before: Knowledge) -> Set<Key>? {
    switch (before, self) {
    case (.complete, .complete): []
    case (.keys(let old, _), .keys(let new, _)), (.allBut(let old), .allBut(let new)):
      old == new ? [] : old.symmetricDifference(new)
    default: nil
    }
  }
}
