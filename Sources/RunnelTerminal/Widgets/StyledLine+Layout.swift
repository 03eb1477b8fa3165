extension StyledLine {
  /// The line without its first columns; a wide character that is cut in half leaves a blank.
  package func dropping(columns: Int, glyphs: Glyphs) -> StyledLine {
    guard columns > 0 else { return self }
    var left = columns
    var kept = StyledLine()
    for run in runs {
      guard left > 0 else {
        kept.runs.append(run)
        continue
      }
      var text = ""
      for cell in CellText.sanitize(run.text, glyphs: glyphs) {
        if left <= 0 {
          text += cell.text
        } else {
          left -= cell.width
          if left < 0 { text += " " }
        }
      }
      if !text.isEmpty { kept.append(text, run.role) }
    }
    return kept
  }

  /// The first columns of the line, with the ellipsis at their end if there is more.
  public func keeping(columns: Int, glyphs: Glyphs) -> StyledLine {
    var kept = StyledLine()
    for (cluster, role) in LineFitting(self, width: columns, glyphs: glyphs).clusters {
      kept.append(cluster.text, role)
    }
    return kept
  }

  /// The line with one role in place of another.
  func replacing(_ role: StyleRole, with other: StyleRole) -> StyledLine {
    StyledLine(runs.map { StyledRun($0.text, $0.role == role ? other : $0.role) })
  }

  /// The line, split into lines no wider than `width`; between words where possible.
  ///
  /// Line ends in the text end a line; a blank at which a line is cut is dropped. A word that is
  /// wider than a line is cut. An empty line gives one empty line; a width below 1 counts as 1.
  /// O(n) in the characters.
  public func wrapped(width: Int) -> [StyledLine] {
    var wrapping = LineWrapping(width: max(1, width))
    for run in runs {
      for character in run.text { wrapping.take(character, run.role) }
    }
    return wrapping.finish()
  }
}

/// The finished lines of a text that is being wrapped.
private struct LineWrapping {
  private struct Piece {
    var character: Character
    var role: StyleRole
    var width: Int
  }

  private let width: Int
  private var lines: [StyledLine] = []
  /// The line being made, and the index after its last blank.
  private var line: [Piece] = []
  private var lineWidth = 0
  private var breakIndex = 0

  init(width: Int) {
    self.width = width
  }

  mutating func take(_ character: Character, _ role: StyleRole) {
    if character.isNewline { return endLine(at: line.count) }
    let piece = Piece(
      character: character, role: role, width: CellWidth.width(of: character))
    if lineWidth + piece.width > width, !line.isEmpty {
      // A blank that does not fit becomes the line end.
      if character == " " { return endLine(at: line.count) }
      endLine(at: breakIndex > 0 ? breakIndex : line.count, dropsBlank: breakIndex > 0)
    }
    line.append(piece)
    lineWidth += piece.width
    if character == " " { breakIndex = line.count }
  }

  mutating func finish() -> [StyledLine] {
    if !line.isEmpty || lines.isEmpty { endLine(at: line.count) }
    return lines
  }

  private mutating func endLine(at end: Int, dropsBlank: Bool = false) {
    var styled = StyledLine()
    for piece in line[..<(dropsBlank ? end - 1 : end)] {
      if let last = styled.runs.last, last.role == piece.role {
        styled.runs[styled.runs.count - 1].text.append(piece.character)
      } else {
        styled.append(String(piece.character), piece.role)
      }
    }
    lines.append(styled)
    line = Array(line[end...])
    lineWidth = line.reduce(0) { $0 + $1.width }
    breakIndex = 0
  }
}
