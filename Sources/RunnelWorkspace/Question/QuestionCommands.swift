import RunnelTerminal

/// The commands of a question.
package enum QuestionCommands {
  package static let table = CommandTable(
    .confirm, "Answering", over: [], hints: hints, helpHint: "in full"
  ) {
    Command(.dialogYes, "yes", "yes", keys: ["y"], needs: .nothing) { state, _ in
      Question.sayYes(&state)
    }
    Command(
      .dialogKeep, "keep as a draft", "keep what was typed as a draft", keys: ["k"],
      needs: .nothing,
      disabled: { Question.reasonNothingToKeep($0) }
    ) { state, _ in Question.keepDraft(&state) }
    Command(
      .dialogNumbers, "as numbers", "import texts with a decimal comma, as 3,5, as numbers",
      keys: ["c"], needs: .nothing, disabled: { Question.reasonNoNumbers($0) }
    ) { state, _ in Question.importNumbers(&state) }
    Command(
      .dialogPart, "only the part", "write only the part to the opened file", keys: ["o"],
      needs: .nothing,
      disabled: { Question.reasonNoPart($0) }
    ) { state, _ in Question.replaceByPart(&state) }
    Command(.dialogNo, "no", "no", keys: ["n", "Esc", "Enter", "C-g", "C-c", "q"], needs: .nothing)
    { state, _ in
      Question.sayNo(&state)
    }
    GlobalCommands.help.inner("in full", "what will happen, in full", keys: ["?", "F1"])
    GlobalCommands.redraw.inner(keys: ["C-l"])
  }

  /// The commands of a question that a typed word answers; it has the keys of text fields.
  package static let word = CommandTable(
    .word, "Answering", over: .belowText, hints: wordHints, helpHint: "in full"
  ) {
    TypingCommands.accept.inner("do it") { state, _ in Question.acceptWord(&state) }
    TypingCommands.cancel.inner("no") { state, _ in state.closeLayer() }
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [CommandHint(.dialogKeep), CommandHint(.dialogYes), CommandHint(.dialogNo)]
  }

  @Sendable
  private static func wordHints(_: AppState, _: AtHand) -> [CommandHint] {
    [CommandHint(.inputAccept), CommandHint(.inputCancel)]
  }
}
