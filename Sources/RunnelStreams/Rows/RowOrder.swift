/// The order of a list's rows: by their labels, and by something else among rows of one label.
struct RowOrder {
  /// True if the first of two rows with one label stands before the second; nil if there are no two.
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
    // Labels beside each other, so that most comparisons touch no row.
    var places = rows.enumerated().map { (label: $1.label, index: $0) }
    places.sort { left, right in
      if left.label != right.label { return left.label < right.label }
      return tie?(rows[left.index], rows[right.index]) ?? false
    }
    return places.map { rows[$0.index] }
  }
}
