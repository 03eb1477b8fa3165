import RunnelTerminal

/// Draws a form over the middle of the screen.
struct FormDrawing {
  private static let widthMax = 72
  /// The columns for the name of a field's kind.
  private static let kindWidth = 8
  /// How many of the values that may be chosen are named.
  private static let offersMax = 12

  private let form: FormScreen
  private let keys: KeyText
  private let area: Rect

  init(_ form: FormScreen, _ keys: KeyText, _ area: Rect) {
    self.form = form
    self.keys = keys
    self.area = area
  }

  /// What stands below a field: what is wrong with it, and what may be chosen.
  private func notes(
    on field: FormScreen.Field, _ isFocused: Bool, _ glyphs: Glyphs
  ) -> [StyledLine] {
    var notes: [StyledLine] = []
    if let error = field.input.error {
      notes.append(StyledLine("\(glyphs.conflict) \(error)", .error))
    }
    if isFocused, !field.input.choices.isEmpty {
      let offers = field.input.offers.prefix(FormDrawing.offersMax).map { choice in
        choice.title.isEmpty || choice.title == choice.text
          ? choice.text : "\(choice.text) \(choice.title)"
      }
      notes.append(StyledLine(offers.joined(separator: " · "), .muted))
    }
    return notes
  }

  func draw(into canvas: inout Canvas) {
    let errors = form.fields.count { $0.input.error != nil }
    let offers = form.fields[form.focus].input.choices.isEmpty ? 0 : 1
    let note = form.note.isEmpty ? 0 : 1
    let height = min(form.fields.count + errors + offers + note + 4, area.height)
    let box = area.centered(height: height, width: min(FormDrawing.widthMax, area.width))
    canvas.box(box, title: form.title, role: .dialog)
    let (hintArea, rest) = box.inset(rows: 1, columns: 2).splitBottom(1)
    let hints = [
      keys.key(.inputAccept, form.focus < form.fields.count - 1 ? "next" : "save"),
      keys.key(.formSave, "save"), keys.key(.inputCancel, "cancel"),
      keys.key(.fieldType, offers == 0 ? "type" : "choose"),
    ]
    HintBar(hints.compactMap(\.self)).draw(into: &canvas, rect: hintArea)
    // The fields go first where there is no room.
    let hasNote = note > 0 && rest.height > form.fields.count + errors + offers
    let (last, fields) = rest.splitBottom(hasNote ? 1 : 0)
    if hasNote { canvas.put(form.note, at: last.origin, width: last.width, role: .muted) }
    drawFields(into: &canvas, fields)
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
        field.input.label, at: kind.splitLeft(1).rest.origin, width: kind.width - 1, role: .muted)
      field.input.editor.draw(into: &canvas, rect: editor)
      if isFocused { cursor = canvas.cursor }
      for note in notes(on: field, isFocused, canvas.glyphs) where rest.height > 0 {
        let place = rest.splitTop(1).top.splitLeft(labelWidth + 1).rest
        rest = rest.splitTop(1).rest
        canvas.put(note, at: place.origin, width: place.width)
      }
    }
    canvas.cursor = cursor
  }
}
