import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Input: the keymap finds the command of a key, and the innermost context that has the command runs
// it; see `Commands`.

extension AppState {
  /// The contexts that hold now, innermost first.
  var contexts: [KeymapContext] { contexts(about: atHand) }

  /// Returns the contexts for a kind of record at hand, innermost first.
  func contexts(about hand: AtHand) -> [KeymapContext] {
    layers.last?.component.contexts(about: hand)
      ?? Input.contextsInView(self, hand) + [.list, .global]
      + (settings.allowsCrash ? [.crash] : [])
  }

  /// Whether the keys act on a page: nothing is typed, chosen or asked.
  var isPlaceInFront: Bool {
    isPageInFront && layers.last?.component.offersCommandsBelow != true
  }
}

/// Finds the command of a key, and runs it.
enum Input {
  static func contextsInView(_ state: AppState, _ hand: AtHand) -> [KeymapContext] {
    let pane = state.pane
    if pane == .views { return [.views] }
    let hasCell = pane == .list && state.tabs.frontList?.look.cell != nil
    return (pane == .detail ? [.detail] : hasCell ? [.cells] : []) + hand.contexts + [
      state.tabs.front == .tree ? .tree : .collection
    ]
  }

  static func handleInput(_ state: inout AppState, _ event: InputEvent) {
    if state.session.greeting != nil, closesGreeting(&state, event) { return }
    state.input.eventTime = state.now
    if Interrupted.takes(&state, event) { return }
    if !TypeAhead.holdsBack(&state, event) { handleNow(&state, event) }
  }

  /// Handles an event that does not have to wait.
  static func handleNow(_ state: inout AppState, _ event: InputEvent) {
    defer {
      Typing.sayOverflow(&state)
      TreePreview.updatePreview(&state)
      DetailHistory.followDetail(&state)
    }
    switch event {
    case .paste, .pasteTooLong, .mouse: state.input.count += 1
    case .key, .resize, .focus, .reply: break
    }
    if case .mouse = event { Restoration.leaveRestoration(&state) }
    if state.layers.last?.component.fieldInput != nil {
      let dates = MomentReader(now: state.now, local: state.settings.local)
      state.changeTop { component, _ in component.fieldInput?.readDates(by: dates) }
    }
    switch event {
    case .key(let stroke): handle(&state, stroke)
    case .paste(let text): Typing.paste(&state, text)
    case .pasteTooLong(let count): Typing.refusePaste(&state, of: count)
    case .mouse(let mouse): MouseInput.handleMouse(&state, mouse)
    case .resize(let size): resize(&state, to: size)
    case .focus(let isThere): ListScreen.focus(&state, isThere)
    case .reply: break
    }
  }

  /// Closes the greeting on any input of the user; returns true for input that does nothing else: the keys
  /// that go one step back, and the mouse, which points at what the greeting covers.
  private static func closesGreeting(_ state: inout AppState, _ event: InputEvent) -> Bool {
    switch event {
    case .resize, .focus, .reply: return false
    case .key(let stroke):
      state.session.greeting = nil
      return KeySequenceMatcher.cancelStrokes.contains(stroke)
    case .paste, .pasteTooLong:
      state.session.greeting = nil
      return false
    case .mouse:
      state.session.greeting = nil
      return true
    }
  }

  /// Drops the beginning of a key sequence that was not completed in time, and says so: the next key is then
  /// one of its own.
  static func dropLatePrefix(_ state: inout AppState) {
    guard let end = prefixEnd(state), end <= state.now else { return }
    let keys = state.input.awaited?.keys ?? state.input.matcher.pendingText
    state.input.matcher.reset()
    (state.input.prefixTime, state.input.awaited) = (nil, nil)
    state.say(.info, "\(keys) is dropped: no key came after it", givesWay: true)
  }

