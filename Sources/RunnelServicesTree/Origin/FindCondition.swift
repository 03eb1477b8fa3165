import RunnelBase
package import RunnelServices
package import RunnelTree

/// The part of a predicate that a Feathers server can check, as the conditions of a `find`.
///
/// Every record of which the predicate holds meets the conditions, so what the server finds has only to
/// be checked again here. A test that a server cannot make is left out of `all`: one of a text within a
/// text, of the priority, or of another kind of value.
///
/// Limits: a field that holds a list equals, for a server, what one of the elements equals. A server may
/// compare texts by rules of its own.
///
/// Source: services protocol, sections 3.3 and 3.4.
package struct FindCondition: Hashable, Sendable {
  /// The part of the predicate.
  package let predicate: ChildPredicate
  /// The conditions.
  package let query: ServiceQuery
  /// True if the part is the whole predicate.
  package let isWhole: Bool

  /// The most values of `$in`, and alternatives, that are sent as texts.
  private static let textualMax = 20

  private init(_ predicate: ChildPredicate, _ query: ServiceQuery, isWhole: Bool = true) {
    (self.predicate, self.query, self.isWhole) = (predicate, query, isWhole)
  }

  /// Makes the conditions of a predicate; nil if a server cannot check any part of it.
  ///
  /// - Parameters:
  ///   - predicate: the predicate.
  ///   - idField: the name of the id.
  ///   - isTextual: whether values are sent as texts, which match no numbers of some services.
  package init?(_ predicate: ChildPredicate, idField: String, isTextual: Bool) {
    let words = Words(idField: idField, isTextual: isTextual)
    guard let found = words.condition(predicate, isNegated: false) else { return nil }
    self = found
  }

  /// The dotted name of a field on the wire; nil if a server knows none, or could take it for another.
  static func name(of field: RowField, idField: String) -> String? {
    switch field {
    case .key: return idField
    case .value, .priority: return nil
    case .child(let path):
      let names = path.keys.map { ServiceRecordCoding.name(of: $0.text) }
      let isPlain = names.allSatisfy {
        !$0.isEmpty && !$0.contains(".") && !$0.hasPrefix("$") && !$0.hasPrefix("~")
      }
      return isPlain ? names.joined(separator: ".") : nil
    }
  }

  /// Returns the query that finds what all of some queries find.
  static func joined(_ queries: [ServiceQuery]) -> ServiceQuery {
    var joined = ServiceQuery()
    for member in queries.flatMap(\.members) {
      guard let before = joined[member.name] else {
        joined[member.name] = member.value
        continue
      }
      if member.name == "$and" {
        joined["$and"] = .array((before.array ?? []) + (member.value.array ?? []))
      } else if before == member.value {
        continue
      } else if let both = bothOperators(before, member.value) {
        joined[member.name] = both
      } else {
        joined = joined.and(ServiceQuery(json: .object([member])) ?? ServiceQuery())
      }
    }
    return joined
  }

  /// Two objects of different operators as one; nil if they are something else.
  private static func bothOperators(_ left: JSONValue, _ right: JSONValue) -> JSONValue? {
    guard case .object(let first) = left, case .object(let second) = right,
      (first + second).allSatisfy({ $0.name.hasPrefix("$") }),
      !second.contains(where: { member in first.contains { $0.name == member.name } })
    else { return nil }
    return .object(first + second)
  }

  /// What can be said in the queries of a service.
  private struct Words {
    let idField: String
    let isTextual: Bool

    func condition(_ predicate: ChildPredicate, isNegated: Bool) -> FindCondition? {
      if let field = predicate.fieldMissingOrNull {
        return null(.child(field), predicate, isNegated: isNegated)
      }
      switch predicate {
      case .not(let inner): return condition(inner, isNegated: !isNegated)
      case .all(let parts):
        return isNegated ? any(parts, isNegated: true) : all(parts, isNegated: false)
      case .any(let parts):
        return isNegated ? all(parts, isNegated: true) : any(parts, isNegated: false)
      case .matches: return nil
      case .exists(let field):
        // What is null exists in the tree, but for a server it is as good as missing.
        guard isNegated, !isTextual, field != .key, let name = name(field) else { return nil }
        return FindCondition(.not(predicate), ServiceQuery().eq(name, .null))
      case .compare(let field, let comparison, let leaf):
        let part = isNegated ? ChildPredicate.not(predicate) : predicate
        return query(field, comparison, leaf, isNegated: isNegated).map { FindCondition(part, $0) }
      }
    }

    /// What is missing and what is null is the same in queries.
    private func null(
      _ field: RowField, _ predicate: ChildPredicate, isNegated: Bool
    ) -> FindCondition? {
      guard !isTextual, let name = name(field) else { return nil }
      return isNegated
        ? FindCondition(.not(predicate), ServiceQuery().ne(name, .null))
        : FindCondition(predicate, ServiceQuery().eq(name, .null))
    }

    private func name(_ field: RowField) -> String? {
      FindCondition.name(of: field, idField: idField)
    }

    private func query(
      _ field: RowField, _ comparison: ChildPredicate.Comparison, _ leaf: Leaf, isNegated: Bool
    ) -> ServiceQuery? {
      guard let name = name(field) else { return nil }
      if field == .key { return keyQuery(name, comparison, leaf, isNegated: isNegated) }
      if isTextual, leaf.json.string == nil { return nil }
      switch (comparison, isNegated) {
      case (.equal, false), (.notEqual, true): return ServiceQuery().eq(name, leaf.json)
      case (.equal, true), (.notEqual, false):
        // A database may not count what is null among what differs, and null cannot be sent as text.
        if isTextual { return nil }
        return ServiceQuery().or(
          ServiceQuery().ne(name, leaf.json), ServiceQuery().eq(name, .null))
      case (.less, false): return ServiceQuery().lt(name, leaf.json)
      case (.lessOrEqual, false): return ServiceQuery().lte(name, leaf.json)
      case (.greater, false): return ServiceQuery().gt(name, leaf.json)
      case (.greaterOrEqual, false): return ServiceQuery().gte(name, leaf.json)
      default: return nil
      }
    }

    /// A key is the id as text; the id may be a number.
    private func keyQuery(
      _ name: String, _ comparison: ChildPredicate.Comparison, _ leaf: Leaf, isNegated: Bool
    ) -> ServiceQuery? {
      guard case .string(let key) = leaf, comparison == .equal || comparison == .notEqual else {
        return nil
      }
      let text = ServiceRecordCoding.name(of: key)
      let isSame = (comparison == .equal) != isNegated
      guard !isTextual, let number = Int64(text), String(number) == text else {
        return isSame
          ? ServiceQuery().eq(name, .string(text)) : ServiceQuery().ne(name, .string(text))
      }
      let ids: [JSONValue] = [.number(JSONNumber(number)), .string(text)]
      return isSame ? ServiceQuery().in(name, ids) : ServiceQuery().nin(name, ids)
    }

    private func all(_ parts: [ChildPredicate], isNegated: Bool) -> FindCondition? {
      let found = parts.compactMap { condition($0, isNegated: isNegated) }
      if found.isEmpty { return nil }
      let isWhole = found.count == parts.count && found.allSatisfy(\.isWhole)
      let predicate = found.count == 1 ? found[0].predicate : .all(found.map(\.predicate))
      return FindCondition(predicate, FindCondition.joined(found.map(\.query)), isWhole: isWhole)
    }

    private func any(_ parts: [ChildPredicate], isNegated: Bool) -> FindCondition? {
      let found = parts.compactMap { condition($0, isNegated: isNegated) }
      guard found.count == parts.count, let first = found.first else { return nil }
      if found.count == 1 { return first }
      if isTextual, found.count > FindCondition.textualMax { return nil }
      let isWhole = found.allSatisfy(\.isWhole)
      let predicate = ChildPredicate.any(found.map(\.predicate))
      if let (name, values) = oneOf(found.map(\.query)) {
        return FindCondition(predicate, ServiceQuery().in(name, values), isWhole: isWhole)
      }
      // Servers refuse `$and` inside `$or`.
      if found.contains(where: { $0.query["$and"] != nil }) { return nil }
      return FindCondition(predicate, ServiceQuery().or(found.map(\.query)), isWhole: isWhole)
    }

    /// The field and the values, if all alternatives say that one field equals something.
    private func oneOf(_ queries: [ServiceQuery]) -> (name: String, values: [JSONValue])? {
      var name: String?
      var values: [JSONValue] = []
      for query in queries {
        guard query.members.count == 1, let member = query.members.first,
          !member.name.hasPrefix("$"), name == nil || name == member.name
        else { return nil }
        name = member.name
        switch member.value {
        case .object(let members):
          guard members.count == 1, let several = member.value["$in"]?.array else { return nil }
          values += several
        case .null, .array: return nil
        default: values.append(member.value)
        }
      }
      return name.map { ($0, values) }
    }
  }
}
