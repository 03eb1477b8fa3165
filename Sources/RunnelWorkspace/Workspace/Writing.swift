import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// What becomes of writes: what was typed is let go only when it is on disk.

/// Handles the answers to writes.
enum Writing {
  // MARK: Answers

  /// An operation on a resource was carried out.
  static func finish(
    _ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose, _ performed: Performed
  ) {
    let parts = UndoHistory.parts(of: performed.changes)
    switch (purpose, performed.kind) {
    case (.reversal, _): return UndoHistory.endReversal(&state, of: id, done: parts ?? [])
    case (.toggle, .create?): state.say(.info, "added your `\(performed.resource)`")
    case (.toggle, .destroy?): state.say(.info, "took your `\(performed.resource)` back")
    case (.undo, let kind?): state.say(.info, words(undoneBy: kind, performed))
    default: break
    }
    if performed.kind == nil {
      state.writes.undoing.drop(id)
    } else {
      state.writes.undoing.finish(id, parts, title: performed.deed)
    }
    finish(&state, id, purpose, key: performed.kind == .create ? performed.path.lastKey : nil)
  }

  /// A write that is no operation is on disk; its entry of the history is nil if that did not keep it.
  static func finish(
    _ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose, key: RunnelTree.Key?,
    entry: Int64?
  ) {
    if purpose == .reversal {
      return UndoHistory.endReversal(&state, of: id, done: entry.map { [.entry($0)] } ?? [])
    }
    state.writes.undoing.finish(id, entry: entry)
    finish(&state, id, purpose, key: key)
  }

  private static func words(undoneBy kind: ResourceChangeKind, _ performed: Performed) -> String {
    switch kind {
    case .create: "taken back: \(performed.path) is there again"
    case .update: "taken back: \(performed.path) is as it was"
    case .destroy: "taken back: \(performed.path) is gone"
    }
  }

  /// What a write was for goes on, now that it is on disk.
  private static func finish(
    _ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose, key: RunnelTree.Key?
  ) {
    let isUntouched = TypeAhead.isUntouched(state, sinceWrite: id)
    state.writes.queue.finish(id, purpose)
    QueueScreen.refreshQueue(&state)
    switch purpose {
    case .edit: state.say(.info, "saved")
    case .delete: state.say(.info, "deleted")
    case .deleteMarked(let path): Deleting.noteDeletion(&state, of: path)
    case .importRow(let index): Importing.noteImport(&state, of: index)
    case .editOutside: state.say(.info, "saved")
    case .pasted: state.say(.info, "added")
    case .merge(let draft, _): CompareScreen.finish(&state, draft)
    case .form(let form): finish(&state, form, key: key, goesThere: isUntouched)
    case .send(let view, _, _): ComposeScreen.finishSending(&state, id, key, inView: view)
    case .duplicate(let path):
      if let key { goToCopy(&state, of: path, key, goesThere: isUntouched) }
    case .toggle, .undo, .reversal: break
    }
  }

  /// A form was written; the cursor goes to what is new unless the user does something else by now.
  private static func finish(
    _ state: inout AppState, _ form: FormScreen, key: RunnelTree.Key?, goesThere: Bool
  ) {
    if let pasted = form.pasted { state.writes.queue.drop(pasted) }
    QueueScreen.refreshQueue(&state)
    switch form.purpose {
    case .setLeaf, .editResource: state.say(.info, "saved")
    case .choose: break
    case .addChild, .addField, .addResource(_, _, view: nil): state.say(.info, "added")
    case .export, .importFile: break
    case .addRecord(let view), .addResource(_, _, let view?):
      state.say(.info, "added")
      if let key, goesThere { goTo(&state, key, inView: view) }
    }
  }

  /// Goes to a row that was just written; says where it is if it cannot be shown.
  static func goTo(_ state: inout AppState, _ key: RunnelTree.Key, inView view: Int) {
    let screen = state.tabs.lists[view]
    let id = Path(unchecked: screen.definition.source.path.keys + [key]).description
    if state.tabs.lists[view].list.moveTo(.row(id), in: screen.content, height: state.height) {
      return
    }
    if screen.content.indexPath(ofRow: id) == nil {
      state.say(.info, "added: it is among the rows that are not loaded")
    } else {
      state.say(.info, "added: it is in a folded section")
    }
  }

  /// Goes to a record that was just made beside another one, if it is shown.
  private static func goToCopy(
    _ state: inout AppState, of path: Path, _ key: RunnelTree.Key, goesThere: Bool
  ) {
    guard let parent = path.parent else { return }
    let copy = Path(unchecked: parent.keys + [key])
    if !goesThere {
      // The user does something else by now.
    } else if state.tabs.isTree {
      _ = state.tabs.tree.list.moveTo(
        .row(copy.description), in: state.tabs.tree.content, height: state.height)
    } else if state.tabs.front.definition.source.path == parent {
      state.withList { list, content, height in
        _ = list.moveTo(.row(Record.id(of: copy)), in: content, height: height)
      }
    }
    state.say(.info, "duplicated \(path) as \(key)")
  }

