// Lists whose rows may take several lines of the screen each.

extension ListState {
  /// A line of a list, and the number of lines that it takes on the screen.
  public struct TallLine: Hashable, Sendable {
    /// The line.
    public var line: VisibleLine
    /// How many lines of the screen it takes: at least 1; less than it needs at the end of the
    /// screen.
    public var height: Int

    /// Makes a line.
    public init(line: VisibleLine, height: Int) {
      (self.line, self.height) = (line, height)
    }
  }

  /// The lines of a screen on which rows may take several lines, from its top.
  ///
  /// The list counts in rows. So the state is used with a height of which is sure that the rows fit:
  /// a third of the screen if a row takes at most three lines. What is left of the screen shows the
  /// rows after these, and at the end of the list the rows before them. If the rows do not fit after
  /// all, lines at the top are left out until the cursor's row is shown in full.
  ///
  /// - Parameters:
  ///   - content: the list.
  ///   - height: the height that all operations on this state are given.
  ///   - room: the number of lines of the screen.
  ///   - lineCount: returns how many lines the row with an id needs.
  /// - Returns: the lines; their heights add up to `room`, or to less if the list is shorter, or if the
  ///   row before its last ones needs more room than is left.
  ///
  /// O(room) calls of `lineCount`.
  public func tallLines(
    in content: ListContent, height: Int, room: Int, lineCount: (_ id: String) -> Int
  ) -> [TallLine] {
    guard height > 0, room > 0 else { return [] }
    let frame = frame(in: content, height: height)
    var window = TallWindow(layout: frame.layout, room: room)
    var top = frame.top
    if let cursor = frame.cursorLine {
      let covered = frame.layout.stickySection(top: cursor, height: room) == nil ? 0 : 1
      top = min(top, cursor - covered)
      while top < cursor - covered, !window.fits(top...cursor, lineCount) { top += 1 }
    }
    while top > 0, window.fits(top - 1...frame.layout.lineCount - 1, lineCount) { top -= 1 }
    return window.lines(from: top, cursor: frame.cursorLine, lineCount)
  }
}

/// The part of a list that a screen shows, if rows may take several lines.
private struct TallWindow {
  let layout: ListLayout
  let room: Int
  /// The heights of the rows that were asked for, by line.
  private var heights: [Int: Int] = [:]

  init(layout: ListLayout, room: Int) {
    self.layout = layout
    self.room = room
  }

  /// Returns the height of a line, from 1 to the room.
  private mutating func height(of line: Int, _ lineCount: (String) -> Int) -> Int {
    guard let id = layout.row(atLine: line) else { return 1 }
    if let height = heights[line] { return height }
    let height = min(max(lineCount(id), 1), room)
    heights[line] = height
    return height
  }

  /// Whether a screen that begins with the first of some lines shows all of them in full.
  mutating func fits(_ lines: ClosedRange<Int>, _ lineCount: (String) -> Int) -> Bool {
    var left = room
    for line in lines {
      // The sticky header covers the top line.
      let isCovered =
        line == lines.lowerBound && layout.stickySection(top: line, height: room) != nil
      left -= isCovered ? 1 : height(of: line, lineCount)
      if left < 0 { return false }
    }
    return true
  }

  mutating func lines(
    from top: Int, cursor: Int?, _ lineCount: (String) -> Int
  ) -> [ListState.TallLine] {
    var lines: [ListState.TallLine] = []
    var (line, left) = (top, room)
    while line < layout.lineCount, left > 0 {
      if line == top, let sticky = layout.stickySection(top: top, height: room) {
        let header = ListState.VisibleLine(kind: .stickyHeader, section: sticky, isCursor: false)
        lines.append(ListState.TallLine(line: header, height: 1))
      } else {
        lines.append(
          ListState.TallLine(
            line: layout.visibleLine(at: line, isCursor: line == cursor),
            height: min(height(of: line, lineCount), left)))
      }
      left -= lines[lines.count - 1].height
      line += 1
    }
    return lines
  }
}
