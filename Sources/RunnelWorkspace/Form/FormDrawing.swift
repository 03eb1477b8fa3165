import RunnelBase
package import RunnelTerminal

/// Draws a form over the middle of the screen.
package struct FormDrawing {
  private static let widthMax = 72
  /// The columns for the name of a field's kind.
  private static let kindWidth = 8
  /// The greatest number of lines of an error or of the choices.
  private static let noteLinesMax = 3
  /// The number of lines from which there is room for a frame.
  private static let framedHeight = 6

  private let form: FormScreen
  /// The preview of the write of the form, or nil if the form writes nothing.
  private let preview: WritePreview?
  private let keys: KeyText
  private let area: Rect
  private let local: LocalTime

  init(
    _ form: FormScreen, _ preview: WritePreview?, _ keys: KeyText, _ area: Rect, _ local: LocalTime
  ) {
    self.form = form
    self.preview = preview
    self.keys = keys
    self.area = area
    self.local = local
  }

  /// The greatest number of lines of a text that are shown.
  private static let textLinesMax = 5

  /// The number of lines of a field's text that are shown: one, unless it has the keys.
  private func textLines(of index: Int) -> Int {
    guard index == form.focus else { return 1 }
    return min(form.fields[index].input.editor.lineCount, FormDrawing.textLinesMax)
  }

  /// The number of lines of a field with its notes.
  private func lines(of index: Int, _ glyphs: Glyphs) -> Int {
    textLines(of: index) + notes(on: index, glyphs).count
  }

  /// The notes below a field: the error, the local time and the choices.
  private func notes(on index: Int, _ glyphs: Glyphs) -> [StyledLine] {
    let field = form.fields[index]
    var notes: [StyledLine] = []
    if let error = field.input.error {
      notes += FormDrawing.wrapped("\(glyphs.conflict) \(error)", .error, width: noteWidth)
    }
    if index == form.focus, let time = field.input.localTime(local) {
      notes.append(StyledLine(time, .muted))
    }
    if index == form.focus, !field.input.choices.isEmpty {
      notes += FormDrawing.wrapped(field.input.offersText, .muted, width: noteWidth)
    }
    return notes
  }

  private static func wrapped(_ text: String, _ role: StyleRole, width: Int) -> [StyledLine] {
    Array(StyledLine(text, role).wrapped(width: max(width, 1)).prefix(noteLinesMax))
  }

  /// The columns before the texts of the fields, and before the notes below them.
  private static func indents(
    of form: FormScreen, in area: Rect
  ) -> (inner: Int, label: Int, kind: Int, note: Int) {
    let isFramed = area.height >= framedHeight
    let inner = isFramed ? min(widthMax, area.width) - 4 : area.width
    let labels = form.fields.map { CellWidth.width(of: $0.label) }
    let label = min(labels.max() ?? 0, inner / 3)
    // The kind of a field is left out if there is hardly room for its text; errors then use the whole
    // width.
    let kind = inner < 3 * kindWidth ? 0 : kindWidth
    return (inner, label, kind, kind == 0 ? 0 : label + 1)
  }

  /// The width of the notes below a field.
  private var noteWidth: Int {
    let indents = FormDrawing.indents(of: form, in: area)
    return indents.inner - indents.note
  }

  /// The lines below all fields: why the form was refused, and the note.
  private func lastLines(_ glyphs: Glyphs) -> [StyledLine] {
    let width = FormDrawing.indents(of: form, in: area).inner
    let refusal =
      form.refusal.isEmpty
      ? [] : FormDrawing.wrapped("\(glyphs.conflict) \(form.refusal)", .error, width: width)
    return refusal + (form.noteText.isEmpty ? [] : [StyledLine(form.noteText, .muted)])
  }

  /// The error of the field that has the keys, if there is no room for it below the field;
  /// otherwise nil.
  static func cutError(of form: FormScreen, in area: Rect) -> String? {
    guard let error = form.fields[form.focus].input.error else { return nil }
    let indents = indents(of: form, in: area)
    let lines = StyledLine("* \(error)").wrapped(width: max(indents.inner - indents.note, 1))
    // On a low screen, the first line may be all that is drawn.
    return lines.count > (area.height < 12 ? 1 : noteLinesMax) ? error : nil
  }

  package func draw(into canvas: inout Canvas) {
    let rows = form.fields.indices.reduce(0) { $0 + lines(of: $1, canvas.glyphs) }
    let lastLines = lastLines(canvas.glyphs)
    let note = lastLines.count
    let room = area.height - rows - note - 4
    // The preview of the write is drawn if its first lines fit.
    let previewHeight =
      preview.map { $0.height <= room || room > 4 ? min($0.height, room) : 0 } ?? 0
    let height = min(rows + note + 4 + previewHeight, area.height)
    let isFramed = area.height >= FormDrawing.framedHeight
    let box =
      isFramed ? area.centered(height: height, width: min(FormDrawing.widthMax, area.width)) : area
    if isFramed {
      canvas.box(box, title: form.title, role: .dialog)
    } else {
      canvas.fill(box)
    }
    let inside = isFramed ? box.inset(rows: 1, columns: 2) : box
    let (hintArea, rest) = inside.splitBottom(inside.height > 1 ? 1 : 0)
    HintBar(hints).draw(into: &canvas, rect: hintArea)
    let (previewArea, above) = rest.splitBottom(previewHeight)
    // If there is little room, the fields come before the note.
    let shown = form.refusal.isEmpty ? min(max(above.height - rows, 0), note) : note
    let (last, fields) = above.splitBottom(min(shown, max(above.height - 1, 0)))
    for (index, line) in lastLines.prefix(last.height).enumerated() {
      canvas.put(line, at: last.line(index).origin, width: last.width)
    }
    let drawn = drawFields(into: &canvas, fields)
    if isFramed { drawRest(into: &canvas, box, beside: drawn) }
    if previewHeight > 0 { preview?.draw(into: &canvas, previewArea) }
  }

  private var hints: [Hint] {
    (form.hints + TypingCommands.hints(of: form.fields[form.focus].input)).compactMap { hint in
      let title = Commands.command(hint.id, in: keys.contexts)?.title
      return keys.key(hint.id, hint.words ?? title ?? "")
    }
  }

  /// Returns the index of the first field that is drawn.
  ///
  /// The field that has the keys is visible with all its notes, and so is the next field if there
  /// is room.
  private func firstField(height: Int, _ glyphs: Glyphs) -> Int {
    var first = form.focus
    let hasNext = form.focus < form.fields.count - 1 && height > 2
    var used = lines(of: first, glyphs) + (hasNext ? 1 : 0)
    while first > 0 {
      used += lines(of: first - 1, glyphs)
      if used > height { break }
      first -= 1
    }
    return first
  }

  /// Draws the numbers of fields above and below the drawn ones into the frame.
  private func drawRest(into canvas: inout Canvas, _ box: Rect, beside drawn: Range<Int>) {
    let (above, below) = (drawn.lowerBound, form.fields.count - drawn.upperBound)
    for (count, sign, row) in [
      (above, canvas.glyphs.up, box.row), (below, canvas.glyphs.down, box.endRow - 1),
    ] where count > 0 {
      let words = " \(sign) \(count) more \(count == 1 ? "field" : "fields") "
      let width = CellWidth.width(of: words)
      let column = max(box.endColumn - width - 2, box.column + 1)
      canvas.put(
        words, at: Position(row: row, column: column),
        width: min(width, box.endColumn - column - 1),
        role: .warn)
    }
  }

  /// Draws the fields for which there is room, and returns their indices.
  private func drawFields(into canvas: inout Canvas, _ area: Rect) -> Range<Int> {
    let first = firstField(height: area.height, canvas.glyphs)
    let indents = FormDrawing.indents(of: form, in: self.area)
    let (labelWidth, kindWidth) = (indents.label, indents.kind)
    var rest = area
    var cursor: Position?
    var end = first
    for (index, field) in form.fields.enumerated().dropFirst(first) where rest.height > 0 {
      end = index + 1
      let isFocused = index == form.focus
      let (lines, below) = rest.splitTop(textLines(of: index))
      let line = lines.splitTop(1).top
      rest = below
      canvas.put(
        field.label, at: line.origin, width: labelWidth, role: isFocused ? .strong : .muted)
      let (kind, editor) = line.splitLeft(labelWidth + 1).rest.splitRight(kindWidth)
      canvas.put(
        field.input.label, at: kind.splitLeft(1).rest.origin, width: max(kind.width - 1, 0),
        role: .muted)
      field.input.editor.draw(
        into: &canvas,
        rect: Rect(
          row: editor.row, column: editor.column, height: lines.height, width: editor.width))
      if isFocused { cursor = canvas.cursor }
      for note in notes(on: index, canvas.glyphs) where rest.height > 0 {
        let place = rest.splitTop(1).top.splitLeft(indents.note).rest
        rest = rest.splitTop(1).rest
        canvas.put(note, at: place.origin, width: place.width)
      }
    }
    canvas.cursor = cursor
    return first..<end
  }
}
