import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Type-ahead: input while an answer is awaited. Most keys act at once, even while something is
// written or read. A key has to wait if its meaning depends on the answer: after a key that opens a
// record for editing, text is for the field, and is not a sequence of commands. All input after a
// waiting key waits behind it; `C-c` drops the waiting input.

extension TypeAhead {
  // MARK: Holding

  /// Keeps an event behind waiting ones; returns false if the event is to be handled now.
  static func holdsBack(_ state: inout AppState, _ event: InputEvent) -> Bool {
    switch event {
    case .resize, .focus, .reply: return false
    case .key(let stroke) where !state.input.typeAhead.isEmpty && isInterrupt(state, stroke):
      letGoOfInput(&state)
      return true
    case .key, .paste, .pasteTooLong, .mouse: break
    }
    if state.input.typeAhead.isEmpty {
      guard let reason = reasonAllInputWaits(state), !isInterrupt(state, event) else {
        return false
      }
      _ = state.input.typeAhead.append(event, at: state.now)
      state.input.typeAhead.block(for: reason)
    } else if !state.input.typeAhead.append(event, at: state.now) {
      state.say(
        .error,
        "not taken: \(state.input.typeAhead.events.count) keys wait already\(letGoHint(state))")
    }
    return true
  }

  /// Keeps the keys of an action that has to wait; returns false if the action is to run now.
  static func holdsBack(
    _ state: inout AppState, _ action: ActionID, count: Int?, keys: [KeyStroke], digits: Int?
  ) -> Bool {
    guard let reason = reasonWaiting(state, for: action, count: count) else { return false }
    hold(&state, keys, digits, for: reason)
    return true
  }

  /// Keeps keys without a command on the row at hand, if another row is about to be at hand; returns
  /// false if not.
  static func holdsBack(
    _ state: inout AppState, unmatched keys: [KeyStroke], digits: Int?
  ) -> Bool {
    guard state.layers.isEmpty, state.pane != .views, awaitsNewRow(state) else { return false }
    hold(&state, keys, digits, for: newRowIsBeingSaved)
    return true
  }

  private static func hold(
    _ state: inout AppState, _ keys: [KeyStroke], _ digits: Int?, for reason: String
  ) {
    let typed = digits.map { String($0).map { KeyStroke(.character($0)) } } ?? []
    state.input.typeAhead.hold(
      typed + keys, struckAt: state.input.eventTime, for: reason, at: state.now)
  }

  /// Handles the first waiting event, or keeps it if it still has to wait.
  static func handleTypeAhead(_ state: inout AppState) {
    if let reason = reasonAllInputWaits(state) { return state.input.typeAhead.block(for: reason) }
    guard let first = state.input.typeAhead.takeFirst() else { return }
    state.input.eventTime = first.time
    Input.handleNow(&state, first.event)
  }

  private static func isInterrupt(_ state: AppState, _ event: InputEvent) -> Bool {
    if case .key(let stroke) = event { isInterrupt(state, stroke) } else { false }
  }

  private static func isInterrupt(_ state: AppState, _ stroke: KeyStroke) -> Bool {
    var alone = KeySequenceMatcher()
    let match = alone.feed(stroke, keymap: state.settings.keymap, contexts: [.global])
    return match == .action(.jobCancel, count: nil)
  }

  /// Drops the waiting input at the user's request, and stops the work it waits for if possible.
  private static func letGoOfInput(_ state: inout AppState) {
    let count = state.input.typeAhead.events.count
    state.input.typeAhead = TypeAhead()
    state.tabs.tree.wanted = nil
    state.requests.giveUpCursorReads()
    state.tabs.changeFrontList { $0.goal.endReading() }
    state.input.matcher.reset()
    state.input.awaited = nil
    if Input.stopWhatIsUnderWay(&state) { return }
    state.say(
      .info, count == 1 ? "the key that waited is dropped" : "\(count) keys that waited are dropped"
    )
  }

  /// Drops the input that waits for a new row that will not be shown.
  ///
  /// Returns words about the dropped keys, empty if nothing waited.
  static func letGoOfInputForRow(_ state: inout AppState) -> String {
    let count = state.input.typeAhead.events.count
    guard count > 0, [rowIsBeingSaved, newRowIsBeingSaved].contains(state.input.typeAhead.reason)
    else { return "" }
    state.input.typeAhead = TypeAhead()
    return count == 1
      ? " · the key that waited is dropped" : " · \(count) keys that waited are dropped"
  }

