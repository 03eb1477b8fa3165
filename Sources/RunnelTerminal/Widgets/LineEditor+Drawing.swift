import RunnelBase

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

  /// Only what may be visible is looked at, so that the cost of a frame does not depend on the length
  /// of a line.
  private func drawText(into canvas: inout Canvas, _ area: Rect, _ role: StyleRole) {
    let text = buffer.characters
    // Where there is one line only, line ends are signs in it, so that no line is out of sight.
    let lines = isMultiline && area.height > 1 ? self.lines : [0..<text.count]
    let line = lines.lowerBound { $0.upperBound < buffer.cursor }
    let firstLine = Self.scrolled(to: line, size: area.height)
    // One column on each side is for the marks, if there is room for them and for text.
    let margin = area.width > 4 ? 1 : 0
    let start = lines[line].lowerBound
    let isLong = !fits(lines[line], in: area.width - 1, canvas.glyphs)
    let skipped = isLong ? firstCharacter(of: lines[line], area.width, margin, canvas.glyphs) : 0

    for (index, range) in lines.enumerated().dropFirst(firstLine).prefix(area.height) {
      let row = area.line(index - firstLine)
      let first = min(range.lowerBound + skipped, range.upperBound)
      drawLine(
        first..<range.upperBound, isCut: first > range.lowerBound, into: &canvas, row, margin, role)
    }
    let column = width(start + skipped..<buffer.cursor, canvas.glyphs)
    canvas.cursor = Position(
      row: area.row + line - firstLine, column: min(area.column + column, area.endColumn - 1))
  }

  /// The ranges of the lines, without their ends.
  ///
  /// O(n) in the text.
  private var lines: [Range<Int>] {
    var lines: [Range<Int>] = []
    var start = 0
    for end in buffer.characters.lineEnds {
      lines.append(start..<end)
      start = end + 1
    }
    return lines + [start..<buffer.characters.count]
  }

  /// The number of characters of the cursor's line that are left out at its beginning, so that the
  /// cursor is visible.
  ///
  /// They go by half the width at a time; where characters are wide, some more steps are needed.
  private func firstCharacter(
    of line: Range<Int>, _ areaWidth: Int, _ margin: Int, _ glyphs: Glyphs
  ) -> Int {
    let size = areaWidth - margin
    var first = Self.scrolled(to: buffer.cursor - line.lowerBound + margin, size: size)
    // The mark stands on the first character shown, which is one before the cursor.
    let last = max(buffer.cursor - line.lowerBound - margin, 0)
    first = min(first, last)
    while first < last, width(line.lowerBound + first..<buffer.cursor, glyphs) + margin >= size {
      first = min(first + max(size / 2, 1), last)
    }
    return first
  }

  /// True if a part of the text takes no more than some columns.
  private func fits(_ range: Range<Int>, in columns: Int, _ glyphs: Glyphs) -> Bool {
    var width = 0
    for index in range {
      width += cells(buffer.characters[index], glyphs).reduce(0) { $0 + $1.width }
      if width > columns { return false }
    }
    return true
  }

  /// The columns of a part of the text.
  private func width(_ range: Range<Int>, _ glyphs: Glyphs) -> Int {
    range.reduce(0) { sum, index in
      sum + cells(buffer.characters[index], glyphs).reduce(0) { $0 + $1.width }
    }
  }

  /// Draws a line from a character on, and the marks for the parts that are cut.
  private func drawLine(
    _ range: Range<Int>, isCut: Bool, into canvas: inout Canvas, _ row: Rect, _ margin: Int,
    _ role: StyleRole
  ) {
    var column = row.column
    drawing: for index in range {
      for cell in cells(buffer.characters[index], canvas.glyphs) {
        let end = column + cell.width
        if end <= row.endColumn {
          canvas.put(
            cell.text, at: Position(row: row.row, column: column), width: cell.width, role: role)
        }
        column = end
      }
      if column > row.endColumn { break drawing }
    }
    guard margin > 0 else { return }
    if isCut { canvas.put("<", at: row.origin, width: 1, role: .muted) }
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

  /// The visible form of a character: a hidden secret shows one sign for each.
  private func cells(_ character: Character, _ glyphs: Glyphs) -> [CellCluster] {
    if isSecret && !isRevealed { return [CellCluster(text: glyphs.isASCII ? "*" : "•", width: 1)] }
    return CellText.cells(of: character, glyphs: glyphs)
  }
}
