/// A box with a title and lines of text that can be scrolled.
public struct TextPopup: Hashable, Sendable {
  /// The title.
  public var title: String
  /// The text; lines that are too long are wrapped.
  public var lines: [StyledLine]
  /// The first line of the screen that is shown, counted after wrapping.
  public private(set) var top = 0

  /// Makes a popup that shows the beginning of the text.
  public init(title: String, lines: [StyledLine]) {
    self.title = title
    self.lines = lines
  }

  // MARK: - Scrolling

  /// Scrolls by lines, up if negative, in a popup of this size.
  public mutating func scroll(by lines: Int, in rect: Rect) {
    let last = lastTop(in: rect)
    let lines = min(max(lines, -last), last)
    top = min(max(min(top, last) + lines, 0), last)
  }

  /// Scrolls by pages, up if negative, in a popup of this size; one line stays visible.
  public mutating func scrollPage(by pages: Double, in rect: Rect) {
    guard pages != 0, !pages.isNaN else { return }
    let size = min(pages.magnitude, 1_000_000) * Double(max(1, Self.textRect(in: rect).height - 1))
    let distance = max(1, Int(size))
    scroll(by: pages < 0 ? -distance : distance, in: rect)
  }

  /// Shows the beginning.
  public mutating func scrollToTop() {
    top = 0
  }

  /// Shows the end, in a popup of this size.
  public mutating func scrollToBottom(in rect: Rect) {
    top = lastTop(in: rect)
  }

  private func lastTop(in rect: Rect) -> Int {
    let text = Self.textRect(in: rect)
    return max(0, wrappedLines(width: text.width).count - text.height)
  }

  private func wrappedLines(width: Int) -> [StyledLine] {
    lines.flatMap { $0.wrapped(width: width) }
  }

  // MARK: - Drawing

  /// The part of a popup's rectangle that its text takes.
  public static func textRect(in rect: Rect) -> Rect {
    rect.inset(rows: 1, columns: 2)
  }

  /// The height of a popup of this width that shows all of the text.
  public func fittingHeight(width: Int) -> Int {
    wrappedLines(width: max(0, width - 4)).count + 2
  }

  /// Draws the popup so that it fills the rectangle, with a scroll bar if not all of it is visible.
  public func draw(into canvas: inout Canvas, rect: Rect, isFocused: Bool = true) {
    canvas.box(rect, title: title, role: isFocused ? .frameFocus : .frame)
    let text = Self.textRect(in: rect)
    guard !text.isEmpty else { return }
    let shown = wrappedLines(width: text.width)
    let top = min(top, max(0, shown.count - text.height))
    for (index, line) in shown.dropFirst(top).prefix(text.height).enumerated() {
      canvas.put(line, at: text.line(index).origin, width: text.width)
    }
    guard shown.count > text.height else { return }
    let thumb = Self.thumb(count: shown.count, height: text.height, top: top)
    for row in thumb {
      let place = Position(row: text.row + row, column: rect.endColumn - 1)
      canvas.put(canvas.glyphs.scrollbar, at: place, width: 1, role: .scrollbar)
    }
  }

  /// The rows of a scroll bar's thumb: at an end of the bar exactly if the text is at its end.
  static func thumb(count: Int, height: Int, top: Int) -> Range<Int> {
    let size = max(1, height * height / count)
    let room = height - size
    let last = count - height
    var first = top * room / last
    if top > 0, room > 1 { first = max(1, first) }
    if top < last, room > 1 { first = min(room - 1, first) }
    return first..<(first + size)
  }
}

/// A short message that disappears by itself.
public struct Toast: Hashable, Sendable {
  /// The severity of a message.
  public enum Kind: Hashable, Sendable {
    /// Information.
    case info
    /// A warning.
    case warning
    /// A failure.
    case error
  }

  /// The greatest number of lines of a message; more lines are cut.
  public static let lineCountMax = 4

  /// The severity.
  public var kind: Kind
  /// The text of the message.
  public var text: String

  /// Makes a message.
  public init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }

  /// Draws the message in the bottom right corner of the rectangle.
  public func draw(into canvas: inout Canvas, rect: Rect) {
    let (sign, role) = look(canvas.glyphs)
    let indent = CellWidth.width(of: sign) + 2
    guard rect.width > indent + 1, rect.height > 0 else { return }
    var lines = StyledLine(text, role).wrapped(width: rect.width - indent - 1)
    let countMax = min(Self.lineCountMax, rect.height)
    if lines.count > countMax {
      lines = Array(lines.prefix(countMax))
      lines[countMax - 1].append(canvas.glyphs.ellipsis, role)
    }
    let width = min(rect.width, (lines.map(\.width).max() ?? 0) + indent + 1)
    let area = rect.splitBottom(lines.count).bottom.splitRight(width).right
    canvas.fill(area, role: role)
    canvas.put(" " + sign, at: area.origin, width: area.width, role: role)
    for (index, line) in lines.enumerated() {
      let place = Position(row: area.row + index, column: area.column + indent)
      canvas.put(line, at: place, width: area.width - indent)
    }
  }

  private func look(_ glyphs: Glyphs) -> (sign: String, role: StyleRole) {
    switch kind {
    case .info: (glyphs.info, .toastInfo)
    case .warning: (glyphs.conflict, .toastWarn)
    case .error: (glyphs.failed, .toastError)
    }
  }
}
