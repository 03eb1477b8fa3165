package import RunnelTerminal

/// The areas of a screen of a given size.
///
/// From 50 columns and 12 rows, there are two lines of header, a line of hints and a status line.
/// Below that, there is one line of header and one of status. Below 20 columns or 5 rows, only a
/// message is shown. While a record is composed on fewer than 8 rows, there are no rules, so that
/// rows are visible above the line.
package struct AppLayout: Hashable {
  /// The numbers of columns for the detail pane: it is shown from the first number on unless it is
  /// turned off, and can be shown from the second number on.
  static let detailColumns = (shown: 120, least: 70)
  /// The number of rows from which there is room for tabs and hints.
  static let roomyRows = 12
  /// The number of rows below which forms, menus and questions cover the rules.
  static let lowRows = 10
  static let smallest = TerminalSize(columns: 20, rows: 5)

  /// Whether the screen is too small to show anything.
  let isTooSmall: Bool
  /// Whether there is no room for tabs and hints.
  let isCompact: Bool
  /// The line of the database, the place and the state.
  package let title: Rect
  /// The line of the tabs.
  let tabs: Rect
  /// The line below the header.
  let topRule: Rect
  /// The list, the tree or the record.
  let body: Rect
  /// The body and the panes beside it, for layers that cover them.
  let panes: Rect
  /// The area of forms, menus and questions: the panes, and on a low screen also the rules.
  let overlay: Rect
  /// The views pane, left of the body; empty if it is not shown.
  package let views: Rect
  /// The detail pane, right of the body; empty if it is not shown.
  let detail: Rect
  /// The area of the line for typing below the list: a rule if there is room, the line, and for a
  /// bar the lines of help.
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
    /// A rule and a field of some lines, as far as there is room for them.
    case line(count: Int)
    /// A rule, a line, and two lines of help if there is room for them.
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
      case .line(let count): isLow ? 1 : min(count, max((size.rows - 6) / 3, 1)) + 1
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

  /// Returns whether there is no room for tabs and hints.
  static func isCompact(_ size: TerminalSize) -> Bool {
    size.columns < 50 || size.rows < roomyRows
  }
}
