import RunnelBase
package import RunnelTerminal

/// Draws the views pane: the views with their unread rows, the bookmarks, and the sections of the view that is
/// shown.
package struct ViewsDrawing {
  private let state: AppState
  let glyphs: Glyphs

  init(_ state: AppState, glyphs: Glyphs) {
    self.state = state
    self.glyphs = glyphs
  }

  package func draw(into canvas: inout Canvas, rect: Rect) {
    let (border, area) = rect.splitRight(1)
    let isFocused = state.pane == .views
    let pane = Panes.viewsPane(state)
    let content = pane.content
    var list = Panes.settledViews(state, in: content)
    if !isFocused {
      // While another pane has the keys, the cursor is on what is shown.
      list.moveTo(Panes.shownRow(state), in: content, height: area.height)
    }
    let section = Panes.section(state)
    ListWidget.draw(
      content, list,
      headings: [
        ViewsPane.viewsSection: ListHeading(title: StyledLine("Views", .sectionHeader)),
        ViewsPane.bookmarksSection: ListHeading(
          title: StyledLine("Bookmarks", .sectionHeader), detail: bookmarkKeys),
        ViewsPane.sectionsSection: ListHeading(title: StyledLine("Sections", .sectionHeader)),
      ],
      rowText: { id, width in
        pane.rows[id].map { line(of: $0, width: width, section) } ?? StyledLine()
      }, isFocused: isFocused,
      into: &canvas,
      rect: area)
    canvas.verticalLine(
      row: border.row, column: border.column, height: border.height,
      role: isFocused ? .frameFocus : .frame)
  }

  /// The keys that set a bookmark.
  private var bookmarkKeys: StyledLine {
    let keys = state.settings.keymap.firstKeys(for: .bookmarkSet, in: [.collection])
    return StyledLine(keys.map { "\($0) sets one" } ?? "", .muted)
  }

  /// Returns the line of a row; `shown` is the section of the list's cursor.
  private func line(of row: ViewsPane.Row, width: Int, _ shown: String?) -> StyledLine {
    switch row {
    case .section(let section):
      guard let list = state.tabs.frontList else { return StyledLine() }
      return line(ofSection: section, list, isShown: section == shown, width: width)
    case .tab(let tab): return line(ofTab: tab, width: width)
    case .bookmark(let letter):
      guard let place = state.trail.bookmarks[letter] else { return StyledLine() }
      var line = StyledLine(" '\(letter) ", .hintKey)
      line.append(cut(place.title, to: width - 5))
      return line
    }
  }

  /// Returns the line of a tab: its name, and the number of its unread rows.
  private func line(ofTab tab: Int, width: Int) -> StyledLine {
    let isShown = tab == state.tabs.position
    var line = StyledLine(" \(state.tabs.names[tab])", isShown ? .title : .text)
    let count = ListScreen.unreadCounts(state)[tab]
    if count > 0 {
      let words = "\(glyphs.new) \(count)"
      let blanks = max(width - line.width - CellWidth.width(of: words) - 1, 1)
      line.append(String(repeating: " ", count: blanks) + words, .rowNew)
    }
    return line
  }

  /// Returns the end of a text that is too long, because the end of a path says the most.
  private func cut(_ text: String, to width: Int) -> String {
    if CellWidth.width(of: text) <= width { return text }
    return glyphs.ellipsis + text.suffix(max(width - CellWidth.width(of: glyphs.ellipsis), 0))
  }
}
