import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The commands of the queue of writes.
package enum QueueCommands {
  package static let table = CommandTable(
    .queue, "With this write", over: .belowPage, takesCounts: true, hints: hints
  ) {
    Command(
      .rowOpen, "in full", "show all of the write, or no longer", keys: ["Enter", "l", "Right"],
      needs: .rows, traits: [.opens],
      disabled: { QueueCommands.reasonQueuedNotShown($0) }
    ) { state, _ in QueueScreen.toggleQueued(&state) }
    SharedCommands.compare.inner("compare", "compare with what others wrote", keys: ["c"])
    Command(
      .syncEdit, "edit again", "edit it again, with what was typed", keys: ["e"], needs: .nothing,
      disabled: { QueueCommands.reasonQueuedNotEdited($0) }
    ) { state, _ in QueueScreen.editQueued(&state) }
    Command(
      .syncRetry, "again", "try the write again, as it was", keys: ["r"], needs: .nothing,
      disabled: { QueueCommands.reasonNotRetried($0) }
    ) { state, _ in QueueScreen.retryQueued(&state) }
    Command(
      .syncDrop, "drop", "drop the write…", keys: ["d", "Del"], needs: .nothing,
      disabled: { QueueCommands.reasonQueuedNotDropped($0) }
    ) { state, _ in QueueScreen.confirmDrop(&state) }
    Command(
      .syncLeaveOut, "leave out", "leave out the refused record, and go on with those after it…",
      keys: ["x"], needs: .nothing,
      disabled: { QueueCommands.reasonNotLeftOut($0) }
    ) { state, _ in QueueScreen.confirmLeavingOut(&state) }
    WhyCommands.ask
    SharedCommands.valueCopies
    GlobalCommands.stepBack.inner("back", "go back", keys: ["h", "Left"])
    SharedCommands.searching
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.rowOpen), CommandHint(.recordCompare), CommandHint(.syncEdit),
      CommandHint(.syncRetry), CommandHint(.syncDrop), CommandHint(.stepBack),
    ]
  }
}

// MARK: - Disabled reasons

extension QueueCommands {
  private static let isNoRecord = "it is no record: correct it where it was copied, and paste again"

  /// The open queue.
  private static func queueInFront(_ state: AppState) -> QueueScreen? {
    if case .queue(let screen)? = state.layers.last { screen } else { nil }
  }

  /// The refused write under the cursor of the queue, or nil.
  private static func refusedAtHand(_ state: AppState) -> WriteQueue.Refused? {
    queueInFront(state)?.cursorWrite(in: state.writes.queue)
  }

  /// The write under the cursor of the queue that waits for the origin, or nil.
  private static func pendingAtHand(_ state: AppState) -> PendingWrite? {
    queueInFront(state)?.cursorPending(in: state.writes.queue)
  }

  /// The reason why there is no refused write at the cursor, or nil if there is.
  private static func reasonNotRefused(_ state: AppState, _ deed: String) -> String? {
    if refusedAtHand(state) != nil { return nil }
    if pendingAtHand(state) != nil { return "it was not refused: it waits for the origin" }
    return state.writes.queue.refused.isEmpty
      ? "nothing was refused" : "move to a refused write to \(deed)"
  }

  static func reasonQueuedNotShown(_ state: AppState) -> String? {
    pendingAtHand(state) == nil ? reasonNotRefused(state, "see all of it") : nil
  }

  static func reasonQueuedNotEdited(_ state: AppState) -> String? {
    reasonNotRefused(state, "edit it again") ?? state.reasonReadOnly ?? reasonTriedAgain(state)
      ?? reasonNotTypedAgain(state)
  }

  static func reasonNotLeftOut(_ state: AppState) -> String? {
    reasonNotRefused(state, "leave its record out") ?? state.reasonReadOnly
      ?? reasonTriedAgain(state) ?? QueueScreen.reasonNotLeftOut(state)
  }

