/// The size of a screen in cells.
public struct TerminalSize: Hashable, Sendable {
  /// The number of columns.
  public var columns: Int
  /// The number of rows.
  public var rows: Int

  /// Makes a size; a negative number counts as 0.
  public init(columns: Int, rows: Int) {
    self.columns = max(0, columns)
    self.rows = max(0, rows)
  }
}

/// A cell of a screen; both numbers are 0-based, from the top left.
public struct Position: Hashable, Sendable {
  /// The row, from the top.
  public var row: Int
  /// The column, from the left.
  public var column: Int

  /// Makes a position; it may lie outside any screen.
  public init(row: Int, column: Int) {
    self.row = row
    self.column = column
  }
}

/// A rectangle of cells.
///
/// Neither side is ever negative.
public struct Rect: Hashable, Sendable {
  /// The first row.
  public var row: Int
  /// The first column.
  public var column: Int
  /// The number of rows.
  public var height: Int
  /// The number of columns.
  public var width: Int

  /// Makes a rectangle; a negative side counts as 0.
  public init(row: Int, column: Int, height: Int, width: Int) {
    self.row = row
    self.column = column
    self.height = max(0, height)
    self.width = max(0, width)
  }

  /// Makes the rectangle of a whole screen.
  public init(size: TerminalSize) {
    self.init(row: 0, column: 0, height: size.rows, width: size.columns)
  }

  /// Whether the rectangle has no cells.
  public var isEmpty: Bool { height == 0 || width == 0 }

  /// The row after the last one.
  public var endRow: Int { row + height }

  /// The column after the last one.
  public var endColumn: Int { column + width }

  /// The top left cell.
  public var origin: Position { Position(row: row, column: column) }

  /// Whether the cell lies inside.
  public func contains(_ position: Position) -> Bool {
    (row..<endRow).contains(position.row) && (column..<endColumn).contains(position.column)
  }

  /// The rectangle without `rows` lines above and below and `columns` left and right.
  public func inset(rows: Int = 1, columns: Int = 1) -> Rect {
    Rect(
      row: row + min(rows, height), column: column + min(columns, width),
      height: height - 2 * rows, width: width - 2 * columns)
  }

  /// The cells common to both; empty when they do not meet.
  public func intersection(_ other: Rect) -> Rect {
    let top = max(row, other.row)
    let left = max(column, other.column)
    return Rect(
      row: top, column: left, height: min(endRow, other.endRow) - top,
      width: min(endColumn, other.endColumn) - left)
  }

  /// The line with this 0-based number inside the rectangle; empty when there is none.
  public func line(_ index: Int) -> Rect {
    guard (0..<height).contains(index) else {
      return Rect(row: row, column: column, height: 0, width: width)
    }
    return Rect(row: row + index, column: column, height: 1, width: width)
  }

  /// The first `lines` lines (fewer when there are fewer) and what is under them.
  public func splitTop(_ lines: Int) -> (top: Rect, rest: Rect) {
    let count = min(max(0, lines), height)
    return (
      Rect(row: row, column: column, height: count, width: width),
      Rect(row: row + count, column: column, height: height - count, width: width)
    )
  }

  /// The last `lines` lines (fewer when there are fewer) and what is over them.
  public func splitBottom(_ lines: Int) -> (bottom: Rect, rest: Rect) {
    let (rest, bottom) = splitTop(height - min(max(0, lines), height))
    return (bottom, rest)
  }

  /// The first `columns` columns (fewer when there are fewer) and what is right of them.
  public func splitLeft(_ columns: Int) -> (left: Rect, rest: Rect) {
    let count = min(max(0, columns), width)
    return (
      Rect(row: row, column: column, height: height, width: count),
      Rect(row: row, column: column + count, height: height, width: width - count)
    )
  }

  /// The last `columns` columns (fewer when there are fewer) and what is left of them.
  public func splitRight(_ columns: Int) -> (right: Rect, rest: Rect) {
    let (rest, right) = splitLeft(width - min(max(0, columns), width))
    return (right, rest)
  }

  /// A rectangle of this size in the middle of this one, cut to it.
  public func centered(height wantedHeight: Int, width wantedWidth: Int) -> Rect {
    let innerHeight = min(max(0, wantedHeight), height)
    let innerWidth = min(max(0, wantedWidth), width)
    return Rect(
      row: row + (height - innerHeight) / 2, column: column + (width - innerWidth) / 2,
      height: innerHeight, width: innerWidth)
  }
}