  /// The status text for waiting input; empty if nothing has waited for `silentMilliseconds`.
  static func typeAheadText(_ state: AppState) -> String {
    guard !state.input.typeAhead.isEmpty,
      state.now - state.input.typeAhead.since >= TypeAhead.silentMilliseconds
    else {
      return ""
    }
    let count = state.input.typeAhead.events.count
    return (count == 1 ? "1 key waits" : "\(count) keys wait") + ": \(state.input.typeAhead.reason)"
      + letGoHint(state)
  }

  private static func letGoHint(_ state: AppState) -> String {
    state.settings.keymap.firstKeys(for: .jobCancel, in: [.global]).map { " · \($0) drops them" }
      ?? ""
  }

  /// The time when waiting input is to be mentioned, in milliseconds since 1970; nil if it is
  /// mentioned already or nothing waits.
  static func typeAheadDue(_ state: AppState) -> Int64? {
    if state.input.typeAhead.isEmpty { return nil }
    let due = state.input.typeAhead.since + TypeAhead.silentMilliseconds
    return due > state.now ? due : nil
  }

  /// Whether the user has done nothing since a write was requested.
  ///
  /// If so, the layer that its answer opens takes no key that was meant for another place.
  static func isUntouched(_ state: AppState, sinceWrite write: AppRequestID) -> Bool {
    state.writes.queue.waiting[write].map { isUntouched(state, since: $0.inputCount) } ?? false
  }

  /// Whether the user has done nothing since this value of `InputState.count`.
  static func isUntouched(_ state: AppState, since count: Int) -> Bool {
    state.input.typeAhead.isEmpty && !state.input.matcher.isPending && count == state.input.count
  }

  /// Whether nothing but keys that wait was struck since a write was requested.
  ///
  /// If so, the cursor goes to the record that the write added, and the keys are for that record.
  static func awaitsRow(_ state: AppState, ofWrite write: AppRequestID) -> Bool {
    state.writes.queue.waiting[write]?.inputCount == state.input.count
  }

  // MARK: What waits

  /// The reason why all input has to wait, or nil if it does not.
  private static func reasonAllInputWaits(_ state: AppState) -> String? {
    if state.input.isEditorOpen { return "your editor opens" }
    if state.files.export?.awaitsQuestion == true { return "the file to be replaced is looked at" }
    for purpose in state.requests.readPurposes {
      switch purpose {
      case .editOutside: return "your editor opens"
      case .compare(_, after: nil): return "what others wrote is being read"
      case .compare, .copy, .duplicate: continue
      }
    }
    if case .record(let screen)? = state.layers.last, screen.node == nil, screen.start != nil {
      return recordIsRead
    }
    return nil
  }

  /// The reason why an action has to wait for an answer, or nil if it does not.
  static func reasonWaiting(_ state: AppState, for action: ActionID, count: Int?) -> String? {
    let reason =
      reasonWaitingForWrites(state, action) ?? reasonWaitingForOwnWrite(state, action)
      ?? reasonCursorMoves(state, action) ?? reasonRowsChange(state, action)
    if let reason { return reason }
    if let layer = state.layers.last {
      return layer.component.reasonWaiting(for: action, in: state)
    }
    if state.pane == .views { return nil }
    if state.tabs.tree.wanted != nil, isAboutRows(state, action) {
      return placeIsSought
    }
    switch state.tabs.front {
    case .tree: return reasonWaitingInTree(state, action)
    case .view(let view): return reasonWaitingInList(state, action, count, inView: view)
    }
  }

  private static func reasonWaitingForWrites(_ state: AppState, _ action: ActionID) -> String? {
    let reason = "the last writes are not done yet"
    switch action {
    case .editUndo where state.isPlaceInFront && Activity.entryAtHand(state) == nil:
      return reasonUndoWaits(state, .undo)
    case .editRedo where state.isPlaceInFront: return reasonUndoWaits(state, .redo)
    case .appQuit where state.isPlaceInFront, .viewClose where state.layers.isEmpty:
      return state.requests.writes.values.contains { !$0.kind.isOneOfMany } ? reason : nil
    case .profileReadonly where state.isPlaceInFront:
      let isJob = state.writes.deletion != nil || state.files.importing != nil
      return isJob || (state.requests.writes.isEmpty && !state.requests.hasReads) ? nil : reason
    case .rowMoveUp, .rowMoveDown:
      return state.requests.writes.values.contains(where: \.isReordering)
        ? "the row is being moved" : nil
    default: return nil
    }
  }

