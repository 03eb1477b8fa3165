import RunnelTerminal

/// The commands of the palette.
enum PaletteCommands {
  static let table = CommandTable(.palette, "In the palette", hints: hints) {
    TypingCommands.accept.inner("do", "do what is selected", keys: ["Enter"]) { state, _ in
      state.acceptInPalette()
    }
    TypingCommands.cancel.inner("close", "close the palette", keys: ["Esc", "C-g", "C-c"]) {
      state, _ in
      state.leavePalette()
    }
    Command(.inputComplete, "complete", "complete to what is selected", keys: ["Tab"]) {
      state, _ in
      state.changePalette { screen, _ in screen.complete() }
    }
    Command(.inputPrevious, "earlier", "what was done before, or up", keys: ["Up"]) { state, _ in
      state.changePalette { screen, _ in screen.recallOrMove(.inputPrevious) }
    }
    Command(.inputNext, "later", "what was done after, or down", keys: ["Down"]) { state, _ in
      state.changePalette { screen, _ in screen.recallOrMove(.inputNext) }
    }
    moving
  }

  private static let moving = MenuCommands.moves(
    rows: { state, count in state.changePalette { screen, _ in screen.menu.move(by: count) } },
    pages: { state, count in
      state.changePalette { screen, state in
        screen.menu.movePage(by: count, height: state.paletteHeight(screen))
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
