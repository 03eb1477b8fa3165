package import RunnelTerminal

/// Where things are on a screen of a size.
///
/// From 50 columns and 12 rows on there are two lines of header, hints and a status line; below that
/// one line of header and one of status; below 20 columns or 5 rows nothing but a word about it. Where
/// a record is composed on fewer than 8 rows, there are no rules, so that rows are seen above the line.
package struct AppLayout: Hashable {
  /// From so many columns on, the record under the cursor is shown beside the list unless it is
  /// turned off; below the second number it cannot be shown.
  static let detailColumns = (shown: 120, least: 70)
  /// From so many rows on there is room for tabs and hints.
  static let roomyRows = 12
  /// On fewer rows than these, forms, menus and questions lie over the rules.
  static let lowRows = 10
  static let smallest = TerminalSize(columns: 20, rows: 5)

  /// Whether the screen is too small to show anything.
  let isTooSmall: Bool
  /// Whether there is room for tabs and hints.
  let isCompact: Bool
  /// The line of the database, the place and the state.
  package let title: Rect
  /// The line of the tabs.
  let tabs: Rect
  /// The line below the header.
  let topRule: Rect
  /// The list, the tree or the record.
  let body: Rect
  /// The body with the panes beside it, for what lies over them.
  let panes: Rect
  /// Where forms, menus and questions lie: over the panes, and on a low screen over the rules, too.
  let overlay: Rect
  /// The views and bookmarks, left of the body; empty if they are not shown.
  package let views: Rect
  /// What is under the cursor, right of the body; empty if it is not shown.
  let detail: Rect
  /// What is typed below the list: a rule if there is room for it, the line, and for a bar the lines of
  /// help below it.
  package let composer: Rect
  /// The line above the footer.
  let bottomRule: Rect
  /// The line of hints.
  let hints: Rect
  /// The last line.
  package let status: Rect

  /// The prompt below the list.
  enum Prompt: Hashable {
    case none
    /// A rule and a line.
    case line
    /// A rule, a line, and two lines of help where there is room for them.
    case bar
  }

  init(size: TerminalSize, prompt: Prompt, panes: PaneArrangement) {
    isTooSmall = size.columns < AppLayout.smallest.columns || size.rows < AppLayout.smallest.rows
    isCompact = AppLayout.isCompact(size)
    let isLow = prompt != .none && size.rows < 8
    var rest = Rect(size: size)
    (title, rest) = rest.splitTop(1)
    (tabs, rest) = rest.splitTop(isCompact ? 0 : 1)
    (topRule, rest) = rest.splitTop(isLow ? 0 : 1)
    (status, rest) = rest.splitBottom(1)
    (hints, rest) = rest.splitBottom(isCompact ? 0 : 1)
    (bottomRule, rest) = rest.splitBottom(isLow ? 0 : 1)
    let promptHeight =
      switch prompt {
      case .none: 0
      case .line: isLow ? 1 : 2
      case .bar: isLow ? 1 : size.rows < 16 ? 2 : 4
      }
    (composer, rest) = rest.splitBottom(promptHeight)
    self.panes = rest
    overlay =
      size.rows < AppLayout.lowRows && !isLow
      ? Rect(
        row: rest.row - 1, column: 0, height: rest.height + 2, width: rest.width)
      : rest
    let widths = panes.widths(of: size.columns)
    (views, rest) = rest.splitLeft(isCompact ? 0 : widths.views)
    (detail, body) = rest.splitRight(isCompact ? 0 : widths.detail)
  }

  /// Whether there is no room for tabs and hints.
  static func isCompact(_ size: TerminalSize) -> Bool {
    size.columns < 50 || size.rows < roomyRows
  }
}
