import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// What the user does: keys find their command in the keymap, and the innermost context that has it runs
// it; see Commands.

extension AppState {
  /// The contexts that hold now, innermost first.
  var contexts: [KeymapContext] { contexts(about: atHand) }

  /// The contexts, innermost first, where the keys are about these.
  func contexts(about hand: AtHand) -> [KeymapContext] {
    let typed: [KeymapContext] = [.input, .textField]
    switch layers.last {
    case nil:
      return contextsInView(hand) + [.list, .global] + (allowsCrash ? [.crash] : [])
    case .record(let screen):
      if screen.edit != nil { return [.field, .fields] + typed }
      return (screen.reading != nil ? [.value] : hand.contexts + [.record]) + [.list, .global]
    case .form: return [.form, .fields] + typed
    case .compose: return [.compose] + typed
    case .filter: return [.filter] + typed
    case .search: return [.search] + typed
    case .confirm(let question): return question.word == nil ? [.confirm] : [.word] + typed
    case .help: return [.help] + typed
    case .debug: return [.debug, .list, .global]
    case .history: return [.history, .list, .global]
    case .compare: return [.compare, .list, .global]
    case .queue: return [.queue, .list, .global]
    case .palette: return [.palette] + typed
    case .menu: return [.menu] + typed
    }
  }

  private func contextsInView(_ hand: AtHand) -> [KeymapContext] {
    let pane = pane
    if pane == .views { return [.views] }
    return (pane == .detail ? [.detail] : []) + hand.contexts + [isTree ? .tree : .collection]
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

  /// True if the keys are about something that is shown: nothing is typed, chosen or asked.
  var isPlaceInFront: Bool {
    switch layers.last {
    case nil, .history, .compare, .queue, .debug: true
    case .record(let screen): screen.edit == nil
    default: false
    }
  }

  /// Goes to the tab so many further on, or back if negative; after the last one comes the first.
  mutating func changeTab(by steps: Int) {
    let count = treeTab + 1
    change(to: ((active + steps) % count + count) % count)
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
  mutating func interrupt() {
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
    guard layers.isEmpty, !isTree,
      [lists[active].paging, lists[active].newer].contains(.fetching)
    else { return false }
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
}
