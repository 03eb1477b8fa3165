import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// What is typed while an answer is awaited. Most keys act at once, whatever is being written or read.
// A key acts later if what it means depends on an answer: after one that opens a record for editing,
// text is for the field and not a row of commands. It waits, and what comes after it waits behind it;
// `C-c` lets go of what waits.

extension AppState {
  // MARK: Holding

  /// Keeps an event behind those that wait already; false if it is to be handled now.
  mutating func holdsBack(_ event: InputEvent) -> Bool {
    switch event {
    case .resize, .focus, .reply: return false
    case .key(let stroke) where !typeAhead.isEmpty && isInterrupt(stroke):
      letGoOfInput()
      return true
    case .key, .paste, .pasteTooLong, .mouse: break
    }
    if typeAhead.isEmpty {
      guard let reason = reasonAllInputWaits, !isInterrupt(event) else { return false }
      _ = typeAhead.append(event, at: now)
      typeAhead.block(for: reason)
    } else if !typeAhead.append(event, at: now) {
      say(.error, "not taken: \(typeAhead.events.count) keys wait already\(letGoHint)")
    }
    return true
  }

  /// Keeps the keys of an action that has to wait; false if it is to be done now.
  mutating func holdsBack(
    _ action: ActionID, count: Int?, keys: [KeyStroke], digits: Int?
  ) -> Bool {
    guard let reason = reasonWaiting(for: action, count: count) else { return false }
    let typed = digits.map { String($0).map { KeyStroke(.character($0)) } } ?? []
    typeAhead.hold(typed + keys, for: reason, at: now)
    return true
  }

  /// Handles the first event that waits, or keeps it if it has to wait on.
  mutating func handleTypeAhead() {
    if let reason = reasonAllInputWaits { return typeAhead.block(for: reason) }
    guard let event = typeAhead.takeFirst() else { return }
    handleNow(event)
  }

  private func isInterrupt(_ event: InputEvent) -> Bool {
    if case .key(let stroke) = event { isInterrupt(stroke) } else { false }
  }

  private func isInterrupt(_ stroke: KeyStroke) -> Bool {
    var alone = KeySequenceMatcher()
    let match = alone.feed(stroke, keymap: keymap, contexts: [.global])
    return match == .action(.jobCancel, count: nil)
  }

  /// Drops what waits, as the user wants it, and stops what it waits for where that can be stopped.
  private mutating func letGoOfInput() {
    let count = typeAhead.events.count
    typeAhead = TypeAhead()
    tree.wanted = nil
    matcher.reset()
    awaited = nil
    if stopWhatIsUnderWay() { return }
    say(
      .info, count == 1 ? "the key that waited is dropped" : "\(count) keys that waited are dropped"
    )
  }

  /// What is said of the input that waits; empty if nothing has waited for long.
  var typeAheadText: String {
    guard !typeAhead.isEmpty, now - typeAhead.since >= TypeAhead.silentMilliseconds else {
      return ""
    }
    let count = typeAhead.events.count
    return (count == 1 ? "1 key waits" : "\(count) keys wait") + ": \(typeAhead.reason)" + letGoHint
  }

  private var letGoHint: String {
    keymap.firstKeys(for: .jobCancel, in: [.global]).map { " · \($0) drops them" } ?? ""
  }

  /// When it is to be said that input waits, in milliseconds since 1970; nil if it is said, or none does.
  var typeAheadDue: Int64? {
    if typeAhead.isEmpty { return nil }
    let due = typeAhead.since + TypeAhead.silentMilliseconds
    return due > now ? due : nil
  }

  /// True if the user has done nothing since a write was asked for.
  ///
  /// What its answer opens then takes no key that was meant for something else.
  func isUntouched(sinceWrite write: RequestID) -> Bool {
    typeAhead.isEmpty && queue.waiting[write]?.inputCount == inputCount
  }

  /// True if the user has done no more than this; see `inputCount`.
  func isUntouched(since count: Int) -> Bool { typeAhead.isEmpty && count == inputCount }