  /// The reason why an action that starts from the value of a place has to wait for the user's own
  /// write there, or nil.
  ///
  /// Without waiting, the action would start from the old value, and be refused as if another
  /// client had written.
  private static func reasonWaitingForOwnWrite(_ state: AppState, _ action: ActionID) -> String? {
    if state.requests.writes.isEmpty || !beginsWithValue(state, action) { return nil }
    guard let path = OutsideEdit.placeAtHand(state) else { return nil }
    return reasonBeingSaved(state, at: path)
  }

  /// The reason why an action on a page has to wait, because the cursor is about to go to a row that
  /// the user's own write adds or brings back; otherwise nil.
  ///
  /// Any other action would keep the cursor where it is, and what follows would be about another
  /// row.
  private static func reasonCursorMoves(_ state: AppState, _ action: ActionID) -> String? {
    guard state.layers.isEmpty, action != .jobCancel else { return nil }
    if awaitsNewRow(state) { return newRowIsBeingSaved }
    // Further undos in the same direction are counted.
    let isCounted = [.editUndo, .editRedo].contains(action)
    return state.writes.undoing.reversal == nil || isCounted ? nil : "a write is being taken back"
  }

  /// The reason why an action on rows has to wait, because the user's own writes are about to change
  /// which row is under the cursor; otherwise nil.
  ///
  /// O(writes under way).
  private static func reasonRowsChange(_ state: AppState, _ action: ActionID) -> String? {
    if state.requests.writes.isEmpty || !isAboutRows(state, action) { return nil }
    switch state.layers.last {
    case nil where state.pane != .views: break
    case .record(let screen)?:
      return isBeingDeleted(state, screen.path) ? "the record is being deleted" : nil
    default: return nil
    }
    if state.writes.deletion != nil, command(state, action)?.needs.isRecord == true,
      state.marked.markCount > 0
    {
      return "the marked records are being deleted"
    }
    guard
      state.layers.isEmpty && areRowsBeingDeleted(state)
        || OutsideEdit.placeAtHand(state).map({ isBeingDeleted(state, $0) }) == true
    else { return nil }
    return "the record is being deleted"
  }

  /// The greatest number of records whose deletion holds back moves past them; the deletion of more
  /// takes longer than a user would wait.
  private static let heldDeletionMax = 100

  /// Whether a few rows of the page in front are being deleted.
  private static func areRowsBeingDeleted(_ state: AppState) -> Bool {
    let collection = state.tabs.frontList?.definition.source.path
    return state.requests.writes.values.contains { purpose in
      let places = purpose.kind.deletedPaths
      guard let first = places.first, places.count <= heldDeletionMax else { return false }
      return collection == nil || first.parent == collection
    }
  }

  /// Whether the cursor is about to go to a record that is being added.
  private static func awaitsNewRow(_ state: AppState) -> Bool {
    state.requests.readPurposes.contains(.duplicate)
      || state.requests.writes.contains { id, purpose in
        purpose.kind.addsRowToGoTo && awaitsRow(state, ofWrite: id)
      }
  }

  private static func isBeingDeleted(_ state: AppState, _ path: Path) -> Bool {
    state.requests.writes.values.contains { purpose in
      purpose.kind.deletedPaths.contains { $0.contains(path) }
    }
  }

  /// The reason why the value of a place cannot be edited yet, or nil if it can.
  static func reasonBeingSaved(_ state: AppState, at path: Path) -> String? {
    state.writes.queue.isWriting(at: path) ? "what you wrote there is being saved" : nil
  }

  private static func beginsWithValue(_ state: AppState, _ action: ActionID) -> Bool {
    switch action {
    case .recordEdit, .recordForm, .recordToggle, .recordDuplicate: return true
    case .rowOpen:
      if let layer = state.layers.last { return if case .record = layer { true } else { false } }
      // On a cell, it edits the cell.
      if let list = state.tabs.frontList { return list.look.cell != nil }
      guard case .node(_, let row, _)? = state.tabs.tree.cursorLine else { return false }
      return if case .leaf = row.summary.kind { true } else { false }
    default: return false
    }
  }

  /// The reason why undo has to wait, or nil: the writes to undo depend on those that are done.
  private static func reasonUndoWaits(
    _ state: AppState, _ direction: UndoHistory.Direction
  ) -> String? {
    if let reversal = state.writes.undoing.reversal {
      let isHistory = if case .history? = state.layers.last { true } else { false }
      // Further undos in the same direction are counted.
      return reversal.direction == direction && !isHistory ? nil : "a write is being taken back"
    }
    return state.writes.undoing.hasOpenSteps && state.files.importing == nil
      ? "the last write is not done yet" : nil
  }

