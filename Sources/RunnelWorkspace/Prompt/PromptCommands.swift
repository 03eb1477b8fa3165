import RunnelTerminal

/// The commands of the line that composes a record, which has the keys of text fields.
package enum ComposeCommands {
  package static let table = CommandTable(.compose, "In this line", over: .belowText, hints: hints)
  {
    TypingCommands.accept.inner("send") { state, _ in ComposeScreen.sendComposed(&state) }
    TypingCommands.cancel.inner("keep as a draft") { state, _ in
      ComposeScreen.cancelComposer(&state)
    }
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [CommandHint(.inputAccept), CommandHint(.inputNewline, "new line"), CommandHint(.inputCancel)]
  }
}

/// The commands of the bar that filters a list.
package enum FilterCommands {
  package static let table = CommandTable(.filter, "In the filter", over: .belowText, hints: hints)
  {
    TypingCommands.accept.inner(
      "keep", "keep the filter, and search on", keys: ["Enter"]
    ) { state, _ in
      FilterScreen.acceptFilter(&state)
    }
    TypingCommands.cancel.inner(
      "back", "put the filter back as it was", keys: ["Esc", "C-g", "C-c"]
    ) { state, _ in FilterScreen.cancelFilter(&state) }
    Command(.inputComplete, "complete", "complete the word", keys: ["Tab"], needs: .nothing) {
      state, _ in
      FilterScreen.completeFilter(&state)
    }
    Command(
      .inputPrevious, "earlier filters", "the filter before", keys: ["C-p", "Up"], needs: .nothing
    ) {
      state, _ in
      FilterScreen.recallFilter(&state, .inputPrevious)
    }
    Command(
      .inputNext, "later filters", "the filter after", keys: ["C-n", "Down"], needs: .nothing
    ) { state, _ in
      FilterScreen.recallFilter(&state, .inputNext)
    }
  }

  @Sendable
  private static func hints(_ state: AppState, _: AtHand) -> [CommandHint] {
    let goesOn = FilterScreen.hasRowsToSearch(state)
    return [
      CommandHint(.inputAccept, goesOn ? "keep, search on" : nil), CommandHint(.inputCancel),
      CommandHint(.inputComplete),
      CommandHint(.inputPrevious),
    ]
  }
}

/// The commands of the search line.
package enum SearchCommands {
  package static let table = CommandTable(.search, "In the search", over: .belowText, hints: hints)
  {
    TypingCommands.accept.inner("stay", "stay at the match", keys: ["Enter"]) { state, _ in
      SearchScreen.acceptSearch(&state)
    }
    TypingCommands.cancel.inner("back", "go back to where I was", keys: ["Esc", "C-g", "C-c"]) {
      state, _ in
      SearchScreen.cancelSearch(&state)
    }
    Command(
      .inputPrevious, "earlier searches", "the search before", keys: ["C-p", "Up"], needs: .nothing
    ) {
      state, _ in
      SearchScreen.recallSearch(&state, .inputPrevious)
    }
    Command(
      .inputNext, "later searches", "the search after", keys: ["C-n", "Down"], needs: .nothing
    ) { state, _ in
      SearchScreen.recallSearch(&state, .inputNext)
    }
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [CommandHint(.inputAccept), CommandHint(.inputCancel)]
  }
}
