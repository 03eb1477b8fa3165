import RunnelTerminal

/// The commands of a menu.
package enum MenuCommands {
  package static let table = CommandTable(.menu, "In the menu", over: .belowText, hints: hints) {
    TypingCommands.accept.inner("choose", "choose", keys: ["Enter"]) { state, _ in
      MenuScreen.acceptInMenu(&state)
    }
    TypingCommands.cancel.inner("close", "close the menu", keys: ["Esc", "C-g", "C-c"]) {
      state, _ in
      state.closeLayer()
    }
    Command(.inputPrevious, "up", "up", keys: ["Up"], needs: .nothing) { state, _ in
      MenuScreen.moveInMenu(&state, by: -1)
    }
    Command(.inputNext, "down", "down", keys: ["Down"], needs: .nothing) { state, _ in
      MenuScreen.moveInMenu(&state, by: 1)
    }
    moves(
      rows: { state, count in MenuScreen.moveInMenu(&state, by: count) },
      pages: { state, count in MenuScreen.pageInMenu(&state, by: count) })
  }

  /// A move by a number of rows or pages, up if negative.
  package typealias Move = @Sendable (inout AppState, _ count: Int) -> Void

  /// Returns the commands that move through a list of choices.
  static func moves(rows: @escaping Move, pages: @escaping Move) -> [Command] {
    [
      MovingCommands.down.inner("down", "down", keys: ["C-n"]) { state, _ in rows(&state, 1) },
      MovingCommands.up.inner("up", "up", keys: ["C-p"]) { state, _ in rows(&state, -1) },
      MovingCommands.pageDown.inner(keys: ["PgDn"]) { state, _ in pages(&state, 1) },
      MovingCommands.pageUp.inner(keys: ["PgUp"]) { state, _ in pages(&state, -1) },
    ]
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.inputAccept), CommandHint(.inputCancel),
    ]
  }
}
