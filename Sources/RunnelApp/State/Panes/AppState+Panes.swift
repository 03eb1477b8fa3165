import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The panes beside each other: which are shown, which has the keys, and what the keys do there.

/// How far the detail pane is scrolled.
struct DetailScroll: Hashable, Sendable {
  /// What it shows; of anything else it shows the beginning.
  var path: Path?
  /// The line at its top.
  var top = 0
}

extension AppState {
  /// From so many columns on the views are shown beside lists.
  private static let viewsColumns = 120
  /// From so many columns on the tree shows the value under the cursor.
  private static let previewColumns = 100

  /// The pane that was given the keys; see `pane` for the one that has them.
  var focus: Pane {
    get { paneChoices[active]?.pane ?? .list }
    set { paneChoices[active, default: PaneChoice()].pane = newValue }
  }

  /// How much of the screen the pane takes that was given the keys.
  var paneSize: PaneSize {
    get { paneChoices[active]?.size ?? .normal }
    set { paneChoices[active, default: PaneChoice()].size = newValue }
  }

  /// The panes as they are now.
  var arrangement: PaneArrangement {
    var panes = PaneArrangement()
    guard showsPanes else { return panes }
    panes.showsViews = !isTree && size.columns >= AppState.viewsColumns
    if isTree {
      let isShown = wantsDetail ?? (size.columns >= AppState.previewColumns)
      panes.detailShare = isShown && size.columns >= AppLayout.detailColumns.least ? 45 : 0
    } else {
      let isShown = wantsDetail ?? (size.columns >= AppLayout.detailColumns.shown)
      panes.detailShare = isShown && size.columns >= AppLayout.detailColumns.least ? 30 : 0
    }
    panes.focus = panes.panes.contains(focus) ? focus : .list
    panes.size = panes.panes.count > 1 ? paneSize : .normal
    panes.viewsWidth = paneChoices[active]?.viewsColumns
    panes.detailWidth = paneChoices[active]?.detailColumns
    return panes
  }

  /// True if nothing takes the whole of the screen.
  private var showsPanes: Bool {
    if AppLayout.isCompact(size) { return false }
    return layers.allSatisfy { layer in
      switch layer {
      case .form, .confirm, .compose, .filter, .search, .palette, .menu: true
      default: false
      }
    }
  }

  /// The pane with the keys.
  var pane: Pane { layers.isEmpty ? arrangement.focus : .list }

  /// Gives the keys to a pane, if it is shown.
  mutating func focusPane(_ pane: Pane) {
    focus = pane
    if pane == .views { showActiveViewInPane() }
    fitList()
  }

  /// Gives the keys to the pane so many further on, or goes to another view where there is one pane only.
  mutating func goToPane(by steps: Int) {
    let panes = arrangement.panes
    guard layers.isEmpty, panes.count > 1, let index = panes.firstIndex(of: pane) else {
      return changeTab(by: steps)
    }
    focusPane(panes[((index + steps) % panes.count + panes.count) % panes.count])
  }

  /// Gives the pane with the keys another size.
  mutating func resizePane(to size: PaneSize) {
    paneSize = size
    fitList()
  }

  /// The reason why the detail pane is not shown or hidden; nil if it is.
  var reasonNoDetail: String? {
    guard layers.isEmpty else { return nil }
    let least = AppLayout.detailColumns.least
    return size.columns >= least && !layout.isCompact
      ? nil : "the detail pane takes \(least) columns"
  }

  /// Shows what is under the cursor beside the list, or no longer.
  mutating func toggleDetail() {
    wantsDetail = arrangement.detailShare == 0
    if wantsDetail == false, focus == .detail { focus = .list }
    fitList()
  }

  // MARK: The detail

  /// Scrolls the detail pane by lines, up if negative.
  mutating func scrollDetail(by lines: Int) {
    let path = detailPath
    let top = detailScroll.path == path ? detailScroll.top : 0
    let most = max(detailLineCount - layout.detail.height, 0)
    detailScroll = DetailScroll(path: path, top: min(max(top + lines, 0), most))
  }

  /// What the detail pane shows; nil for nothing.
  var detailPath: Path? {
    if !isTree { return lists[active].cursorRecord?.path }
    guard case .node(let path, _, _)? = tree.cursorLine else { return nil }
    return path
  }

  /// The line at the top of the detail pane.
  var detailTop: Int { detailScroll.path == detailPath ? detailScroll.top : 0 }

  /// How many lines the detail pane has to show.
  var detailLineCount: Int {
    DetailDrawing(self, glyphs: .unicode).lines(width: DetailDrawing.textWidth(layout.detail)).count
  }

  // MARK: The views and bookmarks

  /// Folds the section of the views pane that the cursor is in, or unfolds it.
  mutating func toggleViewsFold() {
    let content = viewsContent
    guard let section = viewsList.cursorSection(in: content) else { return }
    viewsList.toggleFold(section, in: content, height: layout.views.height)
  }

  /// Goes to what is under the cursor of the views pane.
  mutating func openInViews() {
    switch viewsList.cursor {
    case .header(let section):
      viewsList.toggleFold(section, in: viewsContent, height: layout.views.height)
    case .row(let id):
      if let tab = ViewsPane.tab(of: id) {
        change(to: tab)
        focusPane(.list)
      } else if let letter = ViewsPane.letter(of: id), let place = bookmarks[letter] {
        goAndNote(place)
      }
    case nil: break
    }
  }

  var reasonNoBookmark: String? {
    if case .row(let id)? = viewsList.cursor, ViewsPane.letter(of: id) != nil { return nil }
    return "move to a bookmark to forget it"
  }

  mutating func forgetBookmark() {
    guard case .row(let id)? = viewsList.cursor, let letter = ViewsPane.letter(of: id) else {
      return
    }
    let old = viewsContent
    bookmarks[letter] = nil
    var update = BatchUpdate()
    update.deletedRows = [old.indexPath(ofRow: id)].compactMap(\.self)
    viewsList.apply(update, from: old, to: viewsContent, height: layout.views.height)
    say(.info, "bookmark \(letter) is forgotten")
  }

  /// The rows of the views pane.
  var viewsContent: ListContent {
    ViewsPane.content(tabs: tabs, letters: bookmarkList.map(\.letter))
  }

  private mutating func showActiveViewInPane() {
    viewsList.moveTo(
      .row(ViewsPane.row(ofTab: active)), in: viewsContent, height: layout.views.height)
  }
}

/// The rows of the pane of views and bookmarks.
enum ViewsPane {
  static let viewsSection = "views"
  static let bookmarksSection = "bookmarks"
  private static let viewPrefix = "view "
  private static let bookmarkPrefix = "bookmark "

  static func content(tabs: [String], letters: [Character]) -> ListContent {
    ListContent(sections: [
      ListSection(id: viewsSection, rows: tabs.indices.map(row(ofTab:))),
      ListSection(
        id: bookmarksSection, rows: letters.map { "\(bookmarkPrefix)\($0)" }, emptyText: "none yet"),
    ])
  }

  static func row(ofTab tab: Int) -> String { "\(viewPrefix)\(tab)" }

  /// The tab that a row stands for; nil if it stands for none.
  static func tab(of row: String) -> Int? {
    row.hasPrefix(viewPrefix) ? Int(row.dropFirst(viewPrefix.count)) : nil
  }

  /// The letter of the bookmark that a row stands for; nil if it stands for none.
  static func letter(of row: String) -> Character? {
    row.hasPrefix(bookmarkPrefix) ? row.dropFirst(bookmarkPrefix.count).first : nil
  }
}
