/// A box that asks for a decision, in the middle of the screen.
public struct ConfirmDialog: Hashable, Sendable {
  /// The widest the box gets, in columns.
  public static let widthMax = 72

  /// What it is about.
  public var title: String
  /// What will happen; lines that are too long are wrapped.
  public var message: [StyledLine]
  /// The keys that decide.
  public var hints: [Hint]
  /// Whether something is destroyed.
  public var isDanger: Bool

  /// Makes a dialog.
  public init(title: String, message: [StyledLine], hints: [Hint], isDanger: Bool = false) {
    self.title = title
    self.message = message
    self.hints = hints
    self.isDanger = isDanger
  }

  /// Draws the dialog over the middle of the rectangle.
  ///
  /// The keys are always shown; where there is little room, the message is cut, not they.
  ///
  /// - Parameters:
  ///   - canvas: what to draw on.
  ///   - rect: the area that the dialog belongs to.
  ///   - editor: a field between the message and the keys, for decisions that must be typed.
  ///   - label: what stands before the field.
  ///   - error: what is wrong with what was typed; nil if nothing is.
  public func draw(
    into canvas: inout Canvas, rect: Rect, editor: LineEditor? = nil, label: String = "",
    error: String? = nil
  ) {
    let hintLine = HintBar(hints).line(width: .max)
    let widest = ([hintLine, StyledLine(title + "    ")] + message).map(\.width).max() ?? 0
    let width = min(rect.width, Self.widthMax, max(widest, editor == nil ? 0 : 40) + 4)
    let lines = message.flatMap { $0.wrapped(width: width - 4) }
    let fieldHeight = editor == nil ? 0 : error == nil ? 1 : 2
    let below = fieldHeight + (editor == nil ? 0 : 1) + 1
    let box = rect.centered(height: lines.count + 1 + below + 2, width: width)
    canvas.cursor = nil
    canvas.box(box, title: title, role: isDanger ? .dialogDanger : .dialog)

    let inside = box.inset(rows: 1, columns: 2)
    let (hintArea, rest) = inside.splitBottom(1)
    canvas.put(
      HintBar(hints).line(width: hintArea.width), at: hintArea.origin, width: hintArea.width)
    var text = rest
    if let editor {
      let (field, above) = rest.splitBottom(1).rest.splitBottom(fieldHeight)
      editor.draw(into: &canvas, rect: field, label: label, error: error)
      text = above
    }
    drawMessage(lines, into: &canvas, text)
  }

  private func drawMessage(_ lines: [StyledLine], into canvas: inout Canvas, _ area: Rect) {
    for (index, line) in lines.prefix(area.height).enumerated() {
      let isCut = index == area.height - 1 && lines.count > area.height
      let shown = isCut ? StyledLine(canvas.glyphs.ellipsis, .muted) : line
      canvas.put(shown, at: area.line(index).origin, width: area.width)
    }
  }
}
