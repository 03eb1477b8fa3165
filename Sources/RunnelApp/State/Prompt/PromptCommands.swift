import RunnelTerminal

/// The commands of the line in which a record is composed: it takes the keys of text fields.
enum ComposeCommands {
  static let table = CommandTable(.compose, "In this line", hints: hints) {
    TypingCommands.accept.inner("send") { state, _ in state.sendComposed() }
    TypingCommands.cancel.inner("keep as a draft") { state, _ in state.cancelComposer() }
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [CommandHint(.inputAccept), CommandHint(.inputCancel)]
  }
}

/// The commands of the bar in which a list is filtered.
enum FilterCommands {
  static let table = CommandTable(.filter, "In the filter", hints: hints) {
    TypingCommands.accept.inner("keep", "keep the filter", keys: ["Enter"]) { state, _ in
      state.acceptFilter()
    }
    TypingCommands.cancel.inner(
      "back", "put the filter back as it was", keys: ["Esc", "C-g", "C-c"]
    ) { state, _ in state.cancelFilter() }
    Command(.inputComplete, "complete", "complete the word", keys: ["Tab"]) { state, _ in
      state.completeFilter()
    }
    Command(.inputPrevious, "earlier filters", "the filter before", keys: ["C-p", "Up"]) {
      state, _ in
      state.recallFilter(.inputPrevious)
    }
    Command(.inputNext, "later filters", "the filter after", keys: ["C-n", "Down"]) { state, _ in
      state.recallFilter(.inputNext)
    }
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.inputAccept), CommandHint(.inputCancel), CommandHint(.inputComplete),
      CommandHint(.inputPrevious),
    ]
  }
}

/// The commands of the line in which a text is looked for.
enum SearchCommands {
  static let table = CommandTable(.search, "In the search", hints: hints) {
    TypingCommands.accept.inner("stay", "stay at the match", keys: ["Enter"]) { state, _ in
      state.acceptSearch()
    }
    TypingCommands.cancel.inner("back", "go back to where I was", keys: ["Esc", "C-g", "C-c"]) {
      state, _ in
      state.cancelSearch()
    }
    Command(.inputPrevious, "earlier searches", "the search before", keys: ["C-p", "Up"]) {
      state, _ in
      state.recallSearch(.inputPrevious)
    }
    Command(.inputNext, "later searches", "the search after", keys: ["C-n", "Down"]) { state, _ in
      state.recallSearch(.inputNext)
    }
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [CommandHint(.inputAccept), CommandHint(.inputCancel)]
  }
}
