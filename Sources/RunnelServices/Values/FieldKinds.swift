package import RunnelBase

/// The kinds that all values of fields have, by which the texts of an address are read.
///
/// A text that is compared with a field is read as a number if all values of the field are numbers, and
/// as a flag if all are flags; otherwise it stays a text. Null, and what is absent, says nothing.
///
/// Source: services protocol, section 12.
package struct FieldKinds: Hashable, Sendable {
  private enum Kind { case number, flag, other }

  /// What was seen of each field whose kind matters; nil for nothing yet.
  private var kinds: [String: Kind?] = [:]

  /// Makes the kinds of those fields that a condition compares with texts of numbers or flags.
  package init(for condition: ServiceCondition) { add(condition) }

  private mutating func add(_ condition: ServiceCondition) {
    switch condition {
    case .all(let parts), .any(let parts): for part in parts { add(part) }
    case .field(let name, _, let value):
      if FieldKinds.mayMeanMore(value) { kinds.updateValue(Kind?.none, forKey: name) }
    case .unknown: break
    }
  }

  private static func mayMeanMore(_ value: JSONValue) -> Bool {
    switch value {
    case .array(let elements): elements.contains(where: mayMeanMore)
    case .string(let text): meaning(of: text) != nil
    default: false
    }
  }

  /// The number or the flag that a text stands for.
  private static func meaning(of text: String) -> JSONValue? {
    guard let value = try? JSONValue(parsing: text) else { return nil }
    switch value {
    case .number, .bool: return value
    default: return nil
    }
  }

  /// The names of the fields whose kind more records can change.
  package var openFields: [String] { kinds.filter { $0.value != .other }.keys.sorted() }

  /// Takes in a record.
  ///
  /// Complexity: O(n) in the fields.
  package mutating func note(_ record: JSONValue) {
    for name in openFields {
      let path = name.split(separator: ".", omittingEmptySubsequences: false)[...]
      _ = FieldWalk.contains(record, path) { value in
        note(value, of: name)
        return false
      }
    }
  }

  /// Takes in a value of a field; nil for an absent one.
  package mutating func note(_ value: JSONValue?, of field: String) {
    guard let known = kinds[field] else { return }
    let kind: Kind
    switch value {
    case nil, .null?, .array?: return
    case .number?: kind = .number
    case .bool?: kind = .flag
    case .string?, .object?: kind = .other
    }
    let isFitting = known == nil || known == kind
    kinds[field] = .some(isFitting ? kind : Kind.other)
  }

  /// Returns a condition with numbers and flags in place of the texts that stand for them.
  package func typed(_ condition: ServiceCondition) -> ServiceCondition {
    switch condition {
    case .all(let parts): return .all(parts.map(typed))
    case .any(let parts): return .any(parts.map(typed))
    case .field(let name, let comparison, let value):
      guard let seen = kinds[name], let kind = seen else { return condition }
      return .field(name, comparison, FieldKinds.typed(value, kind))
    case .unknown: return condition
    }
  }

  private static func typed(_ value: JSONValue, _ kind: Kind) -> JSONValue {
    switch value {
    case .array(let elements): return .array(elements.map { typed($0, kind) })
    case .string(let text):
      // A text that is no value of the kind stays, and matches nothing.
      switch (kind, meaning(of: text)) {
      case (.number, .number(let number)?): return .number(number)
      case (.flag, .bool(let flag)?): return .bool(flag)
      default: return value
      }
    default: return value
    }
  }
}
