/// A screen as a value: a grid of cells, and where the terminal's cursor shows.
///
/// Drawing never fails and never writes outside: what does not fit is cut. Text is sanitised on the
/// way in (`CellText`), so that a canvas holds only what a terminal draws as wide as the canvas says.
///
/// Invariants:
/// - C1: `cells.count == size.rows * size.columns`.
/// - C2: a cell of width 2 is followed, in the same row, by one of width 0, and a cell of width 0
///   follows one of width 2.
public struct Canvas: Hashable, Sendable {
  /// The size of the screen.
  public let size: TerminalSize
  /// The signs to draw with.
  public let glyphs: Glyphs
  /// Where the terminal's cursor shows; nil hides it.
  public var cursor: Position?

  /// The cells, row by row.
  private var cells: [Cell]

  /// Makes a blank canvas.
  public init(size: TerminalSize, glyphs: Glyphs = .unicode) {
    self.size = size
    self.glyphs = glyphs
    cells = Array(repeating: .blank(.text), count: size.rows * size.columns)
  }

  /// The rectangle of the whole canvas.
  public var bounds: Rect { Rect(size: size) }

  /// The cell at a position; nil outside.
  public func cell(at position: Position) -> Cell? {
    bounds.contains(position) ? cells[index(position.row, position.column)] : nil
  }

  /// The cells of one row, which must exist.
  func row(_ row: Int) -> ArraySlice<Cell> {
    cells[index(row, 0)..<index(row + 1, 0)]
  }

  /// This canvas cut, or with blanks around it, to another size.
  func fitted(to newSize: TerminalSize) -> Canvas {
    guard newSize != size else { return self }
    var result = Canvas(size: newSize, glyphs: glyphs)
    let common = bounds.intersection(result.bounds)
    for row in 0..<common.height {
      for column in 0..<common.width {
        result.cells[result.index(row, column)] = cells[index(row, column)]
      }
      // The cut may part a wide cell.
      let last = result.index(row, common.width - 1)
      if common.width > 0, result.cells[last].width == 2 { result.blankText(at: last) }
    }
    result.cursor = cursor.flatMap { result.bounds.contains($0) ? $0 : nil }
    return result
  }

  // MARK: - Text

  /// Draws text in one line and returns the columns it took.
  ///
  /// A text wider than `width` ends in the ellipsis. Columns outside the canvas are not drawn, but
  /// count.
  ///
  /// - Parameters:
  ///   - text: Any text: it is sanitised here.
  ///   - position: The first cell; it may lie outside.
  ///   - width: The most columns to take.
  ///   - role: The role of the cells written.
  /// - Returns: The columns taken.
  @discardableResult
  public mutating func put(
    _ text: String, at position: Position, width: Int, role: StyleRole = .text
  ) -> Int {
    put(StyledLine(text, role), at: position, width: width)
  }

  /// Draws a line of runs and returns the columns it took; see the other `put`.
  ///
  /// Only as much of the line is read as fits.
  @discardableResult
  public mutating func put(_ line: StyledLine, at position: Position, width: Int) -> Int {
    let fitted = LineFitting(line, width: width, glyphs: glyphs)
    var column = position.column
    for (cluster, role) in fitted.clusters {
      write(cluster, row: position.row, column: column, role: role)
      column += cluster.width
    }
    return column - position.column
  }

  // MARK: - Shapes

  /// Blanks a rectangle.
  public mutating func fill(_ rect: Rect, role: StyleRole = .text) {
    let area = rect.intersection(bounds)
    let blank = Cell.blank(role)
    for row in area.row..<area.endRow {
      for column in area.column..<area.endColumn { set(blank, row: row, column: column) }
    }
  }

  /// Draws a horizontal line.
  public mutating func horizontalLine(
    row: Int, column: Int, width: Int, role: StyleRole = .frame
  ) {
    let area = Rect(row: row, column: column, height: 1, width: width).intersection(bounds)
    guard !area.isEmpty else { return }
    let sign = CellCluster(text: glyphs.horizontal, width: 1)
    for column in area.column..<area.endColumn {
      write(sign, row: row, column: column, role: role)
    }
  }

