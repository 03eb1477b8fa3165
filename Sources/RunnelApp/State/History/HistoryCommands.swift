import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The commands of the history of a place.
enum HistoryCommands {
  static let table = CommandTable(.history, "With this write", takesCounts: true, hints: hints) {
    Command(
      .rowOpen, "in full", "show all of the write, or no longer", keys: ["Enter", "l", "Right"],
      disabled: { $0.reasonWriteNotShown }
    ) { state, _ in state.toggleHistoryEntry() }
    GlobalCommands.stepBack.inner("back", "go back", keys: ["h", "Left"])
    Command(
      .sectionMore, "older", "read older writes", keys: ["gm"],
      disabled: { $0.reasonNoOlderWrites }
    ) { state, _ in state.fetchOlderHistory() }
    SharedCommands.undo.inner(
      "take back", "take the write back, if it still stands", keys: ["u"],
      disabled: { $0.reasonNotTakenBack }
    ) { state, _ in state.undoHistoryEntry() }
    SharedCommands.redo
    SharedCommands.searching
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.rowOpen), CommandHint(.editUndo), CommandHint(.editRedo),
      CommandHint(.sectionMore), CommandHint(.stepBack),
    ]
  }
}

// MARK: - Disabled reasons

extension AppState {
  private var historyInFront: HistoryScreen? {
    if case .history(let screen)? = layers.last { screen } else { nil }
  }

  var reasonWriteNotShown: String? {
    guard let screen = historyInFront else { return nil }
    if screen.isOnPagingRow { return reasonNoOlderWrites }
    return screen.cursorEntry == nil ? "move to a write to see all of it" : nil
  }

  var reasonNoOlderWrites: String? {
    guard let screen = historyInFront else { return nil }
    if case .failed = screen.phase { return nil }
    if screen.request != nil { return phrase("the history is being read", .jobCancel, "stops") }
    switch screen.paging {
    case .unknown, .more, .failed, .fetching: return nil
    case .exhausted: return screen.entries.isEmpty ? "there is nothing more" : screen.endText
    }
  }

  var reasonNotTakenBack: String? {
    guard let entry = historyInFront?.cursorEntry else { return "move to a write to take it back" }
    if let reason = reasonReadOnly { return reason }
    if undoing.reversal != nil { return "a write is being taken back" }
    return entry.isUndoable ? nil : "cannot be undone: its values were too large to keep"
  }
}
