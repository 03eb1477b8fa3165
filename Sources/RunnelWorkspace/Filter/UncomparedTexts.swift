package import RunnelStreams
import RunnelTree

/// Counts the rows that the comparisons of a filter leave out, because a field holds a text where the filter
/// has a number or a date.
package struct UncomparedTexts {
  private let tests: [(path: Path, value: FilterValue)]
  private var counts: [Int]

  /// Begins to count for a filter.
  package init(_ filter: Filter) {
    tests = filter.terms.compactMap { term in
      guard !term.isNegated, case .compares(.path(let path), _, let value) = term.test else {
        return nil
      }
      return (path, value)
    }
    counts = tests.map { _ in 0 }
  }

  /// Counts records, whether they match the filter or not.
  ///
  /// O(tests x records).
  package mutating func take(_ records: [Record]) {
    for (index, test) in tests.enumerated() {
      counts[index] += records.count { record in
        test.value.isLeavingOut(record.row.node?[test.path].leaf)
      }
    }
  }

  /// What was left out by the first comparison that left something out, such as `3 rows have texts in cost,
  /// not compared with numbers`; nil if no row was.
  package var message: String? {
    guard let index = counts.firstIndex(where: { $0 > 0 }) else { return nil }
    let rows = counts[index] == 1 ? "1 row has a text" : "\(counts[index]) rows have texts"
    return "\(rows) \(tests[index].value.words(leavingOutTextsIn: tests[index].path))"
  }
}

extension FilterValue {
  /// Whether a comparison with this value leaves out a leaf: it is a text, and the value is a number or a
  /// date.
  func isLeavingOut(_ leaf: Leaf?) -> Bool {
    guard number != nil || moments != nil, case .string(let text)? = leaf else { return false }
    return isIncomparable(text)
  }

  /// What is said of the texts of a field that a comparison leaves out, behind their number.
  func words(leavingOutTextsIn path: Path) -> String {
    "in \(path.shownText), not compared with \(number != nil ? "numbers" : "dates")"
  }
}
