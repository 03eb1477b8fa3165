package import RunnelTerminal

/// Draws the palette over the end of the list: a rule, the matching items, and the line for typing.
package struct PaletteDrawing {
  /// The greatest number of lines that show matching items.
  private static let rowsMax = 12
  /// The greatest number of lines for the reason why a line was not run.
  private static let problemLinesMax = 3
  /// The greatest number of lines for the reason of the selected item.
  private static let reasonLinesMax = 2
  /// The number of columns of the title's line that a reason beside the title does not have.
  private static let titleWidth = 15
  /// The least number of lines of a body in which a reason has lines of its own.
  private static let roomyHeight = 8

  private let screen: PaletteScreen
  private let body: Rect

  init(_ screen: PaletteScreen, _ body: Rect) {
    self.screen = screen
    self.body = body
  }

  /// What stands above the items: the reason why the typed line was not run, or else that of the selected
  /// item, if its row cuts it.
  private static func told(of screen: PaletteScreen, in body: Rect) -> String? {
    screen.problem ?? screen.menu.cutReason(width: body.width)
  }

  /// The lines of what stands above the items, if there is no room for it beside the title.
  private static func problemLines(of screen: PaletteScreen, in body: Rect) -> [StyledLine] {
    guard let told = told(of: screen, in: body), body.height >= roomyHeight,
      CellWidth.width(of: told) > body.width - titleWidth
    else { return [] }
    let lines = StyledLine(told).wrapped(width: max(body.width - 4, 1))
    return Array(lines.prefix(screen.problem == nil ? reasonLinesMax : problemLinesMax))
  }

  /// The area of the palette: the rule, a long reason, the items, and the line for typing.
  private static func area(of screen: PaletteScreen, in body: Rect) -> Rect {
    let wanted =
      min(max(screen.menu.shown.count, 1), rowsMax) + 2 + problemLines(of: screen, in: body).count
    return body.splitBottom(min(wanted, body.height)).bottom
  }

  /// The area of the matching items; empty if there is no room.
  package static func rows(of screen: PaletteScreen, in body: Rect) -> Rect {
    let area = area(of: screen, in: body)
    let below = area.splitBottom(1).rest.splitTop(area.height > 2 ? 1 : 0).rest
    return below.splitTop(problemLines(of: screen, in: body).count).rest
  }

  package func draw(into canvas: inout Canvas) {
    let area = PaletteDrawing.area(of: screen, in: body)
    let rows = PaletteDrawing.rows(of: screen, in: body)
    screen.menu.draw(into: &canvas, rect: rows)
    let problemLines = PaletteDrawing.problemLines(of: screen, in: body)
    if area.height > 2 {
      let (title, below) = area.splitTop(1)
      drawTitle(into: &canvas, title, besides: problemLines)
      draw(problemLines, into: &canvas, below.splitTop(problemLines.count).top)
    }
    let line = area.splitBottom(1).bottom
    screen.editor.draw(into: &canvas, rect: line, label: ":")
    // Without a rule, the error takes the end of the line.
    if area.height <= 2, let problem = screen.problem {
      let cursor = canvas.cursor
      let place = line.splitRight(line.width / 2).right
      canvas.put(
        " \(canvas.glyphs.conflict) \(problem)", at: place.origin, width: place.width, role: .error)
      canvas.cursor = cursor
    }
  }

  /// Draws a reason that has lines of its own.
  private func draw(_ lines: [StyledLine], into canvas: inout Canvas, _ area: Rect) {
    canvas.fill(area)
    for (index, line) in lines.prefix(area.height).enumerated() {
      let sign = index == 0 && screen.problem != nil ? canvas.glyphs.conflict : " "
      canvas.put(
        " \(sign) \(line.text)", at: Position(row: area.row + index, column: area.column),
        width: area.width, role: screen.problem == nil ? .warn : .error)
    }
  }

  private func drawTitle(
    into canvas: inout Canvas, _ area: Rect, besides problemLines: [StyledLine]
  ) {
    canvas.horizontalLine(row: area.row, column: area.column, width: area.width, role: .frame)
    let place = area.splitLeft(1).rest
    let used = canvas.put(" Command ", at: place.origin, width: place.width, role: .title)
    let rest = place.splitLeft(used + 1).rest
    if let told = PaletteDrawing.told(of: screen, in: body), problemLines.isEmpty {
      let sign = screen.problem == nil ? "" : "\(canvas.glyphs.conflict) "
      canvas.put(
        " \(sign)\(told) ", at: rest.origin, width: max(rest.width - 1, 0),
        role: screen.problem == nil ? .warn : .error)
    } else {
      let count = " \(screen.menu.shown.count) of \(screen.menu.itemCount) "
      let end = rest.splitRight(count.count + 1).right
      canvas.put(count, at: end.origin, width: end.width, role: .muted)
    }
  }
}
