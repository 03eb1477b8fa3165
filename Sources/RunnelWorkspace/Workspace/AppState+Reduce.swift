import RunnelBase
package import RunnelStore
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The reducer: it makes the next state from an action.

extension AppState {
  /// Makes the next state from an action; the reducer of the workspace's store.
  package static func reduce(_ state: inout AppState, _ action: any Action) {
    // The message is the only fact that changes with time.
    if case .tick(let time)? = action as? AppAction, state.toast == nil {
      StateReducer.tick(&state, time)
      return state.session.trace.noteNothing()
    }
    // Only actions change the state, so the facts after the last action are those before this one.
    let before = state.session.trace.facts ?? ActionTrace.facts(state)
    let isHidden = state.takesSecret
    StateReducer.handle(&state, action)
    state.session.trace.note(
      AppAction.name(of: action, isHidden: isHidden),
      isOfInterest: AppAction.isOfInterest(action), at: state.now,
      before, ActionTrace.facts(state))
  }
}

/// Makes the next state from an action.
package enum StateReducer {
  static func handle(_ state: inout AppState, _ action: any Action) {
    switch action {
    case let action as AppAction:
      reduce(&state, action)
      if action.isAnswer {
        state.input.typeAhead.unblock()
        PaletteScreen.refreshReasons(&state)
        Leaving.refreshQuestion(&state)
      }
      HeldWrite.ask(&state)
      Redefinition.takeRedefinition(&state)
      HistoryScreen.refreshHistory(&state, after: action)
      TreeScreen.look(&state)
    default: break
    }
  }

  private static func reduce(_ state: inout AppState, _ action: AppAction) {
    switch action {
    case .tick(let time): tick(&state, time)
    case .input(let event): Input.handleInput(&state, event)
    case .list(let view, let change): apply(&state, change, toView: view)
    case .keptAll(let view): state.tabs.lists[view].unloading.isLettingGo = false
    case .counted(let view, let count):
      if state.tabs.lists.indices.contains(view) {
        let isOwn = isImporting(state, intoView: view)
        state.tabs.lists[view].take(total: count, isImporting: isOwn)
      }
    case .waiting(let view, let count):
      if state.tabs.lists[view].reach.waitingCount != nil {
        state.tabs.lists[view].reach.waitingCount = count
      }
    case .tree(let path, let change): show(&state, change, of: path)
    case .record(let path, let node): show(&state, node, ofRecord: path)
    case .pendingWrites(let writes): QueueScreen.take(&state, pending: writes)
    case .rejected(let write, let reason): QueueScreen.take(&state, rejected: write, reason)
    case .refusedWrites(let kept): QueueScreen.take(&state, kept: kept)
    case .origin(let facts):
      OriginFacts.take(&state, facts)
      Presence.showTyping(&state)
    case .accounts(let facts): AccountFacts.take(&state, facts)
    case .devices(let facts): DeviceFacts.take(&state, facts)
    case .present(let people): Presence.take(&state, people)
    case .answered(let id, let answer): PendingRequests.take(&state, answer, to: id)
    case .trouble(let message): state.say(.error, message)
    case .interrupted(let reason): Interrupted.begin(&state, reason)
    case .said(let message): state.say(.info, message)
    case .sessionKept(let problem): Leaving.noteSession(&state, problem: problem)
    case .fileGone(let message, let part): FileGone.lose(&state, message, part)
    case .fileBack: FileGone.regain(&state)
    case .configured(let settings, let problem): Configuring.configure(&state, settings, problem)
    case .redefined(let file, let problem, let views):
      Redefinition.redefine(&state, file, problem, views: views)
    case .exported(let report): Exporting.take(&state, report)
    case .fileReading(let count, let size): Importing.tellReading(&state, count, of: size)
    case .fileRead(let file, let content): Importing.take(&state, content, of: file)
    case .refusedListed(let file, let problem):
      EndedImport.take(&state, listed: file, problem: problem)
    case .indexing(let report): IndexMaking.take(&state, report)
    case .savingCopy(let report): CopySaving.take(&state, report)
    case .greeted(let greeting): state.session.greeting = greeting
    case .restored(let session): SessionState.restore(&state, session)
    case .copied(let what, let outcome): Copying.sayCopied(&state, what, outcome)
    case .opened(let link, let program): RowCommands.finish(&state, opening: link, by: program)
    case .edited(let edit, let outcome): OutsideEdit.finish(&state, edit, outcome)
    case .typedAhead: TypeAhead.handleTypeAhead(&state)
    case .effectsTaken: state.effects = []
    }
  }

  static func tick(_ state: inout AppState, _ time: Int64) {
    state.now = time
    state.input.eventTime = time
    if let toast = state.toast, toast.until <= state.now { TimedToast.end(&state) }
    Input.dropLatePrefix(&state)
    DetailHistory.readDetailHistory(&state)
    if let queueDue = QueueScreen.queueDue(state), queueDue <= state.now {
      QueueScreen.refreshQueue(&state)
    }
    ClientsScreen.refreshClients(&state)
    TypeAhead.letGoOffline(&state)
    Notices.tell(&state)
    Presence.endTyping(&state)
    ListScreen.readRefusedAgain(&state)
    let (now, local) = (state.now, state.settings.local)
    state.tabs.changeFrontList { list in
      if let end = list.news.changed.nextEnd, end <= time { list.news.changed.end(at: time) }
      list.refreshTitles(now: now, local: local)
    }
  }

  /// Whether the user imports rows into the collection of a view.
  private static func isImporting(_ state: AppState, intoView view: Int) -> Bool {
    guard let importing = state.files.importing else { return false }
    return state.tabs.lists[importing.view].definition.source.path
      == state.tabs.lists[view].definition.source.path
  }

  private static func apply(_ state: inout AppState, _ change: ListChange, toView view: Int) {
    guard state.tabs.lists.indices.contains(view) else { return }
    let restored = Restoration.restoredRows(state, of: change)
    var change = change
    change.takeAsOwn(restored)
    let notRemoved = change.newRows.filter { row in
      change.records[row].map { state.writes.queue.removes($0.path) } ?? false
    }
    change.takeAsOwn(notRemoved)
    // A record is no news when it gets its id.
    change.takeAsOwn(state.tabs.lists[view].comingRows)
    // Rows that the user imports do not count as new.
    if isImporting(state, intoView: view) { change.takeAsOwn(change.newRows) }
    let (markCount, jump) = (state.tabs.lists[view].marks.count, state.tabs.lists[view].goal.jump)
    let wasLoaded = state.tabs.lists[view].reach.phase == .loaded
    let hadRange = state.tabs.lists[view].rangeStart != nil
    guard
      state.tabs.lists[view].apply(
        change, height: state.tabs.height(ofView: view, in: state.height), now: state.now,
        local: state.settings.local,
        me: state.database.me)
    else {
      return state.say(
        .error, "a change does not fit the list of \(state.tabs.lists[view].definition.name)")
    }
    state.tabs.lists[view].reach.noteAnswer(now: state.now)
    Columns.findAwaited(&state, inView: view)
    if change.update.isReload, case let gone = markCount - state.tabs.lists[view].marks.count,
      gone > 0
    {
      let rows = gone == 1 ? "1 row is" : "\(gone) rows are"
      state.say(.info, "\(rows) no longer marked: not among the rows that were read")
    }
    if !wasLoaded, state.toast == nil, state.tabs.lists[view].reach.phase == .loaded,
      let doubt = SectionDoubt(state.tabs.lists[view])?.message
        ?? ColumnDoubt(state.tabs.lists[view])?.message
    {
      state.say(.warning, doubt)
    }
    ComposeScreen.forgetStoredDraft(&state, inView: view)
    Notices.note(&state, change.newRows, inView: view)
    ListScreen.goToKeptRecord(&state, inView: view)
    ListScreen.letGo(&state, inView: view)
    ListScreen.refill(&state, inView: view, after: change)
    guard state.tabs.front == .view(view) else { return }
    BulkEdit.refresh(&state)
    if let jump, state.tabs.lists[view].goal.jump == nil { jump.sayWhatIsThere(&state) }
    if hadRange, state.tabs.lists[view].rangeStart == nil {
      let words = "the range ended: the row where it began is not loaded any more"
      state.say(
        .info,
        words
          + KeyText.listKeys(state).hint(.sectionMore, "loads more", after: " · before a range "))
    }
    ListCommands.endFetchingToast(&state)
    if state.tabs.lists[view].filtering.searchesWhenLoaded,
      state.tabs.lists[view].reach.phase == .loaded
    {
      state.tabs.lists[view].filtering.searchesWhenLoaded = false
      FilterScreen.searchOn(&state)
    }
    DetailHistory.noteDetailChange(&state, change)
    Restoration.goToRestored(&state, restored)
  }

  private static func show(_ state: inout AppState, _ change: TreeChange, of path: Path) {
    // Expanded nodes whose children are gone are closed, with all nodes below them.
    for place in state.tabs.tree.take(change, of: path, height: state.height) {
      state.effects.append(.collapse(place))
    }
    ServicePlaces.showServices(&state, after: change, of: path)
    TreeScreen.unload(&state, childrenOf: path)
    Revealing.goOnToWanted(&state)
    KeptTree.goOn(&state)
    TreePreview.noteChange(&state, at: path)
    TreePreview.updatePreview(&state)
  }

  /// Shows the content of an open record.
  static func show(_ state: inout AppState, _ node: RunnelTree.Node, ofRecord path: Path) {
    for (index, layer) in state.layers.enumerated() {
      guard case .record(var screen) = layer, screen.path == path else { continue }
      screen.draftFields = state.writes.drafts.fields(ofRecord: path)
      screen.show(node, height: state.height)
      let start = screen.start
      let opensForm = screen.begin(height: state.height)
      // What is not edited in its cell is shown as a record.
      if screen.edit == nil { screen.isCell = false }
      state.layers[index] = .record(screen)
      if start != nil {
        RecordScreen.offerDraft(&state, at: index)
        ResourceCommands.readChoices(&state)
      }
      if case .field(let wanted, _)? = start, screen.edit == nil, screen.node?.isEmpty == false {
        let reason = screen.fields[wanted.description].flatMap {
          RecordCommands.reasonFieldTooLong(state, $0)
        }
        let choose = state.phrase(
          "no field is chosen yet", .recordEdit, "edits the one at the cursor")
        state.say(.info, reason ?? choose)
      }
      if opensForm { ResourceCommands.openForm(&state, of: path, node.exportJSON) }
    }
  }
}

extension AppAction {
  /// Whether the action comes from outside, so that waiting keys are to be tried again.
  fileprivate var isAnswer: Bool {
    switch self {
    case .tick, .input, .typedAhead, .effectsTaken: false
    default: true
    }
  }
}