  static func reasonQueuedNotDropped(_ state: AppState) -> String? {
    pendingAtHand(state).map({ reasonNotDropped(state, $0) }) ?? reasonNotRefused(state, "drop it")
      ?? reasonTriedAgain(state) ?? reasonKept(state)
  }

  /// The reason why a refused write that a file keeps cannot be dropped, or nil if it can.
  private static func reasonKept(_ state: AppState) -> String? {
    refusedAtHand(state)?.write == nil ? nil : state.reasonReadOnly
  }

  /// The reason why a write that waits for the origin cannot be dropped, or nil if it can.
  static func reasonNotDropped(_ state: AppState, _ write: PendingWrite) -> String? {
    write.isDurable
      ? state.reasonReadOnly : "a transaction wrote it, and takes it back when it ends"
  }

  /// The reason why no refused write can be tried again, or nil if it can.
  static func reasonNotRetried(_ state: AppState) -> String? {
    if let write = pendingAtHand(state), state.writes.queue.unknown.contains(write.id) {
      return state.reasonReadOnly
    }
    if let reason = reasonNotRefused(state, "try it again") { return reason }
    guard let item = refusedAtHand(state) else { return nil }
    if item.draft != nil { return state.phrase("others wrote there", .recordCompare, "compares") }
    if item.request == nil {
      if case .earlier = item.purpose { return "do it again where it was done" }
      if case .unlisted(let ended) = item.purpose {
        let again = "import the file again"
        return ended.isUndoable ? "take back what was stored, and \(again)" : again
      }
      return isNoRecord
    }
    return state.reasonReadOnly ?? reasonTriedAgain(state)
  }

  /// The reason why a refused write that is being tried again cannot be used, or nil if it is not
  /// being tried.
  private static func reasonTriedAgain(_ state: AppState) -> String? {
    guard let item = refusedAtHand(state),
      state.writes.queue.isTriedAgain(item, state.requests.writes)
    else { return nil }
    return "it is being tried again: wait for the answer"
  }

  private static func reasonNotTypedAgain(_ state: AppState) -> String? {
    guard let item = refusedAtHand(state) else { return nil }
    if case .pasted(let pasted) = item.purpose, pasted.row == nil { return isNoRecord }
    var purpose = item.purpose
    if case .earlier(let write) = purpose,
      let typed = EarlierEdit(ofRefused: write, state)?.purpose(state, as: item.id)
    {
      purpose = typed
    }
    guard purpose.kind.isEditable else {
      return "nothing was typed for it: do it again where it was done"
    }
    if case .send(let view, let text, _) = purpose, !state.tabs.lists[view].line.draft.isEmpty,
      state.tabs.lists[view].line.draft != text
    {
      return "another draft is in the line of this view: send it first"
    }
    return nil
  }

  /// The reason why what a write wrote cannot be copied, or nil if it can, or no queue is in front.
  static func reasonNothingToCopy(_ state: AppState) -> String? {
    guard queueInFront(state) != nil else { return nil }
    guard refusedAtHand(state) != nil || pendingAtHand(state) != nil else {
      return "move to a write to copy what it wrote"
    }
    return QueueScreen.written(state).isEmpty ? "it wrote no value" : nil
  }

  /// The reason why nothing can be compared, or nil if something can.
  static func reasonNotCompared(_ state: AppState) -> String? {
    guard queueInFront(state) != nil else {
      return CompareScreen.draftAtHand(state) == nil ? "nothing to compare" : nil
    }
    if let item = refusedAtHand(state) {
      if QueueScreen.comparison(state, item) != nil { return nil }
      if item.write == nil {
        return state.phrase("there is nothing to compare it with", .syncEdit, "edits it again")
      }
      return state.phrase("it wrote in several places", .rowOpen, "shows them")
    }
    return state.writes.queue.refused.isEmpty
      ? "nothing was refused" : "move to a refused write to compare it"
  }
}
