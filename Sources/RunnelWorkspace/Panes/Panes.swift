import RunnelTerminal

/// A part of the screen beside others, which may have the keys.
package enum Pane: Hashable, Sendable, CaseIterable {
  /// The views and the bookmarks.
  case views
  /// The list, or the tree.
  case list
  /// What is under the cursor, in full.
  case detail
}

/// How much of the screen the pane with the keys takes.
package enum PaneSize: Int, Hashable, Sendable, CaseIterable {
  case normal
  case half
  case full

  package var next: PaneSize { PaneSize(rawValue: rawValue + 1) ?? .full }
  package var previous: PaneSize { PaneSize(rawValue: rawValue - 1) ?? .normal }
}

/// The pane of a view that was given the keys, and how much of the screen it takes.
package struct PaneChoice: Hashable, Sendable {
  var pane = Pane.list
  package var size = PaneSize.normal
  /// The columns that the views were given by the mouse; nil for the usual ones.
  var viewsColumns: Int?
  /// The columns that the detail was given by the mouse; nil for the usual ones.
  var detailColumns: Int?

  /// The choice as a text that can be kept; `init(text:)` reads it.
  package var text: String {
    let columns = [viewsColumns, detailColumns].map { $0.map { "\($0)" } ?? "-" }
    return ["\(pane)", "\(size)"].joined(separator: " ")
      + (viewsColumns == nil && detailColumns == nil ? "" : " " + columns.joined(separator: " "))
  }

  init() {}

  /// Reads a choice from its text; nil if it is none.
  init?(text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2 || words.count == 4,
      let pane = Pane.allCases.first(where: { "\($0)" == words[0] }),
      let size = PaneSize.allCases.first(where: { "\($0)" == words[1] })
    else { return nil }
    (self.pane, self.size) = (pane, size)
    // No screen is wider, whatever a file says.
    let columns = words.dropFirst(2).map { Int($0).flatMap { 1...10_000 ~= $0 ? $0 : nil } }
    if words.count == 4 { (viewsColumns, detailColumns) = (columns[0], columns[1]) }
  }
}

/// The panes that are shown beside each other, and their widths.
package struct PaneArrangement: Hashable, Sendable {
  /// The columns of the views pane.
  static let viewsColumns = 26
  /// The least columns of the views, the list and the detail where the mouse moves the line between them.
  static let viewsColumnsMin = 12
  static let listColumnsMin = 24
  static let detailColumnsMin = 16

  var showsViews = false
  /// The columns of the detail pane in hundredths of the screen; 0 if it is not shown.
  var detailShare = 0
  /// The pane with the keys.
  package var focus = Pane.list
  package var size = PaneSize.normal
  /// The columns of the views, if they were given others than the usual ones.
  var viewsWidth: Int?
  /// The columns of the detail, if it was given others than its share.
  var detailWidth: Int?

  /// The panes that there are, from the left.
  var panes: [Pane] {
    (showsViews ? [.views] : []) + [.list] + (detailShare > 0 ? [.detail] : [])
  }

  /// The columns of the views and of the detail; what is left is the list's.
  func widths(of columns: Int) -> (views: Int, detail: Int) {
    let views = showsViews ? min(viewsWidth ?? PaneArrangement.viewsColumns, columns / 3) : 0
    let usual = columns * detailShare / 100
    let room = columns - views - PaneArrangement.listColumnsMin
    let detail = detailShare == 0 ? 0 : min(detailWidth ?? usual, max(room, usual))
    switch (size, focus) {
    case (.normal, _): return (views, detail)
    case (.full, .views): return (columns, 0)
    case (.full, .detail): return (0, columns)
    case (.full, .list): return (0, 0)
    case (.half, .views): return (columns / 2, min(detail, columns / 4))
    case (.half, .detail): return (min(views, columns / 5), columns / 2)
    case (.half, .list): return halfOfList(views, detail, columns)
    }
  }

  /// What is left beside a list that takes half, or if it has that already, three quarters.
  private func halfOfList(_ views: Int, _ detail: Int, _ columns: Int) -> (views: Int, detail: Int)
  {
    let rest = views + detail > columns / 2 ? columns - columns / 2 : columns / 4
    let left = min(views, showsViews && detailShare > 0 ? rest * 2 / 5 : rest)
    return (left, min(detail, rest - left))
  }
}
