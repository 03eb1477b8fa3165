package import RunnelBase

/// The order in which Feathers sorts records in memory.
///
/// Absent values come first, then null, numbers, texts by their UTF-16, booleans, arrays by their
/// elements, and objects by the values of their sorted names. Databases of servers may sort
/// otherwise.
package struct RecordOrder: Hashable, Sendable {
  /// A field, and the sign of its direction: 1, -1, or 0 for a direction that makes no sense.
  package struct Term: Hashable, Sendable {
    /// The dotted name of the field.
    package var field: String
    /// The direction.
    package var direction: Int

    /// Makes a term.
    package init(_ field: String, _ direction: Int) {
      (self.field, self.direction) = (field, direction.signum())
    }
  }

  /// The terms; the first counts most.
  package var terms: [Term]

  /// Makes an order.
  package init(_ terms: [Term]) { self.terms = terms }

  /// Compares two records: negative if the first comes first, 0 if the terms do not tell.
  package func compare(_ left: JSONValue, _ right: JSONValue) -> Int {
    for term in terms where term.direction != 0 {
      let result = RecordOrder.compare(
        FieldWalk.value(left, term.field), FieldWalk.value(right, term.field))
      if result != 0 { return result * term.direction }
    }
    return 0
  }

  /// Returns the records in order; equal ones keep their places.
  package func sorted(_ records: [JSONValue]) -> [JSONValue] {
    if terms.isEmpty { return records }
    // The standard sort is stable, but does not promise it.
    return records.enumerated().sorted { left, right in
      let result = compare(left.element, right.element)
      return result == 0 ? left.offset < right.offset : result < 0
    }.map(\.element)
  }

  /// Compares two values; nil is an absent one.
  package static func compare(_ left: JSONValue?, _ right: JSONValue?) -> Int {
    let (leftRank, rightRank) = (rank(left), rank(right))
    if leftRank != rightRank { return leftRank < rightRank ? -1 : 1 }
    switch (left, right) {
    case (.number(let a)?, .number(let b)?): return a < b ? -1 : (b < a ? 1 : 0)
    case (.string(let a)?, .string(let b)?): return compare(a, b)
    case (.bool(let a)?, .bool(let b)?): return a == b ? 0 : (b ? -1 : 1)
    case (.array(let a)?, .array(let b)?):
      for (x, y) in zip(a, b) {
        let result = compare(x, y)
        if result != 0 { return result }
      }
      return (a.count - b.count).signum()
    case (.object(let a)?, .object(let b)?): return compare(a, b)
    default: return 0
    }
  }

  private static func compare(_ left: [JSONMember], _ right: [JSONMember]) -> Int {
    let sorted = { (members: [JSONMember]) in
      members.sorted { compare($0.name, $1.name) < 0 }
    }
    // Only the values count, as in Feathers: names decide which are compared.
    for (x, y) in zip(sorted(left), sorted(right)) {
      let result = compare(x.value, y.value)
      if result != 0 { return result }
    }
    return (left.count - right.count).signum()
  }

  private static func rank(_ value: JSONValue?) -> Int {
    switch value {
    case nil: 0
    case .null?: 1
    case .number?: 2
    case .string?: 3
    case .bool?: 4
    case .array?: 5
    case .object?: 6
    }
  }

  /// Compares two texts by their UTF-16 code units, as JavaScript does.
  static func compare(_ left: String, _ right: String) -> Int {
    var (a, b) = (left.utf8.makeIterator(), right.utf8.makeIterator())
    while true {
      switch (a.next(), b.next()) {
      case (nil, nil): return 0
      case (nil, _): return -1
      case (_, nil): return 1
      case (let x?, let y?) where x != y:
        // UTF-8 sorts as code points do. In UTF-16 those that need two units, which begin with
        // 0xF0 or more here, come before U+E000 to U+FFFF, which begin with 0xEE or 0xEF.
        if x >= 0xF0, y == 0xEE || y == 0xEF { return -1 }
        if y >= 0xF0, x == 0xEE || x == 0xEF { return 1 }
        return x < y ? -1 : 1
      default: break
      }
    }
  }

  /// True if two values are the same, whatever the order of their members; null equals an absent one.
  static func isSame(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
    switch (left ?? .null, right ?? .null) {
    case (.array(let a), .array(let b)):
      return a.count == b.count && zip(a, b).allSatisfy { isSame($0, $1) }
    case (.object(let a), .object(let b)):
      if a.count != b.count { return false }
      let other = JSONValue.object(b)
      return a.allSatisfy { member in
        guard let value = other[member.name] else { return false }
        return isSame(member.value, value)
      }
    case (let a, let b): return a == b
    }
  }
}
