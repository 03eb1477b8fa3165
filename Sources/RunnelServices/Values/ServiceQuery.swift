public import RunnelBase

/// A query of a service: conditions, order, page and fields.
///
/// It is built by functions or written as a literal; both give the form that Feathers has on the
/// wire, in which the order of members is kept, so that the first of several sort fields counts
/// most. Conditions add up: one that does not fit beside an earlier one for the same field goes to
/// `$and`.
///
/// ```
///   ServiceQuery().gt("age", 17).sort("age", .descending).limit(25)
///   ["age": ["$gt": 17], "$sort": ["age": -1], "$limit": 25]
/// ```
public struct ServiceQuery: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  /// The direction of a sort field.
  public enum Direction: Int, Hashable, Sendable {
    /// The smallest first.
    case ascending = 1
    /// The largest first.
    case descending = -1
  }

  /// The members on the wire.
  public private(set) var members: [JSONMember]

  /// Makes a query without conditions.
  public init() { members = [] }

  /// Makes a query of its form on the wire; nil if that is no object.
  public init?(json: JSONValue) {
    guard case .object(let members) = json else { return nil }
    self.members = members
  }

  /// Makes a query of its form on the wire.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    members = elements.map { JSONMember($0.0, $0.1) }
  }

  /// The form on the wire.
  public var json: JSONValue { .object(members) }

  /// True if there is neither a condition nor anything else.
  public var isEmpty: Bool { members.isEmpty }

  /// The member with a name.
  public subscript(name: String) -> JSONValue? {
    get { members.first { $0.name.hasSameBytes(as: name) }?.value }
    set {
      if let index = members.firstIndex(where: { $0.name.hasSameBytes(as: name) }) {
        if let newValue { members[index].value = newValue } else { members.remove(at: index) }
      } else if let newValue {
        members.append(JSONMember(name, newValue))
      }
    }
  }

  private func setting(_ name: String, _ value: JSONValue?) -> ServiceQuery {
    var query = self
    query[name] = value
    return query
  }
}

// MARK: - Page, order and fields

extension ServiceQuery {
  /// Returns the query with at most this many records; 0 counts only.
  public func limit(_ count: Int) -> ServiceQuery {
    setting("$limit", .number(JSONNumber(Int64(count))))
  }

  /// Returns the query without the first records.
  public func skip(_ count: Int) -> ServiceQuery {
    setting("$skip", .number(JSONNumber(Int64(count))))
  }

  /// Returns the query with one more sort field, behind those that it has.
  public func sort(_ property: String, _ direction: Direction = .ascending) -> ServiceQuery {
    let value = JSONValue.number(JSONNumber(Int64(direction.rawValue)))
    return setting("$sort", (self["$sort"] ?? .object([])).setting(property, to: value))
  }

  /// Returns the query with these fields selected, besides those that are.
  ///
  /// The id is always among the answer's fields.
  public func select(_ properties: String...) -> ServiceQuery { select(properties) }

  /// Returns the query with these fields selected, besides those that are.
  public func select(_ properties: [String]) -> ServiceQuery {
    var selected = self["$select"]?.array ?? []
    for property in properties where !selected.contains(.string(property)) {
      selected.append(.string(property))
    }
    return setting("$select", .array(selected))
  }
}

// MARK: - Conditions

extension ServiceQuery {
  /// Returns the query with the condition that a property equals a value.
  public func eq(_ property: String, _ value: JSONValue) -> ServiceQuery {
    if self[property] == nil { return setting(property, value) }
    return adding(.object([JSONMember(property, value)]), to: "$and")
  }

  /// Returns the query with the condition that a property differs from a value.
  public func ne(_ property: String, _ value: JSONValue) -> ServiceQuery {
    condition(property, "$ne", value)
  }

  /// Returns the query with the condition that a property is greater.
  public func gt(_ property: String, _ value: JSONValue) -> ServiceQuery {
    condition(property, "$gt", value)
  }

  /// Returns the query with the condition that a property is greater or equal.
  public func gte(_ property: String, _ value: JSONValue) -> ServiceQuery {
    condition(property, "$gte", value)
  }

  /// Returns the query with the condition that a property is less.
  public func lt(_ property: String, _ value: JSONValue) -> ServiceQuery {
    condition(property, "$lt", value)
  }

  /// Returns the query with the condition that a property is less or equal.
  public func lte(_ property: String, _ value: JSONValue) -> ServiceQuery {
    condition(property, "$lte", value)
  }

  /// Returns the query with the condition that a property is one of the values.
  public func `in`(_ property: String, _ values: [JSONValue]) -> ServiceQuery {
    condition(property, "$in", .array(values))
  }

  /// Returns the query with the condition that a property is none of the values.
  public func nin(_ property: String, _ values: [JSONValue]) -> ServiceQuery {
    condition(property, "$nin", .array(values))
  }

  /// Returns the query with a condition by any operator, for those that a service adds: `$like`.
  public func condition(
    _ property: String, _ sign: String, _ value: JSONValue
  ) -> ServiceQuery {
    let single = JSONValue.object([JSONMember(sign, value)])
    switch self[property] {
    case nil: return setting(property, single)
    case .object(let members)? where members.contains { $0.name.hasPrefix("$") }:
      if members.contains(where: { $0.name.hasSameBytes(as: sign) }) { break }
      return setting(property, .object(members + [JSONMember(sign, value)]))
    default: break
    }
    return adding(.object([JSONMember(property, single)]), to: "$and")
  }

  /// Returns the query with the condition that one of the queries holds.
  ///
  /// A second `or` has to hold as well.
  public func or(_ queries: ServiceQuery...) -> ServiceQuery { or(queries) }

  /// Returns the query with the condition that one of the queries holds.
  public func or(_ queries: [ServiceQuery]) -> ServiceQuery {
    let alternatives = JSONValue.array(queries.map(\.json))
    if self["$or"] == nil { return setting("$or", alternatives) }
    return adding(.object([JSONMember("$or", alternatives)]), to: "$and")
  }

  /// Returns the query with the condition that all of the queries hold.
  public func and(_ queries: ServiceQuery...) -> ServiceQuery { and(queries) }

  /// Returns the query with the condition that all of the queries hold.
  public func and(_ queries: [ServiceQuery]) -> ServiceQuery {
    queries.reduce(self) { $0.adding($1.json, to: "$and") }
  }

  private func adding(_ element: JSONValue, to name: String) -> ServiceQuery {
    setting(name, .array((self[name]?.array ?? []) + [element]))
  }

  /// Returns the query without `$limit`, `$skip`, `$sort` and `$select`: its conditions.
  public var conditions: ServiceQuery {
    var query = self
    query.members.removeAll { ["$limit", "$skip", "$sort", "$select"].contains($0.name) }
    return query
  }

  /// True if no record can match, since a property has to be one of no values at all.
  ///
  /// Such a query is answered without asking: over REST the empty array is lost, and all records
  /// would match.
  public var matchesNothing: Bool {
    members.contains { member in
      if member.name == "$and" {
        return (member.value.array ?? []).contains {
          ServiceQuery(json: $0)?.matchesNothing ?? false
        }
      }
      guard !member.name.hasPrefix("$"), case .array(let values)? = member.value["$in"] else {
        return false
      }
      return values.isEmpty
    }
  }
}
