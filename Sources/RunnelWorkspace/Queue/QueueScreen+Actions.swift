import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The queue of writes as a layer.

extension QueueScreen {
  /// Whether the queue is on the screen.
  package static func isListed(_ state: AppState) -> Bool {
    state.layers.contains { if case .queue = $0 { true } else { false } }
  }

  static func openQueue(_ state: inout AppState) {
    if case .queue? = state.layers.last { return }
    var screen = QueueScreen()
    screen.coding = state.database.coding
    screen.note(state)
    screen.rebuild(state.writes.queue, now: state.now, height: state.height)
    state.layers.append(.queue(screen))
  }

  /// Notes what is said beside the writes: of other accounts, and of texts that were not sent.
  private mutating func note(_ state: AppState) {
    let waiting = WaitingWrites(state)
    (wordsOnDrafts, others) = (QueueScreen.wordsOnDrafts(state), waiting.lines(state))
    emptyText = others.isEmpty ? "nothing waits, and nothing was refused" : waiting.emptyText
  }

  /// Words about the texts that were typed in the lines of lists and not stored, such as those that were
  /// refused before the program was killed.
  private static func wordsOnDrafts(_ state: AppState) -> String {
    let count =
      state.writes.drafts.all.count { $0.subject.kind == .message }
      + state.tabs.lists.count { !$0.line.draft.isEmpty }
    if count == 0 { return "" }
    let texts = count == 1 ? "1 unsent text" : "\(count) unsent texts"
    let offers = count == 1 ? "offers it" : "offers them"
    return " · \(texts)" + KeyText.listKeys(state).hint(.recordAdd, offers, after: ": ")
  }

  /// Brings open queues up to date.
  static func refreshQueue(_ state: inout AppState) {
    for (index, layer) in state.layers.enumerated() {
      guard case .queue(var screen) = layer else { continue }
      screen.note(state)
      screen.coding = state.database.coding
      screen.rebuild(state.writes.queue, now: state.now, height: state.height)
      state.layers[index] = .queue(screen)
    }
  }

  /// Returns the typed values that are not on disk yet, by place.
  ///
  /// O(n) in the writes under way.
  static func waitingValues(_ state: AppState) -> [Path: WaitingValue] {
    var values: [Path: WaitingValue] = [:]
    if state.requests.writes.isEmpty { return values }
    // The writes of records that are deleted or imported together may be many.
    let typed = state.requests.writes.filter { !$0.value.kind.isOneOfMany }
    for (id, purpose) in typed.sorted(by: { $0.key < $1.key }) {
      guard let since = state.writes.queue.waiting[id]?.since else { continue }
      for (path, text) in purpose.kind.typedValues {
        let isLate = state.now - since >= WriteQueue.silentMilliseconds
        values[path] = WaitingValue(text: text, isLate: isLate)
      }
    }
    return values
  }

  /// Returns the time when an age in an open queue changes its text, or nil if none does.
  static func queueDue(_ state: AppState) -> Int64? {
    state.layers.lazy.compactMap { if case .queue(let screen) = $0 { screen.due } else { nil } }
      .min()
  }

  /// Shows the write under the cursor in full, or closes it again.
  static func toggleQueued(_ state: inout AppState) {
    guard case .queue(var screen)? = state.layers.last else { return }
    if let write = screen.cursorPending(in: state.writes.queue) {
      if screen.openedPending.remove(write.id) == nil {
        screen.openedPending.insert(write.id)
      } else {
        let row = QueueScreen.row(of: write)
        _ = screen.list.moveTo(.row(row), in: screen.content, height: state.height)
      }
    } else {
      guard let item = screen.cursorWrite(in: state.writes.queue) else { return }
      if screen.opened.remove(item.id) == nil {
        screen.opened.insert(item.id)
      } else {
        _ = screen.list.moveTo(.row("\(item.id)"), in: screen.content, height: state.height)
      }
    }
    screen.rebuild(state.writes.queue, now: state.now, height: state.height)
    state.layers[state.layers.count - 1] = .queue(screen)
  }

  /// Opens the typed text of a refused write again.
  static func editQueued(_ state: inout AppState) {
    guard case .queue(let screen)? = state.layers.last,
      var item = screen.cursorWrite(in: state.writes.queue)
    else {
      return
    }
    if case .earlier(let write) = item.purpose {
      guard let purpose = EarlierEdit(ofRefused: write, state)?.purpose(state, as: item.id)
      else { return }
      item.purpose = purpose
    }
    // What is typed now replaces the refused write.
    state.writes.queue.reword(item.id, as: item.purpose)
    state.closeLayer()
    item.purpose.kind.editAgain(&state, item)
  }

