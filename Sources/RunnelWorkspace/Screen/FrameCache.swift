package import RunnelTerminal

/// Caches drawn lines, so that a key redraws only what it changed.
///
/// The cache does not change what is drawn. It belongs to the thread that draws.
package final class FrameCache {
  /// The rows of the collection, as text.
  let rowLines = RowLineCache()
  /// The lines of the list, as cells.
  package let list = DrawnLines()
  /// The lines of the tree, as cells.
  let tree = DrawnLines()

  /// The keys and commands of the hints.
  let hints = HintLookups()

  private var title = FrameMemo<StatusLine, CanvasLine>()
  private var tabs = FrameMemo<StatusLine, CanvasLine>()
  private var status = FrameMemo<StatusLine, CanvasLine>()
  private var bar = FrameMemo<HintBar, CanvasLine>()
  private var rule = FrameMemo<Int, CanvasLine>()
  private var titleRule = FrameMemo<TitleRule, CanvasLine>()
  private var width = 0
  private var glyphs: Glyphs?

  /// Creates an empty cache.
  package init() {}

  /// A line of the frame.
  package enum Part {
    case title
    case tabs
    case hints
    case status
  }

  /// The inputs of the title, tabs and hints of the last whole frame.
  ///
  /// If they are equal, a key has most likely not changed those lines.
  struct Shown: Equatable {
    var layout: AppLayout
    var tab: Tab

    /// Makes the inputs of a screen; nil if something covers those lines, or may.
    init?(_ screen: AppScreen) {
      // To keep a copy of the whole state would cost as much as all the rest.
      guard !screen.layout.isTooSmall, !screen.layout.isCompact, screen.state.layers.isEmpty,
        screen.state.toast == nil, screen.state.database.fileGone == nil,
        screen.state.session.greeting == nil, screen.state.input.awaited == nil,
        screen.state.input.matcher.keys.isEmpty
      else { return nil }
      (layout, tab) = (screen.layout, screen.state.tabs.front)
    }
  }

  /// The inputs of the last whole frame, or nil if its title, tabs and hints cannot be reused.
  var shown: Shown?

  /// Returns the cells of a line as they were last drawn, or nil if they were not.
  func line(_ part: Part) -> CanvasLine? {
    switch part {
    case .title: title.last
    case .tabs: tabs.last
    case .hints: bar.last
    case .status: status.last
    }
  }

  /// Drops the lines drawn for another width or with other signs; must be called once for each
  /// frame.
  package func begin(width: Int, glyphs: Glyphs) {
    if self.width == width, self.glyphs == glyphs { return }
    (self.width, self.glyphs) = (width, glyphs)
    (title, tabs, status) = (FrameMemo(), FrameMemo(), FrameMemo())
    (bar, rule, titleRule, shown) = (FrameMemo(), FrameMemo(), FrameMemo(), nil)
  }

  /// Returns the cells of a line with text at both ends.
  package func line(
    _ part: Part, _ line: StatusLine, _ draw: (StatusLine) -> CanvasLine
  ) -> CanvasLine {
    switch part {
    case .title: title.output(for: line, draw)
    case .tabs: tabs.output(for: line, draw)
    case .hints, .status: status.output(for: line, draw)
    }
  }

  /// Returns the cells of the line of hints.
  package func line(_ hints: HintBar, _ draw: (HintBar) -> CanvasLine) -> CanvasLine {
    bar.output(for: hints, draw)
  }

  /// What the rule with the titles of columns is drawn from.
  struct TitleRule: Equatable {
    var titles: ColumnTitles
    /// The place of the list below the rule.
    var body: Rect
    /// The number of columns by which the list is scrolled to the right.
    var offset: Int
    /// The column with the column cursor, by its index in the definition; nil if there is none.
    var cell: Int?
  }

  /// Returns the cells of the rule with the titles of columns.
  func line(_ rule: TitleRule, _ draw: (TitleRule) -> CanvasLine) -> CanvasLine {
    titleRule.output(for: rule, draw)
  }

  /// Returns the cells of a rule over the whole width.
  func rule(_ draw: (Int) -> CanvasLine) -> CanvasLine { rule.output(for: width, draw) }
}
