package import RunnelTerminal

/// The drawing cache: a key redraws only what it changed.
///
/// It knows nothing that is not in the state: with or without it, the same is drawn. It belongs to
/// the thread that draws.
package final class FrameCache {
  /// The rows of the collection, as text.
  let rowLines = RowLineCache()
  /// The lines of the list, as cells.
  package let list = DrawnLines()
  /// The lines of the tree, as cells.
  let tree = DrawnLines()

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
    case hints
    case status
  }

  /// What the last whole frame was about, as far as its title, tabs and hints follow from it: where
  /// this is the same, a key has most likely left those lines as they were.
  struct Shown: Equatable {
    var layout: AppLayout
    var tab: Int

    /// Nil if something lies over those lines, or may.
    init?(_ screen: AppScreen) {
      // A copy of the whole state would cost as much as all the rest.
      guard !screen.layout.isTooSmall, !screen.layout.isCompact, screen.state.layers.isEmpty,
        screen.state.toast == nil, screen.state.database.fileGone == nil,
        screen.state.session.greeting == nil, screen.state.input.awaited == nil,
        screen.state.input.matcher.keys.isEmpty
      else { return nil }
      (layout, tab) = (screen.layout, screen.state.tabs.index)
    }
  }

  /// The last whole frame; nil if its title, tabs and hints cannot be taken over.
  var shown: Shown?

  /// The cells of a line as they were drawn last; nil if they were not.
  func line(_ part: Part) -> CanvasLine? {
    switch part {
    case .title: title.last
    case .tabs: tabs.last
    case .hints: bar.last
    case .status: status.last
    }
  }

  /// Forgets what was drawn for another width or with other signs; to be called once for each frame.
  package func begin(width: Int, glyphs: Glyphs) {
    if self.width == width, self.glyphs == glyphs { return }
    (self.width, self.glyphs) = (width, glyphs)
    (title, tabs, status) = (FrameMemo(), FrameMemo(), FrameMemo())
    (bar, rule, shown) = (FrameMemo(), FrameMemo(), nil)
  }

  /// A line with text at both ends, as cells.
  package func line(
    _ part: Part, _ line: StatusLine, _ draw: (StatusLine) -> CanvasLine
  ) -> CanvasLine {
    switch part {
    case .title: title.output(for: line, draw)
    case .tabs: tabs.output(for: line, draw)
    case .hints, .status: status.output(for: line, draw)
    }
  }

  /// The line of hints, as cells.
  package func line(_ hints: HintBar, _ draw: (HintBar) -> CanvasLine) -> CanvasLine {
    bar.output(for: hints, draw)
  }

  /// A rule over the whole width, as cells.
  func rule(_ draw: (Int) -> CanvasLine) -> CanvasLine { rule.output(for: width, draw) }
}
