package import RunnelBase

/// What a service understands of queries.
public struct QueryRules: Hashable, Sendable {
  /// Operators that are allowed besides those of Feathers; only the server's data know what they do.
  public var operators: Set<String>
  /// Names with `$` that are allowed at the top of a query besides those of Feathers.
  public var filters: Set<String>
  /// The pages; nil if all records are returned at once.
  public var pages: PageRules?

  /// Makes rules; without arguments they are those of Feathers.
  public init(
    operators: Set<String> = [], filters: Set<String> = [], pages: PageRules? = nil
  ) {
    (self.operators, self.filters, self.pages) = (operators, filters, pages)
  }

  /// The operators of Feathers below the top of a query.
  static let feathersOperators: Set<String> = [
    "$in", "$nin", "$lt", "$lte", "$gt", "$gte", "$ne", "$or",
  ]
}

/// How many records a page has.
public struct PageRules: Hashable, Sendable {
  /// The number if the query names none.
  public var standard: Int
  /// The largest number.
  public var max: Int?

  /// Makes rules.
  public init(standard: Int, max: Int? = nil) { (self.standard, self.max) = (standard, max) }

  /// Returns the effective limit for the limit of a query.
  func limit(_ asked: Int?) -> Int {
    let lower = asked.flatMap { $0 >= 0 ? $0 : nil } ?? standard
    return min(lower, max ?? .max)
  }
}

/// A query as a service reads it.
package struct QueryReading: Hashable, Sendable {
  /// The condition.
  package var condition: ServiceCondition
  /// The most records; nil for all.
  package var limit: Int?
  /// The number of records before the first.
  package var skip: Int
  /// The order; without terms the service's own.
  package var order: RecordOrder
  /// The fields to return; nil for all.
  package var select: [String]?

  /// Reads a query as Feathers 5 does.
  ///
  /// - Throws: `BadRequest` for an operator that is not allowed, or one with a value that makes no
  ///   sense.
  package init(_ query: ServiceQuery, rules: QueryRules = QueryRules()) throws(FeathersError) {
    var conditions: [ServiceCondition] = []
    order = RecordOrder([])
    (limit, skip, select) = (nil, 0, nil)
    for member in query.members {
      switch member.name {
      case "$limit": limit = QueryReading.leadingInteger(member.value)
      case "$skip": skip = Swift.max(0, QueryReading.leadingInteger(member.value) ?? 0)
      case "$sort":
        order = RecordOrder(
          (member.value.object ?? []).map {
            RecordOrder.Term($0.name, QueryReading.leadingInteger($0.value) ?? 0)
          })
      case "$select": select = (member.value.array ?? []).compactMap(\.string)
      case "$or": conditions.append(.any(try QueryReading.list(member, rules)))
      case "$and": conditions.append(.all(try QueryReading.list(member, rules)))
      case let name where name.hasPrefix("$"):
        guard rules.filters.contains(name) || rules.operators.contains(name) else {
          throw FeathersError(.badRequest, "Invalid filter value \(name)")
        }
        conditions.append(.unknown(name))
      default: conditions += try QueryReading.field(member.name, member.value, rules)
      }
    }
    condition = conditions.count == 1 ? conditions[0] : .all(conditions)
    if let pages = rules.pages {
      limit = pages.limit(limit)
    } else if let asked = limit, asked < 0 {
      limit = nil
    }
  }

  /// Checks a query by which several records are changed.
  ///
  /// Most servers change all that match, whatever the limit is: who gives one means something else.
  ///
  /// - Throws: `BadRequest` if it has a limit, or records to pass over.
  package static func checkChange(_ query: ServiceQuery) throws(FeathersError) {
    for name in ["$limit", "$skip"] where query[name] != nil {
      throw FeathersError(
        .badRequest, "\(name) does not limit what is changed: narrow the query instead.")
    }
  }

  private static func list(
    _ member: JSONMember, _ rules: QueryRules
  ) throws(FeathersError) -> [ServiceCondition] {
    guard case .array(let queries) = member.value, !queries.isEmpty else {
      throw FeathersError(.badRequest, "\(member.name) must be a nonempty array")
    }
    var conditions: [ServiceCondition] = []
    for query in queries { conditions.append(try inner(query, rules)) }
    return conditions
  }

  /// Reads a query inside `$or` or `$and`.
  private static func inner(
    _ query: JSONValue, _ rules: QueryRules
  ) throws(FeathersError) -> ServiceCondition {
    guard case .object(let members) = query else {
      throw FeathersError(.badRequest, "Invalid query \(query.jsonText())")
    }
    var conditions: [ServiceCondition] = []
    for member in members {
      switch member.name {
      case "$or": conditions.append(.any(try list(member, rules)))
      case "$and" where rules.operators.contains("$and"):
        conditions.append(.all(try list(member, rules)))
      case let name where name.hasPrefix("$"):
        guard rules.operators.contains(name) else {
          throw FeathersError(.badRequest, "Invalid query parameter \(name)", data: query)
        }
        conditions.append(.unknown(name))
      default: conditions += try field(member.name, member.value, rules)
      }
    }
    return conditions.count == 1 ? conditions[0] : .all(conditions)
  }

  /// Reads the conditions on a field.
  private static func field(
    _ name: String, _ value: JSONValue, _ rules: QueryRules
  ) throws(FeathersError) -> [ServiceCondition] {
    try check(value, rules)
    guard case .object(let members) = value, members.contains(where: { $0.name.hasPrefix("$") })
    else { return [.field(name, .equal, value)] }
    var conditions: [ServiceCondition] = []
    for member in members {
      if !member.name.hasPrefix("$") {
        conditions += try field("\(name).\(member.name)", member.value, rules)
      } else if let comparison = FieldComparison(rawValue: member.name), comparison != .equal {
        conditions.append(.field(name, comparison, member.value))
      } else {
        conditions.append(.unknown(member.name))
      }
    }
    return conditions
  }

  /// Refuses operators that are not allowed, at any depth of objects.
  private static func check(_ value: JSONValue, _ rules: QueryRules) throws(FeathersError) {
    guard case .object(let members) = value else { return }
    for member in members {
      if member.name.hasPrefix("$"), !QueryRules.feathersOperators.contains(member.name),
        !rules.operators.contains(member.name)
      {
        throw FeathersError(.badRequest, "Invalid query parameter \(member.name)", data: value)
      }
      try check(member.value, rules)
    }
  }

  /// Returns the whole number that a value begins with, as JavaScript's `parseInt` reads it.
  static func leadingInteger(_ value: JSONValue) -> Int? {
    switch value {
    case .number(let number):
      let double = number.double.rounded(.towardZero)
      return number.integer.flatMap { Int(exactly: $0) } ?? Int(exactly: double)
    case .string(let text):
      var rest = text.utf8.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
      let isNegative = rest.first == UInt8(ascii: "-")
      if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      guard let number = Int(Substring(digits)) else { return nil }
      return isNegative ? -number : number
    default: return nil
    }
  }
}

