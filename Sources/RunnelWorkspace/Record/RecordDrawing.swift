import RunnelBase
package import RunnelTerminal
import RunnelTree

/// Draws an open record: a line for each field, and a text field in the line of an edited one.
package struct RecordDrawing {
  private let screen: RecordScreen
  private let book: ResourceBook
  private let local: LocalTime
  private let keys: KeyText
  /// The text searched for, or nil if there is none.
  private let search: String?
  private let body: Rect
  /// The columns of the names, with the blanks behind them.
  private let nameWidth: Int
  /// The typed values that are not on disk yet, by place.
  private let waiting: [Path: WaitingValue]
  /// The fields with a draft.
  private let drafts: Set<Path>
  /// The words that mark the record as one from the cache; nil if it is the server's.
  private let cached: String?

  init(_ screen: RecordScreen, _ state: AppState, _ body: Rect) {
    self.screen = screen
    book = state.database.resources
    local = state.settings.local
    // The key of the global context, Esc, is better known than h.
    keys = KeyText(state.settings.keymap, [.global])
    search = state.trail.search
    self.body = body
    nameWidth = screen.nameWidth(in: body.width)
    waiting = QueueScreen.waitingValues(state)
    drafts = state.writes.drafts.fields(ofRecord: screen.path)
    cached = state.database.origin?.cachedText(now: state.now)
  }

  /// The headings of the sections, the first with the mark of the cache.
  private var headings: [String: ListHeading] {
    var headings = screen.headings
    if let cached { headings[RecordScreen.section]?.detail.append(" · \(cached)", .warn) }
    return headings
  }

  package func draw(into canvas: inout Canvas) {
    if screen.node == nil {
      let place = body.line(1).splitLeft(2).rest
      canvas.put("loading", at: place.origin, width: place.width, role: .muted)
      return
    }
    if let reading = screen.reading {
      return ReadingText(reading, of: screen, local: local).draw(into: &canvas, rect: body)
    }
    let glyphs = canvas.glyphs
    ListWidget.draw(
      screen.content, screen.list, headings: headings,
      rowText: { id, width in
        line(id, width: width, glyphs)
          .marking(search, isCurrent: screen.list.cursor == .row(id))
      }, emptyHint: keys.hint(.stepBack, "goes back"),
      isFocused: screen.edit == nil, into: &canvas, rect: body)
    drawEdit(into: &canvas)
    drawPreview(into: &canvas)
  }

  /// Draws the preview of the edit below the fields, if there is room.
  private func drawPreview(into canvas: inout Canvas) {
    guard let edit = screen.edit else { return }
    let preview = WritePreview(edit, in: screen)
    let used = screen.list.lines(in: screen.content, height: body.height).count
    let height = preview.height + (body.width < 60 ? 1 : 0)
    guard body.height - used > height else { return }
    preview.draw(into: &canvas, body.splitBottom(height).bottom)
  }

  private func line(_ id: String, width: Int, _ glyphs: Glyphs) -> StyledLine {
    if let index = screen.related(ofRow: id) {
      return line(screen.related[index], width: width, glyphs)
    }
    guard let field = screen.fields[id] else { return StyledLine() }
    if !waiting.isEmpty,
      let value = waiting[Path(unchecked: screen.path.keys + field.path.keys)]
    {
      return line(field, waiting: value, width: width, glyphs)
    }
    var line =
      drafts.contains(field.path)
      ? StyledLine(glyphs.transient + " ", .transient) : StyledLine("  ", .jsonKey)
    line.append(label(field.path), .jsonKey)
    if let leaf = field.leaf {
      line.append(FieldKind.text(of: leaf.json), TreeText.role(of: leaf))
      if let moment = TreeText.moment(of: leaf, in: field.path, local) {
        line.append("  \(moment)", .muted)
      }
    } else if let value = field.coded {
      line.append(value.jsonText(), .muted)
    } else if let count = field.childCount {
      line.append("\(glyphs.foldClosed) ", .frameFocus)
      line.append("{ \(count) \(count == 1 ? "key" : "keys") }", .muted)
    }
    let kind = kind(of: field)
    let blanks = width - line.width - kind.count - 1
    if blanks > 0 { line.append(String(repeating: " ", count: blanks) + kind, .muted) }
    return line
  }

  /// Returns the line of what belongs to the record, with its number at the end.
  private func line(_ related: Related, width: Int, _ glyphs: Glyphs) -> StyledLine {
    let blanks = max(nameWidth - CellWidth.width(of: related.title), 2)
    var line = StyledLine("\(glyphs.foldClosed) ", .frameFocus)
    line.append(related.title + String(repeating: " ", count: blanks), .link)
    line.append(related.path.shownPath, .muted)
    let words = related.countText(glyphs)
    let rest = width - line.width - CellWidth.width(of: words) - 1
    line.append(String(repeating: " ", count: max(rest, 1)) + words, .muted)
    return line
  }

  /// Returns the line of a field whose write is under way, with the typed value.
  private func line(
    _ field: RecordScreen.Field, waiting value: WaitingValue, width: Int, _ glyphs: Glyphs
  ) -> StyledLine {
    var line = StyledLine(value.isLate ? glyphs.pending + " " : "  ", .rowPending)
    line.append(label(field.path), .jsonKey)
    line.append(value, width: width - line.width, glyphs)
    return line
  }

  private func kind(of field: RecordScreen.Field) -> String {
    if let reason = book.ownership(of: field.path, in: screen.resource) { return reason }
    if field.childCount != nil { return "object" }
    switch field.coded {
    case .null?: return "null"
    case .array?: return "list"
    case .object?: return "object"
    default: break
    }
    if let rule = field.rule { return FieldInput(rule: rule, .null).label }
    return field.leaf.map { FieldKind($0.json).rawValue } ?? ""
  }

  /// Returns the name of a field, padded to the column of the values.
  private func label(_ path: Path) -> String {
    let name = path.isRoot ? "value" : path.shownText
    let blanks = max(nameWidth - CellWidth.width(of: name), 2)
    return name + String(repeating: " ", count: blanks)
  }

  /// The error of the edited field, if there is no room for it beside the field; otherwise nil.
  var cutError: String? {
    guard let edit = screen.edit, let error = edit.input.error else { return nil }
    let labelWidth = min(CellWidth.width(of: label(edit.field)) + 3, body.width / 2)
    let room = (body.width - labelWidth) * 2 / 3
    return CellWidth.width(of: error) + 3 > room ? error : nil
  }

  /// The kind of an edited value, and the local time of a moment that is written in another zone: as much as
  /// has room beside the text, the time first.
  private func kindLabel(_ input: FieldInput, width: Int) -> String {
    let room = width - CellWidth.width(of: input.editor.text) - 3
    let labels = [input.label(local)] + (input.localTime(local).map { [$0] } ?? [])
    return labels.first { CellWidth.width(of: $0) <= room } ?? input.label
  }

  /// Draws the text field over the line of its field, and beside it the kind or the error.
  private func drawEdit(into canvas: inout Canvas) {
    guard let edit = screen.edit else { return }
    let lines = screen.list.lines(in: screen.content, height: body.height)
    let id = edit.field.description
    guard let index = lines.firstIndex(where: { $0.kind == .row(id) }) else { return }
    let line = body.line(index)
    canvas.fill(line)
    let label = canvas.glyphs.cursor + "  " + label(edit.field)
    let (labelArea, rest) = line.splitLeft(min(CellWidth.width(of: label), line.width / 2))
    canvas.put(label, at: labelArea.origin, width: labelArea.width, role: .jsonKey)
    let beside =
      edit.input.error.map { "\(canvas.glyphs.conflict) \($0)" }
      ?? kindLabel(edit.input, width: rest.width)
    // The kind stays in its place, with a blank after it.
    let end = edit.input.error == nil ? 2 : 1
    let besideWidth = min(CellWidth.width(of: beside) + end, rest.width * 2 / 3)
    let (side, area) = rest.splitRight(besideWidth)
    canvas.put(
      beside, at: side.splitLeft(1).rest.origin, width: side.width - 1,
      role: edit.input.error == nil ? .muted : .error)
    edit.input.editor.draw(into: &canvas, rect: area, error: edit.input.error)
    drawOffers(of: edit.input, into: &canvas, beside: index, labelArea.width)
  }

  /// Draws the choices of the edited field below its line, or above it on the last one.
  private func drawOffers(
    of input: FieldInput, into canvas: inout Canvas, beside index: Int, _ indent: Int
  ) {
    if input.choices.isEmpty || body.height < 2 { return }
    let cursor = canvas.cursor
    let line = body.line(index + 1 < body.height ? index + 1 : index - 1)
    canvas.fill(line)
    let place = line.splitLeft(indent).rest
    canvas.put(input.offersText, at: place.origin, width: place.width, role: .muted)
    canvas.cursor = cursor
  }
}

extension StyledLine {
  /// Appends a value whose write is under way, and at the end of the width the word that it waits.
  package mutating func append(_ value: WaitingValue, width: Int, _ glyphs: Glyphs) {
    let words = value.isLate ? "\(glyphs.pending) waiting" : ""
    let room = max(width - CellWidth.width(of: words) - 2, 0)
    let text = StyledLine(value.text, .rowPending).keeping(columns: room, glyphs: glyphs)
    append(text)
    let blanks = width - text.width - CellWidth.width(of: words) - 1
    if blanks > 0 { append(String(repeating: " ", count: blanks) + words, .rowPending) }
  }
}
