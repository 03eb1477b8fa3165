import RunnelServices
import RunnelTree

/// What has to be read for the answer of a query of a service's records.
enum ServiceNeed {
  /// One record.
  case record(Key)
  /// All records that a run reads.
  case all(ServiceRun.ID)
  /// The records up to a position.
  case through(ServiceRun.ID, IndexPosition)
  /// A number of records that belong to the query.
  case rows(ServiceRun.ID, Query.Limit, end: IndexPosition?)

  /// What is read; nil for one record.
  var run: ServiceRun.ID? {
    switch self {
    case .record: nil
    case .all(let run), .through(let run, _), .rows(let run, _, _): run
    }
  }

  /// - Parameters:
  ///   - query: the query.
  ///   - idField: the name of the id.
  ///   - isTextual: whether the values of queries are sent as texts.
  ///   - declined: the conditions that the server does not check.
  init(_ query: Query, idField: String, isTextual: Bool, declined: Set<ChildPredicate>) {
    if query.index == .key, let low = query.start?.position.key, low == query.end?.position.key,
      case .key(let key) = low
    {
      self = .record(key)
      return
    }
    var run = ServiceRun.ID()
    let tests = [ServiceNeed.equality(of: query), query.filter].compactMap(\.self)
    if let first = tests.first {
      let wanted = tests.count == 1 ? first : .all(tests)
      let found = FindCondition(wanted, idField: idField, isTextual: isTextual)
      if let found, !declined.contains(found.predicate) { run.condition = found.predicate }
    }
    guard let order = ServiceNeed.order(query.index, idField: idField) else {
      self = .all(run)
      return
    }
    if let limit = query.limit {
      (run.order, run.isBackward) = (order, limit.side == .last)
      let end = limit.side == .first ? query.end : query.start
      self = .rows(run, limit, end: end?.position)
    } else if let end = query.end {
      run.order = order
      self = .through(run, end.position)
    } else if let start = query.start {
      (run.order, run.isBackward) = (order, true)
      self = .through(run, start.position)
    } else {
      self = .all(run)
    }
  }

  /// The order in which a service is read for an index; nil if there is none.
  private static func order(_ index: QueryIndex, idField: String) -> QueryIndex? {
    switch index {
    // Records have no priorities.
    case .key, .priority: return .key
    case .value: return nil
    case .child: return index
    case .compound(let order):
      let isKnown = order.parts.allSatisfy {
        FindCondition.name(of: $0.field, idField: idField) != nil
      }
      return isKnown ? index : nil
    }
  }

  /// The test that the first field of the order has one value, if both ends of a query say so.
  ///
  /// All parts of such a range give the same test.
  private static func equality(of query: Query) -> ChildPredicate? {
    guard let low = query.start?.position.value, let high = query.end?.position.value else {
      return nil
    }
    switch (query.index, low, high) {
    case (.child(let path), .leaf(let leaf), _) where low == high:
      return .compare(.child(path), .equal, leaf)
    case (.compound(let order), .tuple(let left), .tuple(let right)):
      guard let field = order.parts.first?.field, let content = left.elements.first?.content,
        content == right.elements.first?.content, case .value(.leaf(let leaf)) = content
      else { return nil }
      return .compare(field, .equal, leaf)
    default: return nil
    }
  }
}
