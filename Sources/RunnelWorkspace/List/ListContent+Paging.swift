package import RunnelBase

extension ListRows {
  /// The first row and the last, where fetch-more rows stand; one row if there is no other.
  package var ends: [String] { count > 1 ? [self[0], self[count - 1]] : Array(self) }

  /// True if the row for older rows is among them.
  var hasFetchMoreRow: Bool { ends.contains(ListScreen.fetchMoreRow) }

  /// How many rows there are without fetch-more rows.
  package var storedCount: Int { count - ends.count(where: ListScreen.isPlaceholder) }
}

extension ListContent {
  /// The numbers of the fetch-more rows among all rows, from 1; they stand at the ends of their sections.
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

  /// The number of the fetch-more row with an id among all rows, from 1.
  package func number(ofPlaceholder id: String) -> Int? {
    var before = 0
    for rows in sections.map(\.rows) {
      if rows.first == id { return before + 1 }
      before += rows.count
      if rows.last == id { return before }
    }
    return nil
  }

  /// The first row of a section; nil if it has none.
  func firstRow(ofSection id: String) -> String? {
    index(ofSection: id).flatMap { sections[$0].rows.first }
  }

  /// The rows that are loaded, fetch-more rows left out.
  var storedRowCount: Int { rowCount - placeholderNumbers.count }

  /// The number of a row among those that are loaded.
  func storedRowNumber(_ number: Int) -> Int {
    number - placeholderNumbers.count { $0 < number }
  }
}
