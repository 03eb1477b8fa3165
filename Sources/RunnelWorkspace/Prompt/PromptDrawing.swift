package import RunnelTerminal

/// Draws the lines for typing below a list: the filter bar and the search line.
package struct PromptDrawing {
  private let state: AppState
  private let area: Rect

  init(_ state: AppState, _ area: Rect) {
    self.state = state
    self.area = area
  }

  package func draw(_ filter: FilterScreen, into canvas: inout Canvas) {
    let (top, rest) = area.splitTop(area.height > 1 ? 1 : 0)
    let error = filter.error.map { "\(canvas.glyphs.conflict) \($0.message)" }
    title(
      "Filter", note: error ?? doubt(of: filter), error == nil ? .warn : .error, top, into: &canvas)
    let (line, help) = rest.splitTop(1)
    filter.editor.draw(into: &canvas, rect: line)
    let cursor = canvas.cursor
    let (syntax, below) = help.splitTop(1)
    put(filter.candidates.isEmpty ? PromptDrawing.syntax : candidates(filter), syntax, &canvas)
    put(history(filter), below, &canvas)
    canvas.cursor = cursor
  }

  package func draw(_ search: SearchScreen, into canvas: inout Canvas) {
    let (top, line) = area.splitTop(area.height > 1 ? 1 : 0)
    title("Search", note: nil, .muted, top, into: &canvas)
    search.editor.draw(into: &canvas, rect: line, label: "/")
  }

  private static var syntax: StyledLine {
    StyledLine(
      "field:value field~regex created>2d (newer) -not \"phrase\" is:new is:mine has:field", .muted)
  }

  /// The reason why the filter in force finds nothing, if its words may be wrong.
  private func doubt(of screen: FilterScreen) -> String? {
    let list = state.tabs.lists[screen.view]
    return list.filter.flatMap { FilterDoubt($0, in: list)?.message }
  }

  private func candidates(_ filter: FilterScreen) -> StyledLine {
    StyledLine(filter.candidates.joined(separator: "  "), .hintKey)
  }

  private func history(_ filter: FilterScreen) -> StyledLine {
    if filter.past.entries.isEmpty { return StyledLine() }
    var line = StyledLine("earlier", .muted)
    for text in filter.past.entries.suffix(5).reversed() { line.append("  " + text) }
    return line
  }

  private func title(
    _ title: String, note: String?, _ role: StyleRole, _ area: Rect, into canvas: inout Canvas
  ) {
    guard area.height > 0 else { return }
    canvas.horizontalLine(row: area.row, column: area.column, width: area.width, role: .frame)
    let place = area.splitLeft(1).rest
    let used = canvas.put(" \(title) ", at: place.origin, width: place.width, role: .title)
    guard let note else { return }
    let rest = place.splitLeft(used + 1).rest
    canvas.put(" \(note) ", at: rest.origin, width: max(rest.width - 1, 0), role: role)
  }

  private func put(_ line: StyledLine, _ area: Rect, _ canvas: inout Canvas) {
    guard area.height > 0 else { return }
    canvas.fill(area)
    let text = area.splitLeft(1).rest
    canvas.put(line, at: text.origin, width: text.width)
  }
}
