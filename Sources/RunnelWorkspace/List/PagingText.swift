package import RunnelStreams
package import RunnelTerminal

/// The words of a fetch-more row.
package struct PagingText {
  package let glyphs: Glyphs
  package let width: Int
  package let keys: KeyText
  /// How many rows a page has.
  package let pageSize: Int

  /// The line for a state of the row; `isOlder` tells that what is not loaded is a history.
  ///
  /// In a filtered list it says that only what is loaded was looked at.
  package func line(_ phase: FetchState, isOlder: Bool, isFiltered: Bool = false) -> StyledLine {
    if phase == .exhausted {
      let rule = String(repeating: glyphs.horizontal, count: 2)
      return StyledLine("  \(rule) \(isOlder ? "start" : "end") \(rule)", .muted)
    }
    return line(phase, rows: isOlder ? "older rows" : "more rows", isFiltered: isFiltered)
  }

  /// The line for a state of the row that stands for `rows`, as they are called.
  package func line(_ phase: FetchState, rows: String, isFiltered: Bool = false) -> StyledLine {
    switch phase {
    case .more, .unknown:
      let text =
        isFiltered
        ? "  \(glyphs.placeholder) only loaded rows were searched"
          + keys.hint(.rowOpen, "searches \(rows)", after: " - ")
        : "  \(glyphs.placeholder) \(rows) not loaded"
          + keys.hint(.rowOpen, "fetches \(pageSize)", after: " - ")
      var line = StyledLine(text, .placeholder)
      // From elsewhere in the section other keys fetch the page.
      let more = keys.keys(.sectionMore) ?? ""
      let blanks = width - line.width - CellWidth.width(of: more) - 1
      if blanks > 0 { line.append(String(repeating: " ", count: blanks) + more, .muted) }
      return line
    case .fetching:
      let verb = isFiltered ? "searching" : "fetching"
      return StyledLine("  \(glyphs.loading) \(verb) \(rows)\(glyphs.ellipsis)", .placeholder)
    case .failed(let message):
      return StyledLine(
        "  \(glyphs.conflict) \(message)\(keys.hint(.rowOpen, "tries again"))", .error)
    case .exhausted: return StyledLine()
    }
  }
}
