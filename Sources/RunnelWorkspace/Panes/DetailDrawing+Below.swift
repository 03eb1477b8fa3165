import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The lines below the fields of a record in the detail pane: its links and its newest changes.

extension DetailDrawing {
  /// Returns the lines of the record's links and newest changes.
  func linesBelow(width: Int) -> [StyledLine] { linkLines + changeLines(width: width) }

  private var linkLines: [StyledLine] {
    let links = DetailHistory.detailLinks(state)
    guard !links.isEmpty else { return [] }
    return [StyledLine(), StyledLine("Links", .title)]
      + links.map { StyledLine(" \(glyphs.foldClosed) \($0)", .link) }
  }

  private func changeLines(width: Int) -> [StyledLine] {
    let history = state.panes.detailHistory
    guard let path = history.path, !history.entries.isEmpty else { return [] }
    let text = EntryText(
      ellipsis: glyphs.ellipsis, place: path, log: state.database.resources.registry.log)
    return [StyledLine(), StyledLine("Changes", .title)]
      + history.entries.flatMap { lines(of: $0, text, at: path) }
  }

  private func lines(of entry: HistoryEntry, _ text: EntryText, at path: Path) -> [StyledLine] {
    let parts = entry.parts.filter { path.contains($0.path) }
    var head = StyledLine(" \(when(entry.at)) ", .muted)
    head.append(entry.author, .strong)
    // A write around the record may cover the whole database.
    if parts.isEmpty { head.append("  as part of a larger write", .muted) }
    var lines: [StyledLine] = []
    for part in parts where !part.isPriority {
      guard let values = part.values else { continue }
      if part.path == path, values.old == .null {
        head.append("  created")
        continue
      }
      for change in EntryText.changes(from: values.old, to: values.new) {
        let name = [text.name(of: part), change.name].filter { !$0.isEmpty }.joined(separator: "/")
        if change.old != .null {
          lines.append(StyledLine("  - \(name) \(text.short(change.old))", .error))
        }
        if change.new != .null {
          lines.append(StyledLine("  + \(name) \(text.short(change.new))", .ok))
        }
      }
    }
    return [head] + lines
  }

  /// Returns the time of day for a change of today, or the date for an earlier one.
  private func when(_ time: Int64) -> String {
    let day = state.settings.local.civil(time)
    return day.dayNumber == state.settings.local.civil(state.now).dayNumber
      ? state.settings.local.timeText(time) : day.dateText
  }
}
