import RunnelBase

/// Rows in the order of a query, which are also found by key.
///
/// Invariants:
/// - I1. `rows` is sorted by position, strictly ascending; `values` holds the value of each row's key.
struct OrderedRows: Sendable {
  private(set) var rows: [TreeRow]
  private var values: [Key: IndexValue]

  /// Takes rows that are in order.
  ///
  /// O(n).
  init(_ rows: [TreeRow] = []) {
    self.rows = rows
    values = Dictionary(minimumCapacity: rows.count)
    for row in rows { values[row.key] = row.value }
  }

  var count: Int { rows.count }

  func contains(_ key: Key) -> Bool { values[key] != nil }

  /// The row of a key; nil if there is none.
  ///
  /// O(log n).
  subscript(key: Key) -> TreeRow? {
    guard let value = values[key] else { return nil }
    return rows[place(of: IndexPosition(value: value, key: .key(key)))]
  }

  /// The first index whose row is not before a position.
  ///
  /// O(log n).
  func place(of position: IndexPosition) -> Int { rows.lowerBound { $0.position < position } }

  /// Puts a row in the place of its key's row, or removes the key's row.
  mutating func put(_ new: TreeRow?, for key: Key) {
    let old = self[key]
    if let old, let new, old.value == new.value {
      rows[place(of: old.position)] = new
      return
    }
    if let old { rows.remove(at: place(of: old.position)) }
    if let new { rows.insert(new, at: place(of: new.position)) }
    values[key] = new?.value
  }

  /// Adds rows that all come before the others, or after them.
  mutating func add(_ new: [TreeRow], atStart: Bool) {
    rows.insert(contentsOf: new, at: atStart ? 0 : rows.count)
    for row in new { values[row.key] = row.value }
  }

  /// Removes the first rows, or the last ones.
  mutating func remove(_ count: Int, atStart: Bool) {
    let range = atStart ? 0..<count : rows.count - count..<rows.count
    for row in rows[range] { values[row.key] = nil }
    rows.removeSubrange(range)
  }

  /// Traps if an invariant does not hold.
  ///
  /// O(n); for tests.
  func checkInvariants() {
    for (left, right) in zip(rows, rows.dropFirst()) {
      precondition(left.position < right.position, "I1: rows ascend.")
    }
    precondition(values.count == rows.count, "I1: each row's value is known.")
    for row in rows {
      precondition(values[row.key] == row.value, "I1: the value is that of the row.")
    }
  }
}
