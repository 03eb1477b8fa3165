import RunnelTerminal

/// The names of the views with their numbers, in one line.
struct TabBar {
  let names: [String]

  /// The line; the active tab stands out.
  func line(active: Int) -> StyledLine {
    var line = StyledLine(" ")
    for (index, name) in names.enumerated() {
      line.append("\(index + 1) ", index == active ? .hintKey : .muted)
      line.append(name, index == active ? .title : .muted)
      line.append("  ")
    }
    return line
  }

  /// The tab at a column of the line; nil between tabs.
  func tab(atColumn column: Int) -> Int? {
    var start = 1
    for (index, name) in names.enumerated() {
      let width = "\(index + 1) ".count + CellWidth.width(of: name)
      if (start..<start + width).contains(column) { return index }
      start += width + 2
    }
    return nil
  }
}
