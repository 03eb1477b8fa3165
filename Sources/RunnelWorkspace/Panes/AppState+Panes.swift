import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

// The panes: which are shown, which one has the keys, and what the keys do there.

/// The scroll position of the detail pane.
package struct DetailScroll: Hashable, Sendable {
  /// The place that the position is for; other places are shown from their first line.
  package var path: Path?
  /// The index of the first visible line.
  var top = 0
}

extension AppState {
  /// The pane that the user gave the keys; see `pane` for the one that has them.
  package var focus: Pane {
    get { panes.choices[tabs.front]?.pane ?? .list }
    set { panes.choices[tabs.front, default: PaneChoice()].pane = newValue }
  }

  /// The size of the pane that the user gave the keys.
  var paneSize: PaneSize {
    get { panes.choices[tabs.front]?.size ?? .normal }
    set { panes.choices[tabs.front, default: PaneChoice()].size = newValue }
  }

  /// The present arrangement of the panes.
  var arrangement: PaneArrangement {
    var shown = PaneArrangement()
    guard Panes.showsPanes(self) else { return shown }
    shown.showsViews = tabs.front != .tree && size.columns >= Panes.viewsColumns
    if tabs.front == .tree {
      let isShown = panes.wantsDetail ?? (size.columns >= Panes.previewColumns)
      shown.detailShare = isShown && size.columns >= AppLayout.detailColumns.least ? 45 : 0
    } else {
      let isShown = panes.wantsDetail ?? (size.columns >= AppLayout.detailColumns.shown)
      shown.detailShare = isShown && size.columns >= AppLayout.detailColumns.least ? 30 : 0
      Panes.giveRoom(to: self, &shown)
    }
    guard let choice = panes.choices[tabs.front] else { return shown }
    shown.focus = shown.shows(choice.pane) ? choice.pane : .list
    shown.size = shown.hasOthers ? choice.size : .normal
    shown.viewsWidth = choice.viewsColumns
    shown.detailWidth = choice.detailColumns
    return shown
  }

  /// The pane that has the keys.
  var pane: Pane { layers.isEmpty ? arrangement.focus : .list }
}

/// The panes beside the list: which are shown, which one has the keys, and what the keys do there.
enum Panes {
  /// The number of columns from which the views pane is shown beside lists.
  static let viewsColumns = 120
  /// The number of columns from which the tree shows the value under the cursor.
  static let previewColumns = 100

  /// Returns whether panes can be shown: the screen is not compact, and no layer takes the whole
  /// page.
  static func showsPanes(_ state: AppState) -> Bool {
    if AppLayout.isCompact(state.size) { return false }
    return state.layers.allSatisfy { $0.component.extent != .page }
  }

  /// Leaves out panes that nobody asked for while a list has no room beside them for the inferred columns that
  /// the whole screen shows: first the detail, then the views.
  ///
  /// O(columns). Otherwise a wider screen would show fewer columns than a narrow one without panes.
  static func giveRoom(to state: AppState, _ shown: inout PaneArrangement) {
    guard shown.hasOthers, state.panes.wantsDetail != true, let list = state.tabs.frontList else {
      return
    }
    let choice = state.panes.choices[state.tabs.front]
    if choice?.viewsColumns != nil || choice?.detailColumns != nil { return }
    let columns = state.size.columns
    let needed = ViewInference.width(neededBy: list.definition.columns, onScreenOf: columns)
    func hasRoom() -> Bool {
      let widths = shown.widths(of: columns)
      return columns - widths.views - widths.detail >= needed
    }
    if !hasRoom() { shown.detailShare = 0 }
    if !hasRoom() { shown.showsViews = false }
  }

  /// Gives the keys to a pane, if it is shown.
  static func focusPane(_ state: inout AppState, _ pane: Pane) {
    state.focus = pane
    if pane == .views { showActiveViewInPane(&state) }
    FilterScreen.fitList(&state)
  }

  /// Gives the keys to the pane a number of steps on; if there is only one pane, goes to another
  /// view.
  static func goToPane(_ state: inout AppState, by steps: Int) {
    let panes = state.arrangement.panes
    guard state.layers.isEmpty, panes.count > 1, let index = panes.firstIndex(of: state.pane) else {
      return Input.changeTab(&state, by: steps)
    }
    focusPane(&state, panes[((index + steps) % panes.count + panes.count) % panes.count])
  }

  /// Changes the size of the pane that has the keys.
  static func resizePane(_ state: inout AppState, to size: PaneSize) {
    state.paneSize = size
    FilterScreen.fitList(&state)
  }

