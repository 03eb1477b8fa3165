import RunnelTerminal

/// Draws the help: every action of a place with its keys, from the keymap itself.
struct HelpDrawing {
  private static let keysWidth = 18

  private let screen: HelpScreen
  private let keymap: Keymap
  private let body: Rect

  init(_ screen: HelpScreen, _ keymap: Keymap, _ body: Rect) {
    self.screen = screen
    self.keymap = keymap
    self.body = body
  }

  func draw(into canvas: inout Canvas) {
    ListWidget.draw(
      screen.content, screen.list, headings: screen.headings, rowText: { id, _ in line(id) },
      into: &canvas, rect: body)
  }

  private func line(_ id: String) -> StyledLine {
    guard let binding = screen.bindings[id] else { return StyledLine() }
    let keys = keymap.keys(for: binding.action, in: [binding.context])
      .joined(separator: " ")
    let blanks = max(HelpDrawing.keysWidth - CellWidth.width(of: keys), 1)
    var line = StyledLine("  " + keys + String(repeating: " ", count: blanks), .hintKey)
    line.append(binding.description)
    line.append("  [\(binding.action)]", .muted)
    return line
  }
}
