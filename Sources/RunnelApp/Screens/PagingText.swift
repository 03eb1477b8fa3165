import RunnelTerminal

/// The words of a paging row.
struct PagingText {
  /// The keys by which a page is fetched from elsewhere in the section.
  private static let keys = "gm"

  let glyphs: Glyphs
  let width: Int

  /// The line for a state of the row; `isOlder` tells that what is not loaded is a history.
  ///
  /// In a filtered list it says that only what is loaded was looked at.
  func line(_ phase: PagingPhase, isOlder: Bool, isFiltered: Bool = false) -> StyledLine {
    let rows = isOlder ? "older rows" : "more rows"
    switch phase {
    case .more(let count):
      let text =
        isFiltered
        ? "  \(glyphs.placeholder) only loaded rows were searched - Enter searches \(rows)"
        : "  \(glyphs.placeholder) \(rows) not loaded - Enter fetches \(count)"
      var line = StyledLine(text, .placeholder)
      let blanks = width - line.width - PagingText.keys.count - 1
      if blanks > 0 { line.append(String(repeating: " ", count: blanks) + PagingText.keys, .muted) }
      return line
    case .fetching:
      let verb = isFiltered ? "searching" : "fetching"
      return StyledLine("  \(glyphs.loading) \(verb) \(rows)\(glyphs.ellipsis)", .placeholder)
    case .failed(let message):
      return StyledLine("  \(glyphs.conflict) \(message) · Enter tries again", .error)
    case .exhausted:
      let rule = String(repeating: glyphs.horizontal, count: 2)
      return StyledLine("  \(rule) \(isOlder ? "start" : "end") \(rule)", .muted)
    }
  }
}
