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
    layers.last?.component.contexts(about: hand)
      ?? Input.contextsInView(self, hand) + [.list, .global]
      + (settings.allowsCrash ? [.crash] : [])
  }

  /// True if the keys are about something that is shown: nothing is typed, chosen or asked.
  var isPlaceInFront: Bool {
    isPageInFront && layers.last?.component.offersCommandsBelow != true
  }
}

/// Finds the command of a key, and runs it.
enum Input {
  static func contextsInView(_ state: AppState, _ hand: AtHand) -> [KeymapContext] {
    let pane = state.pane
    if pane == .views { return [.views] }
    return (pane == .detail ? [.detail] : []) + hand.contexts + [
      state.tabs.isTree ? .tree : .collection
    ]
  }

  static func handleInput(_ state: inout AppState, _ event: InputEvent) {
    if state.session.greeting != nil, closesGreeting(&state, event) { return }
    if !TypeAhead.holdsBack(&state, event) { handleNow(&state, event) }
  }

  /// Handles an event that does not wait behind others.
  static func handleNow(_ state: inout AppState, _ event: InputEvent) {
    defer {
      Typing.sayOverflow(&state)
      TreePreview.updatePreview(&state)
      DetailHistory.followDetail(&state)
    }
    switch event {
    case .key, .paste, .pasteTooLong, .mouse: state.input.count += 1
    case .resize, .focus, .reply: break
    }
    if case .key = event { Restoration.leaveRestoration(&state) }
    if case .mouse = event { Restoration.leaveRestoration(&state) }
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

  /// Whatever the user does closes the greeting, and does nothing else.
  private static func closesGreeting(_ state: inout AppState, _ event: InputEvent) -> Bool {
    switch event {
    case .resize, .focus, .reply: return false
    case .key, .paste, .pasteTooLong, .mouse:
      state.session.greeting = nil
      return true
    }
  }

  private static func handle(_ state: inout AppState, _ stroke: KeyStroke) {
    if let awaited = state.input.awaited { return PlaceHistory.take(&state, stroke, for: awaited) }
    let before = state.input.matcher
    defer { state.input.prefixTime = state.input.matcher.keys.isEmpty ? nil : state.now }
    let contexts = state.contexts
    switch state.input.matcher.feed(stroke, keymap: state.settings.keymap, contexts: contexts) {
    case .pending: break
    case .action(let action, let count):
      if TypeAhead.holdsBack(
        &state, action, count: count, keys: before.keys + [stroke], digits: before.count)
      {
        return
      }
      PlaceHistory.performNotingJumps(&state, action, count: count, in: contexts)
    case .unmatched(let stroke):
      if !before.isPending { type(&state, stroke) }
    }
  }

  /// A key that is no command: text, where text is being typed.
  private static func type(_ state: inout AppState, _ stroke: KeyStroke) {
    guard case .character(let character) = stroke.key, !stroke.control, !stroke.meta else { return }
    state.insert(String(character))
  }

  private static func resize(_ state: inout AppState, to size: TerminalSize) {
    state.size = size
    state.fitLayers()
  }

  /// Goes to the tab so many further on, or back if negative; after the last one comes the first.
  static func changeTab(_ state: inout AppState, by steps: Int) {
    let count = state.tabs.treeIndex + 1
    change(&state, to: ((state.tabs.index + steps) % count + count) % count)
  }

  /// Changes the view: what is only read is closed, what is typed stays in front.
  static func change(_ state: inout AppState, to tab: Int) {
    guard (0...state.tabs.treeIndex).contains(tab) else { return state.open(tab) }
    let before = state.place
    guard state.closeWhatIsRead() else { return }
    if tab != state.tabs.index { state.trail.places.note(before) }
    state.open(tab)
  }

  /// `C-c` stops what is being fetched; where nothing is, a second one leaves.
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

  /// Stops what is being fetched, read, imported or exported; false if nothing is.
  static func stopWhatIsUnderWay(_ state: inout AppState) -> Bool {
    if Importing.stopFileWork(&state) || HistoryScreen.stopReadingHistory(&state)
      || CompareScreen.stopReadingValues(&state)
    {
      return true
    }
    guard state.layers.isEmpty, !state.tabs.isTree,
      [state.tabs.front.paging, state.tabs.front.newer].contains(.fetching)
    else { return false }
    state.effects.append(.stopFetching(state.tabs.index))
    state.say(.info, "stopped")
    return true
  }
}
