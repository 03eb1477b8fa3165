import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The ends of writes: typed text is dropped only after it is on disk.

/// Handles the answers to writes.
enum Writing {
  // MARK: Answers

  /// Ends a write by an operation that was carried out.
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
    ListScreen.noteOwn(&state, performed.changes.map(\.path))
    if performed.kind == nil {
      state.writes.undoing.drop(id)
    } else {
      state.writes.undoing.finish(id, parts, title: performed.deed)
    }
    finish(&state, id, purpose, key: performed.kind == .create ? performed.path.lastKey : nil)
  }

  /// Ends a write without an operation that is on disk; its entry of the history is nil if the
  /// history did not keep it.
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

  /// Continues after a write that is on disk, according to its purpose.
  private static func finish(
    _ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose, key: RunnelTree.Key?
  ) {
    let goesThere = TypeAhead.awaitsRow(state, ofWrite: id)
    let key = key ?? purpose.chosenKey
    ListScreen.noteOwn(&state, writtenRecords(state, purpose, key: key))
    state.writes.queue.finish(id, purpose)
    QueueScreen.refreshQueue(&state)
    switch purpose {
    case .edit(let path, _): state.say(.info, "saved\(wordsOnPlace(state, of: path))")
    case .delete: state.say(.info, "deleted")
    case .deleteMarked(let paths): Deleting.noteDeletion(&state, of: paths)
    case .importRows(let rows): Importing.noteImport(&state, of: rows)
    case .editOutside: state.say(.info, "saved")
    case .pasted: state.say(.info, "added")
    case .merge(let draft, _): CompareScreen.finish(&state, draft)
    case .form(let form): finish(&state, form, key: key, goesThere: goesThere)
    case .send(let view, _, _): ComposeScreen.finishSending(&state, id, key, inView: view)
    case .duplicate(let path):
      if let key { goToCopy(&state, of: path, key, goesThere: goesThere) }
    case .earlier: state.say(.info, "written")
    case .toggle, .reorder, .undo, .reversal: break
    }
  }

  /// Returns the places that a write changed, as far as its purpose tells them, with the new record
  /// if it added one.
  private static func writtenRecords(
    _ state: AppState, _ purpose: WritePurpose, key: RunnelTree.Key?
  ) -> [Path] {
    func added(to collection: Path?) -> [Path] {
      guard let key, let collection else { return [] }
      return [Path(unchecked: collection.keys + [key])]
    }
    switch purpose {
    case .edit(let record, _): return [record]
    case .editOutside(let edit, _): return [edit.path]
    case .send(let view, _, _): return added(to: state.tabs.lists[view].definition.source.path)
    case .duplicate(let path): return added(to: path.parent)
    case .reorder(let path): return [path]
    case .pasted(let pasted): return added(to: pasted.collection)
    case .merge(let draft, _): return [draft.path]
    case .form(let form):
      switch form.purpose {
      case .setLeaf(let path, _), .editResource(let path, _), .addField(let path): return [path]
      case .editField(_, let paths): return paths
      case .addRecord(let view): return added(to: state.tabs.lists[view].definition.source.path)
      case .addResource(_, let collection, _): return added(to: collection)
      case .addChild, .choose, .export, .importFile, .account, .renameDevice: return []
      }
    case .delete, .deleteMarked, .importRows, .toggle, .undo, .reversal, .earlier: return []
    }
  }

  /// The words that say why a record of the list in front has no row there after a write; empty if it
  /// has one, or belongs to another list.
  private static func wordsOnPlace(_ state: AppState, of path: Path) -> String {
    guard !state.tabs.isTree, state.tabs.front.definition.source.path == path.parent,
      state.tabs.front.phase == .loaded, !state.tabs.front.hasRow(Record.id(of: path))
    else { return "" }
    let screen = state.tabs.front
    if screen.filter != nil { return ": the filter hides the row now" }
    if screen.paging == .exhausted, !screen.isAway { return ": this view does not show it now" }
    return ": the row is now among those that are not loaded"
  }

  /// Ends the write of a form; the cursor goes to a new record unless the user has done something
  /// else.
  private static func finish(
    _ state: inout AppState, _ form: FormScreen, key: RunnelTree.Key?, goesThere: Bool
  ) {
    if let pasted = form.pasted { state.writes.queue.drop(pasted) }
    QueueScreen.refreshQueue(&state)
    switch form.purpose {
    case .setLeaf, .editResource: state.say(.info, "saved")
    case .editField(_, let paths):
      state.say(.info, "changed \(BulkEdit.words(paths.count))")
    case .choose: break
    case .addChild, .addField, .addResource(_, _, view: nil): state.say(.info, "added")
    case .export, .importFile, .account, .renameDevice: break
    case .addRecord(let view), .addResource(_, _, let view?):
      state.say(.info, "added")
      guard let key, goesThere else { return }
      goTo(&state, key, inView: view)
      let row = Record.id(
        of: Path(unchecked: state.tabs.lists[view].definition.source.path.keys + [key]))
      guard state.tabs.lists[view].list.cursor != .row(row) else { return }
      let words = TypeAhead.letGoOfInputForRow(&state)
      if !words.isEmpty { state.say(.warning, "the new record is not shown here" + words) }
    }
  }

  /// Moves the cursor to a row that was just written; if it is not visible, says where it is.
  static func goTo(_ state: inout AppState, _ key: RunnelTree.Key, inView view: Int) {
    let screen = state.tabs.lists[view]
    let id = Record.id(of: Path(unchecked: screen.definition.source.path.keys + [key]))
    if state.tabs.lists[view].list.moveTo(
      .row(id), in: screen.content, height: state.tabs.height(ofView: view, in: state.height))
    {
      return
    }
    if screen.content.indexPath(ofRow: id) == nil {
      state.say(.info, "added \(key): \(reasonNotShown(state, key, in: screen))")
    } else {
      state.say(.info, "added: it is in a folded section")
    }
  }

  /// The reason why a new record has no row in a list, and how it is shown.
  private static func reasonNotShown(
    _ state: AppState, _ key: RunnelTree.Key, in screen: ListScreen
  ) -> String {
    if screen.filter != nil {
      return "the filter hides it" + KeyText.listKeys(state).hint(.stepBack, "shows all")
    }
    if screen.isComplete { return "this view does not show it" }
    let order: String? =
      switch screen.definition.source.order.sortKeys.first?.field {
      case .child(let path)?: path.text
      case .key?: "key"
      default: nil
      }
    let place = order.map { "ordered by \($0), it stands" } ?? "in this order, it stands"
    return "\(place) beyond the loaded rows · :go \(key) goes there"
  }

  /// Moves the cursor to a copy that was just made, if it is visible.
  private static func goToCopy(
    _ state: inout AppState, of path: Path, _ key: RunnelTree.Key, goesThere: Bool
  ) {
    guard let parent = path.parent else { return }
    let copy = Path(unchecked: parent.keys + [key])
    var dropped = ""
    if !goesThere {
      // The user has done something else meanwhile, so the cursor stays.
    } else if state.tabs.isTree {
      _ = state.tabs.tree.list.moveTo(
        .row(copy.description), in: state.tabs.tree.content, height: state.height)
      if state.tabs.tree.list.cursor != .row(copy.description) {
        dropped = TypeAhead.letGoOfInputForRow(&state)
      }
    } else if state.tabs.front.definition.source.path == parent {
      state.withList { list, content, height in
        _ = list.moveTo(.row(Record.id(of: copy)), in: content, height: height)
      }
      if state.tabs.front.list.cursor != .row(Record.id(of: copy)) {
        dropped = TypeAhead.letGoOfInputForRow(&state)
      }
    }
    let words = RowCommands.wordsOnComputedFields(state, in: parent)
    state.say(.info, "duplicated \(path) as \(key)\(words)\(dropped)")
  }

  // MARK: Refusals

  /// Ends a write that was refused: gives back the typed text, with the reason.
  static func fail(
    _ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose, _ refusal: Refusal
  ) {
    var refusal = refusal
    if case .form(let form) = purpose { refusal = form.told(refusal) }
    state.say(.error, refusal.message)
    let isUntouched = TypeAhead.isUntouched(state, sinceWrite: id)
    state.writes.undoing.drop(id)
    if keep(&state, id, purpose, refusal, isUntouched: isUntouched) { return }
    let dropped = purpose.addsRowToGoTo ? TypeAhead.letGoOfInputForRow(&state) : ""
    switch purpose {
    case .send(let view, let text, let attempt):
      ComposeScreen.giveBack(&state, id, text, attempt, inView: view, refusal)
    // A user who has done something else is not interrupted, and their keys do not go into a
    // reopened field.
    case .edit where !isUntouched, .form where !isUntouched, .editOutside where !isUntouched:
      sayKept(&state, refusal, dropped)
    case .edit(let path, let edit):
      let isThere = state.layers.contains {
        if case .record(let screen) = $0 { screen.path == path } else { false }
      }
      if !(isThere || state.layers.isEmpty) || !reopen(&state, edit, inRecord: path, refusal) {
        sayKept(&state, refusal)
      }
    case .form(let form): reopen(&state, form, refusal)
    case .deleteMarked(let paths): Deleting.noteFailure(&state, toDelete: paths, refusal)
    case .importRows(let rows): Importing.noteFailure(&state, toImport: rows, refusal)
    case .editOutside(let edit, let text): OutsideEdit.reopen(&state, edit, text, refusal)
    case .reversal: UndoHistory.failReversal(&state, of: id, refusal)
    case .duplicate: if !dropped.isEmpty { state.say(.error, refusal.message + dropped) }
    case .delete, .toggle, .reorder, .undo, .merge, .pasted, .earlier: break
    }
  }

  /// Says that a write was refused, and where its typed text is kept.
  static func sayKept(_ state: inout AppState, _ refusal: Refusal, _ dropped: String = "") {
    state.say(
      .error,
      state.phrase("\(refusal.message) · what was typed is kept\(dropped)", .syncOpen, "lists it"))
  }

  /// Keeps a refused write in the queue; returns true if its comparison with what others wrote has
  /// been started.
  private static func keep(
    _ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose, _ refusal: Refusal,
    isUntouched: Bool
  ) -> Bool {
    switch purpose {
    case .reversal: return false
    // The refused rows of an import go to a file.
    case .undo, .toggle, .importRows:
      state.writes.queue.end(id)
      return false
    case .form(let form):
      // The typed text replaces the pasted record.
      if let pasted = form.pasted { state.writes.queue.drop(pasted) }
    case .edit, .send, .delete, .deleteMarked, .duplicate, .reorder, .editOutside, .merge, .pasted,
      .earlier:
      break
    }
    var draft = refusal.cause == .outdated ? CompareScreen.draft(state, of: purpose) : nil
    draft?.queued = id
    // A merge replaces the refused write that it was made for.
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

  /// Opens a refused edit in its record again; returns false if something else is typed there.
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
    // Keys that are meant for another field must not go into this one.
    state.layers.insert(
      .form(form), at: state.isPageInFront ? state.layers.count : state.layers.count - 1)
  }
}