  private static func reasonWaitingInList(
    _ state: AppState, _ action: ActionID, _ count: Int?, inView view: Int
  ) -> String? {
    let list = state.tabs.lists[view]
    if command(state, action)?.needs.isRecord == true, list.sentRecord != nil,
      ComposeScreen.isSending(state, inView: view)
    {
      return rowIsBeingSaved
    }
    if list.reach.phase == .loaded,
      list.goal.isReading || state.requests.hasCursorRead,
      isAboutRows(state, action)
    {
      return rowsAreRead
    }
    if list.reach.phase == .loading, list.list.cursor == nil,
      isAboutRows(state, action)
    {
      return firstRowsAreRead
    }
    guard list.reach.paging == .fetching, state.pane == .list else { return nil }
    // Each of these actions fetches a page.
    if action == .sectionMore { return nextRowsAreFetched }
    let move: Command.Traits = list.isLiveAtBottom ? .movesUp : .movesDown
    guard traits(state, action).contains(move) else { return nil }
    var after = state
    if list.list.cursor != .row(ListScreen.fetchMoreRow) {
      Commands.command(action, in: [.list])?.run(&after, count)
    }
    return after.tabs.lists[view].list.cursor == .row(ListScreen.fetchMoreRow)
      ? nextRowsAreFetched : nil
  }

  private static func reasonWaitingInTree(_ state: AppState, _ action: ActionID) -> String? {
    let reason = childrenAreRead
    guard isAboutRows(state, action) else { return nil }
    if state.tabs.tree.content.rowCount == 0,
      state.tabs.tree.expanded[.root].map({ $0.phase == .loading }) ?? true
    {
      return reason
    }
    let traits = traits(state, action)
    let isDown = traits.contains(.movesDown)
    switch state.tabs.tree.cursorLine {
    case .node(let path, _, _)? where state.tabs.tree.expanded[path]?.phase == .loading:
      return traits.contains(.usesKeyOnly) || action == .rowUp ? nil : reason
    case .paging(_, .fetching, _)? where isDown: return nextRowsAreFetched
    default: break
    }
    let isFar = isDown && action != .rowDown
    return isFar && state.tabs.tree.expanded.values.contains { $0.phase == .loading } ? reason : nil
  }

  /// The reason why a choice in the palette, a menu or the help has to wait: the same as for its
  /// own key.
  static func reasonWaitingForChoice(_ state: AppState, _ action: ActionID) -> String? {
    guard [.inputAccept, .formSave, .rowOpen].contains(action) else { return nil }
    return state.layers.last?.component.chosenAction.flatMap {
      TypeAhead.reasonWaiting(state.below, for: $0, count: nil)
    }
  }

  // MARK: Kinds of actions

  /// Whether an action is about the rows or fields that the list has at the time.
  static func isAboutRows(_ state: AppState, _ action: ActionID) -> Bool {
    if action == .recordAdd, state.layers.isEmpty, let list = state.tabs.frontList {
      // A form without a template takes its fields from a row.
      return list.definition.compose == nil
    }
    return command(state, action).map { $0.needs != .nothing } ?? false
  }

  /// The command with an id that would run now, or nil if there is none.
  private static func command(_ state: AppState, _ action: ActionID) -> Command? {
    Commands.command(action, in: state.contexts)
  }

  /// The traits of the command with an id that would run now; none if there is no such command.
  static func traits(_ state: AppState, _ action: ActionID) -> Command.Traits {
    command(state, action)?.traits ?? []
  }

  private static let rowsAreRead = "the rows there are being read"
  private static let firstRowsAreRead = "the first rows are being read"
  private static let nextRowsAreFetched = "the next rows are being fetched"
  private static let childrenAreRead = "the children are being read"
  private static let placeIsSought = "the place is being looked for"
  static let recordIsRead = "the record is being read"
  /// The reasons for which only an answer that may have to come from the server can end the waiting.
  static let readings: Set<String> = [
    rowsAreRead, firstRowsAreRead, nextRowsAreFetched, childrenAreRead, placeIsSought, recordIsRead,
  ]
  private static let rowIsBeingSaved = "this row is being saved"
  private static let newRowIsBeingSaved = "the new record is being saved"
}

extension FieldInput {
  /// The reason why a command has to wait until the choices of a field are read, or nil if it does
  /// not.
  func reasonWaiting(for action: ActionID) -> String? {
    action == .fieldType && isReadingChoices ? "what may be chosen is being read" : nil
  }
}
