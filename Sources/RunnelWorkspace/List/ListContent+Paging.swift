package import RunnelBase

extension ListRows {
  /// The first and the last row, where fetch-more rows can stand; a single row if there is no
  /// other.
  package var ends: [String] { count > 1 ? [self[0], self[count - 1]] : Array(self) }

  /// Whether the fetch-more row for older rows is among the ends.
  var hasFetchMoreRow: Bool { ends.contains(ListScreen.fetchMoreRow) }

  /// The number of rows without fetch-more rows.
  package var storedCount: Int { count - ends.count(where: ListScreen.isPlaceholder) }
}

extension ListContent {
  /// The numbers of the fetch-more rows among all rows, from 1; they stand at the ends of their
  /// sections.
  private var placeholderNumbers: [Int] {
    var numbers: [Int] = []
    var before = 0
    for section in sections {
      let rows = section.rows
      if ListScreen.isPlaceholder(rows.first) { numbers.append(before + 1) }
      before += rows.count
      if rows.count > 1, ListScreen.isPlaceholder(rows.last) { numbers.append(before) }
    }
    return numbers
  }

  /// Returns the number of the fetch-more row with an id among all rows, from 1, or nil if there is
  /// none.
  package func number(ofPlaceholder id: String) -> Int? {
    var before = 0
    for rows in sections.map(\.rows) {
      if rows.first == id { return before + 1 }
      before += rows.count
      if rows.last == id { return before }
    }
    return nil
  }

  /// Returns the first row of a section, or nil if it has none.
  func firstRow(ofSection id: String) -> String? {
    index(ofSection: id).flatMap { sections[$0].rows.first }
  }

  /// The number of loaded rows, without fetch-more rows.
  var storedRowCount: Int { rowCount - placeholderNumbers.count }

  /// Returns the number of a row among the loaded rows.
  func storedRowNumber(_ number: Int) -> Int {
    number - placeholderNumbers.count { $0 < number }
  }
}