  // MARK: What waits

  /// Why whatever the user does has to wait; nil if it has not.
  private var reasonAllInputWaits: String? {
    if isEditorOpen { return "your editor opens" }
    for purpose in requests.readPurposes {
      switch purpose {
      case .editOutside: return "your editor opens"
      case .compare(_, after: nil): return "what others wrote is being read"
      case .compare, .copy, .duplicate: continue
      }
    }
    if case .record(let screen)? = layers.last, screen.node == nil, screen.start != nil {
      return "the record is being read"
    }
    return nil
  }

  /// Why an action has to wait for an answer; nil if it has not.
  func reasonWaiting(for action: ActionID, count: Int?) -> String? {
    if let reason = reasonWaitingForWrites(action) { return reason }
    switch layers.last {
    case nil:
      if pane == .views { return nil }
      if tree.wanted != nil, isAboutRows(action) { return "the place is being looked for" }
      return isTree ? reasonWaitingInTree(action) : reasonWaitingInList(action, count)
    case .form(let form):
      return reasonWaiting(for: action, in: form.fields[form.focus].input)
    case .record(let screen):
      if let edit = screen.edit { return reasonWaiting(for: action, in: edit.input) }
      let needsRecord = isAboutRows(action) && action != .copyKey && action != .copyPath
      return screen.node == nil && needsRecord ? "the record is being read" : nil
    case .history(let screen): return reasonWaiting(for: action, in: screen)
    case .queue(let screen): return reasonWaiting(for: action, in: screen)
    case .palette, .menu, .help: return reasonWaitingForChoice(action)
    case .confirm, .compose, .filter, .search, .debug, .compare: return nil
    }
  }

  private func reasonWaitingForWrites(_ action: ActionID) -> String? {
    let reason = "the last writes are not done yet"
    switch action {
    case .editUndo where isPlaceInFront && entryAtHand == nil: return reasonUndoWaits(.undo)
    case .editRedo where isPlaceInFront: return reasonUndoWaits(.redo)
    case .appQuit where isPlaceInFront, .viewClose where layers.isEmpty:
      return requests.writes.values.contains { !$0.isOneOfMany } ? reason : nil
    case .profileReadonly where isPlaceInFront:
      let isJob = deletion != nil || importing != nil
      return isJob || (requests.writes.isEmpty && !requests.hasReads) ? nil : reason
    default: return nil
    }
  }

  /// What is taken back depends on which writes are done.
  private func reasonUndoWaits(_ direction: UndoHistory.Direction) -> String? {
    if let reversal = undoing.reversal {
      let isHistory = if case .history? = layers.last { true } else { false }
      // More of the same is counted.
      return reversal.direction == direction && !isHistory ? nil : "a write is being taken back"
    }
    return undoing.hasOpenSteps && importing == nil ? "the last write is not done yet" : nil
  }

  private func reasonWaitingInList(_ action: ActionID, _ count: Int?) -> String? {
    let screen = lists[active]
    if screen.phase == .loading, screen.list.cursor == nil, isAboutRows(action) {
      return "the first rows are being read"
    }
    guard screen.paging == .fetching, pane == .list else { return nil }
    let moves = screen.isLiveAtBottom ? AppState.upMoves : AppState.downMoves
    guard moves.contains(action) else { return nil }
    var after = self
    if screen.list.cursor != .row(ListScreen.pagingRow) {
      Commands.command(action, in: [.list])?.run(&after, count)
    }
    return after.lists[active].list.cursor == .row(ListScreen.pagingRow)
      ? "the next rows are being fetched" : nil
  }

