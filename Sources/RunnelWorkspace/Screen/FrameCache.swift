package import RunnelTerminal

/// The drawing cache: a key redraws only what it changed.
///
/// It knows nothing that is not in the state: with or without it, the same is drawn. It belongs to
/// the thread that draws.
package final class FrameCache {
  /// The rows of the collection, as text.
  let rowLines = RowLineCache()
  /// The lines of the list or the tree, as cells.
  package let list = DrawnLines()

  private var title = FrameMemo<StatusLine, CanvasLine>()
  private var tabs = FrameMemo<StatusLine, CanvasLine>()
  private var status = FrameMemo<StatusLine, CanvasLine>()
  private var bar = FrameMemo<HintBar, CanvasLine>()
  private var rule = FrameMemo<Int, CanvasLine>()
  private var width = 0
  private var glyphs: Glyphs?

  /// Makes one of nothing.
  package init() {}

  /// A line of the frame.
  package enum Part {
    case title
    case tabs
    case status
  }

  /// Forgets what was drawn for another width or with other signs; to be called once for each frame.
  package func begin(width: Int, glyphs: Glyphs) {
    if self.width == width, self.glyphs == glyphs { return }
    (self.width, self.glyphs) = (width, glyphs)
    (title, tabs, status) = (FrameMemo(), FrameMemo(), FrameMemo())
    (bar, rule) = (FrameMemo(), FrameMemo())
  }

  /// A line with text at both ends, as cells.
  package func line(
    _ part: Part, _ line: StatusLine, _ draw: (StatusLine) -> CanvasLine
  ) -> CanvasLine {
    switch part {
    case .title: title.output(for: line, draw)
    case .tabs: tabs.output(for: line, draw)
    case .status: status.output(for: line, draw)
    }
  }

  /// The line of hints, as cells.
  package func line(_ hints: HintBar, _ draw: (HintBar) -> CanvasLine) -> CanvasLine {
    bar.output(for: hints, draw)
  }

  /// A rule over the whole width, as cells.
  func rule(_ draw: (Int) -> CanvasLine) -> CanvasLine { rule.output(for: width, draw) }
}
