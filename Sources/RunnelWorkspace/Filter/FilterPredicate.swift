import RunnelBase
import RunnelStreams
package import RunnelTree

/// A filter as the condition of a view, `where`, which the tree itself checks.
///
/// A condition knows no ages, no marks, and no differences of case except in `contains~` and `begins~`:
/// texts are taken as the loaded rows spell them.
package struct FilterPredicate {
  /// The condition.
  let predicate: ChildPredicate

  /// The rows that are looked at for the spelling of texts.
  private static let rowsMax = 2000

  /// Translates a filter of a list.
  ///
  /// - Throws: `FilterError` for the first term that no condition can say.
  init(_ filter: Filter, in list: ListScreen) throws(FilterError) {
    let rows = list.someRecords(FilterPredicate.rowsMax)
    let characters = Array(filter.text)
    var parts: [ChildPredicate] = []
    for term in filter.terms {
      guard let part = FilterPredicate.predicate(term.test, rows) else {
        let reason = FilterPredicate.reasonNotSaid(term.test)
        // The reason comes first: long words may be cut.
        throw FilterError(
          range: term.range, message: "\(reason): \(String(characters[term.range]))")
      }
      parts.append(term.isNegated ? .not(part) : part)
    }
    predicate = parts.count == 1 ? parts[0] : .all(parts)
  }

  /// The part of a filter that a condition can say, and whether that is all of it; nil if it is nothing.
  ///
  /// Texts are taken as they are typed, in small, large and initial letters, and as the loaded rows spell
  /// them.
  package static func part(
    of filter: Filter, in list: ListScreen
  ) -> (predicate: ChildPredicate, isWhole: Bool)? {
    let rows = list.someRecords(rowsMax)
    let parts = filter.terms.compactMap { term in
      predicate(term.test, rows, inAnyCase: true).map { term.isNegated ? .not($0) : $0 }
    }
    guard let first = parts.first else { return nil }
    return (parts.count == 1 ? first : .all(parts), parts.count == filter.terms.count)
  }

  /// The reason why no condition can say a term.
  private static func reasonNotSaid(_ test: Filter.Test) -> String {
    switch test {
    case .shows: "a view keeps no words, only conditions on fields, such as title~word"
    case .state: "a view does not keep what is new, marked or one's own"
    case .compares(_, _, let value) where value.moments != nil: "a view keeps no dates and no ages"
    case .compares: "a view compares fields with numbers only"
    case .isOne: "a view keeps no dates and no ages"
    case .matches: "a view keeps no patterns, only ~ with a word, in fields that hold texts"
    case .has: "a view cannot keep this"
    }
  }

  private static func predicate(
    _ test: Filter.Test, _ rows: [Record], inAnyCase: Bool = false
  ) -> ChildPredicate? {
    switch test {
    case .shows, .state(.new), .state(.marked), .state(.mine): return nil
    case .has(let field): return .exists(field.rowField)
    case .state(.field(let path)): return .compare(.child(path), .equal, .bool(true))
    case .compares(let field, let comparison, let value):
      guard let number = value.number,
        let way = ChildPredicate.Comparison(rawValue: comparison.rawValue)
      else { return nil }
      return .compare(field.rowField, way, .number(number))
    case .isOne(let field, let values):
      let parts = values.map { equal(field, $0, rows, inAnyCase: inAnyCase) }
      let known = parts.compactMap(\.self)
      guard known.count == parts.count else { return nil }
      return known.count == 1 ? known[0] : .any(known)
    case .matches(let field, let pattern): return contains(field, pattern, rows)
    }
  }

  private static func equal(
    _ field: FieldPath, _ value: FilterValue, _ rows: [Record], inAnyCase: Bool
  ) -> ChildPredicate? {
    if value.text == "none" { return .not(.exists(field.rowField)) }
    var leaves: Set<Leaf> = []
    if let number = value.number {
      leaves.insert(.number(number))
    } else if value.moments != nil {
      return nil
    }
    let text = value.text.lowercased()
    for record in rows {
      switch field.node(key: record.row.key, record.row.node ?? .empty).leaf {
      case .string(let string)? where string.lowercased() == text: leaves.insert(.string(string))
      case .bool(let bool)? where text == (bool ? "true" : "false"): leaves.insert(.bool(bool))
      default: break
      }
    }
    if inAnyCase {
      let initial = value.text.prefix(1).uppercased() + value.text.dropFirst().lowercased()
      for spelling in [value.text, text, value.text.uppercased(), initial] {
        leaves.insert(.string(spelling))
      }
      if text == "true" || text == "false" { leaves.insert(.bool(text == "true")) }
    }
    if leaves.isEmpty { leaves.insert(.string(value.text)) }
    let parts = leaves.map { ChildPredicate.compare(field.rowField, .equal, $0) }
      .sorted { $0.description < $1.description }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  /// A text is found by a condition in texts only.
  private static func contains(
    _ field: FieldPath, _ pattern: String, _ rows: [Record]
  ) -> ChildPredicate? {
    let isBeginning = pattern.hasPrefix("^")
    let text = isBeginning ? String(pattern.dropFirst()) : pattern
    let isPlain = text.allSatisfy { $0.isLetter || $0.isNumber || $0 == " " }
    let areTexts = rows.allSatisfy { record in
      let node = field.node(key: record.row.key, record.row.node ?? .empty)
      if case .string? = node.leaf { return true }
      return node.isEmpty
    }
    guard isPlain, areTexts, !text.isEmpty else { return nil }
    let match = ChildPredicate.TextMatch(
      isBeginning ? .begins : .contains, text, ignoresCase: true)
    return .matches(field.rowField, match)
  }
}
