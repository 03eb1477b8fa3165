package import RunnelBase

extension ServiceCondition {
  /// Returns the condition with numbers and flags in place of texts, for a query in an address, whose
  /// values are all texts.
  ///
  /// A text is read as a number if all values of its field in these records are numbers, and as a flag if
  /// all are flags; otherwise it stays a text.
  ///
  /// Complexity: O(n) in the records, for each field of the condition.
  ///
  /// Source: services protocol, section 12.
  package func typed(by records: [JSONValue]) -> ServiceCondition {
    switch self {
    case .all(let parts): return .all(parts.map { $0.typed(by: records) })
    case .any(let parts): return .any(parts.map { $0.typed(by: records) })
    case .field(let name, let comparison, let value):
      guard let kind = FieldKind(of: name, in: records) else { return self }
      return .field(name, comparison, kind.typed(value))
    case .unknown: return self
    }
  }
}

/// The kind that all values of a field have.
private enum FieldKind {
  case number, flag

  init?(of name: String, in records: [JSONValue]) {
    var kinds: Set<FieldKind?> = []
    let path = name.split(separator: ".", omittingEmptySubsequences: false)[...]
    for record in records {
      _ = FieldWalk.contains(record, path) { value in
        switch value {
        case nil, .null?, .array?: break
        case .number?: kinds.insert(.number)
        case .bool?: kinds.insert(.flag)
        case .string?, .object?: kinds.insert(FieldKind?.none)
        }
        return false
      }
      if kinds.contains(FieldKind?.none) || kinds.count > 1 { return nil }
    }
    guard let first = kinds.first, let kind = first else { return nil }
    self = kind
  }

  /// Returns a value of a query as one of the kind, if it is a text of such a value.
  func typed(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): return .array(elements.map(typed))
    case .string(let text):
      // A text that is no value of the kind stays, and matches nothing.
      guard let parsed = try? JSONValue(parsing: text) else { return value }
      switch (self, parsed) {
      case (.number, .number), (.flag, .bool): return parsed
      default: return value
      }
    default: return value
    }
  }
}