  /// Requests a refused write again, unchanged.
  static func retryQueued(_ state: inout AppState) {
    guard case .queue(let screen)? = state.layers.last else { return }
    if let write = screen.cursorPending(in: state.writes.queue) {
      state.effects.append(.sendAgain(write.id))
      return state.say(.info, "it is sent again")
    }
    guard let item = screen.cursorWrite(in: state.writes.queue),
      var request = item.requestAgain(RefusedRecord(item.write, state))
    else { return }
    var purpose = item.purpose
    // It is sent only if no other window has sent or dropped it.
    if let write = item.write { request = .taking([write.id], isRequired: true, request) }
    // The write is not one of a deletion under way any more.
    if case .deleteMarked(let paths) = purpose, paths.count == 1 { purpose = .delete(paths[0]) }
    ComposeScreen.forgetDraft(&state, of: purpose)
    state.writes.queue.endEdit(purpose)
    UndoHistory.joining(purpose.kind.title ?? request.deed, &state) { state in
      for request in item.others + [request] { state.submit(purpose, request) }
    }
    refreshQueue(&state)
    state.say(.info, "it is tried again")
  }

  /// Takes the writes of a replica that wait for the origin, after they have changed.
  static func take(_ state: inout AppState, pending: [PendingWrite]) {
    let replaced = Overwriting.conflicts(of: pending, before: state.writes.queue.pending)
    state.writes.queue.pending = pending
    refreshQueue(&state)
    ListScreen.replaceSent(&state)
    ListScreen.endAwaiting(&state)
    Overwriting.tell(&state, replaced)
  }

  /// Keeps a write that the origin refused among the refused ones, and shows the reason.
  ///
  /// Nothing was typed for it here, or it was dropped when the write was on disk: so the write itself is
  /// kept, to be seen and tried again. The replica's file keeps it, too; see `WriteQueue.take(_:newID:)`.
  static func take(_ state: inout AppState, rejected id: Int64, _ reason: String) {
    if let write = state.writes.queue.pending.first(where: { $0.id == id }), write.isDurable {
      state.writes.undoing.noteRefusal(of: write)
      state.writes.queue.keep(write, as: state.requests.newID(), reason, at: state.now)
      state.writes.queue.pending.removeAll { $0.id == id }
      refreshQueue(&state)
      if SentField.take(&state, rejected: write, reason) { return }
    } else if !state.writes.queue.refused.contains(where: { $0.write?.id == id }) {
      // The file may have told of it before.
      return state.say(.error, reason)
    }
    tell(&state, rejected: reason)
  }

  /// Tells that a write was refused; of several, one message tells how many, and why the last one was.
  private static func tell(_ state: inout AppState, rejected reason: String) {
    // Refusals of a message that is still shown are counted in it: each alone could not be read.
    let count = (state.toast?.refusalCount ?? 0) + 1
    defer { state.toast?.refusalCount = count }
    let (words, them, sent) =
      count == 1
      ? (reason, "lists the write", "what was sent is kept")
      : ("\(count) writes were refused", "lists them", "they are kept")
    let last = count == 1 ? "" : " · the last one: \(reason)"
    let told = state.phrase(words, .syncOpen, them)
    if told != words { return state.say(.error, told + last) }
    // While something is typed, the key is a letter.
    let later = KeyText.listKeys(state)
      .hint(
        .syncOpen, "in the list shows \(count == 1 ? "it" : "them")", after: " · \(sent): ")
    state.say(.error, words.withoutFullStop + later + last)
  }

  /// Asks whether to drop the write under the cursor.
  static func confirmDrop(_ state: inout AppState) {
    guard case .queue(let screen)? = state.layers.last else { return }
    if let write = screen.cursorPending(in: state.writes.queue) {
      return confirmDrop(&state, write)
    }
    guard let item = screen.cursorWrite(in: state.writes.queue) else { return }
    let question = Question(
      .dropRefused(item.id), title: "Drop the write",
      message: [
        StyledLine(item.title(state.database.coding)),
        StyledLine("what was typed for it is lost", .warn),
      ]
        + [item.write?.doneWords].compactMap(\.self).map { StyledLine($0, .muted) },
      explanation: [
        StyledLine(item.refusal.message, .muted),
        StyledLine(
          item.write?.doneWords == nil
            ? "Nothing that is stored changes: it was never written."
            : "Only the rest is dropped: it was never written.", .muted),
      ],
      openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "drop", no: "keep")
  }

  private static func confirmDrop(_ state: inout AppState, _ write: PendingWrite) {
    let question = Question(
      .dropPending(write.id), title: "Drop the write",
      message: [
        StyledLine(PendingText.deed(of: write, state.database.coding)),
        StyledLine("what it wrote is taken back here, and is not sent any more", .warn),
        StyledLine("if the origin has done it by now, that shows again", .muted),
      ] + [write.doneWords].compactMap(\.self).map { StyledLine($0, .muted) },
      explanation: PendingText.detail(of: write, state.database.coding),
      openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "drop", no: "keep")
  }

  /// Drops a write that waits for the origin.
  static func drop(_ state: inout AppState, pending id: Int64) {
    if state.refusesWriting() { return }
    state.ask(.dropPending(id), for: .dropPending)
    state.say(.info, "dropping the write")
  }
}

/// A typed value whose write is under way.
package struct WaitingValue: Hashable, Sendable {
  package var text: String
  /// Whether the write has taken long enough to be mentioned.
  var isLate: Bool
}

extension PendingWrite {
  /// Words about what the origin has done of the write before the rest was left; nil if that is nothing.
  var doneWords: String? {
    switch doneCount {
    case 0: nil
    case 1: "1 record of it was written before, and stays"
    default: "\(doneCount) records of it were written before, and stay"
    }
  }
}
