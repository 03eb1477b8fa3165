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
    if purpose == .reversal { return UndoHistory.endReversal(&state, of: id, done: parts ?? []) }
    purpose.kind.sayPerformed(&state, performed)
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

  /// Continues after a write that is on disk, according to its purpose.
  private static func finish(
    _ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose, key: RunnelTree.Key?
  ) {
    let kind = purpose.kind
    let write = FinishedWrite(
      id: id, key: key ?? kind.chosenKey, goesThere: TypeAhead.awaitsRow(state, ofWrite: id))
    let changed = kind.changedRecords(state, key: write.key)
    ListScreen.noteOwn(&state, changed)
    for place in changed where write.key != nil && place.lastKey == write.key {
      ListScreen.noteOwnAdded(&state, place)
    }
    state.writes.queue.finish(id, purpose)
    QueueScreen.refreshQueue(&state)
    kind.finish(&state, write)
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
      // The key of a new record of a service is another once it has its id.
      sayNotShown(&state, state.database.coding == .services ? nil : key, inView: view)
    } else {
      state.say(.info, "added: it is in a folded section")
    }
  }

  /// Says why a new record has no row in a list, and how it is shown; `key` is nil if it has no lasting one.
  static func sayNotShown(_ state: inout AppState, _ key: RunnelTree.Key?, inView view: Int) {
    let words = key.map { "added \($0)" } ?? "added"
    state.say(.info, "\(words): \(reasonNotShown(state, key, in: state.tabs.lists[view]))")
  }

  /// The reason why a new record has no row in a list, and how it is shown.
  private static func reasonNotShown(
    _ state: AppState, _ key: RunnelTree.Key?, in screen: ListScreen
  ) -> String {
    if screen.filtering.filter != nil {
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
    return "\(place) beyond the loaded rows" + (key.map { " · :go \($0) goes there" } ?? "")
  }

  // MARK: Refusals

  /// Ends a write that was refused: gives back the typed text, with the reason.
  static func fail(
    _ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose, _ refusal: Refusal
  ) {
    if refusal.cause == .dealtWith { return QueueScreen.noteDealtWith(&state, id, purpose) }
    if refusal.cause == .outdated, purpose != .reversal, !state.database.isReadOnly,
      let request = state.writes.queue.takeMoved(id)
    {
      // The record had got its id when the write came: at the former place nothing stood any more.
      state.writes.undoing.drop(id)
      HeldWrite.start(&state, purpose, request)
      return
    }
    let kind = purpose.kind
    let refusal = kind.told(refusal)
    state.say(.error, refusal.message)
    let isUntouched = TypeAhead.isUntouched(state, sinceWrite: id)
    state.writes.undoing.drop(id)
    if keep(&state, id, purpose, refusal, isUntouched: isUntouched) { return }
    let dropped = kind.addsRowToGoTo ? TypeAhead.letGoOfInputForRow(&state) : ""
    kind.fail(
      &state,
      FailedWrite(id: id, refusal: refusal, isUntouched: isUntouched, dropped: dropped))
  }

  /// Says that a write was refused, and where its typed text is kept.
  static func sayKept(_ state: inout AppState, _ refusal: Refusal, _ dropped: String = "") {
    state.say(
      .error,
      state.phrase(
        "\(refusal.message.withoutFullStop) · what was typed is kept\(dropped)", .syncOpen,
        "lists it"))
  }

  /// Keeps a refused write in the queue; returns true if its comparison with what others wrote has
  /// been started.
  private static func keep(
    _ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose, _ refusal: Refusal,
    isUntouched: Bool
  ) -> Bool {
    if purpose == .reversal { return false }
    let kind = purpose.kind
    if !kind.isKept {
      state.writes.queue.end(id)
      return false
    }
    var draft = refusal.cause == .outdated ? kind.comparison(state) : nil
    draft?.queued = id
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
      ResourceCommands.readChoices(&state)
      return true
    }
    ListScreen.open(&state, record: path, .edit(edit))
    return true
  }

  static func reopen(_ state: inout AppState, _ form: FormScreen, _ refusal: Refusal) {
    var form = form
    form.take(refusal)
    defer { ResourceCommands.readChoices(&state) }
    // Keys that are meant for another field must not go into this one.
    state.layers.insert(
      .form(form), at: state.isPageInFront ? state.layers.count : state.layers.count - 1)
  }
}
