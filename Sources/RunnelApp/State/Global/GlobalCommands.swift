import RunnelTerminal

/// The commands that are everywhere except while typing.
enum GlobalCommands {
  static let table = CommandTable(.global, "Everywhere") {
    help
    views
    leaving
    screen
    lastActions
    panes
    goto
    Command(.paletteOpen, "palette", "do anything by its name", keys: [":", "M-x"]) { state, _ in
      state.openPalette()
    }.keepingAwaitedRow
    Command(
      .profileReadonly, "read-only", "read-only on / off", keys: ["!"],
      disabled: { $0.reasonNotSwitched }
    ) { state, _ in state.toggleReadOnly() }.keepingAwaitedRow
  }

  /// Where the program may be asked to crash.
  static let crash = CommandTable(.crash, "crash") {
    Command(.appCrash, "crash", "end the program with a fault", keys: ["C-x !"]) { state, _ in
      state.effects.append(.crash)
    }.keepingAwaitedRow
  }

  static let help = Command(
    .helpOpen, "help", "help for this place", keys: ["?", "F1"]
  ) { state, _ in state.openHelp() }.keepingAwaitedRow

  static let suspend = Command(
    .appSuspend, "suspend", "suspend to the shell", keys: ["C-z"]
  ) { state, _ in state.effects.append(.suspend) }.keepingAwaitedRow

  static let redraw = Command(
    .screenRedraw, "redraw", "redraw from scratch", keys: ["C-l"]
  ) { state, _ in state.effects.append(.redraw) }.keepingAwaitedRow

  static let stepBack = Command(
    .stepBack, "back", "one step back", keys: ["Esc", "C-g"]
  ) { state, _ in
    if state.layers.isEmpty { state.stepBackInView() } else { state.closeLayer() }
  }.keepingAwaitedRow

  static let lastActions = Command(
    .debugOpen, "last actions", "the last actions, and what they changed", keys: ["C-x d", "F12"]
  ) { state, _ in state.openDebug() }.keepingAwaitedRow

  // MARK: Views

  private static let views: [Command] = [
    Command(.viewNext, "next view", "next view", keys: ["gt"], disabled: reasonOneView) {
      $0.changeTab(by: $1 ?? 1)
    },
    Command(.viewPrevious, "previous view", "previous view", keys: ["gT"], disabled: reasonOneView)
    {
      $0.changeTab(by: -($1 ?? 1))
    },
    Command(.viewClose, "leave", "close this view; at the last one, leave", keys: ["q"]) {
      state, _ in
      if state.layers.isEmpty { state.leave() } else { state.closeLayer() }
    },
  ].keepingAwaitedRow

  private static let goto: [Command] = (1...ActionID.viewGotoCount).map { number in
    Command(
      .viewGoto(number), "view \(number)", "go to view \(number)",
      keys: ["g\(number)", "M-\(number)"], disabled: { $0.reasonNoView(number) }
    ) { state, _ in state.change(to: number - 1) }
  }.keepingAwaitedRow

  private static let reasonOneView: Command.DisabledReason = { state in
    state.lists.isEmpty ? "there is one view only" : nil
  }

  // MARK: The program

  private static let leaving: [Command] = [
    Command(.appQuit, "leave", "leave", keys: ["Q"]) { state, _ in state.leave() },
    stepBack,
    Command(.jobCancel, "stop", "stop; twice leaves", keys: ["C-c"]) { state, _ in
      state.interrupt()
    },
  ].keepingAwaitedRow

  private static let screen: [Command] = [suspend, redraw]

  // MARK: Panes

  private static let panes: [Command] = [
    Command(
      .paneNext, "next pane", "next pane; where there is one only, next view", keys: ["Tab"]
    ) { $0.goToPane(by: $1 ?? 1) },
    Command(
      .panePrevious, "previous pane", "previous pane, or previous view", keys: ["S-Tab"]
    ) { $0.goToPane(by: -($1 ?? 1)) },
    Command(
      .paneGrow, "wider", "the pane with the keys: normal, half, full", keys: ["+"],
      disabled: { $0.reasonPaneDoesNotGrow }
    ) { state, _ in state.resizePane(to: state.paneSize.next) },
    Command(
      .paneShrink, "narrower", "the pane with the keys: back again", keys: ["_"],
      disabled: { $0.reasonPaneDoesNotShrink }
    ) { state, _ in state.resizePane(to: state.paneSize.previous) },
  ].keepingAwaitedRow
}

// MARK: - Disabled reasons

extension AppState {
  func reasonNoView(_ number: Int) -> String? {
    guard tabs.indices.contains(number - 1) else { return "there is no view \(number)" }
    return layers.isEmpty && number == active + 1 ? "this is \(tabs[active])" : nil
  }

  /// The reason why writing is not turned on or off; nil if it is.
  var reasonNotSwitched: String? {
    if let reasonGone { return reasonGone }
    if isOpenedReadOnly { return "this database was opened read-only: open it to be written" }
    if deletion != nil || importing != nil || !requests.writes.isEmpty || requests.hasReads {
      return "records are being written: stop that first, or wait for its end"
    }
    return nil
  }

  var reasonPaneDoesNotGrow: String? {
    reasonOnePane ?? (paneSize == .full ? "the pane takes all of the screen" : nil)
  }

  var reasonPaneDoesNotShrink: String? {
    reasonOnePane ?? (paneSize == .normal ? "the pane has its usual size" : nil)
  }

  private var reasonOnePane: String? {
    layers.isEmpty && arrangement.panes.count > 1 ? nil : "there is one pane only here"
  }
}
