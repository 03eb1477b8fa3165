package import RunnelBase

/// What has to hold of a record.
///
/// The rules are those of the library that Feathers' own memory service uses: a condition on a
/// field that holds an array is fulfilled by one of its elements, or by the array as a whole; null
/// equals an absent field; `$lt` and its like compare numbers with numbers and texts with texts.
package indirect enum ServiceCondition: Hashable, Sendable {
  /// All of the conditions hold; without any it is true.
  case all([ServiceCondition])
  /// One of the conditions holds.
  case any([ServiceCondition])
  /// A field, by its dotted name, compares so with a value.
  case field(String, FieldComparison, JSONValue)
  /// A condition by an operator that only the server understands.
  case unknown(String)

  /// Returns whether a record fulfils the condition; nil if only the server knows.
  package func holds(for record: JSONValue) -> Bool? {
    switch self {
    case .all(let parts):
      var answer: Bool? = true
      for part in parts {
        switch part.holds(for: record) {
        case false?: return false
        case nil: answer = nil
        case true?: break
        }
      }
      return answer
    case .any(let parts):
      var answer: Bool? = false
      for part in parts {
        switch part.holds(for: record) {
        case true?: return true
        case nil: answer = nil
        case false?: break
        }
      }
      return answer
    case .field(let name, let comparison, let value):
      let path = name.split(separator: ".", omittingEmptySubsequences: false)[...]
      let isFound = FieldWalk.contains(record, path) { comparison.accepts($0, value) }
      return comparison.isNegative ? !isFound : isFound
    case .unknown: return nil
    }
  }
}

extension ServiceCondition {
  /// The values of which a field, one of these, has to equal one, so that nothing else can match; nil if
  /// the condition does not say so.
  package func values(ofOneOf fields: [String]) -> (field: String, values: [JSONValue])? {
    switch self {
    case .field(let name, .equal, let value) where fields.contains(name): return (name, [value])
    case .field(let name, .oneOf, .array(let values)) where fields.contains(name):
      return (name, values)
    case .all(let parts):
      for part in parts {
        if let found = part.values(ofOneOf: fields) { return found }
      }
      return nil
    default: return nil
    }
  }
}

/// A comparison of a field with a value.
package enum FieldComparison: String, Hashable, Sendable {
  /// The field equals the value.
  case equal = "$eq"
  /// The field does not equal the value.
  case notEqual = "$ne"
  /// The field equals one of the values.
  case oneOf = "$in"
  /// The field equals none of the values.
  case noneOf = "$nin"
  /// The field is less.
  case less = "$lt"
  /// The field is less or equal.
  case lessOrEqual = "$lte"
  /// The field is greater.
  case greater = "$gt"
  /// The field is greater or equal.
  case greaterOrEqual = "$gte"

  /// True if the comparison holds when `accepts` does not.
  var isNegative: Bool { self == .notEqual || self == .noneOf }

  /// Returns whether a value that was found compares so; the negative ones answer for their opposite.
  func accepts(_ found: JSONValue?, _ value: JSONValue) -> Bool {
    switch self {
    case .equal, .notEqual: RecordOrder.isSame(found, value)
    case .oneOf, .noneOf:
      (value.array ?? [value]).contains { RecordOrder.isSame(found, $0) }
    case .less: ordered(found, value).map { $0 < 0 } ?? false
    case .lessOrEqual: ordered(found, value).map { $0 <= 0 } ?? false
    case .greater: ordered(found, value).map { $0 > 0 } ?? false
    case .greaterOrEqual: ordered(found, value).map { $0 >= 0 } ?? false
    }
  }

  /// Returns how two values of one kind compare; nil if they have no order.
  private func ordered(_ found: JSONValue?, _ value: JSONValue) -> Int? {
    switch (found, value) {
    case (.number(let a)?, .number(let b)): a < b ? -1 : (b < a ? 1 : 0)
    case (.string(let a)?, .string(let b)): RecordOrder.compare(a, b)
    case (.bool(let a)?, .bool(let b)): a == b ? 0 : (b ? -1 : 1)
    default: nil
    }
  }
}

/// The walk to the values of a field, into the elements of arrays.
enum FieldWalk {
  /// Returns whether one of the values at a path fulfils a test, which gets nil for an absent one.
  static func contains(
    _ item: JSONValue?, _ path: ArraySlice<Substring>, _ test: (JSONValue?) -> Bool
  ) -> Bool {
    if case .array(let elements)? = item, path.first.map({ Int($0) == nil }) ?? true {
      if elements.contains(where: { contains($0, path, test) }) { return true }
    }
    guard let name = path.first, let item, !item.isNull else { return test(item) }
    return contains(child(of: item, String(name)), path.dropFirst(), test)
  }

  /// Returns the value at a dotted name, without a walk into elements.
  static func value(_ record: JSONValue, _ name: String) -> JSONValue? {
    if !name.utf8.contains(UInt8(ascii: ".")) { return child(of: record, name) }
    var item: JSONValue? = record
    for part in name.split(separator: ".", omittingEmptySubsequences: false) {
      item = item.flatMap { child(of: $0, String(part)) }
    }
    return item
  }

  private static func child(of item: JSONValue, _ name: String) -> JSONValue? {
    if case .array(let elements) = item {
      guard let index = Int(name), elements.indices.contains(index) else { return JSONValue?.none }
      return elements[index]
    }
    return item[name]
  }
}
