package import RunnelTerminal

/// The tab bar: the names of the views with their numbers, in one line.
package struct TabBar {
  package let names: [String]
  /// The number of unread rows of each view.
  var unreadCounts: [Int] = []
  /// The indices of the tabs with a draft.
  var drafts: Set<Int> = []
  package var glyphs = Glyphs.unicode

  /// Returns the line; the active tab is highlighted.
  package func line(active: Int) -> StyledLine {
    var line = StyledLine(" ")
    for (index, name) in names.enumerated() {
      line.append("\(index + 1) ", index == active ? .hintKey : .muted)
      line.append(name, index == active ? .title : .muted)
      line.append(unreadSign(of: index), .rowNew)
      line.append(draftSign(of: index), .transient)
      line.append("  ")
    }
    return line
  }

  /// The number of a tab's unread rows, with a blank before it; empty if there are none.
  private func unreadSign(of index: Int) -> String {
    guard unreadCounts.indices.contains(index), unreadCounts[index] > 0 else { return "" }
    return " \(glyphs.new)\(unreadCounts[index])"
  }

  /// The sign of a tab's draft, with the blank before it; empty if there is none.
  private func draftSign(of index: Int) -> String {
    drafts.contains(index) ? " \(glyphs.transient)" : ""
  }

  /// Returns the tab at a column of the line, or nil between tabs.
  package func tab(atColumn column: Int) -> Int? {
    var start = 1
    for (index, name) in names.enumerated() {
      let width =
        "\(index + 1) ".count
        + CellWidth.width(of: name + unreadSign(of: index) + draftSign(of: index))
      if (start..<start + width).contains(column) { return index }
      start += width + 2
    }
    return nil
  }
}

extension TabBar {
  /// Makes the bar of a workspace.
  init(_ state: AppState, _ glyphs: Glyphs = .unicode) {
    self.init(
      names: state.tabs.names, unreadCounts: ListScreen.unreadCounts(state),
      drafts: Drafts.tabs(state), glyphs: glyphs)
  }
}
