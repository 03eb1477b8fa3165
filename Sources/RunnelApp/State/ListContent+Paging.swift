import RunnelBase

extension ListContent {
  /// The number of the paging row among all rows, from 1; it stands at an end of its section.
  var pagingRowNumber: Int? {
    var before = 0
    for section in sections {
      if section.rows.first == ListScreen.pagingRow { return before + 1 }
      before += section.rows.count
      if section.rows.last == ListScreen.pagingRow { return before }
    }
    return nil
  }

  /// The first row of a section; nil if it has none.
  func firstRow(ofSection id: String) -> String? {
    index(ofSection: id).flatMap { sections[$0].rows.first }
  }

  /// The rows that are loaded, the paging row left out.
  var storedRowCount: Int { rowCount - (pagingRowNumber == nil ? 0 : 1) }

  /// The number of a row among those that are loaded.
  func storedRowNumber(_ number: Int) -> Int {
    guard let paging = pagingRowNumber, paging < number else { return number }
    return number - 1
  }
}
