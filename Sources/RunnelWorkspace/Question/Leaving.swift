import RunnelTerminal

/// Leaving the program: the user is first told what would be lost.
enum Leaving {
  /// Leaves the program; asks first if typed text is not stored anywhere, or if the file is gone.
  static func leave(_ state: inout AppState) {
    guard let question = question(state) else {
      state.session.isLeaving = true
      return
    }
    Question.open(&state, question, yes: "leave", no: "stay")
  }

  /// Returns the question before the program is left; nil if nothing would be lost.
  private static func question(_ state: AppState) -> Question? {
    let work = workLines(state)
    let unsaved = unsavedLines(state) + work
    let waiting = waitingLines(state)
    var question: Question
    if let fileGone = state.database.fileGone, !fileGone.isCopied {
      question = Question(
        .leave, title: "Leave, though \(fileGone.words)",
        message: [StyledLine("what is open here ends with the program", .warn)] + unsaved,
        explanation: [
          StyledLine(fileGone.message, .muted), StyledLine(FileGone.waysOut(state), .muted),
        ],
        openedAt: state.input.eventTime)
    } else if !unsaved.isEmpty {
      question = Question(
        .leave, title: "Leave, and lose what is not saved",
        message: unsaved + waiting + progressLines(state),
        explanation: explanation(state, isOfWorkOnly: unsaved == work),
        openedAt: state.input.eventTime)
      question.progressCount = progressLines(state).count
    } else if !waiting.isEmpty {
      question = Question(
        .leave, title: "Leave, though writes wait", message: waiting,
        explanation: [
          StyledLine("The accounts are forgotten, and the writes stay in the copies on", .muted),
          StyledLine(
            "this machine. \(queueKeys(state)) lists and drops them before.", .muted),
        ],
        openedAt: state.input.eventTime)
    } else {
      return nil
    }
    question.endWords = endWords(state, unsaved: unsaved, work: work)
    return question
  }

  private static func explanation(_ state: AppState, isOfWorkOnly: Bool) -> [StyledLine] {
    let isExport = state.files.export != nil
    let words =
      isOfWorkOnly
      ? isExport
        ? "No part of the file is kept. The database is not changed."
        : "What is done by then stays, and the rest is not done."
      : state.session.isScratch
        ? "The temporary database goes with the program. :export writes a list to a file."
        : "The database is not changed: these texts were never written to it."
    guard isOfWorkOnly, let importing = state.files.importing else {
      return [StyledLine(words, .muted)]
    }
    return importing.waysOn(state).map { StyledLine($0, .muted) }
  }

  /// Returns a line about how far an import has come.
  private static func progressLines(_ state: AppState) -> [StyledLine] {
    guard let importing = state.files.importing else { return [] }
    let count = importing.plan.rows.count
    return [StyledLine("\(importing.doneCount) of \(count) records are stored, and stay", .strong)]
  }

  /// Returns what is said once nothing is left that the question was for.
  private static func endWords(
    _ state: AppState, unsaved: [StyledLine], work: [StyledLine]
  ) -> String {
    let others = "nothing would be lost any more"
    guard !work.isEmpty, unsaved == work, state.database.fileGone == nil else { return others }
    if state.files.export != nil { return "the export has ended" }
    return state.files.importing != nil
      ? "the import has ended" : "the saving of the copy has ended"
  }

  /// Brings the question in front up to date, after something else than a key has changed the state.
  ///
  /// Work that it names may have ended. It closes once nothing is left that it was for.
  static func refreshQuestion(_ state: inout AppState) {
    guard case .question(var shown)? = state.layers.last else { return }
    let (current, again): (Question?, (ActionID, String)?)
    switch shown.purpose {
    case .leave:
      let isAtView = state.layers.count == 1
      (current, again) = (question(state), (isAtView ? .viewClose : .appQuit, "leaves"))
    case .changeAccount(let account):
      (current, again) = (question(state, to: account), nil)
    default: return
    }
    if let current {
      guard shown.take(current, now: state.now) else { return }
      state.layers[state.layers.count - 1] = .question(shown)
      return
    }
    state.closeLayer()
    state.input.questionEnd = state.now
    let words = shown.endWords ?? "there is nothing to ask any more"
    let told = again.map { state.phrase(words, $0.0, $0.1) } ?? "\(words): choose the account again"
    // What went wrong with the work is read first.
    if let toast = state.toast, toast.toast.kind != .info {
      state.say(toast.toast.kind, "\(toast.toast.text) · \(told)")
    } else {
      state.say(.info, told)
    }
  }

  /// Whether a key was meant for the question that has just closed by itself; then it does nothing.
  static func wasMeantForQuestion(_ state: inout AppState) -> Bool {
    guard let end = state.input.questionEnd else { return false }
    if state.input.eventTime - end < Question.graceMilliseconds { return true }
    state.input.questionEnd = nil
    return false
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
    guard let question = question(state, to: account) else {
      state.session.accountChange = account
      return
    }
    Question.open(&state, question, yes: "show", no: "stay")
  }

  /// Returns the question before another account is shown; nil if nothing would be lost.
  private static func question(_ state: AppState, to account: AccountChange) -> Question? {
    let work = workLines(state)
    let unsaved = unsavedLines(state) + work
    if unsaved.isEmpty { return nil }
    let explanation =
      unsaved == work
      ? "The work is for the database of this account, and ends with it."
      : "These texts were never written to the database of this account."
    var question = Question(
      .changeAccount(account), title: "Show another account, and lose what is not saved",
      message: unsaved, explanation: [StyledLine(explanation, .muted)],
      openedAt: state.input.eventTime)
    question.endWords = endWords(state, unsaved: unsaved, work: work)
    return question
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

  /// Returns a line about each work with a file that is under way, and would be cut short.
  private static func workLines(_ state: AppState) -> [StyledLine] {
    var work: [String] = []
    if let job = state.files.export?.job { work.append("the export to \(job.file)") }
    if let importing = state.files.importing {
      work.append("the import\(importing.file.map { " of \($0)" } ?? "")")
    }
    if state.files.copy != nil { work.append("the saving of a copy") }
    return work.map { StyledLine("\($0), which is under way", .warn) }
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
    let kept = state.session.isKept ? SessionState.keptDrafts(state) : []
    let refused = state.writes.queue.refused.filter {
      // What a server refused is kept beside the database.
      if $0.write != nil, state.database.fileGone == nil { return false }
      if isKept, case .send(let view, let text, _) = $0.purpose, kept.contains(view),
        state.tabs.lists[view].line.draft == text
      {
        // It comes back in its line.
        return false
      }
      return !isKept || $0.draft(state) == nil
    }
    lines += refusedLines(refused, state)
    let refusedTexts = Set(
      state.writes.queue.refused.compactMap { item in
        if case .send(_, let text, _) = item.purpose { text } else { nil as String? }
      })
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
    // The header counts them, too.
    let others = state.writes.queue.refused.count - refused.count
    let rest =
      others == 0 ? "" : others == 1 ? " · 1 other is kept" : " · \(others) others are kept"
    return ["\(words): \(queueKeys(state)) lists \(them)\(rest)"] + named
  }

  /// The keys of the queue of writes where the user comes from: the question is made anew while it is in front.
  private static func queueKeys(_ state: AppState) -> String {
    KeyText.frontKeys(state).keys(.syncOpen) ?? "`\(ActionID.syncOpen)`"
  }

  /// The greatest number of refused writes, or accounts, that are named.
  private static let namedMax = 3

  private static func beginning(of text: String) -> String {
    text.count > 40 ? text.prefix(40) + "…" : text
  }
}
