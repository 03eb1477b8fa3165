import RunnelTerminal

/// Leaving the program: the user is first told what would be lost.
enum Leaving {
  /// Leaves the program; asks first if typed text is not stored anywhere, or if the file is gone.
  static func leave(_ state: inout AppState) {
    let export = exportLines(state)
    let unsaved = unsavedLines(state) + export
    if let fileGone = state.database.fileGone, !fileGone.isCopied {
      let question = Question(
        .leave, title: "Leave, though \(fileGone.words)",
        message: [StyledLine("what is open here ends with the program", .warn)] + unsaved,
        explanation: [
          StyledLine(fileGone.message, .muted), StyledLine(FileGone.waysOut(state), .muted),
        ],
        openedAt: state.input.eventTime)
      return Question.open(&state, question, yes: "leave", no: "stay")
    }
    let waiting = waitingLines(state)
    if unsaved.isEmpty, waiting.isEmpty {
      state.session.isLeaving = true
      return
    }
    if unsaved.isEmpty {
      let question = Question(
        .leave, title: "Leave, though writes wait", message: waiting,
        explanation: [
          StyledLine("The accounts are forgotten, and the writes stay in the copies on", .muted),
          StyledLine(
            "this machine. \(state.keysOrName(.syncOpen)) lists and drops them before.", .muted),
        ],
        openedAt: state.input.eventTime)
      return Question.open(&state, question, yes: "leave", no: "stay")
    }
    let isScratch = state.session.isScratch
    let explanation =
      unsaved == export
      ? "No part of the file is kept. The database is not changed."
      : isScratch
        ? "The temporary database goes with the program. :export writes a list to a file."
        : "The database is not changed: these texts were never written to it."
    let question = Question(
      .leave, title: "Leave, and lose what is not saved", message: unsaved + waiting,
      explanation: [StyledLine(explanation, .muted)],
      openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "leave", no: "stay")
  }

  /// Notes that the session, with its drafts, was kept again, or that it cannot be kept.
  ///
  /// A program that is about to end then asks first, if there is something to lose.
  static func noteSession(_ state: inout AppState, problem: String?) {
    let wasLost = state.session.isLost
    state.session.isKept = problem == nil
    state.session.isLost = problem != nil
    guard let problem else {
      if wasLost { state.say(.info, "the session is kept again, with its drafts") }
      return
    }
    state.say(.error, problem)
    if state.session.isLeaving {
      state.session.isLeaving = false
      leave(&state)
    }
  }

  /// Shows the database as another account; asks first if typed text is not stored anywhere.
  static func change(_ state: inout AppState, to account: AccountChange) {
    let unsaved = unsavedLines(state) + exportLines(state)
    if unsaved.isEmpty {
      state.session.accountChange = account
      return
    }
    let question = Question(
      .changeAccount(account), title: "Show another account, and lose what is not saved",
      message: unsaved,
      explanation: [
        StyledLine("These texts were never written to the database of this account.", .muted)
      ],
      openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "show", no: "stay")
  }

  /// Leaves by a key that was pressed twice; a third press answers the question.
  static func leaveByInterrupt(_ state: inout AppState) {
    if case .question(let question)? = state.layers.last, question.purpose == .leave {
      state.session.isLeaving = true
    } else {
      leave(&state)
    }
  }

  /// Returns lines about the writes of each account that wait, if the accounts are forgotten at the end.
  private static func waitingLines(_ state: AppState) -> [StyledLine] {
    guard state.session.forgetsAccounts else { return [] }
    let all = WaitingWrites(state).all
    var lines = all.prefix(namedMax).map { StyledLine("\($0.wordsWithTitle): \($0.end)", .warn) }
    if all.count > namedMax {
      lines.append(StyledLine("and those of \(all.count - namedMax) more accounts", .warn))
    }
    return lines
  }

  /// Returns a line about the export under way, of which nothing would be kept.
  private static func exportLines(_ state: AppState) -> [StyledLine] {
    guard let job = state.files.export?.job else { return [] }
    return [StyledLine("the export to \(job.file), which is under way", .warn)]
  }

  /// Returns a line for each kind of typed text that is not stored anywhere.
  private static func unsavedLines(_ state: AppState) -> [StyledLine] {
    var lines: [String] = []
    let changes = state.session.isScratch ? state.writes.undoing.undoable.count : 0
    if changes > 0 {
      lines.append(
        changes == 1
          ? "1 change of this temporary copy" : "\(changes) changes of this temporary copy")
    }
    // The texts of forms and fields come back as drafts.
    let isKept = state.session.isKept && state.database.fileGone == nil
    let refused = state.writes.queue.refused.filter {
      // What a server refused is kept beside the database.
      if $0.write != nil, state.database.fileGone == nil { return false }
      return !isKept || $0.draft(state) == nil
    }
    lines += refusedLines(refused, state)
    let refusedTexts = Set(
      state.writes.queue.refused.compactMap { item in
        if case .send(_, let text, _) = item.purpose { text } else { nil as String? }
      })
    let kept = state.session.isKept ? SessionState.keptDrafts(state) : []
    for (index, screen) in state.tabs.lists.enumerated() where !screen.line.draft.isEmpty {
      // It comes back the next time.
      if kept.contains(index) { continue }
      // A draft that came back with its refusal is counted there.
      if refusedTexts.contains(screen.line.draft) { continue }
      lines.append("a draft in \(screen.definition.name): \(beginning(of: screen.line.draft))")
    }
    if !state.session.isKept {
      let drafts = state.writes.drafts.all
      lines += drafts.suffix(3).map { "a draft: \($0.title)" }
      if drafts.count > 3 { lines.append("\(drafts.count - 3) older drafts") }
    }
    return lines.map { StyledLine($0, .warn) }
  }

  /// Returns the number of refused writes, and the first ones by what was typed for them.
  private static func refusedLines(_ refused: [WriteQueue.Refused], _ state: AppState) -> [String] {
    if refused.isEmpty { return [] }
    let (words, them) =
      refused.count == 1
      ? ("1 write that was not done", "it") : ("\(refused.count) writes that were not done", "them")
    let named = refused.prefix(namedMax).map { item in
      "· " + item.title(state.database.coding)
        + (item.purpose.kind.typed.first.map { ": \(beginning(of: $0))" } ?? "")
    }
    return ["\(words): \(state.keysOrName(.syncOpen)) lists \(them)"] + named
  }

  /// The greatest number of refused writes, or accounts, that are named.
  private static let namedMax = 3

  private static func beginning(of text: String) -> String {
    text.count > 40 ? text.prefix(40) + "…" : text
  }
}
