/// A line with text at both ends.
public struct StatusLine: Hashable, Sendable {
  /// The text at the left end.
  public var left: StyledLine
  /// The text at the right end.
  public var right: StyledLine

  /// Makes a line.
  public init(left: StyledLine = StyledLine(), right: StyledLine = StyledLine()) {
    self.left = left
    self.right = right
  }

  /// Draws the line in the first line of the rectangle.
  ///
  /// If there is not enough room, the left text is cut, down to a third of the width, and then the
  /// right one.
  /// the right one.
  ///
  /// - Parameters:
  ///   - canvas: the canvas to draw on.
  ///   - rect: the area of the line.
  ///   - role: the role of the cells without text.
  public func draw(into canvas: inout Canvas, rect: Rect, role: StyleRole = .text) {
    let area = rect.line(0)
    canvas.fill(area, role: role)
    guard !area.isEmpty else { return }
    let leftWidth = left.width
    let gap = leftWidth == 0 ? 0 : 1
    let room = max(area.width - leftWidth - gap, area.width * 2 / 3)
    let (end, start) = area.splitRight(min(right.width, room))
    canvas.put(right, at: end.origin, width: end.width)
    canvas.put(left, at: start.origin, width: start.width - (end.isEmpty ? 0 : gap))
  }
}

/// A key and its effect, in a word or two.
public struct Hint: Hashable, Sendable {
  /// The notation of the keys.
  public var keys: String
  /// The effect of the keys.
  public var words: String

  /// Makes a hint.
  public init(_ keys: String, _ words: String) {
    self.keys = keys
    self.words = words
  }

  /// The hint as it is drawn.
  public var line: StyledLine {
    var line = StyledLine(keys, .hintKey)
    if !words.isEmpty { line.append(" " + words, .muted) }
    return line
  }
}

/// A line with the most useful keys.
public struct HintBar: Hashable, Sendable {
  /// The hints, the most useful first.
  public var hints: [Hint]
  /// A hint that comes last, and stays longest if there is little room; nil for none.
  public var last: Hint?

  /// Makes a bar.
  public init(_ hints: [Hint], last: Hint? = nil) {
    self.hints = hints
    self.last = last
  }

  /// Draws as many whole hints as fit in the first line of the rectangle.
  public func draw(into canvas: inout Canvas, rect: Rect) {
    let area = rect.line(0)
    canvas.fill(area)
    guard let first = area.isEmpty ? nil : area.splitLeft(1).rest else { return }
    canvas.put(line(width: first.width), at: first.origin, width: first.width)
  }

  /// Returns the index of the hint drawn at a column, for a number of columns in use; nil if there
  /// is none.
  ///
  /// The column is counted from the first hint. The `last` hint is not among them.
  public func index(atColumn column: Int, width: Int) -> Int? {
    var start = 0
    for (index, hint) in hints.enumerated() {
      let end = start + hint.line.width
      if end > width { return nil }
      if start..<end ~= column { return index }
      start = end + 2
    }
    return nil
  }

  /// The hints that fit in a width, two blanks apart.
  func line(width: Int) -> StyledLine {
    let lastLine = last?.line
    let reserved = lastLine.map { $0.width + 2 } ?? 0
    var line = StyledLine()
    var used = 0
    for hint in hints.map(\.line) {
      let needed = hint.width + (used == 0 ? 0 : 2)
      guard used + needed + reserved <= width else { break }
      if used > 0 { line.append("  ") }
      line.append(hint)
      used += needed
    }
    guard let lastLine, used + (used == 0 ? 0 : 2) + lastLine.width <= width else { return line }
    if used > 0 { line.append("  ") }
    line.append(lastLine)
    return line
  }
}
