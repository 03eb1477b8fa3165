import RunnelBase
import RunnelStreams
package import RunnelTerminal
import RunnelTree

/// Draws the history of a place.
package struct HistoryDrawing {
  private static let authorWidth = 8
  /// The number of columns from which the author of a write is shown.
  private static let authorColumns = 50

  package let screen: HistoryScreen
  package let local: LocalTime
  let rect: Rect
  /// The keys of the layer, for hints.
  package let keys: KeyText
  /// The text searched for, or nil if there is none.
  package let search: String?

  package func draw(into canvas: inout Canvas) {
    canvas.fill(rect)
    let glyphs = canvas.glyphs
    switch screen.phase {
    case .loading where screen.entries.isEmpty:
      let hint = keys.hint(.jobCancel, "stops")
      return note("\(glyphs.loading) reading the history\(glyphs.ellipsis)\(hint)", into: &canvas)
    case .failed(let message):
      let hint = keys.hint(.sectionMore, "reads it")
      return note("\(glyphs.failed) \(message)\(hint)", into: &canvas)
    case .idle, .loading, .cached, .loaded: break
    }
    let text = screen.text(ellipsis: glyphs.ellipsis)
    ListWidget.draw(
      screen.content, screen.list, headings: screen.headings,
      rowText: { id, width in
        line(id, width: width, text, glyphs)
          .marking(search, isCurrent: screen.list.cursor == .row(id))
      }, into: &canvas, rect: rect)
  }

  private func note(_ text: String, into canvas: inout Canvas) {
    let area = rect.inset(rows: 0, columns: 2).splitTop(1).rest
    for (index, line) in StyledLine(text, .muted).wrapped(width: area.width).prefix(area.height)
      .enumerated()
    {
      canvas.put(line, at: area.line(index).origin, width: area.width)
    }
  }

  private func line(
    _ id: String, width: Int, _ text: EntryText, _ glyphs: Glyphs
  ) -> StyledLine {
    if id == ListScreen.fetchMoreRow {
      if screen.paging == .exhausted {
        let rule = String(repeating: glyphs.horizontal, count: 2)
        return StyledLine("  \(rule) \(screen.endText) \(rule)", .muted)
      }
      return PagingText(
        glyphs: glyphs, width: width, keys: keys, pageSize: HistoryScreen.pageSize
      ).line(screen.paging, isOlder: true)
    }
    switch screen.lines[id] {
    case .entry(let entry): return line(of: entry, text)
    case .place(let part):
      let name = text.name(of: part)
      return StyledLine("      \(name.isEmpty ? part.path.description : name)", .jsonKey)
    case .change(let change, let isOld):
      let name = change.name.isEmpty ? "" : "\(change.name)  "
      return StyledLine(
        "      \(isOld ? "-" : "+") \(name)\((isOld ? change.old : change.new).jsonText())",
        isOld ? .error : .ok)
    case .note(let words): return StyledLine("      \(words)", .muted)
    case nil: return StyledLine()
    }
  }

  private func line(of entry: HistoryEntry, _ text: EntryText) -> StyledLine {
    var line = StyledLine("  \(local.timeText(entry.at)) ", .muted)
    if rect.width >= HistoryDrawing.authorColumns {
      let author = String(entry.author.prefix(HistoryDrawing.authorWidth))
      let blanks = max(HistoryDrawing.authorWidth - CellWidth.width(of: author), 0) + 1
      line.append(author + String(repeating: " ", count: blanks), .strong)
    }
    line.append(text.text(of: entry))
    return line
  }
}
