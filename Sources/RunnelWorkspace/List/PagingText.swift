package import RunnelStreams
package import RunnelTerminal

/// The text of a fetch-more row.
package struct PagingText {
  package let glyphs: Glyphs
  package let width: Int
  package let keys: KeyText
  /// The number of rows of a page.
  package let pageSize: Int

  /// Returns the line for a fetch state; `isOlder` says that the rows not loaded are older ones.
  ///
  /// In a filtered list, the line says which rows were searched. `isCached` says that the server may have
  /// further rows than those that are known.
  package func line(
    _ phase: FetchState, isOlder: Bool, isFiltered: Bool = false, isSearched: Bool = false,
    isCached: Bool = false
  ) -> StyledLine {
    if phase == .exhausted {
      let rule = String(repeating: glyphs.horizontal, count: 2)
      let words = (isOlder ? "start" : "end") + (isCached ? " of what is kept here" : "")
      return StyledLine("  \(rule) \(words) \(rule)", .muted)
    }
    return line(
      phase, rows: isOlder ? "older rows" : "more rows", isFiltered: isFiltered,
      isSearched: isSearched)
  }

  /// The line of a list of which nothing is known without a connection.
  package var unknownLine: StyledLine {
    let rule = String(repeating: glyphs.horizontal, count: 2)
    return StyledLine("  \(rule) nothing is known here yet \(rule)", .muted)
  }

  /// A line with the reason of a failure, and as many hints as there is room for: the reason comes first.
  static func failure(_ reason: String, _ hints: [String], width: Int) -> StyledLine {
    var text = reason
    for hint in hints where CellWidth.width(of: text + hint) <= width { text += hint }
    return StyledLine(text, .error)
  }

  /// Returns the line for a fetch state, with a name for the rows that are not loaded.
  ///
  /// `isSearched` says that others than the loaded rows were searched, here or by the server.
  package func line(
    _ phase: FetchState, rows: String, isFiltered: Bool = false, isSearched: Bool = false
  ) -> StyledLine {
    switch phase {
    case .more, .unknown:
      let text =
        isFiltered
        ? "  \(glyphs.placeholder) \(isSearched ? "not all" : "only loaded") rows were searched"
          + keys.hint(.rowOpen, "searches \(rows)", after: " - ")
        : "  \(glyphs.placeholder) \(rows) not loaded"
          + keys.hint(.rowOpen, "fetches \(pageSize)", after: " - ")
      var line = StyledLine(text, .placeholder)
      // These keys fetch the page from any row of the section.
      let more = keys.keys(.sectionMore) ?? ""
      let blanks = width - line.width - CellWidth.width(of: more) - 1
      if blanks > 0 { line.append(String(repeating: " ", count: blanks) + more, .muted) }
      return line
    case .fetching:
      let verb = isFiltered ? "searching" : "fetching"
      return StyledLine("  \(glyphs.loading) \(verb) \(rows)\(glyphs.ellipsis)", .placeholder)
    case .failed(let message):
      return PagingText.failure(
        "  \(glyphs.conflict) \(message)", [keys.hint(.rowOpen, "tries again")], width: width)
    case .exhausted: return StyledLine()
    }
  }
}