  private func reasonWaitingInTree(_ action: ActionID) -> String? {
    let reason = "the children are being read"
    guard isAboutRows(action) else { return nil }
    if tree.content.rowCount == 0, tree.expanded[.root].map({ $0.phase == .loading }) ?? true {
      return reason
    }
    let isDown = AppState.downMoves.contains(action)
    switch tree.cursorLine {
    case .node(let path, _, _)? where tree.expanded[path]?.phase == .loading:
      return AppState.folding.contains(action) ? nil : reason
    case .paging(_, .fetching, _)? where isDown: return "the next rows are being fetched"
    default: break
    }
    let isFar = isDown && action != .rowDown
    return isFar && tree.expanded.values.contains { $0.phase == .loading } ? reason : nil
  }

  private func reasonWaiting(for action: ActionID, in input: FieldInput) -> String? {
    action == .fieldType && input.isReadingChoices ? "what may be chosen is being read" : nil
  }

  private func reasonWaiting(for action: ActionID, in screen: HistoryScreen) -> String? {
    guard screen.request != nil, isAboutRows(action) || action == .editUndo else { return nil }
    if screen.entries.isEmpty, action != .sectionMore { return "the history is being read" }
    let isAtEnd = screen.isOnPagingRow && screen.paging == .fetching
    return isAtEnd && AppState.downMoves.contains(action) ? "older writes are being read" : nil
  }

  private func reasonWaiting(for action: ActionID, in screen: QueueScreen) -> String? {
    guard [.syncRetry, .syncDrop, .syncEdit].contains(action),
      let item = screen.cursorWrite(in: queue), queue.isTriedAgain(item, requests.writes)
    else { return nil }
    return "it is being tried again"
  }

  /// What is chosen in the palette, a menu or the help waits as its own key would.
  private func reasonWaitingForChoice(_ action: ActionID) -> String? {
    guard [.inputAccept, .formSave, .rowOpen].contains(action) else { return nil }
    var chosen: ActionID?
    switch layers.last {
    case .palette(let screen): chosen = screen.menu.selected?.deed?.action
    case .menu(let screen): chosen = screen.menu.selected?.deed?.action
    case .help(let screen): chosen = screen.cursorEntry?.binding.action
    default: break
    }
    return chosen.flatMap { below.reasonWaiting(for: $0, count: nil) }
  }

  // MARK: Kinds of actions

  /// True for an action that is about rows or fields, whichever those are.
  private func isAboutRows(_ action: ActionID) -> Bool {
    if action == .recordAdd, layers.isEmpty, !isTree {
      // A form without a template has the fields of a row.
      return lists[active].definition.compose == nil
    }
    return AppState.onRows.contains(action)
  }

  private static let upMoves: Set<ActionID> = [
    .rowUp, .pageUp, .pageHalfUp, .siblingPrevious, .sectionPrevious,
  ]
  private static let downMoves: Set<ActionID> = [
    .rowDown, .pageDown, .pageHalfDown, .siblingNext, .sectionNext, .rowLast,
  ]
  /// What is done to a node whatever its children are.
  private static let folding: Set<ActionID> = [
    .rowOpen, .rowOut, .rowUp, .foldToggle, .foldOpen, .foldClose, .copyKey, .copyPath,
  ]
  private static let onRows: Set<ActionID> = upMoves.union(downMoves).union([
    .rowFirst, .rowLast, .rowNewest, .rowOpen, .rowIn, .rowOut, .rowActions,
    .screenTop, .screenMiddle, .screenBottom, .scrollDown, .scrollUp, .scrollRowTop,
    .scrollRowMiddle, .scrollRowBottom,
    .recordAdd, .recordEdit, .recordEditExternal, .recordDelete, .recordForm, .recordToggle,
    .recordDuplicate, .linkOpen, .refFollow,
    .copyURL, .copyKey, .copyPath, .copyLine, .copyString, .copyValue,
    .markToggle, .markRange, .markAll, .markNext, .markPrevious,
    .unreadNext, .unreadPrevious, .changeNext, .changePrevious,
    .foldToggle, .foldOpen, .foldClose, .foldOpenAll, .foldCloseAll,
    .searchStart, .searchNext, .searchPrevious, .sectionMore, .sortMenu, .bookmarkSet,
  ])
}
