/// Rows of a screen that moved up or down together.
struct CanvasScroll: Hashable {
  /// The source of a row's content after a scroll.
  enum Source: Hashable {
    /// The old content of a row, maybe of the same one.
    case row(Int)
    /// New content, from outside.
    case blank
  }

  /// The rows that move, and those at one end that become free.
  let rows: Range<Int>
  /// The number of lines by which they move up; negative for down.
  let lines: Int

  /// The source of a row's content.
  func source(of row: Int) -> Source {
    guard rows.contains(row) else { return .row(row) }
    return rows.contains(row + lines) ? .row(row + lines) : .blank
  }
}

extension Canvas {
  /// The longest scroll that is looked for: that of a key or a wheel.
  private static let linesMax = 3
  /// The number of rows that a scroll must save to be worth it.
  private static let gainMin = 3

  /// The scroll that leads from another canvas of the same size to this one, if there is one by a
  /// few lines that leaves less to draw; otherwise nil.
  ///
  /// - Parameters:
  ///   - old: the other canvas.
  ///   - changed: the rows that differ, from the top.
  /// - Returns: the scroll. O(rows) comparisons, of lines that are mostly shared.
  func scroll(from old: Canvas, changed: [Int]) -> CanvasScroll? {
    guard changed.count > Canvas.gainMin, let first = changed.first else { return nil }
    // Most lines that moved share their cells with the lines they come from, which is quickly seen.
    return scroll(from: old, changed: changed, first: first) { $0.isCopy(of: $1) }
      ?? scroll(from: old, changed: changed, first: first) { $0 == $1 }
  }

  private func scroll(
    from old: Canvas, changed: [Int], first: Int, areEqual: (CanvasLine, CanvasLine) -> Bool
  ) -> CanvasScroll? {
    var best: (gain: Int, scroll: CanvasScroll?) = (Canvas.gainMin - 1, nil)
    // The last changed line may be about the list, like a footer, and not move with it.
    for end in changed.suffix(2) {
      let rows = first..<end + 1
      let changedCount = end == changed.last ? changed.count : changed.count - 1
      for lines in -Canvas.linesMax...Canvas.linesMax where lines != 0 {
        let scroll = CanvasScroll(rows: rows, lines: lines)
        let kept = rows.count { row in
          guard case .row(let source) = scroll.source(of: row) else { return false }
          return areEqual(line(row), old.line(source))
        }
        let gain = changedCount - (rows.count - kept)
        if gain > best.gain { best = (gain, scroll) }
      }
    }
    return best.scroll
  }
}
