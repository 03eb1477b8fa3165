import RunnelBase
import RunnelTerminal

/// How many lines the rows of a list take.
package enum RowLines: String, Hashable, Sendable, CaseIterable {
  /// One; long texts are cut.
  case one
  /// As many as their texts need, up to three.
  case three
  /// As many as their texts need, up to the height of the screen.
  case all

  /// The number of lines of a row for which there is always room.
  private static let usual = 3

  /// The next choice.
  var next: RowLines {
    switch self {
    case .one: .three
    case .three: .all
    case .all: .one
    }
  }

  /// Returns the greatest number of lines of a row on a screen of some lines.
  func linesMax(onScreenOf rows: Int) -> Int {
    switch self {
    case .one: 1
    case .three: RowLines.usual
    case .all: max(rows, 1)
    }
  }

  /// Returns the number of rows that a list of some lines counts with.
  func rowCount(inLines height: Int) -> Int {
    self == .one ? height : min(height, max(height / RowLines.usual, 1))
  }

  /// Shows rows in the next number of lines.
  static func showNext(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    let lines = state.tabs.lists[view].look.rowLines.next
    if state.tabs.lists[view].look.isWide { Columns.fit(&state) }
    state.tabs.lists[view].look.show(in: lines)
    FilterScreen.fitList(&state)
    switch lines {
    case .one: state.say(.info, "each row has one line")
    case .three: state.say(.info, "rows have up to three lines")
    case .all: state.say(.info, "rows are shown whole")
    }
  }
}

extension RowLines {
  /// What the rows of the list in front show, by a function that returns the lines of the row with an
  /// id; nil if each row has one line.
  static func tallRows(
    _ state: AppState, lines: @escaping (_ id: String, _ width: Int) -> [StyledLine]
  ) -> TallRows? {
    guard let list = state.tabs.frontList, list.look.rowLines != .one else { return nil }
    return TallRows(height: state.tabs.frontHeight(in: state.height), lines: lines)
  }
}

extension Tabs {
  /// The number of rows that the list of a view counts with in a body of some lines: fewer if rows
  /// take several.
  func height(ofView view: Int, in lines: Int) -> Int {
    lists[view].look.rowLines.rowCount(inLines: lines)
  }

  /// The number of rows that the list of the active tab counts with in a body of some lines.
  func frontHeight(in lines: Int) -> Int {
    if let view = front.view { height(ofView: view, in: lines) } else { lines }
  }
}
