import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The columns of a list that are shown on a screen.

extension RowText {
  /// The width that a column for the rest of the line should have at least.
  static let openWidthMin = 12

  /// A shown column, and its index in the definition.
  typealias ShownColumn = (index: Int, column: ColumnDefinition)

  /// The columns that are shown, from the left.
  var shownColumns: [ShownColumn] {
    let all = definition.columns.enumerated().map { ShownColumn(index: $0, column: $1) }
      .filter { !hiddenColumns.contains($0.index) }
    var columns = all.filter { $0.column.minimumScreen <= screenWidth }
    let kept = all.filter {
      $0.column.field.rowField == sortedField || chosenFields.contains($0.column.field)
    }
    for column in kept { insert(column, into: &columns) }
    if isWide {
      return columns.filter { $0.column.width != nil } + columns.filter { $0.column.width == nil }
    }
    if !hiddenColumns.isEmpty { fill(&columns, of: all) }
    return fitting(columns, keeping: Set(kept.map(\.index)))
  }

  /// Inserts a column in its place, unless it is there.
  private func insert(_ column: ShownColumn, into columns: inout [ShownColumn]) {
    if columns.contains(where: { $0.index == column.index }) { return }
    columns.insert(column, at: columns.firstIndex { $0.index > column.index } ?? columns.count)
  }

  /// Adds columns for wider screens as far as those that the user hid have left room.
  private func fill(_ columns: inout [ShownColumn], of all: [ShownColumn]) {
    let others = all.filter { $0.column.minimumScreen > screenWidth }
    for column in others.sorted(by: { $0.column.minimumScreen < $1.column.minimumScreen }) {
      var more = columns
      insert(column, into: &more)
      guard hasRoom(for: more.map(\.column)) else { return }
      columns = more
    }
  }

  /// The number of columns for which there is no room.
  var columnsWithoutRoom: Int {
    max(definition.columns.count - hiddenColumns.count - shownColumns.count, 0)
  }

  /// Returns the columns without those for which the list has no room.
  ///
  /// Columns that a screen as narrow as the list would hide are removed, those for the widest
  /// screens first, until there is room for the columns that take the rest of the line. The column
  /// that the list is sorted by stays, and so do those that the user chose; others that a narrower screen
  /// would hide give way to them.
  private func fitting(_ columns: [ShownColumn], keeping kept: Set<Int>) -> [ShownColumn] {
    var columns = columns
    let givesWay = columns.contains {
      kept.contains($0.index)
        && (chosenFields.contains($0.column.field)
          || $0.column.minimumScreen > min(listWidth, screenWidth))
    }
    while !hasRoom(for: columns.map(\.column)) {
      let last = columns.indices
        .filter {
          !kept.contains(columns[$0].index)
            && columns[$0].column.minimumScreen > (givesWay ? 0 : listWidth)
        }
        .max { columns[$0].column.minimumScreen < columns[$1].column.minimumScreen }
      guard let last else { break }
      columns.remove(at: last)
    }
    return columns
  }

  private func hasRoom(for columns: [ColumnDefinition]) -> Bool {
    let openCount = columns.count { $0.width == nil }
    let fixed = columns.reduce(0) { $0 + ($1.width ?? 0) } + columns.count
    let gutter = hasGutter ? RowText.gutterWidth : 0
    return fixed + gutter + openCount * RowText.openWidthMin <= listWidth
  }
}
