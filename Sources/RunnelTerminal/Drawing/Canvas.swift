/// A screen as a value: a grid of cells, and the position of the terminal's cursor.
///
/// Drawing never fails and never writes outside: text that does not fit is cut. Text is sanitized
/// when it is drawn (`CellText`), so that a canvas holds only text that a terminal draws as wide as
/// the canvas says.
///
/// Invariant: it has a line for each row, each as wide as the canvas; see `CanvasLine`.
public struct Canvas: Hashable, Sendable {
  /// The size of the screen.
  public let size: TerminalSize
  /// The signs to draw with.
  public let glyphs: Glyphs
  /// The position of the terminal's cursor; nil hides it.
  public var cursor: Position?

  /// The rows, from the top; rows that were not written to are shared with other canvases.
  private var lines: [CanvasLine]

  /// Makes a blank canvas.
  public init(size: TerminalSize, glyphs: Glyphs = .unicode) {
    self.size = size
    self.glyphs = glyphs
    lines = Array(repeating: CanvasLine(width: size.columns), count: size.rows)
  }

  /// The rectangle of the whole canvas.
  public var bounds: Rect { Rect(size: size) }

  /// The cell at a position; nil outside.
  public func cell(at position: Position) -> Cell? {
    bounds.contains(position) ? lines[position.row].cells[position.column] : nil
  }

  /// One row, which must exist.
  func line(_ row: Int) -> CanvasLine { lines[row] }

  /// The rows that differ from those of another canvas of the same size, from the top.
  ///
  /// O(rows) if the other rows are shared with it.
  func changedRows(from old: Canvas) -> [Int] {
    lines.withUnsafeBufferPointer { new in
      old.lines.withUnsafeBufferPointer { old in
        var rows: [Int] = []
        for row in 0..<min(new.count, old.count) where new[row] != old[row] { rows.append(row) }
        return rows
      }
    }
  }

  /// This canvas cut, or with blanks around it, to another size.
  func fitted(to newSize: TerminalSize) -> Canvas {
    guard newSize != size else { return self }
    var result = Canvas(size: newSize, glyphs: glyphs)
    for row in 0..<min(size.rows, newSize.rows) {
      result.lines[row].put(lines[row], at: 0)
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
  ///   - text: Any text: it is sanitized here.
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
  /// No more of the line is read than fits.
  @discardableResult
  public mutating func put(_ line: StyledLine, at position: Position, width: Int) -> Int {
    // Text outside the rows is measured, but not drawn.
    var elsewhere = CanvasLine(width: 0)
    guard lines.indices.contains(position.row) else {
      return elsewhere.put(line, at: position.column, width: width, glyphs: glyphs)
    }
    return lines[position.row].put(line, at: position.column, width: width, glyphs: glyphs)
  }

  /// Draws a line that was made before, from a position on; cells that do not fit are cut.
  ///
  /// O(1) if it is as wide as the canvas.
  public mutating func put(_ line: CanvasLine, at position: Position) {
    guard lines.indices.contains(position.row) else { return }
    lines[position.row].put(line, at: position.column)
  }

  // MARK: - Shapes

  /// Blanks a rectangle.
  public mutating func fill(_ rect: Rect, role: StyleRole = .text) {
    let area = rect.intersection(bounds)
    for row in area.row..<area.endRow {
      lines[row].fill(area.column..<area.endColumn, role: role)
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
      lines[row].write(sign, at: column, role: role)
    }
  }

  /// Draws a vertical line.
  public mutating func verticalLine(row: Int, column: Int, height: Int, role: StyleRole = .frame) {
    let area = Rect(row: row, column: column, height: height, width: 1).intersection(bounds)
    guard !area.isEmpty else { return }
    let sign = CellCluster(text: glyphs.vertical, width: 1)
    for row in area.row..<area.endRow {
      lines[row].write(sign, at: column, role: role)
    }
  }

  /// Draws a frame just inside the rectangle, with a title in its top line, and blanks its inside.
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
      guard lines.indices.contains(row) else { continue }
      lines[row].write(CellCluster(text: glyph, width: 1), at: column, role: role)
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
      lines[row].highlight(area.column..<area.endColumn, focused ? .focused : .unfocused)
    }
  }

  // MARK: - Reading

  /// The text of each row, without trailing blanks.
  public func textLines() -> [String] { lines.map(\.text).map { Self.trimmed($0, of: " ") } }

  /// The letter of each cell's role, row by row, without the trailing cells of ordinary text.
  public func roleLines() -> [String] {
    lines.map { line in
      Self.trimmed(String(line.cells.map(\.role.letter)), of: StyleRole.text.letter)
    }
  }

  private static func trimmed(_ line: String, of character: Character) -> String {
    let end = line.lastIndex { $0 != character }.map { line.index(after: $0) } ?? line.startIndex
    return String(line[..<end])
  }
}
