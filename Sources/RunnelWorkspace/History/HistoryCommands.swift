import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The commands of the history of a place.
package enum HistoryCommands {
  package static let table = CommandTable(
    .history, "With this write", over: .belowPage, takesCounts: true, hints: hints
  ) {
    Command(
      .rowOpen, "in full", "show all of the write, or no longer", keys: ["Enter", "l", "Right"],
      needs: .rows, traits: [.opens],
      disabled: { HistoryCommands.reasonWriteNotShown($0) }
    ) { state, _ in HistoryScreen.toggleHistoryEntry(&state) }
    GlobalCommands.stepBack.inner("back", "go back", keys: ["h", "Left"])
    Command(
      .sectionMore, "older", "read older writes", keys: ["gm"], needs: .rows,
      disabled: { HistoryCommands.reasonNoOlderWrites($0) }
    ) { state, _ in HistoryScreen.fetchOlderHistory(&state) }
    SharedCommands.undo.inner(
      "take back", "take the write back, if it still stands", keys: ["u"],
      disabled: { HistoryCommands.reasonNotTakenBack($0) }
    ) { state, _ in HistoryScreen.undoHistoryEntry(&state) }
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

extension HistoryCommands {
  private static func historyInFront(_ state: AppState) -> HistoryScreen? {
    if case .history(let screen)? = state.layers.last { screen } else { nil }
  }

  static func reasonWriteNotShown(_ state: AppState) -> String? {
    guard let screen = historyInFront(state) else { return nil }
    if screen.isOnFetchMoreRow { return reasonNoOlderWrites(state) }
    return screen.cursorEntry == nil ? "move to a write to see all of it" : nil
  }

  static func reasonNoOlderWrites(_ state: AppState) -> String? {
    guard let screen = historyInFront(state) else { return nil }
    if case .failed = screen.phase { return nil }
    if screen.request != nil {
      return SharedCommands.reasonUnderWay("the history is being read")
    }
    switch screen.paging {
    case .unknown, .more, .failed, .fetching: return nil
    case .exhausted: return screen.entries.isEmpty ? "there is nothing more" : screen.endText
    }
  }

  static func reasonNotTakenBack(_ state: AppState) -> String? {
    guard let entry = historyInFront(state)?.cursorEntry else {
      return "move to a write to take it back"
    }
    if let reason = state.reasonReadOnly { return reason }
    if state.writes.undoing.reversal != nil { return "a write is being taken back" }
    if entry.parts.contains(where: \.isPartlyKnown) {
      return "cannot be undone: only a part of what stood there was known here"
    }
    return entry.isUndoable ? nil : "cannot be undone: its values were too large to keep"
  }
}
