package import RunnelTerminal

/// Draws the palette over the end of the list: a rule, the matching items, and the line for typing.
package struct PaletteDrawing {
  /// The greatest number of lines that show matching items.
  private static let rowsMax = 12

  private let screen: PaletteScreen
  private let body: Rect

  init(_ screen: PaletteScreen, _ body: Rect) {
    self.screen = screen
    self.body = body
  }

  /// The area of the palette: the rule, the items, and the line for typing.
  private static func area(of screen: PaletteScreen, in body: Rect) -> Rect {
    let wanted = min(max(screen.menu.shown.count, 1), rowsMax) + 2
    return body.splitBottom(min(wanted, body.height)).bottom
  }

  /// The area of the matching items; empty if there is no room.
  package static func rows(of screen: PaletteScreen, in body: Rect) -> Rect {
    let area = area(of: screen, in: body)
    return area.splitBottom(1).rest.splitTop(area.height > 2 ? 1 : 0).rest
  }

  package func draw(into canvas: inout Canvas) {
    let area = PaletteDrawing.area(of: screen, in: body)
    let rows = PaletteDrawing.rows(of: screen, in: body)
    screen.menu.draw(into: &canvas, rect: rows)
    if area.height > 2 { drawTitle(into: &canvas, area.splitTop(1).top) }
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

  private func drawTitle(into canvas: inout Canvas, _ area: Rect) {
    canvas.horizontalLine(row: area.row, column: area.column, width: area.width, role: .frame)
    let place = area.splitLeft(1).rest
    let used = canvas.put(" Command ", at: place.origin, width: place.width, role: .title)
    let rest = place.splitLeft(used + 1).rest
    if let problem = screen.problem {
      canvas.put(
        " \(canvas.glyphs.conflict) \(problem) ", at: rest.origin, width: max(rest.width - 1, 0),
        role: .error)
    } else {
      let count = " \(screen.menu.shown.count) of \(screen.menu.itemCount) "
      let end = rest.splitRight(count.count + 1).right
      canvas.put(count, at: end.origin, width: end.width, role: .muted)
    }
  }
}
