/// One line of cells: a row of a canvas, or a part of a row that is drawn by itself.
///
/// Drawing never writes outside: cells that do not fit are cut. Copies share their cells until one
/// is written to, and lines that share their cells are compared at no cost. So a line that is kept
/// from frame to frame is not drawn, compared or sent again.
///
/// Invariant: a cell of width 2 is followed by one of width 0, and a cell of width 0 follows one of
/// width 2.
public struct CanvasLine: Hashable, Sendable {
  /// The cells, from left to right.
  private(set) var cells: [Cell]

  /// Makes a blank line with a number of columns.
  public init(width: Int, role: StyleRole = .text) {
    cells = Array(repeating: .blank(role), count: max(width, 0))
  }

  /// Makes a line by drawing on a canvas of one row.
  public init(width: Int, glyphs: Glyphs, _ draw: (inout Canvas) -> Void) {
    var canvas = Canvas(size: TerminalSize(columns: max(width, 0), rows: 1), glyphs: glyphs)
    draw(&canvas)
    self = canvas.line(0)
  }

  /// The columns.
  public var width: Int { cells.count }

  /// The text, with trailing blanks.
  var text: String { cells.map(\.text).joined() }

  /// True if a cell has a role.
  func hasCell(of role: StyleRole) -> Bool {
    cells.withUnsafeBufferPointer { cells in
      // A cell is not copied to look at its role.
      for index in cells.indices where cells[index].role == role { return true }
      return false
    }
  }

  /// Draws a line of runs from a column on, which may lie outside, and returns the columns it took.
  ///
  /// Text wider than `width` ends in the ellipsis. Columns outside the line are not drawn, but count.
  /// O(width): only as much of the text is read as fits.
  @discardableResult
  public mutating func put(
    _ line: StyledLine, at column: Int, width: Int, glyphs: Glyphs
  ) -> Int {
    if let count = putPlain(line, at: column, width: width) { return count }
    let fitted = LineFitting(line, width: width, glyphs: glyphs)
    var next = column
    for (cluster, role) in fitted.clusters {
      write(cluster, at: next, role: role)
      next += cluster.width
    }
    return next - column
  }

  /// Draws a line of printable ASCII that fits, byte by byte, and returns the columns it took; draws
  /// nothing and returns nil for any other line.
  private mutating func putPlain(_ line: StyledLine, at column: Int, width: Int) -> Int? {
    var count = 0
    for run in line.runs {
      let bytes = run.text.utf8
      count += bytes.count
      guard count <= width, bytes.allSatisfy({ 0x20..<0x7F ~= $0 }) else { return nil }
    }
    guard count > 0, column >= 0, column + count <= cells.count else { return nil }
    splitPairs(around: column..<column + count)
    var next = column
    for run in line.runs {
      for byte in run.text.utf8 {
        cells[next] = Cell(
          scalars: CellScalars(ascii: byte), width: 1, role: run.role, highlight: .none)
        next += 1
      }
    }
    return count
  }

  /// Writes the cells of another line from a column on; cells that do not fit are cut.
  ///
  /// O(1) if it replaces the whole line.
  public mutating func put(_ line: CanvasLine, at column: Int) {
    if column == 0, line.width == width {
      self = line
      return
    }
    let (start, end) = (max(column, 0), min(column + line.width, width))
    guard start < end else { return }
    let columns = start..<end
    splitPairs(around: columns)
    for index in columns { cells[index] = line.cells[index - column] }
    // The cut may also split a wide cell of the line.
    if cells[columns.lowerBound].width == 0 { blankText(at: columns.lowerBound) }
    if cells[columns.upperBound - 1].width == 2 { blankText(at: columns.upperBound - 1) }
  }

  /// Blanks columns, which must exist.
  public mutating func fill(_ columns: Range<Int>, role: StyleRole = .text) {
    guard !columns.isEmpty else { return }
    splitPairs(around: columns)
    let blank = Cell.blank(role)
    for index in columns { cells[index] = blank }
  }

  /// Marks cells as those of the cursor row; their text and roles stay.
  public mutating func highlight(_ columns: Range<Int>, _ highlight: RowHighlight) {
    for index in columns { cells[index].highlight = highlight }
  }

  /// Returns true if both share their cells, and so are equal; false if that is not known.
  ///
  /// O(1).
  func isCopy(of other: CanvasLine) -> Bool {
    cells.withUnsafeBufferPointer { own in
      other.cells.withUnsafeBufferPointer {
        $0.baseAddress == own.baseAddress && $0.count == own.count
      }
    }
  }

  /// Returns the columns from the first to the last cell that differs from a line of the same
  /// width, with both halves of wide cells; empty if the lines are equal.
  func changes(from old: CanvasLine) -> Range<Int> {
    if cells == old.cells { return 0..<0 }
    guard var first = cells.indices.first(where: { cells[$0] != old.cells[$0] }),
      var last = cells.indices.last(where: { cells[$0] != old.cells[$0] })
    else { return 0..<0 }
    while cells[first].width == 0 || old.cells[first].width == 0 { first -= 1 }
    while cells[last].width == 2 || old.cells[last].width == 2 { last += 1 }
    return first..<last + 1
  }

  /// Writes a cluster; if only one half of a wide one is inside, a blank is written there.
  mutating func write(_ cluster: CellCluster, at column: Int, role: StyleRole) {
    let last = column + cluster.width - 1
    guard column >= 0, last < cells.count else {
      if cells.indices.contains(column) { set(.blank(role), at: column) }
      if cells.indices.contains(last) { set(.blank(role), at: last) }
      return
    }
    // The second half comes first, so that a pair that it splits is repaired before the new pair is
    // complete.
    if cluster.width == 2 { set(.blank(role), at: last) }
    let cell = Cell(
      scalars: cluster.scalars, width: UInt8(cluster.width), role: role, highlight: .none)
    set(cell, at: column)
    guard cluster.width == 2 else { return }
    cells[last].scalars = CellScalars()
    cells[last].width = 0
  }

  /// Replaces one cell; if it was half of a wide cell, the other half becomes blank.
  private mutating func set(_ cell: Cell, at index: Int) {
    let width = cells[index].width
    if width != 1 { blankText(at: width == 0 ? index - 1 : index + 1) }
    cells[index] = cell
  }

  /// Blanks the outer halves of wide cells that lie across the ends of some columns.
  private mutating func splitPairs(around columns: Range<Int>) {
    if cells[columns.lowerBound].width == 0 { blankText(at: columns.lowerBound - 1) }
    if cells[columns.upperBound - 1].width == 2 { blankText(at: columns.upperBound) }
  }

  private mutating func blankText(at index: Int) {
    cells[index].scalars = CellScalars(ascii: 0x20)
    cells[index].width = 1
  }
}
