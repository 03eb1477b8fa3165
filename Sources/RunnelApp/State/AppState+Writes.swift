import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// What becomes of writes: what was typed is let go only when it is on disk.

extension AppState {
  // MARK: Answers

  /// An operation on a resource was carried out.
  mutating func finish(_ id: RequestID, _ purpose: WritePurpose, _ performed: Performed) {
    let parts = UndoHistory.parts(of: performed.changes)
    switch (purpose, performed.kind) {
    case (.reversal, _): return endReversal(of: id, done: parts ?? [])
    case (.toggle, .create?): say(.info, "added your `\(performed.resource)`")
    case (.toggle, .destroy?): say(.info, "took your `\(performed.resource)` back")
    case (.undo, let kind?): say(.info, AppState.words(undoneBy: kind, performed))
    default: break
    }
    if performed.kind == nil {
      undoing.drop(id)
    } else {
      undoing.finish(id, parts, title: performed.deed)
    }
    finish(id, purpose, key: performed.kind == .create ? performed.path.lastKey : nil)
  }

  /// A write that is no operation is on disk; its entry of the history is nil if that did not keep it.
  mutating func finish(
    _ id: RequestID, _ purpose: WritePurpose, key: RunnelTree.Key?, entry: Int64?
  ) {
    if purpose == .reversal {
      return endReversal(of: id, done: entry.map { [.entry($0)] } ?? [])
    }
    undoing.finish(id, entry: entry)
    finish(id, purpose, key: key)
  }

  private static func words(undoneBy kind: ResourceChangeKind, _ performed: Performed) -> String {
    switch kind {
    case .create: "taken back: \(performed.path) is there again"
    case .update: "taken back: \(performed.path) is as it was"
    case .destroy: "taken back: \(performed.path) is gone"
    }
  }

  /// What a write was for goes on, now that it is on disk.
  private mutating func finish(_ id: RequestID, _ purpose: WritePurpose, key: RunnelTree.Key?) {
    let isUntouched = self.isUntouched(sinceWrite: id)
    queue.finish(id, purpose)
    refreshQueue()
    switch purpose {
    case .edit: say(.info, "saved")
    case .delete: say(.info, "deleted")
    case .deleteMarked(let path): noteDeletion(of: path)
    case .importRow(let index): noteImport(of: index)
    case .editOutside: say(.info, "saved")
    case .pasted: say(.info, "added")
    case .merge(let draft, _): finish(draft)
    case .form(let form): finish(form, key: key, goesThere: isUntouched)
    case .send(let view, _, _): finishSending(id, key, inView: view)
    case .duplicate(let path):
      if let key { goToCopy(of: path, key, goesThere: isUntouched) }
    case .toggle, .undo, .reversal: break
    }
  }

  /// A form was written; the cursor goes to what is new unless the user does something else by now.
  private mutating func finish(_ form: FormScreen, key: RunnelTree.Key?, goesThere: Bool) {
    if let pasted = form.pasted { queue.drop(pasted) }
    refreshQueue()
    switch form.purpose {
    case .setLeaf, .editResource: say(.info, "saved")
    case .choose: break
    case .addChild, .addField, .addResource(_, _, view: nil): say(.info, "added")
    case .export, .importFile: break
    case .addRecord(let view), .addResource(_, _, let view?):
      say(.info, "added")
      if let key, goesThere { goTo(key, inView: view) }
    }
  }

  /// Goes to a row that was just written; says where it is if it cannot be shown.
  mutating func goTo(_ key: RunnelTree.Key, inView view: Int) {
    let screen = lists[view]
    let id = Path(unchecked: screen.definition.source.path.keys + [key]).description
    if lists[view].list.moveTo(.row(id), in: screen.content, height: height) { return }
    if screen.content.indexPath(ofRow: id) == nil {
      say(.info, "added: it is among the rows that are not loaded")
    } else {
      say(.info, "added: it is in a folded section")
    }
  }

  /// Goes to a record that was just made beside another one, if it is shown.
  private mutating func goToCopy(of path: Path, _ key: RunnelTree.Key, goesThere: Bool) {
    guard let parent = path.parent else { return }
    let copy = Path(unchecked: parent.keys + [key])
    if !goesThere {
      // The user does something else by now.
    } else if isTree {
      _ = tree.list.moveTo(.row(copy.description), in: tree.content, height: height)
    } else if lists[active].definition.source.path == parent {
      withList { list, content, height in
        _ = list.moveTo(.row(Record.key(of: copy)), in: content, height: height)
      }
    }
    say(.info, "duplicated \(path) as \(key)")
  }

