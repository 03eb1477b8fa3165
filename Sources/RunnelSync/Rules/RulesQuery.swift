import RunnelBase
public import RunnelTree

/// The query of a read as rules see it.
///
/// Source: rules language, section 4.4.
public struct RulesQuery: Hashable, Sendable {
  private enum Order: Hashable, Sendable {
    case key
    case priority
    case value
    case child(String)
    /// An order that the rules language cannot express.
    case other
  }

  private var order = Order.key
  private var start: Leaf?
  private var end: Leaf?
  private var isEqualTo = false
  private var limit: Query.Limit?

  /// The query of a read without a query: by key, without bounds.
  public static let all = RulesQuery()

  private init() {}

  /// Makes the query that a client asks.
  ///
  /// A query without an order is ordered by key, as the documentation of the language says.
  public init(_ query: Query) {
    switch query.index {
    case .priority: order = query.namesOrder ? .priority : .key
    case .key: order = .key
    case .value: order = .value
    case .child(let path): order = .child(path.keys.map(\.text).joined(separator: "/"))
    case .compound: order = .other
    }
    start = RulesQuery.value(query.start, in: query.index)
    end = RulesQuery.value(query.end, in: query.index)
    isEqualTo = RulesQuery.isEqualTo(query)
    limit = query.limit
  }

  private static func value(_ bound: Query.Bound?, in index: QueryIndex) -> Leaf? {
    guard let bound else { return nil }
    if index == .key {
      if case .key(let key) = bound.position.key { return .string(key.text) }
      return nil
    }
    if case .leaf(let leaf) = bound.position.value { return leaf }
    return nil
  }

  /// True if both bounds name one value, and one key if any.
  private static func isEqualTo(_ query: Query) -> Bool {
    guard let start = query.start, let end = query.end, start.isInclusive, end.isInclusive,
      start.position.value == end.position.value
    else { return false }
    switch (start.position.key, end.position.key) {
    case (.minimum, .maximum): return true
    case (.key(let a), .key(let b)): return a == b
    default: return false
    }
  }

  /// The value of a property.
  func value(of member: RuleMember) -> RuleValue {
    switch member {
    case .orderByKey: .bool(order == .key)
    case .orderByPriority: .bool(order == .priority)
    case .orderByValue: .bool(order == .value)
    case .orderByChild:
      if case .child(let path) = order { .string(path) } else { .null }
    case .startAt: RuleValue(start)
    case .endAt: RuleValue(end)
    case .equalTo: isEqualTo ? RuleValue(start) : .null
    case .limitToFirst: count(from: .first)
    case .limitToLast: count(from: .last)
    default: preconditionFailure("The query has no \(member): the compiler checked it.")
    }
  }

  private func count(from side: Query.Side) -> RuleValue {
    guard let limit, limit.side == side else { return .null }
    return .number(JSONNumber(Int64(limit.count)))
  }
}
