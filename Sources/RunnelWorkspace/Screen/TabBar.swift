package import RunnelTerminal

/// The tab bar: the names of the views with their numbers, in one line.
package struct TabBar {
  package let names: [String]
  /// The number of unread rows of each view.
  var unreadCounts: [Int] = []
  package var glyphs = Glyphs.unicode

  /// Returns the line; the active tab is highlighted.
  package func line(active: Int) -> StyledLine {
    var line = StyledLine(" ")
    for (index, name) in names.enumerated() {
      line.append("\(index + 1) ", index == active ? .hintKey : .muted)
      line.append(name, index == active ? .title : .muted)
      line.append(sign(of: index), .rowNew)
      line.append("  ")
    }
    return line
  }

  /// The number of a tab's unread rows, with a blank before it; empty if there are none.
  private func sign(of index: Int) -> String {
    guard unreadCounts.indices.contains(index), unreadCounts[index] > 0 else { return "" }
    return " \(glyphs.new)\(unreadCounts[index])"
  }

  /// Returns the tab at a column of the line, or nil between tabs.
  package func tab(atColumn column: Int) -> Int? {
    var start = 1
    for (index, name) in names.enumerated() {
      let width = "\(index + 1) ".count + CellWidth.width(of: name + sign(of: index))
      if (start..<start + width).contains(column) { return index }
      start += width + 2
    }
    return nil
  }
}
