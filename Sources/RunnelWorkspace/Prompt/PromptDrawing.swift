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
    let doubt = error == nil ? doubt(of: filter) : nil
    let kept = filter.isKept ? "typing replaces it · a blank adds to it" : nil
    title(
      "Filter", note: error ?? doubt?.message ?? kept,
      error != nil ? .error : doubt == nil ? .muted : .warn, top, into: &canvas)
    let (line, help) = rest.splitTop(1)
    filter.editor.draw(into: &canvas, rect: line)
    let cursor = canvas.cursor
    let (syntax, below) = help.splitTop(1)
    if let range = filter.error?.range ?? doubt?.range, filter.candidates.isEmpty {
      caret(range, filter.editor, cursor, error == nil ? .warn : .error, syntax, into: &canvas)
    } else {
      put(filter.candidates.isEmpty ? PromptDrawing.syntax : candidates(filter), syntax, &canvas)
    }
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
  private func doubt(of screen: FilterScreen) -> FilterDoubt? {
    let list = state.tabs.lists[screen.view]
    return list.filtering.filter.flatMap { FilterDoubt($0, in: list) }
  }

  /// Draws carets below a range of the typed text.
  ///
  /// The cursor of the text tells where its other places were drawn.
  private func caret(
    _ range: Range<Int>, _ editor: LineEditor, _ cursor: Position?, _ role: StyleRole, _ area: Rect,
    into canvas: inout Canvas
  ) {
    guard area.height > 0, let cursor else { return }
    canvas.fill(area)
    let characters = Array(editor.text)
    let start = min(range.lowerBound, characters.count)
    let end = min(max(range.upperBound, start), characters.count)
    func width(_ part: ArraySlice<Character>) -> Int { CellWidth.width(of: String(part)) }
    let before = width(characters[..<min(editor.cursor, characters.count)])
    let column = cursor.column - before + width(characters[..<start])
    let count = max(width(characters[start..<end]), 1)
    let first = max(column, area.column)
    let last = min(column + count, area.endColumn)
    guard first < last else { return }
    canvas.put(
      String(repeating: "^", count: last - first), at: Position(row: area.row, column: first),
      width: last - first, role: role)
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
