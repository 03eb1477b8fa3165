import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The commands of the queue of writes.
enum QueueCommands {
  static let table = CommandTable(.queue, "With this write", takesCounts: true, hints: hints) {
    Command(
      .rowOpen, "in full", "show all of the write, or no longer", keys: ["Enter", "l", "Right"],
      disabled: { $0.reasonQueuedNotShown }
    ) { state, _ in state.toggleQueued() }
    SharedCommands.compare.inner("compare", "compare with what others wrote", keys: ["c"])
    Command(
      .syncEdit, "edit again", "edit it again, with what was typed", keys: ["e"],
      disabled: { $0.reasonQueuedNotEdited }
    ) { state, _ in state.editQueued() }
    Command(
      .syncRetry, "again", "try the write again, as it was", keys: ["r"],
      disabled: { $0.reasonNotRetried }
    ) { state, _ in state.retryQueued() }
    Command(
      .syncDrop, "drop", "drop the write…", keys: ["d", "Del"],
      disabled: { $0.reasonQueuedNotDropped }
    ) { state, _ in state.confirmDrop() }
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

extension AppState {
  private static let isNoRecord = "it is no record: correct it where it was copied, and paste again"

  /// The open queue.
  private var queueInFront: QueueScreen? {
    if case .queue(let screen)? = layers.last { screen } else { nil }
  }

  /// The refused write under the cursor of the queue.
  private var refusedAtHand: WriteQueue.Refused? { queueInFront?.cursorWrite(in: queue) }

  /// The write under the cursor of the queue that waits for the origin.
  private var pendingAtHand: PendingWrite? { queueInFront?.cursorPending(in: queue) }

  /// The reason why there is no refused write to do something with; nil if there is.
  private func reasonNotRefused(_ deed: String) -> String? {
    if refusedAtHand != nil { return nil }
    if pendingAtHand != nil { return "it was not refused: it waits for the origin" }
    return queue.refused.isEmpty ? "nothing was refused" : "move to a refused write to \(deed)"
  }

  var reasonQueuedNotShown: String? {
    pendingAtHand == nil ? reasonNotRefused("see all of it") : nil
  }

  var reasonQueuedNotEdited: String? {
    reasonNotRefused("edit it again") ?? reasonReadOnly ?? reasonTriedAgain ?? reasonNotTypedAgain
  }

  var reasonQueuedNotDropped: String? {
    pendingAtHand.map(reasonNotDropped) ?? reasonNotRefused("drop it") ?? reasonTriedAgain
  }

  /// The reason why a write that waits for the origin is not dropped; nil if it may be.
  func reasonNotDropped(_ write: PendingWrite) -> String? {
    write.isDurable ? reasonReadOnly : "a transaction wrote it, and takes it back when it ends"
  }

  /// The reason why no refused write is tried again; nil if one may be.
  var reasonNotRetried: String? {
    if let reason = reasonNotRefused("try it again") { return reason }
    guard let item = refusedAtHand else { return nil }
    if item.draft != nil { return phrase("others wrote there", .recordCompare, "compares") }
    if item.request == nil { return AppState.isNoRecord }
    return reasonReadOnly ?? reasonTriedAgain
  }

  /// The reason why nothing is done with a refused write while it is tried again; nil if it is not.
  private var reasonTriedAgain: String? {
    guard let item = refusedAtHand, queue.isTriedAgain(item, requests.writes) else { return nil }
    return "it is being tried again: wait for the answer"
  }

  private var reasonNotTypedAgain: String? {
    guard let item = refusedAtHand else { return nil }
    if case .pasted(let pasted) = item.purpose, pasted.row == nil { return AppState.isNoRecord }
    guard item.purpose.isEditable else {
      return "nothing was typed for it: do it again where it was done"
    }
    if case .send(let view, let text, _) = item.purpose, !lists[view].draft.isEmpty,
      lists[view].draft != text
    {
      return "another draft is in the line of this view: send it first"
    }
    return nil
  }

  /// The reason why nothing is compared; nil if something is.
  var reasonNotCompared: String? {
    guard queueInFront != nil else { return draftAtHand == nil ? "nothing to compare" : nil }
    if let item = refusedAtHand {
      return item.draft == nil
        ? phrase("others did not write there", .syncEdit, "edits it again") : nil
    }
    return queue.refused.isEmpty ? "nothing was refused" : "move to a refused write to compare it"
  }
}
