/// The order of a list's rows: by label, and among equal labels by another comparison.
struct RowOrder {
  /// Returns true if the first of two rows with equal labels is before the second; nil if labels
  /// differ.
  var tie: ((RowObject, RowObject) -> Bool)?

  /// True if a row stands before another.
  func isBefore(_ left: RowObject, _ right: RowObject) -> Bool {
    if left.label != right.label { return left.label < right.label }
    return tie?(left, right) ?? false
  }

  /// The rows in order.
  ///
  /// O(n log n), O(n) if they are in order already.
  func sorted(_ rows: [RowObject]) -> [RowObject] {
    if zip(rows, rows.dropFirst()).allSatisfy({ isBefore($0, $1) }) { return rows }
    // The labels are stored side by side, so that most comparisons need not read the rows.
    var places = rows.enumerated().map { (label: $1.label, index: $0) }
    places.sort { left, right in
      if left.label != right.label { return left.label < right.label }
      return tie?(rows[left.index], rows[right.index]) ?? false
    }
    return places.map { rows[$0.index] }
  }
}
