import RunnelTerminal

/// The commands of the help.
package enum HelpCommands {
  package static let table = CommandTable(
    .help, "In the help", over: .belowText, hints: hints, helpHint: nil
  ) {
    Command(.rowOpen, "run", "run the action", keys: ["Enter"], needs: .nothing, traits: [.opens]) {
      state, _ in
      HelpScreen.runFromHelp(&state)
    }
    Command(.stepBack, "close", "close the help", keys: ["Esc", "C-g", "C-c"], needs: .nothing) {
      state, _ in
      state.closeLayer()
    }
    MovingCommands.down.inner("down", "down", keys: ["Down", "C-n"])
    MovingCommands.up.inner("up", "up", keys: ["Up", "C-p"])
    MovingCommands.pageDown.inner(keys: ["PgDn", "C-v"])
    MovingCommands.pageUp.inner(keys: ["PgUp", "M-v"])
    MovingCommands.first.inner("first row", "first row", keys: ["M-<"])
    MovingCommands.last.inner("last row", "last row", keys: ["M->"])
    MovingCommands.sectionNext.inner("next group", "next group", keys: ["Tab"])
    MovingCommands.sectionPrevious.inner("previous group", "previous group", keys: ["S-Tab"])
    Command(.helpWrite, "to a file", "write this list to a file…", keys: ["C-s"], needs: .nothing) {
      state, _ in
      Exporting.openExport(&state, .markdown, file: "keys.md")
    }
    TypingCommands.accept.inner { state, _ in HelpScreen.runFromHelp(&state) }
    TypingCommands.cancel.inner { state, _ in state.closeLayer() }
    // The wheel scrolls here too.
    MovingCommands.scrolling.map { $0.inner() }
    MovingCommands.sideways.map { $0.inner() }
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.rowDown), CommandHint(.rowOpen), CommandHint(.stepBack),
      CommandHint(.sectionNext), CommandHint(.helpWrite),
    ]
  }
}