  private static func handle(_ state: inout AppState, _ stroke: KeyStroke) {
    state.input.refusesText = false
    if Leaving.wasMeantForQuestion(&state) { return }
    if let awaited = state.input.awaited {
      state.input.count += 1
      Restoration.leaveRestoration(&state)
      return PlaceHistory.take(&state, stroke, for: awaited)
    }
    let before = state.input.matcher
    defer { state.input.prefixTime = state.input.matcher.isPending ? state.now : nil }
    let contexts = state.contexts
    switch state.input.matcher.feed(stroke, keymap: state.settings.keymap, contexts: contexts) {
    case .pending: break
    case .action(let action, let count):
      if TypeAhead.holdsBack(
        &state, action, count: count, keys: before.keys + [stroke], digits: before.count)
      {
        return
      }
      state.input.count += 1
      // The next command makes a message about the one before out of date.
      if state.toast?.isRead(at: state.now) == true { TimedToast.end(&state) }
      Restoration.leaveRestoration(&state)
      let command = Commands.command(action, in: contexts)
      state.input.refusesText =
        command?.traits.contains(.opensText) == true && command?.disabledReason(state) != nil
      PlaceHistory.performNotingJumps(&state, action, count: count, in: contexts)
    case .unmatched(let stroke):
      if TypeAhead.holdsBack(&state, unmatched: before.keys + [stroke], digits: before.count) {
        return
      }
      state.input.count += 1
      if state.toast?.givesWay == true { state.toast = nil }
      Restoration.leaveRestoration(&state)
      if !before.isPending { type(&state, stroke) }
    }
  }

  /// Inserts a key that is no command as text, if there is a text field.
  private static func type(_ state: inout AppState, _ stroke: KeyStroke) {
    guard case .character(let character) = stroke.key, !stroke.control, !stroke.meta else { return }
    if MenuScreen.take(&state, character) { return }
    state.insert(String(character))
  }

  private static func resize(_ state: inout AppState, to size: TerminalSize) {
    state.size = size
    state.fitLayers()
  }

  /// Goes a number of tabs forward, or back if negative; the last tab is followed by the first.
  static func changeTab(_ state: inout AppState, by steps: Int) {
    let count = state.tabs.fixedCount + 1
    let position = ((state.tabs.position + steps) % count + count) % count
    change(&state, to: state.tabs.tab(atPosition: position))
  }

  /// Changes the view: layers without typed text are closed, others stay in front.
  static func change(_ state: inout AppState, to tab: Tab) {
    guard state.tabs.has(tab) else { return state.open(tab) }
    let before = state.place
    guard state.closeWhatIsRead() else { return }
    if tab != state.tabs.front {
      state.trail.places.note(before)
      // A message is about the view that it was said in.
      if state.toast?.toast.kind == .info { state.toast = nil }
    }
    state.open(tab)
  }

  /// Stops the work under way; if there is none, a second call within a second leaves the program.
  static func interrupt(_ state: inout AppState) {
    if stopWhatIsUnderWay(&state) { return }
    if let lastInterrupt = state.input.lastInterrupt, state.now - lastInterrupt < 1000 {
      state.input.lastInterrupt = state.now
      return Leaving.leaveByInterrupt(&state)
    }
    state.input.lastInterrupt = state.now
    if !state.layers.isEmpty { return state.closeLayer() }
    let ways =
      "\(state.keysOrName(.viewClose)) leaves · \(state.keysOrName(.jobCancel)) again leaves too"
    state.say(.info, ways)
  }

  /// Stops a fetch, read, import, export, the saving of a copy or the making of an index; returns false if there is none.
  static func stopWhatIsUnderWay(_ state: inout AppState) -> Bool {
    if CopySaving.stop(&state) || IndexMaking.stop(&state) || Importing.stopFileWork(&state)
      || HistoryScreen.stopReadingHistory(&state)
      || CompareScreen.stopReadingValues(&state)
    {
      return true
    }
    guard state.layers.isEmpty, let view = state.tabs.front.view,
      state.tabs.lists[view].reach.isFetching
    else { return false }
    state.effects.append(.stopFetching(view))
    state.say(.info, "stopped")
    return true
  }
}
