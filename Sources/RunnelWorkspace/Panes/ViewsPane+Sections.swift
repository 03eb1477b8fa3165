import RunnelBase
import RunnelTerminal

// The sections of the list in front stand in the views pane, below the bookmarks: the cursor there and the
// cursor of the list move together.

extension Panes {
  /// The sections that are shown: all of the list in front, if there are several that can be looked through.
  static func sections(_ state: AppState) -> [String] {
    let sections = state.tabs.frontList?.content.sections ?? []
    guard 2...ViewsPane.sectionsMax ~= sections.count else { return [] }
    return sections.map(\.id).filter { !ListScreen.isPlaceholder($0) }
  }

  /// The section of the cursor of the list in front, if it is shown.
  static func section(_ state: AppState) -> String? {
    guard let list = state.tabs.frontList else { return nil }
    return list.list.cursorSection(in: list.content).flatMap {
      sections(state).contains($0) ? $0 : nil
    }
  }

  /// The row of what is shown: of the section of the list's cursor, or else of the view.
  static func shownRow(_ state: AppState) -> ListItem {
    .row(
      (section(state).map { ViewsPane.Row.section($0) } ?? .tab(state.tabs.position)).id)
  }

  /// The list of the pane, with its cursor on what is shown if the row that it was on is gone.
  static func settledViews(_ state: AppState, in content: ListContent) -> ListState {
    var list = state.panes.views
    if case .row(let id)? = list.cursor, content.indexPath(ofRow: id) == nil {
      list.moveTo(shownRow(state), in: content, height: state.layout.views.height)
    }
    return list
  }

  /// Moves the cursor of the list in front to the section under the cursor of the pane.
  static func followSection(_ state: inout AppState) {
    guard case .section(let section)? = cursorRow(state), section != Panes.section(state)
    else { return }
    state.withList { list, content, height in
      if let first = content.firstRow(ofSection: section), !list.folded.contains(section) {
        list.moveTo(.row(first), in: content, height: height)
      } else {
        list.moveTo(.header(section), in: content, height: height)
      }
    }
  }
}

extension ViewsDrawing {
  /// Returns the line of a section: its title, and the number of its rows, with a plus if there may be more.
  func line(
    ofSection section: String, _ screen: ListScreen, isShown: Bool, width: Int
  ) -> StyledLine {
    let count = screen.headings.counts[section]?.shortText ?? ""
    let room = max(width - CellWidth.width(of: count) - 2, 0)
    let title = " " + (screen.headings.all[section]?.title.text ?? section)
    var line = StyledLine(title, isShown ? .title : .text).keeping(columns: room, glyphs: glyphs)
    line.append(String(repeating: " ", count: max(room - line.width, 0) + 1) + count, .muted)
    return line
  }
}
