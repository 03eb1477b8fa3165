import RunnelBase
import RunnelTerminal
import RunnelTree

// What the user does: events find the layer on top, keys find their action in the keymap.

extension AppState {
  /// The contexts that hold now, innermost first.
  var contexts: [KeymapContext] { contexts(about: atHand) }

  /// The contexts, innermost first, where the keys are about these.
  func contexts(about hand: AtHand) -> [KeymapContext] {
    switch layers.last {
    case nil:
      (pane == .views ? [.views] : hand.contexts + [isTree ? .tree : .collection])
        + [.list, .global] + (allowsCrash ? [.crash] : [])
    case .record(let screen):
      screen.edit != nil
        ? [.fields, .input, .textField]
        : screen.reading != nil
          ? [.value, .list, .global] : hand.contexts + [.record, .list, .global]
    case .form: [.fields, .input, .textField]
    case .compose: [.input, .textField]
    case .filter: [.filter, .input, .textField]
    case .search: [.search, .input, .textField]
    case .confirm(let question): question.word == nil ? [.confirm] : [.input, .textField]
    case .help: [.help, .input, .textField]
    case .debug: [.debug, .list, .global]
    case .history: [.history, .list, .global]
    case .compare: [.compare, .list, .global]
    case .queue: [.queue, .list, .global]
    case .palette: [.palette, .input, .textField]
    case .menu: [.menu, .input, .textField]
    }
  }

  mutating func handle(_ event: InputEvent) {
    if greeting != nil, closesGreeting(event) { return }
    if !holdsBack(event) { handleNow(event) }
  }

  /// Handles an event that does not wait behind others.
  mutating func handleNow(_ event: InputEvent) {
    defer {
      sayOverflow()
      updatePreview()
      followDetail()
    }
    switch event {
    case .key, .paste, .pasteTooLong, .mouse: inputCount += 1
    case .resize, .focus, .reply: break
    }
    if case .key = event { leaveRestoration() }
    if case .mouse = event { leaveRestoration() }
    switch event {
    case .key(let stroke): handle(stroke)
    case .paste(let text): paste(text)
    case .pasteTooLong(let count): refusePaste(of: count)
    case .mouse(let mouse): handle(mouse)
    case .resize(let size): resize(to: size)
    case .focus(let isThere): focus(isThere)
    case .reply: break
    }
  }

  /// Whatever the user does closes the greeting, and does nothing else.
  private mutating func closesGreeting(_ event: InputEvent) -> Bool {
    switch event {
    case .resize, .focus, .reply: return false
    case .key, .paste, .pasteTooLong, .mouse:
      greeting = nil
      return true
    }
  }

  private mutating func handle(_ stroke: KeyStroke) {
    if let awaited { return take(stroke, for: awaited) }
    let before = matcher
    defer { prefixTime = matcher.keys.isEmpty ? nil : now }
    switch matcher.feed(stroke, keymap: keymap, contexts: contexts) {
    case .pending: break
    case .action(let action, let count):
      if holdsBack(action, count: count, keys: before.keys + [stroke], digits: before.count) {
        return
      }
      performNotingJumps(action, count: count)
    case .unmatched(let stroke):
      if !before.isPending { type(stroke) }
    }
  }

  /// A key that is no command: text, where text is being typed.
  private mutating func type(_ stroke: KeyStroke) {
    guard case .character(let character) = stroke.key, !stroke.control, !stroke.meta else { return }
    insert(String(character))
  }

  private mutating func resize(to size: TerminalSize) {
    self.size = size
    fitLayers()
  }

  /// Lets all lists go on in the room that there is now.
  mutating func fitLayers() {
    let height = height
    withList { list, content, height in list.resize(toHeight: height, in: content) }
    for index in layers.indices {
      if case .compare(var screen) = layers[index] {
        screen.rebuild(columns: size.columns, height: height)
        layers[index] = .compare(screen)
      } else {
        withLayerList(at: index) { list, content, height in
          list.resize(toHeight: height, in: content)
        }
      }
    }
  }

  // MARK: Actions

  /// Runs an action where the keys go now.
  mutating func perform(_ action: ActionID, count: Int?) {
    if isPlaceInFront, refuses(action) { return }
    if performAnywhere(action) || performUndo(action, count: count ?? 1) { return }
    if performWithPlaces(action, count: count) { return }
    if let tab = tab(of: action, count: count) { return change(to: tab) }
    if isPlaceInFront, performOnSiblings(action, count: count ?? 1) { return }
    if performWithPanes(action, count: count) { return }
    switch layers.last {
    case nil: performInView(action, count: count)
    case .record: performInRecord(action, count: count)
    case .form: performInForm(action)
    case .confirm: performInConfirm(action)
    case .help: performInHelp(action, count: count)
    case .compose: performInComposer(action)
    case .filter: performInFilter(action)
    case .search: performInSearch(action)
    case .debug: performInDebug(action, count: count)
    case .history: performInHistory(action, count: count)
    case .compare: performInCompare(action, count: count)
    case .queue: performInQueue(action, count: count)
    case .palette: performInPalette(action)
    case .menu: performInMenu(action)
    }
  }

  /// True if the keys are about something that is shown: nothing is typed, chosen or asked.
  var isPlaceInFront: Bool {
    switch layers.last {
    case nil, .history, .compare, .queue, .debug: true
    case .record(let screen): screen.edit == nil
    default: false
    }
  }

