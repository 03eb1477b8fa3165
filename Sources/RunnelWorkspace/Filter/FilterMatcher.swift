import RunnelBase
package import RunnelStreams
import RunnelTree

/// Tells whether a row matches a filter.
///
/// A matcher is created once for a filter: it compiles patterns and lowercases texts.
package final class FilterMatcher {
  /// Facts beyond the stored record that a filter may test.
  package struct Surroundings: Hashable, Sendable {
    /// The user's name.
    package var me: String
    /// The ids of the rows that arrived since the list was opened.
    package var new: Set<String> = []
    /// The ids of the marked rows.
    package var marked: Set<String> = []

    package init(me: String, new: Set<String> = [], marked: Set<String> = []) {
      self.me = me
      self.new = new
      self.marked = marked
    }
  }

  private typealias Check = (Record) -> Bool

  private let checks: [Check]

  /// Prepares a filter for the rows of a view.
  package init(_ filter: Filter, in definition: ViewDefinition, _ surroundings: Surroundings) {
    checks = filter.terms.map { term in
      let check = FilterMatcher.check(term.test, in: definition, surroundings)
      return term.isNegated ? { !check($0) } : check
    }
  }

  /// Returns whether the row matches the filter.
  package func wants(_ record: Record) -> Bool { checks.allSatisfy { $0(record) } }

  private static func check(
    _ test: Filter.Test, in definition: ViewDefinition, _ surroundings: Surroundings
  ) -> Check {
    switch test {
    case .shows(let text): return shows(text, definition.columns.map(\.field))
    case .isOne(let field, let values):
      return { record in values.contains { $0.isValue(of: record.leaf(at: field)) } }
    case .matches(let field, let pattern): return matches(pattern, field)
    case .compares(let field, let comparison, let value):
      return { value.compares(record: $0.leaf(at: field), comparison) }
    case .has(let field):
      return { record in
        let node = record.node(at: field)
        return !node.isEmpty && !node.isNullOfService
      }
    case .state(let condition): return holds(condition, in: definition, surroundings)
    }
  }

  private static func shows(_ text: String, _ fields: [FieldPath]) -> Check {
    let sought = SearchText(text)
    return { record in
      if fields.contains(where: { sought.isFound(in: record.text(at: $0)) }) { return true }
      return record.row.node?.hasText(where: sought.isFound) == true
    }
  }

  private static func matches(_ pattern: String, _ field: FieldPath) -> Check {
    if pattern.allSatisfy({ $0.isLetter || $0.isNumber || $0 == " " }) {
      let sought = SearchText(pattern)
      return { sought.isFound(in: $0.text(at: field)) }
    }
    // The parser has refused invalid patterns.
    guard let expression = try? FilterPattern.expression(pattern) else { return { _ in false } }
    return { expression.matches($0.text(at: field)) }
  }

  private static func holds(
    _ condition: Filter.RowCondition, in definition: ViewDefinition, _ surroundings: Surroundings
  ) -> Check {
    switch condition {
    case .new: return { surroundings.new.contains($0.id) }
    case .marked: return { surroundings.marked.contains($0.id) }
    case .field(let path): return { $0.leaf(at: .path(path)) == .bool(true) }
    case .mine:
      let fields = definition.template.filter { $0.value == .string("$me") }.map(\.path)
      let me = Leaf.string(surroundings.me)
      return { record in fields.contains { record.leaf(at: .path($0)) == me } }
    }
  }
}

extension FilterValue {
  /// Whether a field holds this value: an equal text regardless of case, an equal number, or a time
  /// within the named moments.
  fileprivate func isValue(of leaf: Leaf?) -> Bool {
    switch leaf {
    case .string(let string):
      if string.lowercased() == text.lowercased() { return true }
      guard let moments, let time = DateText(string, local)?.start else { return false }
      return moments.contains(time)
    case .bool(let bool): return text.lowercased() == (bool ? "true" : "false")
    case .number(let stored):
      if let number { return stored == number }
      guard let moments, let time = stored.integer else { return false }
      return moments.contains(StoredTime.milliseconds(of: time))
    case nil: return text == "none"
    }
  }

  /// Whether the comparison of a field with this value holds; false if the two cannot be compared.
  fileprivate func compares(record leaf: Leaf?, _ comparison: Filter.Comparison) -> Bool {
    switch leaf {
    case .number(let stored):
      if let number { return comparison.holds(stored, number) }
      guard let moments, let time = stored.integer else { return false }
      return moments.compares(StoredTime.milliseconds(of: time), comparison)
    // As in queries, values of one kind only are compared.
    case .string(let string):
      if let moments, let time = DateText(string, local)?.start {
        return moments.compares(time, comparison)
      }
      return !isIncomparable(string) && comparison.holds(string.lowercased(), text.lowercased())
    case .bool, nil: return false
    }
  }
}

extension FilterValue {
  /// Whether a text of a field is not compared with this value: the value is a number, or a date and the
  /// text is none.
  func isIncomparable(_ string: String) -> Bool {
    if number != nil { return true }
    if moments == nil || DateText(string, local) != nil { return false }
    return !(DateText.isBeginning(string) && DateText.isBeginning(String(text.prefix(7))))
  }
}

extension RunnelTree.Node {
  /// Whether one of the texts in the node fulfils a test.
  ///
  /// O(n) in the node.
  func hasText(where test: (String) -> Bool) -> Bool {
    switch leaf {
    case .string(let text)?: test(text)
    case .bool?, .number?: false
    case nil: children.contains { $0.node.hasText(where: test) }
    }
  }
}

extension MomentRange {
  /// Whether a time is one of these moments.
  fileprivate func contains(_ time: Int64) -> Bool {
    start == end ? time == start : (start..<end).contains(time)
  }

  /// Whether the comparison of a time with these moments holds.
  fileprivate func compares(_ time: Int64, _ comparison: Filter.Comparison) -> Bool {
    // A time after a day is after its end; a time up to a day is before its end.
    switch comparison {
    case .less: time < start
    case .lessOrEqual: time < max(end, start + 1)
    case .greater: time >= max(end, start + 1)
    case .greaterOrEqual: time >= start
    }
  }
}

extension Filter.Comparison {
  fileprivate func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
    switch self {
    case .less: left < right
    case .lessOrEqual: left <= right
    case .greater: left > right
    case .greaterOrEqual: left >= right
    }
  }
}

extension Record {
  fileprivate func node(at field: FieldPath) -> RunnelTree.Node {
    field.node(key: row.key, row.node ?? .empty)
  }

  fileprivate func leaf(at field: FieldPath) -> Leaf? { node(at: field).leaf }

  /// The text of a field, as it is shown.
  fileprivate func text(at field: FieldPath) -> String {
    let node = node(at: field)
    return node.isEmpty ? "" : FieldKind.text(of: node.json)
  }
}
