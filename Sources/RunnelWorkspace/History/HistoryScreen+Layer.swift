import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The history of a place as a layer.

extension HistoryScreen: ListLayer {
  var layer: Layer { .history(self) }
  var summary: String { "history of \(path.shownPath)" }
  var heading: String? { "history of \(path.shownPath)" }

  func contexts(about hand: AtHand) -> [KeymapContext] { HistoryCommands.table.contexts }

  func reasonWaiting(for action: ActionID, in state: AppState) -> String? {
    guard request != nil, TypeAhead.isAboutRows(state, action) || action == .editUndo else {
      return nil
    }
    if entries.isEmpty, action != .sectionMore { return "the history is being read" }
    return isOnFetchMoreRow && paging == .fetching
      && TypeAhead.traits(state, action).contains(.movesDown)
      ? "older writes are being read" : nil
  }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    let state = screen.state
    HistoryDrawing(
      screen: self, local: state.settings.local, rect: screen.layout.body,
      keys: KeyText(state.settings.keymap, HistoryCommands.table.contexts),
      search: state.trail.search
    ).draw(into: &canvas)
  }

  // MARK: Rows

  func text(ofRow id: String) -> String {
    let text = text(ellipsis: "")
    switch lines[id] {
    case .entry(let entry): return "\(entry.author) \(text.text(of: entry))"
    case .place(let part):
      let name = text.name(of: part)
      return name.isEmpty ? part.path.description : name
    case .change(let change, let isOld):
      return "\(change.name) \((isOld ? change.old : change.new).jsonText())"
    case .note(let words): return words
    case nil: return ""
    }
  }

  func textColumn(ofRow id: String, width: Int) -> Int? { 8 }
}
