import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Why an action cannot be done in what lies over a view, and in the panes beside it.

// MARK: A record

extension AppState {
  func reasonOff(_ action: ActionID, in screen: RecordScreen) -> String? {
    if screen.node == nil, ![.stepBack, .copyKey, .copyPath].contains(action) {
      return AppState.ofRecords.contains(action) ? "the record is being read" : nil
    }
    if let reason = reasonNoField(action, in: screen) ?? reason(readOnlyFor: action) {
      return reason
    }
    switch action {
    case .recordEdit:
      return screen.cursorField.flatMap { field in
        reasonNotEdited(field.path, in: screen) ?? reasonTooLong(field)
      }
    case .recordAdd:
      return screen.node?.leaf == nil ? nil : "\(screen.path) is a value: it has no fields"
    case .recordForm: return reasonNoForm
    case .recordToggle: return toggledAtHand == nil ? "nothing is toggled here" : nil
    case .recordEditExternal: return reasonNotEditable(screen.path)
    case .copyKey, .copyPath, .copyLine, .copyString, .copyValue: return reasonNotCopied(action)
    case .rowOpen: return opensField(of: screen, action) ? nil : reasonOff(.recordEdit, in: screen)
    case .rowIn: return opensField(of: screen, action) ? nil : "there is nothing to read here"
    default: return nil
    }
  }

  /// Why a field is not edited in its line; nil if it is.
  func reasonTooLong(_ field: RecordScreen.Field) -> String? {
    field.leaf.flatMap { reasonTooLong(FieldKind.text(of: $0.json)) }
  }

  /// The actions that are about what the record holds.
  private static let ofRecords: Set<ActionID> = [
    .recordEdit, .recordAdd, .recordDelete, .recordForm, .rowOpen, .rowIn, .copyValue, .copyLine,
    .copyString, .recordDuplicate,
  ]

  private func reasonNoField(_ action: ActionID, in screen: RecordScreen) -> String? {
    let field = screen.cursorField
    switch action {
    case .recordEdit:
      if field == nil { return "move to a field to edit it" }
      return field?.childCount == nil
        ? nil : "open it to edit a value in it: \(keysOrName(.rowOpen)) opens"
    case .recordDelete:
      guard let field else { return "move to a field to delete it" }
      return field.kind == nil ? "nothing stands there" : nil
    default: return nil
    }
  }
}

// MARK: Writes

extension AppState {
  func reasonOff(_ action: ActionID, in screen: HistoryScreen) -> String? {
    switch action {
    case .rowOpen where !screen.isOnPagingRow:
      return screen.cursorEntry == nil ? "move to a write to see all of it" : nil
    case .rowOpen, .sectionMore: return reasonNoOlderWrites(in: screen)
    case .editUndo: return reasonNotTakenBack(in: screen)
    case .editRedo: return reasonNotUndone(action)
    default: return nil
    }
  }

  private func reasonNoOlderWrites(in screen: HistoryScreen) -> String? {
    if case .failed = screen.phase { return nil }
    if screen.request != nil { return phrase("the history is being read", .jobCancel, "stops") }
    switch screen.paging {
    case .more, .failed, .fetching: return nil
    case .exhausted: return screen.entries.isEmpty ? "there is nothing more" : screen.endText
    }
  }

  private func reasonNotTakenBack(in screen: HistoryScreen) -> String? {
    guard let entry = screen.cursorEntry else { return "move to a write to take it back" }
    if let reason = reasonReadOnly { return reason }
    if undoing.reversal != nil { return "a write is being taken back" }
    return entry.isUndoable ? nil : "cannot be undone: its values were too large to keep"
  }

  func reasonOff(_ action: ActionID, in screen: QueueScreen) -> String? {
    let item = screen.cursorWrite(in: queue)
    let pending = screen.cursorPending(in: queue)
    func missing(_ deed: String) -> String? {
      if item != nil { return nil }
      if pending != nil { return "it was not refused: it waits for the origin" }
      return queue.refused.isEmpty ? "nothing was refused" : "move to a refused write to \(deed)"
    }
    switch action {
    case .rowOpen: return pending == nil ? missing("see all of it") : nil
    case .syncRetry: return reasonNotRetried(in: screen)
    case .syncDrop:
      return pending.map(reasonNotDropped) ?? missing("drop it") ?? reasonTriedAgain(item)
    case .syncEdit:
      return missing("edit it again") ?? reasonReadOnly ?? reasonTriedAgain(item)
        ?? reasonNotTypedAgain(item)
    default: return nil
    }
  }

  /// Why a write that waits for the origin is not dropped; nil if it may be.
  func reasonNotDropped(_ write: PendingWrite) -> String? {
    write.isDurable ? reasonReadOnly : "a transaction wrote it, and takes it back when it ends"
  }

