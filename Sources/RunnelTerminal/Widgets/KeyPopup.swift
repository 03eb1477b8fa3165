/// The keys that may follow the pressed ones, in columns at the bottom of the screen.
package struct KeyPopup: Hashable, Sendable {
  /// The blanks between two columns.
  private static let gap = 2

  /// The keys pressed so far.
  package var title: String
  /// The keys that may follow, and what they do.
  package var hints: [Hint]

  /// Makes a popup.
  package init(title: String, hints: [Hint]) {
    self.title = title
    self.hints = hints
  }

  /// Draws the popup over the last lines of the rectangle, as wide as it.
  ///
  /// The hints stand in columns of equal width, one below the other. Hints that do not fit are left
  /// out, with an ellipsis. In fewer than three lines nothing is drawn.
  package func draw(into canvas: inout Canvas, rect: Rect) {
    guard rect.height >= 3, rect.width >= 3, !hints.isEmpty else { return }
    let lines = hints.map(\.line)
    let inner = rect.width - 4
    let widest = min(lines.map(\.width).max() ?? 0, max(inner, 1))
    let columns = max(1, (inner + Self.gap) / (widest + Self.gap))
    let height = min((lines.count + columns - 1) / columns, rect.height - 2)
    let box = rect.splitBottom(height + 2).bottom
    canvas.box(box, title: title, role: .frameFocus)
    let area = box.inset(rows: 1, columns: 2)
    for (index, line) in lines.enumerated() where index < height * columns {
      let place = Position(
        row: area.row + index % height, column: area.column + index / height * (widest + Self.gap))
      let isCut = index == height * columns - 1 && lines.count > height * columns
      canvas.put(
        isCut ? StyledLine(canvas.glyphs.ellipsis, .muted) : line, at: place, width: widest)
    }
  }
}
