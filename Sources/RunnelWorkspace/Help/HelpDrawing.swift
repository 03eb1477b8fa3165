package import RunnelTerminal

/// Draws the help: every command of a place with its keys, taken from the keymap.
package struct HelpDrawing {
  private static let keysWidthMax = 18
  /// The columns for name and arguments of a command after `:`.
  private static let lineWidthMax = 25
  /// The number of lines from which there is room for notes about the help itself.
  private static let notesHeightMin = 14
  private static let notes = [
    "greyed lines say why they cannot run now",
    "names in [brackets] are those for keys: in config.yaml",
    "mouse: wheel scrolls, click moves, double click opens, drag marks",
  ]

  private let screen: HelpScreen
  private let body: Rect

  init(_ screen: HelpScreen, _ body: Rect) {
    self.screen = screen
    self.body = body
  }

  /// Returns the lines that list commands: below the title, above the notes.
  package static func list(in body: Rect) -> Rect {
    let below = body.splitTop(body.height > 2 ? 1 : 0).rest
    return below.splitBottom(body.height >= notesHeightMin ? notes.count : 0).rest
  }

  package func draw(into canvas: inout Canvas) {
    canvas.fill(body)
    let area = HelpDrawing.list(in: body)
    if screen.entries.isEmpty {
      let place = area.line(0).splitLeft(2).rest
      canvas.fill(area)
      canvas.put("no action here is called so", at: place.origin, width: place.width, role: .muted)
    } else {
      ListWidget.draw(
        screen.content, screen.list, headings: screen.headings,
        rowText: { id, width in line(id, width: width) }, into: &canvas, rect: area)
    }
    if body.height >= HelpDrawing.notesHeightMin {
      for (index, note) in HelpDrawing.notes.enumerated() {
        let place = body.line(area.endRow - body.row + index).splitLeft(1).rest
        canvas.put(note, at: place.origin, width: place.width, role: .muted)
      }
    }
    if area.row > body.row { drawTitle(into: &canvas, body.line(0)) }
  }

  /// Draws the title, the text field that filters, and the number of matching commands.
  private func drawTitle(into canvas: inout Canvas, _ area: Rect) {
    canvas.horizontalLine(row: area.row, column: area.column, width: area.width, role: .frame)
    let count = " \(screen.entries.count) of \(screen.all.count) "
    let (end, rest) = area.splitRight(min(count.count, area.width / 2))
    canvas.put(count, at: end.origin, width: end.width, role: .muted)
    let isWide = area.width >= 60
    let title = isWide ? " Help \(canvas.glyphs.horizontal) \(screen.place) " : " Help "
    let place = rest.splitLeft(1).rest
    let used = canvas.put(title, at: place.origin, width: place.width / 2, role: .title)
    let field = place.splitLeft(used + 1).rest.splitRight(1).rest
    screen.editor.draw(
      into: &canvas, rect: field, label: isWide ? " type to narrow:" : " narrow:")
  }

  private func line(_ id: String, width: Int) -> StyledLine {
    guard let entry = screen.entries[id] else { return StyledLine() }
    let keysWidth = min(
      entry.line == nil ? HelpDrawing.keysWidthMax : HelpDrawing.lineWidthMax, width / 3)
    let blanks = max(keysWidth - CellWidth.width(of: entry.keys), 1)
    let isOff = entry.refusal != nil
    var line = StyledLine(
      "  " + entry.keys + String(repeating: " ", count: blanks), isOff ? .muted : .hintKey)
    let reason = StyledLine(entry.refusal.map { "off: \($0) " } ?? "", .warn)
    // A disabled reason may take half of the room.
    let room = max(width - line.width - 2, 0)
    let words = HelpDrawing.cut(
      entry.description, to: isOff ? max(room - reason.width, room / 2) : room)
    line.append(words, isOff ? .muted : .text)
    let name = StyledLine(entry.action.map { "  [\($0)]" } ?? "", .muted)
    guard isOff else {
      // A name is shown only if it fits as a whole.
      if line.width + name.width <= width { line.append(name) }
      return line
    }
    if line.width + name.width + 2 + reason.width <= width { line.append(name) }
    let gap = max(width - line.width - reason.width, 2)
    line.append(String(repeating: " ", count: gap))
    line.append(reason)
    return line
  }

  private static func cut(_ text: String, to width: Int) -> String {
    if CellWidth.width(of: text) <= width { return text }
    return text.prefix(max(width - 2, 0)) + ".."
  }
}
