/// The relation of a cell to the cursor row.
public enum RowHighlight: UInt8, CaseIterable, Sendable {
  /// Not in the cursor row.
  case none
  /// In the cursor row of the pane with the focus.
  case focused
  /// In the cursor row of another pane.
  case unfocused
}

/// One cell of a canvas.
public struct Cell: Hashable, Sendable {
  /// The sanitized scalars that are drawn; none in the second half of a wide cell.
  var scalars: CellScalars
  /// The columns of the text: 1 or 2; 0 in the second half of a wide cell.
  public internal(set) var width: UInt8
  /// The role of the cell.
  public internal(set) var role: StyleRole
  /// Whether the cursor row is drawn over the role.
  public internal(set) var highlight: RowHighlight

  /// The text that is drawn: one spacing scalar and its marks; empty in the second half of a wide
  /// cell.
  public var text: String { scalars.text }

  /// An empty cell of this role.
  static func blank(_ role: StyleRole, highlight: RowHighlight = .none) -> Cell {
    Cell(scalars: CellScalars(ascii: 0x20), width: 1, role: role, highlight: highlight)
  }
}
