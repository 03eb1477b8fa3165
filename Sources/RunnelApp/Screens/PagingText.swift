import RunnelTerminal

/// The words of a paging row.
struct PagingText {
  /// The keys by which a page is fetched from elsewhere in the section.
  private static let keys = "gm"

  let glyphs: Glyphs
  let width: Int

  /// The line for a state of the row; `isOlder` tells that what is not loaded is a history.
  func line(_ phase: PagingPhase, isOlder: Bool) -> StyledLine {
    let rows = isOlder ? "older rows" : "more rows"
    switch phase {
    case .more(let count):
      let text = "  \(glyphs.placeholder) \(rows) not loaded - Enter fetches \(count)"
      var line = StyledLine(text, .placeholder)
      let blanks = width - line.width - PagingText.keys.count - 1
      if blanks > 0 { line.append(String(repeating: " ", count: blanks) + PagingText.keys, .muted) }
      return line
    case .fetching:
      return StyledLine("  \(glyphs.loading) fetching \(rows)\(glyphs.ellipsis)", .placeholder)
    case .failed(let message):
      return StyledLine("  \(glyphs.conflict) \(message) · Enter tries again", .error)
    case .exhausted:
      let rule = String(repeating: glyphs.horizontal, count: 2)
      return StyledLine("  \(rule) \(isOlder ? "start" : "end") \(rule)", .muted)
    }
  }
}
