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
    let content = Panes.viewsContent(state)
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
      rowText: { id, width in line(of: id, width: width, section) }, isFocused: isFocused,
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
  private func line(of id: String, width: Int, _ shown: String?) -> StyledLine {
    if let section = ViewsPane.section(of: id), !state.tabs.isTree {
      return line(
        ofSection: section, state.tabs.front, isShown: section == shown, width: width)
    }
    if let tab = ViewsPane.tab(of: id), state.tabs.names.indices.contains(tab) {
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
    guard let letter = ViewsPane.letter(of: id), let place = state.trail.bookmarks[letter] else {
      return StyledLine()
    }
    var line = StyledLine(" '\(letter) ", .hintKey)
    line.append(cut(place.title, to: width - 5))
    return line
  }

  /// Returns the end of a text that is too long, because the end of a path says the most.
  private func cut(_ text: String, to width: Int) -> String {
    if CellWidth.width(of: text) <= width { return text }
    return glyphs.ellipsis + text.suffix(max(width - CellWidth.width(of: glyphs.ellipsis), 0))
  }
}
