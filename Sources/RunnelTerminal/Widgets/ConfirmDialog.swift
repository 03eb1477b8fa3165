/// A box that asks for a decision, in the middle of the screen.
public struct ConfirmDialog: Hashable, Sendable {
  /// The greatest width of the box in columns.
  public static let widthMax = 72

  /// The subject.
  public var title: String
  /// The consequence; lines that are too long are wrapped.
  public var message: [StyledLine]
  /// The keys that decide.
  public var hints: [Hint]
  /// Whether something is destroyed.
  public var isDanger: Bool
  /// The page of the text that is shown where not all of it has room, 0 for the first; nil to cut it.
  public var page: Int?

  /// Makes a dialog.
  public init(title: String, message: [StyledLine], hints: [Hint], isDanger: Bool = false) {
    self.title = title
    self.message = message
    self.hints = hints
    self.isDanger = isDanger
  }

  /// The parts of a dialog.
  private struct Layout {
    /// The whole dialog.
    var area: Rect
    /// Whether there is room for a frame.
    var isFramed = true
    var text: Rect
    var field: Rect
    var hints: Rect
    var lines: [StyledLine]
  }

  /// The parts of the dialog in a rectangle; without a frame and blank lines if these would take
  /// the place of text.
  private func layout(in rect: Rect, hasField: Bool, hasError: Bool) -> Layout {
    let fieldHeight = hasField ? (hasError ? 2 : 1) : 0
    let hintLine = HintBar(hints).line(width: .max)
    let widest = ([hintLine, StyledLine(title + "    ")] + message).map(\.width).max() ?? 0
    let width = min(rect.width, Self.widthMax, max(widest, hasField ? 40 : 0) + 4)
    let lines = message.flatMap { $0.wrapped(width: width - 4) }
    guard lines.count + fieldHeight + (hasField ? 4 : 3) <= rect.height else {
      return unframed(in: rect, fieldHeight)
    }
    let blanks = hasField ? 2 : 1
    let box = rect.centered(height: lines.count + fieldHeight + blanks + 3, width: width)
    let (hintArea, rest) = box.inset(rows: 1, columns: 2).splitBottom(1)
    let (field, text) = rest.splitBottom(hasField ? fieldHeight + 1 : 0)
    return Layout(
      area: box, text: text, field: field.splitTop(fieldHeight).top, hints: hintArea, lines: lines)
  }

  private func unframed(in rect: Rect, _ fieldHeight: Int) -> Layout {
    let (hintArea, rest) = rect.splitBottom(1)
    let (field, room) = rest.splitBottom(fieldHeight)
    let titled = [StyledLine(title, isDanger ? .warn : .strong)] + message
    var lines = titled.flatMap { $0.wrapped(width: rect.width) }
    // If there is not room for everything, each part gets one line, unless there are pages.
    if page == nil, lines.count > room.height {
      lines = message.flatMap { $0.wrapped(width: rect.width) }
      if lines.count > room.height { lines = message }
    }
    let area = rect.splitBottom(min(lines.count, room.height) + fieldHeight + 1).bottom
    let text = room.splitBottom(min(lines.count, room.height)).bottom
    return Layout(
      area: area, isFramed: false, text: text, field: field, hints: hintArea, lines: lines)
  }

  /// Draws the dialog over the middle of the rectangle.
  ///
  /// The keys are always shown. If there is little room, the frame goes first, then the end of the
  /// message. The message's first line names the subject, so it is cut at its beginning.
  ///
  /// - Parameters:
  ///   - canvas: the canvas to draw on.
  ///   - rect: the area that the dialog belongs to.
  ///   - editor: a field between the message and the keys, for decisions that must be typed.
  ///   - label: the label before the field.
  ///   - error: the mistake in the typed text; nil if there is none.
  public func draw(
    into canvas: inout Canvas, rect: Rect, editor: LineEditor? = nil, label: String = "",
    error: String? = nil
  ) {
    let layout = layout(in: rect, hasField: editor != nil, hasError: error != nil)
    canvas.cursor = nil
    if layout.isFramed {
      canvas.box(layout.area, title: title, role: isDanger ? .dialogDanger : .dialog)
    } else {
      canvas.fill(layout.area)
    }
    canvas.put(
      HintBar(hints).line(width: layout.hints.width), at: layout.hints.origin,
      width: layout.hints.width)
    drawMessage(layout.lines, into: &canvas, layout.text)
    editor?.draw(into: &canvas, rect: layout.field, label: label, error: error)
  }

  /// The number of pages that the text takes.
  ///
  /// - Parameters:
  ///   - rect: the area that the dialog belongs to.
  ///   - hasField: whether a field is drawn.
  ///   - hasError: whether it is drawn with an error.
  /// - Returns: the number; 1 if all of it has room.
  public func pageCount(in rect: Rect, hasField: Bool = false, hasError: Bool = false) -> Int {
    let layout = layout(in: rect, hasField: hasField, hasError: hasError)
    return Self.pageCount(of: layout.lines, in: layout.text)
  }

  /// The last line of an area names the page.
  private static func pageCount(of lines: [StyledLine], in area: Rect) -> Int {
    if lines.count <= area.height { return 1 }
    return (lines.count - 1) / max(area.height - 1, 1) + 1
  }

  private func drawMessage(_ lines: [StyledLine], into canvas: inout Canvas, _ area: Rect) {
    let pageCount = Self.pageCount(of: lines, in: area)
    if let page, pageCount > 1 {
      let (shown, lineCount) = (min(page, pageCount - 1), max(area.height - 1, 1))
      for (index, line) in lines.dropFirst(shown * lineCount).prefix(lineCount).enumerated() {
        canvas.put(line, at: area.line(index).origin, width: area.width)
      }
      if area.height < 2 { return }
      let sign = shown < pageCount - 1 ? "\(canvas.glyphs.ellipsis) " : ""
      canvas.put(
        StyledLine("\(sign)\(shown + 1)/\(pageCount)", .muted),
        at: area.line(area.height - 1).origin, width: area.width)
      return
    }
    for (index, line) in lines.prefix(area.height).enumerated() {
      let isCut = index > 0 && index == area.height - 1 && lines.count > area.height
      var shown = isCut ? StyledLine(canvas.glyphs.ellipsis, .muted) : line
      let excess = line.width - area.width
      if index == 0, excess > 0 {
        let sign = canvas.glyphs.ellipsis
        shown = StyledLine(sign, .muted)
        for run in line.dropping(columns: excess + sign.count, glyphs: canvas.glyphs).runs {
          shown.append(run.text, run.role)
        }
      }
      canvas.put(shown, at: area.line(index).origin, width: area.width)
    }
  }

  /// The index of the hint at a position; nil if there is none.
  ///
  /// - Parameters:
  ///   - position: a cell of the screen.
  ///   - rect: the area that the dialog belongs to.
  ///   - hasField: whether a field is drawn.
  ///   - hasError: whether it is drawn with an error.
  /// - Returns: the index, or nil.
  public func hint(
    at position: Position, rect: Rect, hasField: Bool = false, hasError: Bool = false
  ) -> Int? {
    let area = layout(in: rect, hasField: hasField, hasError: hasError).hints
    guard area.contains(position) else { return nil }
    return HintBar(hints).index(atColumn: position.column - area.column, width: area.width)
  }
}