  /// Draws a vertical line.
  public mutating func verticalLine(row: Int, column: Int, height: Int, role: StyleRole = .frame) {
    let area = Rect(row: row, column: column, height: height, width: 1).intersection(bounds)
    guard !area.isEmpty else { return }
    let sign = CellCluster(text: glyphs.vertical, width: 1)
    for row in area.row..<area.endRow {
      write(sign, row: row, column: column, role: role)
    }
  }

  /// Draws a frame just inside the rectangle, with a title in its top line, and blanks what is in it.
  ///
  /// A rectangle with less than two rows or columns is only blanked.
  public mutating func box(_ rect: Rect, title: String? = nil, role: StyleRole = .frame) {
    fill(rect)
    guard rect.height >= 2, rect.width >= 2 else { return }
    let bottom = rect.endRow - 1
    let right = rect.endColumn - 1
    for row in [rect.row, bottom] {
      horizontalLine(row: row, column: rect.column, width: rect.width, role: role)
    }
    for column in [rect.column, right] {
      verticalLine(row: rect.row, column: column, height: rect.height, role: role)
    }
    for (glyph, row, column) in [
      (glyphs.topLeft, rect.row, rect.column), (glyphs.topRight, rect.row, right),
      (glyphs.bottomLeft, bottom, rect.column), (glyphs.bottomRight, bottom, right),
    ] {
      write(CellCluster(text: glyph, width: 1), row: row, column: column, role: role)
    }
    guard let title, rect.width >= 7 else { return }
    let start = Position(row: rect.row, column: rect.column + 2)
    let used = put(" " + title, at: start, width: rect.width - 4, role: .title)
    put(" ", at: Position(row: start.row, column: start.column + used), width: 1, role: .title)
  }

  /// Marks the cells of a rectangle as the cursor row; their text and roles stay.
  public mutating func highlightRow(_ rect: Rect, focused: Bool = true) {
    let area = rect.intersection(bounds)
    for row in area.row..<area.endRow {
      for column in area.column..<area.endColumn {
        cells[index(row, column)].highlight = focused ? .focused : .unfocused
      }
    }
  }

  // MARK: - Reading

  /// The text of each row, without trailing blanks.
  public func textLines() -> [String] {
    lines { String($0.map(\.text).joined()) }.map { Self.trimmed($0, of: " ") }
  }

  /// The letter of each cell's role, row by row, without the trailing cells of ordinary text.
  public func roleLines() -> [String] {
    lines { String($0.map(\.role.letter)) }.map { Self.trimmed($0, of: StyleRole.text.letter) }
  }

  // MARK: - Private

  private func index(_ row: Int, _ column: Int) -> Int { row * size.columns + column }

  private func lines(_ transform: (ArraySlice<Cell>) -> String) -> [String] {
    (0..<size.rows).map { transform(row($0)) }
  }

  private static func trimmed(_ line: String, of character: Character) -> String {
    let end = line.lastIndex { $0 != character }.map { line.index(after: $0) } ?? line.startIndex
    return String(line[..<end])
  }

  /// Writes a cluster; a wide one of which only one half is inside leaves a blank there.
  private mutating func write(_ cluster: CellCluster, row: Int, column: Int, role: StyleRole) {
    guard 0..<size.rows ~= row else { return }
    let last = column + cluster.width - 1
    switch (0..<size.columns ~= column, 0..<size.columns ~= last) {
    case (false, false): return
    case (true, false): set(.blank(role), row: row, column: column)
    case (false, true): set(.blank(role), row: row, column: last)
    case (true, true):
      // The second half first, so that what it splits is mended before the pair is complete.
      if cluster.width == 2 { set(.blank(role), row: row, column: last) }
      let cell = Cell(
        scalars: cluster.scalars, width: UInt8(cluster.width), role: role, highlight: .none)
      set(cell, row: row, column: column)
      guard cluster.width == 2 else { return }
      cells[index(row, last)].scalars = CellScalars()
      cells[index(row, last)].width = 0
    }
  }

  /// Replaces one cell; the other half of a wide cell it splits becomes blank (C2).
  private mutating func set(_ cell: Cell, row: Int, column: Int) {
    let here = index(row, column)
    switch cells[here].width {
    case 0: blankText(at: here - 1)
    case 2: blankText(at: here + 1)
    default: break
    }
    cells[here] = cell
  }

  private mutating func blankText(at index: Int) {
    cells[index].scalars = CellScalars(ascii: 0x20)
    cells[index].width = 1
  }
}
