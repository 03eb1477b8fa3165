import RunnelTerminal

/// The commands that work everywhere except while typing.
package enum GlobalCommands {
  package static let table = CommandTable(.global, "Everywhere", over: []) {
    help
    views
    leaving
    screen
    lastActions
    ClientsCommands.open
    AccountsCommands.open
    DevicesCommands.open
    Presence.show
    Reconnecting.command
    panes
    goto
    Command(
      .paletteOpen, "palette", "do anything by its name", keys: [":", "M-x"], needs: .nothing,
      traits: [.opensText]
    ) { state, _ in
      PaletteScreen.openPalette(&state)
    }.keepingAwaitedRow
    Command(
      .profileReadonly, "read-only", "read-only on / off", keys: ["!"], needs: .nothing,
      disabled: { GlobalCommands.reasonNotSwitched($0) }
    ) { state, _ in RowCommands.toggleReadOnly(&state) }.keepingAwaitedRow
  }

  /// The table of the command that crashes the program, for tests of crashes.
  package static let crash = CommandTable(.crash, "crash", over: []) {
    Command(
      .appCrash, "crash", "end the program with a fault; only with --allow-crash", keys: ["C-x !"],
      needs: .nothing
    ) { state, _ in
      state.effects.append(.crash)
    }.keepingAwaitedRow
  }

  package static let help = Command(
    .helpOpen, "help", "help for this place", keys: ["?", "F1"], needs: .nothing
  ) { state, _ in HelpScreen.openHelp(&state) }.keepingAwaitedRow

  package static let suspend = Command(
    .appSuspend, "suspend", "suspend to the shell", keys: ["C-z"], needs: .nothing
  ) { state, _ in state.effects.append(.suspend) }.keepingAwaitedRow

  package static let redraw = Command(
    .screenRedraw, "redraw", "redraw from scratch", keys: ["C-l"], needs: .nothing
  ) { state, _ in state.effects.append(.redraw) }.keepingAwaitedRow

  static let stepBack = Command(
    .stepBack, "back", "one step back", keys: ["Esc", "C-g"], needs: .nothing
  ) { state, _ in
    if state.layers.isEmpty { ListScreen.stepBackInView(&state) } else { state.closeLayer() }
  }.keepingAwaitedRow

  static let lastActions = Command(
    .debugOpen, "last actions", "the last actions, and what they changed", keys: ["C-x d", "F12"],
    needs: .nothing
  ) { state, _ in ActionTrace.openDebug(&state) }.keepingAwaitedRow

  // MARK: Views

  private static let views: [Command] = [
    Command(
      .viewNext, "next view", "next view", keys: ["gt"], needs: .nothing, disabled: reasonOneView
    ) {
      Input.changeTab(&$0, by: $1 ?? 1)
    },
    Command(
      .viewPrevious, "previous view", "previous view", keys: ["gT"], needs: .nothing,
      disabled: reasonOneView
    ) {
      Input.changeTab(&$0, by: -($1 ?? 1))
    },
    Command(
      .viewClose, "leave", "close this view; at the last one, leave", keys: ["q"], needs: .nothing
    ) {
      state, _ in
      if state.layers.isEmpty { Leaving.leave(&state) } else { state.closeLayer() }
    },
  ].keepingAwaitedRow

  private static let goto: [Command] = (1...ActionID.viewGotoCount).map { number in
    Command(
      .viewGoto(number), "view \(number)", "go to view \(number)",
      keys: ["g\(number)", "M-\(number)"], needs: .nothing,
      disabled: { GlobalCommands.reasonNoView($0, number) }
    ) { state, _ in Input.change(&state, to: state.tabs.tab(atPosition: number - 1)) }
  }.keepingAwaitedRow

  private static let reasonOneView: Command.DisabledReason = { state in
    state.tabs.lists.isEmpty ? "there is one view only" : nil
  }

  // MARK: The program

  private static let leaving: [Command] = [
    Command(.appQuit, "leave", "leave", keys: ["Q"], needs: .nothing) { state, _ in
      Leaving.leave(&state)
    },
    stepBack,
    Command(.jobCancel, "stop", "stop; twice leaves", keys: ["C-c"], needs: .nothing) { state, _ in
      Input.interrupt(&state)
    },
  ].keepingAwaitedRow

  private static let screen: [Command] = [suspend, redraw]

  // MARK: Panes

  private static let panes: [Command] = [
    Command(
      .paneNext, "next pane", "next pane; where there is one only, next view", keys: ["Tab"],
      needs: .nothing
    ) { Panes.goToPane(&$0, by: $1 ?? 1) },
    Command(
      .panePrevious, "previous pane", "previous pane, or previous view", keys: ["S-Tab"],
      needs: .nothing
    ) { Panes.goToPane(&$0, by: -($1 ?? 1)) },
    Command(
      .paneGrow, "wider", "the pane with the keys: normal, half, full", keys: ["+"],
      needs: .nothing,
      disabled: { GlobalCommands.reasonPaneDoesNotGrow($0) }
    ) { state, _ in Panes.resizePane(&state, to: state.paneSize.next) },
    Command(
      .paneShrink, "narrower", "the pane with the keys: back again", keys: ["_"], needs: .nothing,
      disabled: { GlobalCommands.reasonPaneDoesNotShrink($0) }
    ) { state, _ in Panes.resizePane(&state, to: state.paneSize.previous) },
  ].keepingAwaitedRow
}

// MARK: - Disabled reasons

extension GlobalCommands {
  static func reasonNoView(_ state: AppState, _ number: Int) -> String? {
    guard state.tabs.names.indices.contains(number - 1) else { return "there is no view \(number)" }
    return state.layers.isEmpty && state.tabs.tab(atPosition: number - 1) == state.tabs.front
      ? "this is \(state.tabs.names[number - 1])" : nil
  }

  /// The reason why read-only cannot be turned on or off, or nil if it can.
  static func reasonNotSwitched(_ state: AppState) -> String? {
    if let reason = FileGone.reasonGone(state) { return reason }
    if let profile = state.database.profile, profile.isReadOnly {
      return "the profile \(profile.name) is read-only in the configuration"
    }
    if state.database.isOpenedReadOnly {
      return "the workspace was started with --readonly: start it without, to write"
    }
    if state.writes.deletion != nil || state.files.importing != nil
      || !state.requests.writes.isEmpty || state.requests.hasReads
    {
      return "records are being written: stop that first, or wait for its end"
    }
    return nil
  }

  static func reasonPaneDoesNotGrow(_ state: AppState) -> String? {
    reasonOnePane(state) ?? (state.paneSize == .full ? "the pane takes all of the screen" : nil)
  }

  static func reasonPaneDoesNotShrink(_ state: AppState) -> String? {
    reasonOnePane(state) ?? (state.paneSize == .normal ? "the pane has its usual size" : nil)
  }

  private static func reasonOnePane(_ state: AppState) -> String? {
    state.layers.isEmpty && state.arrangement.panes.count > 1 ? nil : "there is one pane only here"
  }
}
