/// Rows of a screen that moved up or down together.
struct CanvasScroll: Hashable {
  /// Where what a row shows comes from.
  enum Source: Hashable {
    /// What stood in a row, which may be the same.
    case row(Int)
    /// From outside: nothing that was there.
    case blank
  }

  /// The rows that move, and those that come free at one end.
  let rows: Range<Int>
  /// How many lines up they move; down if negative.
  let lines: Int

  /// Where what a row shows comes from.
  func source(of row: Int) -> Source {
    guard rows.contains(row) else { return .row(row) }
    return rows.contains(row + lines) ? .row(row + lines) : .blank
  }
}

extension Canvas {
  /// The farthest that rows are looked for: what a key or a wheel scrolls by.
  private static let linesMax = 3
  /// How many rows must be saved for a scroll to be worth it.
  private static let gainMin = 3

  /// How rows moved since another canvas of the same size, if they did by a few lines and to move them
  /// leaves less to draw; nil if not.
  ///
  /// - Parameters:
  ///   - old: the other canvas.
  ///   - changed: the rows that differ, from the top.
  /// - Returns: the scroll. O(rows) comparisons, of lines that are mostly shared.
  func scroll(from old: Canvas, changed: [Int]) -> CanvasScroll? {
    guard changed.count > Canvas.gainMin, let first = changed.first else { return nil }
    var best: (gain: Int, scroll: CanvasScroll?) = (Canvas.gainMin - 1, nil)
    // The last line that changed may be one that tells about the list, as a footer does.
    for end in changed.suffix(2) {
      let rows = first..<end + 1
      let changedCount = end == changed.last ? changed.count : changed.count - 1
      for lines in -Canvas.linesMax...Canvas.linesMax where lines != 0 {
        let scroll = CanvasScroll(rows: rows, lines: lines)
        let gain = changedCount - rows.count { !shows($0, of: old, after: scroll) }
        if gain > best.gain { best = (gain, scroll) }
      }
    }
    return best.scroll
  }

  /// Whether a row shows what a scroll brings there.
  private func shows(_ row: Int, of old: Canvas, after scroll: CanvasScroll) -> Bool {
    guard case .row(let source) = scroll.source(of: row) else { return false }
    return line(row) == old.line(source)
  }
}