  /// The reason why the detail pane cannot be shown or hidden, or nil if it can.
  static func reasonNoDetail(_ state: AppState) -> String? {
    guard state.layers.isEmpty else { return nil }
    let least = AppLayout.detailColumns.least
    return state.size.columns >= least && !state.layout.isCompact
      ? nil : "the detail pane takes \(least) columns"
  }

  /// Shows or hides the detail pane.
  static func toggleDetail(_ state: inout AppState) {
    state.panes.wantsDetail = state.arrangement.detailShare == 0
    if state.panes.wantsDetail == false, state.focus == .detail { state.focus = .list }
    FilterScreen.fitList(&state)
  }

  // MARK: The detail

  /// Scrolls the detail pane by lines, up if negative.
  static func scrollDetail(_ state: inout AppState, by lines: Int) {
    let path = detailPath(state)
    let top = state.panes.detailScroll.path == path ? state.panes.detailScroll.top : 0
    let most = max(detailLineCount(state) - state.layout.detail.height, 0)
    state.panes.detailScroll = DetailScroll(path: path, top: min(max(top + lines, 0), most))
  }

  /// The place that the detail pane shows, or nil for none.
  static func detailPath(_ state: AppState) -> Path? {
    if let list = state.tabs.frontList { return list.cursorRecord?.path }
    guard case .node(let path, _, _)? = state.tabs.tree.cursorLine else { return nil }
    return path
  }

  /// The index of the first visible line of the detail pane.
  static func detailTop(_ state: AppState) -> Int {
    state.panes.detailScroll.path == detailPath(state) ? state.panes.detailScroll.top : 0
  }

  /// The number of lines of the detail pane's content.
  static func detailLineCount(_ state: AppState) -> Int {
    DetailDrawing(state, glyphs: .unicode).lines(
      width: DetailDrawing.textWidth(state.layout.detail)
    ).count
  }

  // MARK: The views and bookmarks

  /// Folds or unfolds the section of the views pane that the cursor is in.
  static func toggleViewsFold(_ state: inout AppState) {
    let content = viewsContent(state)
    guard let section = state.panes.views.cursorSection(in: content) else { return }
    state.panes.views.toggleFold(section, in: content, height: state.layout.views.height)
  }

  /// Goes to the view or bookmark under the cursor of the views pane; folds or unfolds a section.
  static func openInViews(_ state: inout AppState) {
    switch state.panes.views.cursor {
    case .header(let section):
      state.panes.views.toggleFold(
        section, in: viewsContent(state), height: state.layout.views.height)
    case .row:
      switch cursorRow(state) {
      case .tab(let tab):
        Input.change(&state, to: state.tabs.tab(atPosition: tab))
        focusPane(&state, .list)
      case .section:
        followSection(&state)
        focusPane(&state, .list)
      case .bookmark(let letter):
        if let place = state.trail.bookmarks[letter] { PlaceHistory.goAndNote(&state, place) }
      case nil: break
      }
    case nil: break
    }
  }

  static func reasonNoBookmark(_ state: AppState) -> String? {
    if case .bookmark? = cursorRow(state) { return nil }
    return "move to a bookmark to forget it"
  }

  static func forgetBookmark(_ state: inout AppState) {
    guard let row = cursorRow(state), case .bookmark(let letter) = row else { return }
    let old = viewsContent(state)
    state.trail.bookmarks[letter] = nil
    var update = BatchUpdate()
    update.deletedRows = [old.indexPath(ofRow: row.id)].compactMap(\.self)
    state.panes.views.apply(
      update, from: old, to: viewsContent(state), height: state.layout.views.height)
    state.say(.info, "bookmark \(letter) is forgotten")
  }

  /// The rows of the views pane, and what they stand for.
  static func viewsPane(_ state: AppState) -> ViewsPane {
    ViewsPane(
      tabs: state.tabs.names, letters: PlaceHistory.bookmarkList(state).map(\.letter),
      sections: sections(state))
  }

  /// The rows of the views pane.
  static func viewsContent(_ state: AppState) -> ListContent { viewsPane(state).content }

  /// What the row under the cursor of the views pane stands for; nil on a header.
  static func cursorRow(_ state: AppState) -> ViewsPane.Row? {
    let pane = viewsPane(state)
    guard case .row(let id)? = settledViews(state, in: pane.content).cursor else { return nil }
    return pane.rows[id]
  }

  private static func showActiveViewInPane(_ state: inout AppState) {
    state.panes.views.moveTo(
      shownRow(state), in: viewsContent(state), height: state.layout.views.height)
  }
}
