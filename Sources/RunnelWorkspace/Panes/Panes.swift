import RunnelTerminal

/// A pane: a part of the screen that can have the keys.
package enum Pane: Hashable, Sendable, CaseIterable {
  /// The pane of views and bookmarks.
  case views
  /// The list, or the tree.
  case list
  /// The details of the cursor's row.
  case detail
}

/// The size of the pane that has the keys.
package enum PaneSize: Int, Hashable, Sendable, CaseIterable {
  case normal
  case half
  case full

  package var next: PaneSize { PaneSize(rawValue: rawValue + 1) ?? .full }
  package var previous: PaneSize { PaneSize(rawValue: rawValue - 1) ?? .normal }
}

/// The pane of a view that the user gave the keys, and the sizes that the user chose.
package struct PaneChoice: Hashable, Sendable {
  var pane = Pane.list
  package var size = PaneSize.normal
  /// The columns of the views pane set by the mouse, or nil for the default.
  var viewsColumns: Int?
  /// The columns of the detail pane set by the mouse, or nil for the default.
  var detailColumns: Int?

  /// The text of the choice for storage; `init(text:)` parses it.
  package var text: String {
    let columns = [viewsColumns, detailColumns].map { $0.map { "\($0)" } ?? "-" }
    return ["\(pane)", "\(size)"].joined(separator: " ")
      + (viewsColumns == nil && detailColumns == nil ? "" : " " + columns.joined(separator: " "))
  }

  init() {}

  /// Parses a choice from its text; nil if the text is not valid.
  init?(text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2 || words.count == 4,
      let pane = Pane.allCases.first(where: { "\($0)" == words[0] }),
      let size = PaneSize.allCases.first(where: { "\($0)" == words[1] })
    else { return nil }
    (self.pane, self.size) = (pane, size)
    // Widths that no screen has are ignored.
    let columns = words.dropFirst(2).map { Int($0).flatMap { 1...10_000 ~= $0 ? $0 : nil } }
    if words.count == 4 { (viewsColumns, detailColumns) = (columns[0], columns[1]) }
  }
}

/// The arrangement of the panes on the screen, with their widths.
package struct PaneArrangement: Hashable, Sendable {
  /// The default columns of the views pane.
  static let viewsColumns = 26
  /// The columns that a list between two panes has if there is room, as many as a whole screen often
  /// has: for that, the views pane becomes narrower, to the second number.
  private static let listColumnsWanted = 80
  private static let viewsColumnsLeast = 20
  /// The least columns of the views, the list and the detail when the mouse moves a line between
  /// them.
  static let viewsColumnsMin = 12
  static let listColumnsMin = 24
  static let detailColumnsMin = 16

  var showsViews = false
  /// The width of the detail pane in hundredths of the screen; 0 if it is not shown.
  var detailShare = 0
  /// The pane that has the keys.
  package var focus = Pane.list
  package var size = PaneSize.normal
  /// The columns of the views pane set by the mouse, or nil for the default.
  var viewsWidth: Int?
  /// The columns of the detail pane set by the mouse, or nil for its share.
  var detailWidth: Int?

  /// The panes shown, from the left.
  var panes: [Pane] {
    (showsViews ? [.views] : []) + [.list] + (detailShare > 0 ? [.detail] : [])
  }

  /// Whether there are panes beside the list.
  var hasOthers: Bool { showsViews || detailShare > 0 }

  /// Returns whether a pane is shown.
  func shows(_ pane: Pane) -> Bool {
    switch pane {
    case .views: showsViews
    case .list: true
    case .detail: detailShare > 0
    }
  }

  /// Returns the columns of the views and of the detail; the rest is for the list.
  func widths(of columns: Int) -> (views: Int, detail: Int) {
    let (usualViews, usual) = usualWidths(of: columns)
    let views = showsViews ? min(viewsWidth ?? usualViews, columns / 3) : 0
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

  /// Returns the columns of the views and of the detail where the mouse has set none.
  private func usualWidths(of columns: Int) -> (views: Int, detail: Int) {
    let views = showsViews ? PaneArrangement.viewsColumns : 0
    let detail = columns * detailShare / 100
    guard showsViews, detailShare > 0 else { return (views, detail) }
    let missing = PaneArrangement.listColumnsWanted - (columns - views - detail)
    return (max(views - max(missing, 0), PaneArrangement.viewsColumnsLeast), detail)
  }

  /// Returns the columns beside a list that takes half of the screen, or three quarters if it has
  /// half already.
  private func halfOfList(_ views: Int, _ detail: Int, _ columns: Int) -> (views: Int, detail: Int)
  {
    let rest = views + detail > columns / 2 ? columns - columns / 2 : columns / 4
    let left = min(views, showsViews && detailShare > 0 ? rest * 2 / 5 : rest)
    return (left, min(detail, rest - left))
  }
}
