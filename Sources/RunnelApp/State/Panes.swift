import RunnelTerminal

/// A part of the screen beside others, which may have the keys.
enum Pane: Hashable, Sendable, CaseIterable {
  /// The views and the bookmarks.
  case views
  /// The list, or the tree.
  case list
  /// What is under the cursor, in full.
  case detail
}

/// How much of the screen the pane with the keys takes.
enum PaneSize: Int, Hashable, Sendable, CaseIterable {
  case normal
  case half
  case full

  var next: PaneSize { PaneSize(rawValue: rawValue + 1) ?? .full }
  var previous: PaneSize { PaneSize(rawValue: rawValue - 1) ?? .normal }
}

/// Which pane of a view was given the keys, and how much of the screen it takes.
struct PaneChoice: Hashable, Sendable {
  var pane = Pane.list
  var size = PaneSize.normal

  /// The choice as a text that can be kept; `init(text:)` reads it.
  var text: String { "\(pane) \(size)" }

  init() {}

  /// Reads a choice from its text; nil if it is none.
  init?(text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, let pane = Pane.allCases.first(where: { "\($0)" == words[0] }),
      let size = PaneSize.allCases.first(where: { "\($0)" == words[1] })
    else { return nil }
    (self.pane, self.size) = (pane, size)
  }
}

/// Which panes are shown beside each other, and how wide they are.
struct PaneArrangement: Hashable, Sendable {
  /// The columns of the views pane.
  static let viewsColumns = 26

  var showsViews = false
  /// The columns of the detail pane in hundredths of the screen; 0 if it is not shown.
  var detailShare = 0
  /// The pane with the keys.
  var focus = Pane.list
  var size = PaneSize.normal

  /// The panes that there are, from the left.
  var panes: [Pane] {
    (showsViews ? [.views] : []) + [.list] + (detailShare > 0 ? [.detail] : [])
  }

  /// The columns of the views and of the detail; what is left is the list's.
  func widths(of columns: Int) -> (views: Int, detail: Int) {
    let views = showsViews ? min(PaneArrangement.viewsColumns, columns / 3) : 0
    let detail = columns * detailShare / 100
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
