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
    let before = state.facts
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
    case .counted(let view, let count):
      if lists.indices.contains(view) { lists[view].total = count }
    case .waiting(let view, let count):
      if lists[view].waitingCount != nil { lists[view].waitingCount = count }
    case .tree(let path, let children): show(children, of: path)
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
      if !lists[active].changedUntil.isEmpty {
        lists[active].changedUntil = lists[active].changedUntil.filter { $0.value > time }
      }
      lists[active].refreshTitles(now: now, local: local)
    }
  }

  private mutating func apply(_ change: ListChange, toView view: Int) {
    guard lists.indices.contains(view) else { return }
    let restored = restoredRows(of: change)
    var change = change
    change.newRows.subtract(restored)
    lists[view].apply(change, height: height, now: now, local: local, me: me)
    guard view == active else { return }
    noteDetailChange(change)
    goToRestored(restored)
  }

  private mutating func show(_ children: TreeChildren, of path: Path) {
    tree.expanded[path] = children
    // Children that are gone, or have none any more, take what was expanded below them along.
    let present = Set(children.rows.filter(\.isExpandable).map(\.key))
    let gone = tree.expanded.keys.filter { place in
      guard let rest = place.relative(to: path), let first = rest.keys.first else { return false }
      return !present.contains(first)
    }
    for place in gone.sorted() {
      tree.expanded[place] = nil
      effects.append(.collapse(place))
    }
    tree.rebuild(height: height)
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

extension TreeRow {
  /// True if there are children to show.
  fileprivate var isExpandable: Bool {
    if case .children = summary.kind { true } else { false }
  }
}
