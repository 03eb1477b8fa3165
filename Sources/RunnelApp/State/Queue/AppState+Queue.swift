import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The queue of writes as a layer.

extension AppState {
  mutating func openQueue() {
    if case .queue? = layers.last { return }
    var screen = QueueScreen()
    screen.rebuild(queue, now: now, height: height)
    layers.append(.queue(screen))
  }

  /// An open queue shows what it holds now.
  mutating func refreshQueue() {
    for (index, layer) in layers.enumerated() {
      guard case .queue(var screen) = layer else { continue }
      screen.rebuild(queue, now: now, height: height)
      layers[index] = .queue(screen)
    }
  }

  /// What was typed for values and is not on disk yet, by their places.
  ///
  /// O(n) in the writes that are under way.
  var waitingValues: [Path: WaitingValue] {
    var values: [Path: WaitingValue] = [:]
    if requests.writes.isEmpty { return values }
    // Those of records that are deleted or imported together may be many.
    let typed = requests.writes.filter { !$0.value.isOneOfMany }
    for (id, purpose) in typed.sorted(by: { $0.key < $1.key }) {
      guard let since = queue.waiting[id]?.since else { continue }
      for (path, text) in purpose.typedValues {
        let isLate = now - since >= WriteQueue.silentMilliseconds
        values[path] = WaitingValue(text: text, isLate: isLate)
      }
    }
    return values
  }

  /// When an age in an open queue comes to read differently; nil if none does.
  var queueDue: Int64? {
    layers.lazy.compactMap { if case .queue(let screen) = $0 { screen.due } else { nil } }.min()
  }

  /// Shows all of the write under the cursor, or no longer.
  mutating func toggleQueued() {
    guard case .queue(var screen)? = layers.last else { return }
    if let write = screen.cursorPending(in: queue) {
      if screen.openedPending.remove(write.id) == nil {
        screen.openedPending.insert(write.id)
      } else {
        let row = QueueScreen.row(of: write)
        _ = screen.list.moveTo(.row(row), in: screen.content, height: height)
      }
    } else {
      guard let item = screen.cursorWrite(in: queue) else { return }
      if screen.opened.remove(item.id) == nil {
        screen.opened.insert(item.id)
      } else {
        _ = screen.list.moveTo(.row("\(item.id)"), in: screen.content, height: height)
      }
    }
    screen.rebuild(queue, now: now, height: height)
    layers[layers.count - 1] = .queue(screen)
  }

  /// Goes on with what was typed for a refused write.
  mutating func editQueued() {
    guard case .queue(let screen)? = layers.last, let item = screen.cursorWrite(in: queue) else {
      return
    }
    closeLayer()
    if case .pasted(let pasted) = item.purpose { return editAgain(pasted, item) }
    putBack(item.purpose, item.refusal)
  }

  /// Gives back what was typed for a write, where it was typed.
  private mutating func putBack(_ purpose: WritePurpose, _ refusal: Refusal) {
    switch purpose {
    case .form(let form): reopen(form, refusal)
    case .edit(let path, let edit):
      if !reopen(edit, inRecord: path, refusal) {
        say(.warning, phrase("finish first what is typed here · it is kept", .syncOpen, "lists it"))
      }
    case .editOutside(let edit, let text): reopen(edit, text, refusal)
    case .send(let view, let text, _):
      open(view)
      lists[view].draft = text
      openComposer()
    case .delete, .deleteMarked, .importRow, .pasted, .duplicate, .toggle, .undo, .reversal, .merge:
      break
    }
  }

  /// Asks for a refused write again, as it was.
  mutating func retryQueued() {
    guard case .queue(let screen)? = layers.last, let item = screen.cursorWrite(in: queue),
      let request = item.request
    else { return }
    var purpose = item.purpose
    // It is none of those that are deleted just now.
    if case .deleteMarked(let path) = purpose { purpose = .delete(path) }
    submit(purpose, request)
    refreshQueue()
    say(.info, "it is tried again")
  }

  /// On a replica other writes wait for the origin than before.
  mutating func take(pending: [PendingWrite]) {
    queue.pending = pending
    refreshQueue()
  }

  /// Asks whether the write under the cursor is dropped.
  mutating func confirmDrop() {
    guard case .queue(let screen)? = layers.last else { return }
    if let write = screen.cursorPending(in: queue) { return confirmDrop(write) }
    guard let item = screen.cursorWrite(in: queue) else { return }
    let dialog = ConfirmDialog(
      title: "Drop the write",
      message: [StyledLine(item.title), StyledLine("what was typed for it is lost", .warn)],
      hints: [], isDanger: true)
    var question = ConfirmScreen(dialog: dialog, openedAt: now)
    question.drops = item.id
    question.explanation = [
      StyledLine(item.refusal.message, .muted),
      StyledLine("Nothing that is stored changes: it was never written.", .muted),
    ]
    offer("drop", "keep", in: &question)
    layers.append(.confirm(question))
  }

  private mutating func confirmDrop(_ write: PendingWrite) {
    let dialog = ConfirmDialog(
      title: "Drop the write",
      message: [
        StyledLine(PendingText.deed(of: write)),
        StyledLine("what it wrote is taken back here, and not asked for at the origin", .warn),
        StyledLine("if the origin has done it by now, that shows again", .muted),
      ],
      hints: [], isDanger: true)
    var question = ConfirmScreen(dialog: dialog, openedAt: now)
    question.dropsPending = write.id
    question.explanation = PendingText.detail(of: write)
    offer("drop", "keep", in: &question)
    layers.append(.confirm(question))
  }

  /// Gives up a write that waits for the origin.
  mutating func drop(pending id: Int64) {
    if refusesWriting() { return }
    ask(.dropPending(id), for: .dropPending)
    say(.info, "dropping the write")
  }

  /// Drops a refused write.
  mutating func drop(_ id: RequestID) {
    queue.drop(id)
    refreshQueue()
    say(.info, "dropped")
  }
}

/// What was typed for a value whose write is under way.
struct WaitingValue: Hashable, Sendable {
  var text: String
  /// True if it takes so long that it is worth a word.
  var isLate: Bool
}

extension AppState.WritePurpose {
  /// What was typed for values that are there, by their places.
  fileprivate var typedValues: [(path: Path, text: String)] {
    switch self {
    case .edit(let record, let edit):
      return [(Path(unchecked: record.keys + edit.field.keys), edit.input.editor.text)]
    case .form(let form):
      switch form.purpose {
      case .setLeaf(let path, _): return [(path, form.fields[0].input.editor.text)]
      case .editResource(let record, let original):
        return form.fields.compactMap { field in
          let text = field.input.editor.text
          let old = FieldKind.text(of: original[field.path.text] ?? .null)
          return text == old ? nil : (Path(unchecked: record.keys + field.path.keys), text)
        }
      default: return []
      }
    default: return []
    }
  }
}