  // MARK: Refusals

  /// A write was refused: what was typed is given back, with the reason.
  static func fail(
    _ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose, _ refusal: Refusal
  ) {
    state.say(.error, refusal.message)
    let isUntouched = TypeAhead.isUntouched(state, sinceWrite: id)
    state.writes.undoing.drop(id)
    if keep(&state, id, purpose, refusal, isUntouched: isUntouched) { return }
    switch purpose {
    case .send(let view, let text, let attempt):
      ComposeScreen.giveBack(&state, id, text, attempt, inView: view, refusal.message)
    // Whoever does something else by now is not interrupted, and no key goes into what is not for it.
    case .edit where !isUntouched, .form where !isUntouched, .editOutside where !isUntouched:
      sayKept(&state, refusal)
    case .edit(let path, let edit):
      let isThere = state.layers.contains {
        if case .record(let screen) = $0 { screen.path == path } else { false }
      }
      if !(isThere || state.layers.isEmpty) || !reopen(&state, edit, inRecord: path, refusal) {
        sayKept(&state, refusal)
      }
    case .form(let form): reopen(&state, form, refusal)
    case .deleteMarked(let path): Deleting.noteFailure(&state, toDelete: path, refusal)
    case .importRow(let index): Importing.noteImport(&state, of: index, refusal.message)
    case .editOutside(let edit, let text): OutsideEdit.reopen(&state, edit, text, refusal)
    case .reversal: UndoHistory.failReversal(&state, of: id, refusal)
    case .delete, .toggle, .undo, .duplicate, .merge, .pasted: break
    }
  }

  /// Says that a write was refused, and where what was typed for it is.
  static func sayKept(_ state: inout AppState, _ refusal: Refusal) {
    state.say(
      .error, state.phrase("\(refusal.message) · what was typed is kept", .syncOpen, "lists it"))
  }

  /// Keeps a refused write in the queue; true if it is compared with what others wrote, which is then
  /// being read.
  private static func keep(
    _ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose, _ refusal: Refusal,
    isUntouched: Bool
  ) -> Bool {
    switch purpose {
    case .reversal: return false
    // The rows of an import that are refused go to a file.
    case .undo, .toggle, .importRow:
      state.writes.queue.end(id)
      return false
    case .form(let form):
      // What was typed takes the place of what was pasted.
      if let pasted = form.pasted { state.writes.queue.drop(pasted) }
    case .edit, .send, .delete, .deleteMarked, .duplicate, .editOutside, .merge, .pasted: break
    }
    var draft = refusal.cause == .outdated ? CompareScreen.draft(state, of: purpose) : nil
    draft?.queued = id
    // A merge is all that is left to be done of the write that it was made for.
    if case .merge(let merged, _) = purpose, let before = merged.queued {
      state.writes.queue.drop(before)
    }
    state.writes.queue.refuse(id, purpose, refusal, draft, at: state.now)
    QueueScreen.refreshQueue(&state)
    guard let draft else { return false }
    if isUntouched {
      CompareScreen.compare(&state, draft, isAsked: false)
    } else {
      CompareScreen.sayKeptDraft(&state, draft)
    }
    return true
  }

  /// Goes on with an edit that was refused, in its record; false if something else is typed there.
  static func reopen(
    _ state: inout AppState, _ edit: RecordScreen.Edit, inRecord path: Path, _ refusal: Refusal
  ) -> Bool {
    var edit = edit
    edit.input.error = refusal.message(of: edit.field) ?? refusal.message
    for (index, layer) in state.layers.enumerated() {
      guard case .record(var screen) = layer, screen.path == path else { continue }
      if screen.edit != nil { return false }
      screen.reading = nil
      screen.start(.edit(edit), height: state.height)
      state.layers[index] = .record(screen)
      ResourceCommands.readChoices(&state, of: [edit.input])
      return true
    }
    ListScreen.open(&state, record: path, .edit(edit))
    return true
  }

  static func reopen(_ state: inout AppState, _ form: FormScreen, _ refusal: Refusal) {
    var form = form
    form.take(refusal)
    defer { ResourceCommands.readChoices(&state, of: form.fields.map(\.input)) }
    // Keys that are meant for another field do not go into this one.
    state.layers.insert(
      .form(form), at: state.isPageInFront ? state.layers.count : state.layers.count - 1)
  }
}