  // MARK: Refusals

  /// A write was refused: what was typed is given back, with the reason.
  mutating func fail(_ id: RequestID, _ purpose: WritePurpose, _ refusal: Refusal) {
    say(.error, refusal.message)
    let isUntouched = self.isUntouched(sinceWrite: id)
    undoing.drop(id)
    if keep(id, purpose, refusal, isUntouched: isUntouched) { return }
    switch purpose {
    case .send(let view, let text, let attempt):
      giveBack(text, attempt, inView: view, refusal.message)
    // Whoever does something else by now is not interrupted, and no key goes into what is not for it.
    case .edit where !isUntouched, .form where !isUntouched, .editOutside where !isUntouched:
      sayKept(refusal)
    case .edit(let path, let edit):
      let isThere = layers.contains {
        if case .record(let screen) = $0 { screen.path == path } else { false }
      }
      if !(isThere || layers.isEmpty) || !reopen(edit, inRecord: path, refusal) { sayKept(refusal) }
    case .form(let form): reopen(form, refusal)
    case .deleteMarked(let path): noteFailure(toDelete: path, refusal)
    case .importRow(let index): noteImport(of: index, refusal.message)
    case .editOutside(let edit, let text): reopen(edit, text, refusal)
    case .reversal: failReversal(of: id, refusal)
    case .delete, .toggle, .undo, .duplicate, .merge, .pasted: break
    }
  }

  /// Says that a write was refused, and where what was typed for it is.
  mutating func sayKept(_ refusal: Refusal) {
    say(.error, phrase("\(refusal.message) · what was typed is kept", .syncOpen, "lists it"))
  }

  /// Keeps a refused write in the queue; true if it is compared with what others wrote, which is then
  /// being read.
  private mutating func keep(
    _ id: RequestID, _ purpose: WritePurpose, _ refusal: Refusal, isUntouched: Bool
  ) -> Bool {
    switch purpose {
    case .reversal: return false
    // The rows of an import that are refused go to a file.
    case .undo, .toggle, .importRow:
      queue.end(id)
      return false
    case .form(let form):
      // What was typed takes the place of what was pasted.
      if let pasted = form.pasted { queue.drop(pasted) }
    case .edit, .send, .delete, .deleteMarked, .duplicate, .editOutside, .merge, .pasted: break
    }
    var draft = refusal.cause == .outdated ? draft(of: purpose) : nil
    draft?.queued = id
    // A merge is all that is left to be done of the write that it was made for.
    if case .merge(let merged, _) = purpose, let before = merged.queued { queue.drop(before) }
    queue.refuse(id, purpose, refusal, draft, at: now)
    refreshQueue()
    guard let draft else { return false }
    if isUntouched { compare(draft, isAsked: false) } else { sayKept(draft) }
    return true
  }

  /// Goes on with an edit that was refused, in its record; false if something else is typed there.
  mutating func reopen(
    _ edit: RecordScreen.Edit, inRecord path: Path, _ refusal: Refusal
  ) -> Bool {
    var edit = edit
    edit.input.error = refusal.message(of: edit.field) ?? refusal.message
    for (index, layer) in layers.enumerated() {
      guard case .record(var screen) = layer, screen.path == path else { continue }
      if screen.edit != nil { return false }
      screen.reading = nil
      screen.start(.edit(edit), height: height)
      layers[index] = .record(screen)
      readChoices(of: [edit.input])
      return true
    }
    open(record: path, .edit(edit))
    return true
  }

  mutating func reopen(_ form: FormScreen, _ refusal: Refusal) {
    var form = form
    form.take(refusal)
    defer { readChoices(of: form.fields.map(\.input)) }
    switch layers.last {
    case .confirm, .form, .compose, .filter, .search, .palette, .menu:
      // Keys that are meant for another field do not go into this one.
      layers.insert(.form(form), at: layers.count - 1)
    case .record(let screen) where screen.edit != nil:
      layers.insert(.form(form), at: layers.count - 1)
    case .record, .help, .debug, .history, .compare, .queue, nil: layers.append(.form(form))
    }
  }
}
