import RunnelTerminal

/// The commands of the palette.
package enum PaletteCommands {
  package static let table = CommandTable(
    .palette, "In the palette", over: .belowText, hints: hints
  ) {
    TypingCommands.accept.inner("do", "do what is selected", keys: ["Enter"]) { state, _ in
      PaletteScreen.acceptInPalette(&state)
    }
    TypingCommands.cancel.inner("close", "close the palette", keys: ["Esc", "C-g", "C-c"]) {
      state, _ in
      PaletteScreen.leavePalette(&state)
    }
    Command(
      .inputComplete, "complete", "complete to what is selected", keys: ["Tab"], needs: .nothing
    ) {
      state, _ in
      PaletteScreen.changePalette(&state) { screen, _ in screen.complete() }
    }
    Command(.inputPrevious, "earlier", "what was done before, or up", keys: ["Up"], needs: .nothing)
    { state, _ in
      PaletteScreen.changePalette(&state) { screen, _ in screen.recallOrMove(.inputPrevious) }
    }
    Command(.inputNext, "later", "what was done after, or down", keys: ["Down"], needs: .nothing) {
      state, _ in
      PaletteScreen.changePalette(&state) { screen, _ in screen.recallOrMove(.inputNext) }
    }
    moving
  }

  private static let moving = MenuCommands.moves(
    rows: { state, count in
      PaletteScreen.changePalette(&state) { screen, _ in screen.menu.move(by: count) }
    },
    pages: { state, count in
      PaletteScreen.changePalette(&state) { screen, state in
        screen.menu.movePage(by: count, height: PaletteScreen.paletteHeight(state, screen))
      }
    })

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.inputAccept), CommandHint(.inputCancel), CommandHint(.inputComplete),
      CommandHint(.inputPrevious), CommandHint(.rowDown), CommandHint(.rowUp),
    ]
  }
}