  /// Why no refused write is tried again; nil if one may be.
  func reasonNotRetried(in screen: QueueScreen) -> String? {
    guard let item = screen.cursorWrite(in: queue) else {
      if screen.cursorPending(in: queue) != nil {
        return "it was not refused: it waits for the origin"
      }
      return queue.refused.isEmpty
        ? "nothing was refused" : "move to a refused write to try it again"
    }
    if item.draft != nil { return phrase("others wrote there", .recordCompare, "compares") }
    if item.request == nil { return AppState.isNoRecord }
    return reasonReadOnly ?? reasonTriedAgain(item)
  }

  private static let isNoRecord = "it is no record: correct it where it was copied, and paste again"

  /// Why nothing is done with a refused write while it is tried again; nil if it is not.
  private func reasonTriedAgain(_ item: WriteQueue.Refused?) -> String? {
    guard let item, queue.isTriedAgain(item, requests.writes) else { return nil }
    return "it is being tried again: wait for the answer"
  }

  private func reasonNotTypedAgain(_ item: WriteQueue.Refused?) -> String? {
    guard let item else { return nil }
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

  /// Why nothing is compared; nil if something is.
  var reasonNotCompared: String? {
    if case .queue(let screen)? = layers.last {
      if let item = screen.cursorWrite(in: queue) {
        return item.draft == nil
          ? phrase("others did not write there", .syncEdit, "edits it again") : nil
      }
      return queue.refused.isEmpty ? "nothing was refused" : "move to a refused write to compare it"
    }
    return draftAtHand == nil
      ? "nothing to compare" : nil
  }

  func reasonOff(_ action: ActionID, in screen: CompareScreen) -> String? {
    switch action {
    case .conflictMine: return reasonNotChosen(.mine, in: screen)
    case .conflictTheirs: return reasonNotChosen(.theirs, in: screen)
    case .conflictBase: return reasonNotChosen(.base, in: screen)
    case .conflictEdit:
      guard let index = screen.cursorIndex else { return "move to a field to choose for it" }
      let row = screen.model.rows[index]
      return LineEditor.isTooLong(FieldKind.text(of: row.value ?? row.mine))
        ? "too long to be edited here: choose a version" : nil
    case .conflictAllMine, .conflictAllTheirs:
      var model = screen.model
      model.chooseAll(action == .conflictAllMine ? .mine : .theirs)
      if model != screen.model { return nil }
      return model.rows.contains(where: \.isConflict) ? "that is what is kept" : reasonAllMerged
    case .changeNext, .changePrevious:
      var other = screen
      if !other.moveToConflict(by: 1, height: height) { return reasonAllMerged }
      return other.list == screen.list ? "this is the only field that needs a choice" : nil
    case .conflictWrite:
      if let reason = reasonReadOnly { return reason }
      // With several to choose the key goes to the next one.
      var other = screen
      guard screen.model.undecidedCount > 0, other.moveToConflict(by: 1, height: height),
        other.list == screen.list
      else { return nil }
      return CompareScreen.words(undecided: screen.model.undecidedCount)
    default: return nil
    }
  }

  private var reasonAllMerged: String {
    "nothing needs a choice: \(phrase("all is merged", .conflictWrite, "writes it"))"
  }

  private func reasonNotChosen(_ side: ThreeWay.Side, in screen: CompareScreen) -> String? {
    guard let index = screen.cursorIndex else { return "move to a field to choose for it" }
    let row = screen.model.rows[index]
    if row.isSame { return "nobody changed it" }
    return row.choice == .side(side) ? "that is what is kept" : nil
  }
}

// MARK: Panes

extension AppState {
  func reasonOffInViews(_ action: ActionID) -> String? {
    guard action == .bookmarkDelete else { return nil }
    if case .row(let id)? = viewsList.cursor, ViewsPane.letter(of: id) != nil { return nil }
    return "move to a bookmark to forget it"
  }

  /// Why a pane is not shown, hidden, or given another size; nil if it is.
  func reasonPaneStays(_ action: ActionID) -> String? {
    let panes = arrangement
    switch action {
    case .paneGrow, .paneShrink:
      guard layers.isEmpty, panes.panes.count > 1 else { return "there is one pane only here" }
      if action == .paneGrow {
        return paneSize == .full ? "the pane takes all of the screen" : nil
      }
      return paneSize == .normal ? "the pane has its usual size" : nil
    case .paneDetail:
      guard layers.isEmpty else { return nil }
      let least = AppLayout.detailColumns.least
      return size.columns >= least && !layout.isCompact
        ? nil : "the detail pane takes \(least) columns"
    default: return nil
    }
  }

  /// Why writing is not turned on or off; nil if it is.
  var reasonNotSwitched: String? {
    if let reasonGone { return reasonGone }
    if isOpenedReadOnly { return "this database was opened read-only: open it to be written" }
    if deletion != nil || importing != nil || !requests.writes.isEmpty || requests.hasReads {
      return "records are being written: stop that first, or wait for its end"
    }
    return nil
  }
}
