import RunnelTree

/// How the user wants to see the rows of a list: which columns, and in how many lines.
package struct ListLook: Hashable, Sendable {
  /// How much of a row is shown.
  enum Extent: Hashable, Sendable {
    /// The columns are fitted to the screen, and a row takes some lines.
    case fitted(RowLines)
    /// The columns are in full, regardless of their width; a row takes one line.
    case inFull
  }

  /// The hidden columns, by their indices in the definition.
  package private(set) var hiddenColumns: Set<Int> = []
  /// The fields of columns that the user chose, which are shown on any screen.
  private(set) var chosenFields: Set<FieldPath> = []
  /// The column with the column cursor, by its index in the definition; nil if there is none.
  package var cell: Int?
  /// How much of a row is shown.
  private(set) var extent = Extent.fitted(.one)

  /// Whether columns are shown in full, regardless of their width.
  var isWide: Bool { extent == .inFull }

  /// How many lines a row takes.
  var rowLines: RowLines { if case .fitted(let lines) = extent { lines } else { .one } }

  /// Shows columns in full, in one line.
  mutating func showInFull() { extent = .inFull }

  /// Fits the columns to the screen; rows in full take one line then.
  mutating func fit() { extent = .fitted(rowLines) }

  /// Fits the columns to the screen, and shows rows in some lines.
  mutating func show(in lines: RowLines) { extent = .fitted(lines) }

  // MARK: Columns

  /// Hides the column of a field.
  mutating func hide(_ column: Int, of field: FieldPath) {
    hiddenColumns.insert(column)
    chosenFields.remove(field)
  }

  /// Shows a column where it has room.
  mutating func unhide(_ column: Int) { hiddenColumns.remove(column) }

  /// Shows the columns of a field on any screen.
  mutating func choose(_ field: FieldPath) { chosenFields.insert(field) }

  /// Makes room for the column of a field, which the user chose, before those from an index on.
  mutating func insert(_ field: FieldPath, at index: Int) {
    chosenFields.insert(field)
    hiddenColumns = Set(hiddenColumns.map { $0 >= index ? $0 + 1 : $0 })
  }

  /// Forgets which columns are hidden, because the columns are others now.
  mutating func forgetHidden() { hiddenColumns = [] }

  /// Follows columns from which the hidden ones were removed; `shown` are the former indices of the others.
  mutating func removeHidden(keeping shown: [Int]) {
    cell = cell.flatMap { shown.firstIndex(of: $0) }
    hiddenColumns = []
  }

  /// Takes the columns of an earlier session.
  mutating func restore(chosen: Set<FieldPath>, hidden: Set<Int>) {
    (chosenFields, hiddenColumns) = (chosen, hidden)
  }
}
