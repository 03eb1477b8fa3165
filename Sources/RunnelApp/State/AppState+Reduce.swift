import RunnelBase
import RunnelStore
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The reducer: what each action makes of the state.

extension AppState {
  /// The reducer of the application's store.
  static func reduce(_ state: inout AppState, _ action: any Action) {
    // Of all facts only the message goes away with time.
    if case .tick(let time)? = action as? AppAction, state.toast == nil {
      state.tick(time)
      return state.trace.noteNothing()
    }
    // Nothing but actions changes the state, so what was so after the last one still is.
    let before = state.trace.facts ?? state.facts
    state.handle(action)
    state.trace.note(
      AppState.name(of: action), isOfInterest: AppState.isOfInterest(action), at: state.now,
      before, state.facts)
  }

  private mutating func handle(_ action: any Action) {
    switch action {
    case let action as AppAction:
      reduce(action)
      if action.isAnswer { typeAhead.unblock() }
      takeRedefinition()
      refreshHistory(after: action)
    default: break
    }
  }

  private mutating func reduce(_ action: AppAction) {
    switch action {
    case .tick(let time): tick(time)
    case .input(let event): handle(event)
    case .list(let view, let change): apply(change, toView: view)
    case .keptAll(let view): lists[view].isLettingGo = false
    case .counted(let view, let count):
      if lists.indices.contains(view) { lists[view].total = count }
    case .waiting(let view, let count):
      if lists[view].waitingCount != nil { lists[view].waitingCount = count }
    case .tree(let path, let change): show(change, of: path)
    case .record(let path, let node): show(node, ofRecord: path)
    case .pendingWrites(let writes): take(pending: writes)
    case .answered(let id, let answer): take(answer, to: id)
    case .trouble(let message): say(.error, message)
    case .fileGone(let message): lose(message)
    case .configured(let settings, let problem): configure(settings, problem)
    case .redefined(let file, let problem, let views): redefine(file, problem, views: views)
    case .exported(let report): take(report)
    case .fileReading(let count, let size): tellReading(count, of: size)
    case .fileRead(let file, let content): take(content, of: file)
    case .greeted(let greeting): self.greeting = greeting
    case .restored(let session): restore(session)
    case .copied(let what, let outcome): say(what, outcome)
    case .opened(let link, let program): finish(opening: link, by: program)
    case .edited(let edit, let outcome): finish(edit, outcome)
    case .typedAhead: handleTypeAhead()
    case .effectsTaken: effects = []
    }
  }

  private mutating func tick(_ time: Int64) {
    now = time
    if let toast, toast.until <= now { self.toast = nil }
    readDetailHistory()
    if let queueDue, queueDue <= now { refreshQueue() }
    if !isTree {
      lists[active].changed.end(at: time)
      lists[active].refreshTitles(now: now, local: local)
    }
  }

  private mutating func apply(_ change: ListChange, toView view: Int) {
    guard lists.indices.contains(view) else { return }
    let restored = restoredRows(of: change)
    var change = change
    change.newRows.subtract(restored)
    guard lists[view].apply(change, height: height, now: now, local: local, me: me) else {
      return say(.error, "a change does not fit the list of \(lists[view].definition.name)")
    }
    letGo(inView: view)
    guard view == active else { return }
    noteDetailChange(change)
    goToRestored(restored)
  }

  private mutating func show(_ change: TreeChange, of path: Path) {
    // Children that are gone, or have none any more, take what was expanded below them along.
    for place in tree.take(change, of: path, height: height) { effects.append(.collapse(place)) }
    goOnToWanted()
    noteChange(at: path)
    updatePreview()
  }

  private mutating func show(_ node: RunnelTree.Node, ofRecord path: Path) {
    for (index, layer) in layers.enumerated() {
      guard case .record(var screen) = layer, screen.path == path else { continue }
      screen.show(node, height: height)
      let start = screen.start
      let opensForm = screen.begin(height: height)
      layers[index] = .record(screen)
      if start != nil { readChoices(of: [screen.edit?.input].compactMap(\.self)) }
      if case .field(let wanted)? = start, screen.edit == nil,
        let reason = screen.fields[wanted.description].flatMap(reasonTooLong)
      {
        say(.info, reason)
      }
      if opensForm { openForm(of: path, node.exportJSON) }
    }
  }
}

extension AppAction {
  /// True for what the world says, for which keys may have waited.
  fileprivate var isAnswer: Bool {
    switch self {
    case .tick, .input, .typedAhead, .effectsTaken: false
    default: true
    }
  }
}
