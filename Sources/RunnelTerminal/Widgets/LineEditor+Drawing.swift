extension LineEditor {
  /// Draws the field and puts the terminal's cursor into it.
  ///
  /// The label comes first; the text takes the rest of the rectangle, with one line of the screen
  /// for each of its lines. It is scrolled in both directions so that the cursor is always visible;
  /// `<` and `>` at the sides show that a line continues. The error takes the last line if there
  /// are two or more. In an empty rectangle nothing is drawn.
  ///
  /// - Parameters:
  ///   - canvas: the canvas to draw on.
  ///   - rect: the area of the field.
  ///   - label: the label before the text; it is cut to half of the width.
  ///   - error: the error in the text; nil if there is none.
  public func draw(
    into canvas: inout Canvas, rect: Rect, label: String = "", error: String? = nil
  ) {
    guard !rect.isEmpty else { return }
    let role = error == nil ? StyleRole.input : .inputInvalid
    canvas.fill(rect)
    var area = rect
    if let error, rect.height > 1 {
      let (line, rest) = rect.splitBottom(1)
      canvas.put(
        canvas.glyphs.conflict + " " + error, at: line.origin, width: line.width, role: .error)
      area = rest
    }
    if !label.isEmpty {
      let used = canvas.put(label, at: area.origin, width: area.width / 2, role: .muted)
      area = area.splitLeft(min(used + 1, area.width - 1)).rest
    }
    canvas.fill(area, role: role)
    drawText(into: &canvas, area, role)
  }

  private func drawText(into canvas: inout Canvas, _ area: Rect, _ role: StyleRole) {
    // Where there is one line only, line ends are signs in it, so that no line is out of sight.
    let isSplit = isMultiline && area.height > 1
    let lines = buffer.characters.split(
      omittingEmptySubsequences: false, whereSeparator: { isSplit && $0.isNewline })
    let line = isSplit ? buffer.characters[..<buffer.cursor].count { $0.isNewline } : 0
    let column = cells(lines[line].prefix(upTo: buffer.cursor), canvas.glyphs)
      .reduce(0) { $0 + $1.width }
    let firstLine = Self.scrolled(to: line, size: area.height)
    // One column on each side is for the marks, if there is room for them and for text.
    let margin = area.width > 4 ? 1 : 0
    let isLong = cells(lines[line], canvas.glyphs).reduce(0) { $0 + $1.width } >= area.width
    let firstColumn =
      isLong ? Self.scrolled(to: column + margin, size: area.width - margin) : 0

    for (index, text) in lines.enumerated().dropFirst(firstLine).prefix(area.height) {
      let row = area.line(index - firstLine)
      drawLine(cells(text, canvas.glyphs), from: firstColumn, into: &canvas, row, margin, role)
    }
    canvas.cursor = Position(
      row: area.row + line - firstLine,
      column: min(area.column + column - firstColumn, area.endColumn - 1))
  }

  /// Draws the cells of a line from a column on, and the marks for the parts that are cut.
  private func drawLine(
    _ cells: [CellCluster], from first: Int, into canvas: inout Canvas, _ row: Rect,
    _ margin: Int, _ role: StyleRole
  ) {
    var column = row.column - first
    for cell in cells {
      let end = column + cell.width
      if column >= row.column, end <= row.endColumn {
        canvas.put(
          cell.text, at: Position(row: row.row, column: column), width: cell.width, role: role)
      }
      column = end
    }
    guard margin > 0 else { return }
    if first > 0, !cells.isEmpty { canvas.put("<", at: row.origin, width: 1, role: .muted) }
    if column > row.endColumn {
      let last = Position(row: row.row, column: row.endColumn - 1)
      canvas.put(">", at: last, width: 1, role: .muted)
    }
  }

  /// The first of `size` positions to show, so that the wanted one is among them.
  ///
  /// It moves by half the size at a time, so that the text stands still while the cursor moves in
  /// it.
  private static func scrolled(to wanted: Int, size: Int) -> Int {
    guard size > 1 else { return wanted }
    let step = size / 2
    return max(0, (wanted - size + step) / step * step)
  }

  /// The visible form of characters: a hidden secret shows one sign for each.
  private func cells(_ characters: ArraySlice<Character>, _ glyphs: Glyphs) -> [CellCluster] {
    if isSecret && !isRevealed {
      let sign = glyphs.isASCII ? "*" : "•"
      return characters.map { _ in CellCluster(text: sign, width: 1) }
    }
    return characters.flatMap { CellText.cells(of: $0, glyphs: glyphs) }
  }
}