extension QueryReading {
  /// Returns a record with the selected fields, and its id.
  package func selected(_ record: JSONValue, idField: String) -> JSONValue {
    guard let select, case .object(let members) = record else { return record }
    return .object(
      members.filter { $0.name.hasSameBytes(as: idField) || select.contains($0.name) })
  }

  /// Returns the answer to `find` over these records.
  ///
  /// - Throws: `BadRequest` if the condition has an operator that is not known here.
  package func answer(
    over records: [JSONValue], idField: String, isPaged: Bool
  ) throws(FeathersError) -> JSONValue {
    let matching = try matching(records)
    let sorted = order.sorted(matching)
    let page = sorted.dropFirst(skip).prefix(limit ?? .max).map { selected($0, idField: idField) }
    if !isPaged { return .array(page) }
    return ServicePage(total: sorted.count, limit: limit, skip: skip, records: page).json
  }

  /// Returns the records that match.
  ///
  /// - Throws: `BadRequest` if the condition has an operator that is not known here.
  func matching(_ records: [JSONValue]) throws(FeathersError) -> [JSONValue] {
    var found: [JSONValue] = []
    for record in records where try matches(record) { found.append(record) }
    return found
  }

  /// Returns whether a record matches.
  ///
  /// - Throws: `BadRequest` if the condition has an operator that is not known here.
  package func matches(_ record: JSONValue) throws(FeathersError) -> Bool {
    if let answer = condition.holds(for: record) { return answer }
    throw FeathersError(
      .badRequest, "The query has an operator that this service does not know.")
  }
}
