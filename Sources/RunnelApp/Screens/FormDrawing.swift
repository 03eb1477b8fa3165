import RunnelTerminal

/// Draws a form over the middle of the screen.
struct FormDrawing {
  private static let widthMax = 72
  /// The columns for the name of a field's kind.
  private static let kindWidth = 8

  private let form: FormScreen
  private let area: Rect

  init(_ form: FormScreen, _ area: Rect) {
    self.form = form
    self.area = area
  }

  func draw(into canvas: inout Canvas) {
    let errors = form.fields.count { $0.error != nil }
    let height = min(form.fields.count + errors + 4, area.height)
    let box = area.centered(height: height, width: min(FormDrawing.widthMax, area.width))
    canvas.box(box, title: form.title, role: .dialog)
    let (hintArea, rest) = box.inset(rows: 1, columns: 2).splitBottom(1)
    HintBar([
      Hint("Enter", form.focus < form.fields.count - 1 ? "next" : "save"), Hint("C-s", "save"),
      Hint("Esc", "cancel"), Hint("F2", "type"),
    ]).draw(into: &canvas, rect: hintArea)
    drawFields(into: &canvas, rest)
  }

  private func drawFields(into canvas: inout Canvas, _ area: Rect) {
    // The field with the keys is always in sight.
    let first = max(0, form.focus - area.height + 2)
    let labels = form.fields.map { CellWidth.width(of: $0.label) }
    let labelWidth = min(labels.max() ?? 0, area.width / 3)
    var rest = area
    var cursor: Position?
    for (index, field) in form.fields.enumerated().dropFirst(first) where rest.height > 0 {
      let (line, below) = rest.splitTop(1)
      rest = below
      let isFocused = index == form.focus
      canvas.put(
        field.label, at: line.origin, width: labelWidth, role: isFocused ? .strong : .muted)
      let (kind, editor) = line.splitLeft(labelWidth + 1).rest.splitRight(FormDrawing.kindWidth)
      canvas.put(
        field.kind.rawValue, at: kind.splitLeft(1).rest.origin, width: kind.width - 1, role: .muted)
      field.editor.draw(into: &canvas, rect: editor)
      if isFocused { cursor = canvas.cursor }
      guard let error = field.error, rest.height > 0 else { continue }
      let place = rest.splitTop(1).top.splitLeft(labelWidth + 1).rest
      rest = rest.splitTop(1).rest
      canvas.put(
        "\(canvas.glyphs.conflict) \(error)", at: place.origin, width: place.width, role: .error)
    }
    canvas.cursor = cursor
  }
}