  private mutating func performAnywhere(_ action: ActionID) -> Bool {
    switch action {
    case .appQuit: leave()
    case .appSuspend: effects.append(.suspend)
    case .appCrash: effects.append(.crash)
    case .screenRedraw: effects.append(.redraw)
    case .helpOpen: openHelp()
    case .debugOpen: openDebug()
    case .recordCompare: openComparison()
    case .syncOpen: openQueue()
    case .historyOpen: openHistory(ofAll: false)
    case .historyAll: openHistory(ofAll: true)
    case .paletteOpen: openPalette()
    case .profileReadonly: toggleReadOnly()
    case .viewClose:
      if layers.isEmpty { leave() } else { closeLayer() }
    case .jobCancel: interrupt()
    default: return false
    }
    return true
  }

  /// The tab that an action goes to; nil if it goes to none.
  private func tab(of action: ActionID, count: Int?) -> Int? {
    if let number = action.viewNumber { return number - 1 }
    let tabCount = treeTab + 1
    switch action {
    case .paneNext where layers.isEmpty && arrangement.panes.count > 1: return nil
    case .panePrevious where layers.isEmpty && arrangement.panes.count > 1: return nil
    case .viewNext, .paneNext: return (active + (count ?? 1)) % tabCount
    case .viewPrevious, .panePrevious:
      return (active + tabCount - (count ?? 1) % tabCount) % tabCount
    default: return nil
    }
  }

  /// Changes the view: what is only read is closed, what is typed stays in front.
  mutating func change(to tab: Int) {
    guard (0...treeTab).contains(tab) else { return open(tab) }
    let before = place
    guard closeWhatIsRead() else { return }
    if tab != active { places.note(before) }
    open(tab)
  }

  /// Closes what lies over the view; false if something is typed there, which stays in front.
  mutating func closeWhatIsRead() -> Bool {
    while let layer = layers.last {
      switch layer {
      case .help, .debug, .history, .compare, .queue, .palette, .menu: closeLayer()
      case .record(let screen) where screen.edit == nil: closeLayer()
      case .record, .form, .confirm, .compose, .filter, .search:
        say(.info, "finish first what is typed, or \(keysOrName(.inputCancel))")
        return false
      }
    }
    return true
  }

  /// `C-c` stops what is being fetched; where nothing is, a second one leaves.
  private mutating func interrupt() {
    if stopWhatIsUnderWay() { return }
    if let lastInterrupt, now - lastInterrupt < 1000 {
      isLeaving = true
      return
    }
    lastInterrupt = now
    if !layers.isEmpty { return closeLayer() }
    let ways = "\(keysOrName(.viewClose)) leaves · \(keysOrName(.jobCancel)) again leaves too"
    say(.info, ways)
  }

  /// Stops what is being fetched, read, imported or exported; false if nothing is.
  mutating func stopWhatIsUnderWay() -> Bool {
    if stopFileWork() || stopReadingHistory() || stopReadingValues() { return true }
    guard layers.isEmpty, !isTree, lists[active].paging == .fetching else { return false }
    effects.append(.stopFetching(active))
    say(.info, "stopped")
    return true
  }

  /// Takes the top layer away.
  mutating func closeLayer() {
    guard let layer = layers.popLast() else { return }
    if case .record(let screen) = layer { effects.append(.closeRecord(screen.path)) }
    let height = height
    withList { list, content, _ in list.resize(toHeight: height, in: content) }
  }

  /// Moves through a list; false if the action is none of that.
  static func move(
    _ list: inout ListState, _ content: ListContent, _ height: Int, _ action: ActionID,
    _ count: Int?
  ) -> Bool {  // tidy:table
    switch action {
    case .rowDown: list.move(by: count ?? 1, in: content, height: height)
    case .rowUp: list.move(by: -(count ?? 1), in: content, height: height)
    case .rowFirst, .rowLast:
      if let count {
        list.moveToRow(number: count, in: content, height: height)
      } else if action == .rowFirst {
        list.moveToFirst(in: content, height: height)
      } else {
        list.moveToLast(in: content, height: height)
      }
    case .pageDown: list.movePage(by: Double(count ?? 1), in: content, height: height)
    case .pageUp: list.movePage(by: -Double(count ?? 1), in: content, height: height)
    case .pageHalfDown: list.movePage(by: 0.5, in: content, height: height)
    case .pageHalfUp: list.movePage(by: -0.5, in: content, height: height)
    case .sectionNext:
      // A count beyond the sections ends at the last one, however great it is.
      for _ in 0..<min(count ?? 1, content.sections.count) {
        list.moveToNextSection(in: content, height: height)
      }
    case .sectionPrevious:
      for _ in 0..<min(count ?? 1, content.sections.count) {
        list.moveToPreviousSection(in: content, height: height)
      }
    case .screenTop: list.moveToScreen(.top, in: content, height: height)
    case .screenMiddle: list.moveToScreen(.middle, in: content, height: height)
    case .screenBottom: list.moveToScreen(.bottom, in: content, height: height)
    case .scrollDown: list.scroll(by: count ?? 1, in: content, height: height)
    case .scrollUp: list.scroll(by: -(count ?? 1), in: content, height: height)
    case .scrollRowTop: list.placeCursor(.top, in: content, height: height)
    case .scrollRowMiddle: list.placeCursor(.middle, in: content, height: height)
    case .scrollRowBottom: list.placeCursor(.bottom, in: content, height: height)
    case .scrollRight: list.scrollHorizontally(by: 8)
    case .scrollLeft: list.scrollHorizontally(by: -8)
    default: return false
    }
    return true
  }
}
