import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The actions of questions.

extension Question {
  /// Adds hints with keys to a question: for its answers, and for the full explanation.
  static func offer(_ state: AppState, _ yes: String, _ no: String, in question: inout Question) {
    var actions: [(ActionID, String)] =
      question.word == nil
      ? [(.dialogYes, yes), (.dialogNo, no), (.helpOpen, "in full")]
      : [(.inputAccept, yes), (.inputCancel, no), (.helpOpen, "in full")]
    if question.purpose == .discardForm { actions.insert((.dialogKeep, "keep as a draft"), at: 0) }
    if question.importedTexts?.hasNumbers == true {
      actions.insert((.dialogNumbers, "import numbers"), at: 1)
    }
    if question.replacedPart != nil { actions.insert((.dialogPart, "only the part"), at: 1) }
    let contexts: [KeymapContext] = question.word == nil ? [.confirm] : [.input, .textField]
    let keys = KeyText(state.settings.keymap, contexts)
    let enter =
      !state.layout.isCompact
      && state.settings.keymap.keys(for: .dialogNo, in: contexts).contains("Enter")
    let offered = actions.compactMap { action, words in
      // What Enter answers is named: many take it for yes.
      keys.key(action, enter && action == .dialogNo ? "\(words) (Enter)" : words)
        .map { (action, $0) }
    }
    question.answers = offered.map(\.0)
    question.dialog.hints = offered.map(\.1)
  }

  /// Opens a question, with the words of its two answers.
  static func open(_ state: inout AppState, _ question: Question, yes: String, no: String) {
    var question = question
    offer(state, yes, no, in: &question)
    state.layers.append(.question(question))
  }

  static func sayYes(_ state: inout AppState) {
    guard case .question(let question)? = state.layers.last else { return }
    if isTooSoon(&state, question, "again says yes", .dialogYes) { return }
    agree(&state, to: question)
  }

  /// Whether a key was pressed before the question could be read, and so is no answer to it, which is said.
  private static func isTooSoon(
    _ state: inout AppState, _ question: Question, _ deed: String, _ action: ActionID
  ) -> Bool {
    if state.input.eventTime - question.openedAt >= Question.graceMilliseconds { return false }
    let words = state.phrase("struck too soon to be an answer", action, deed)
    state.say(.info, words, givesWay: true)
    return true
  }

  /// Closes the question; what was typed for a write that was asked about comes back.
  static func sayNo(_ state: inout AppState) {
    guard case .question(let question)? = state.layers.last else { return }
    state.closeLayer()
    switch question.purpose {
    case .write(let held), .writeToo(let held): HeldWrite.giveBack(&state, held)
    case .replaceFile(let replacing): Exporting.giveBack(&state, replacing.form)
    case .exportKnown(let export): Exporting.giveBack(&state, export.form)
    case .pruneDevices: state.say(.info, "nothing was removed")
    default: break
    }
  }

  /// Closes the form that the question is about, and keeps its text as a draft.
  static func keepDraft(_ state: inout AppState) {
    state.closeLayer()
    FormScreen.keepForm(&state)
  }

  /// The reason why the question in front has no text to keep, or nil if it has.
  static func reasonNothingToKeep(_ state: AppState) -> String? {
    guard case .question(let question)? = state.layers.last, question.purpose != .discardForm else {
      return nil
    }
    return "there is no text to keep: yes or no"
  }

  /// The texts for columns of numbers that the question would import; nil for another question.
  private var importedTexts: ImportedTexts? {
    if case .importRecords(let progress) = purpose { progress.texts } else { nil }
  }

  /// The reason why the question in front has no texts to import as numbers, or nil if it has.
  static func reasonNoNumbers(_ state: AppState) -> String? {
    guard case .question(let question)? = state.layers.last,
      question.importedTexts?.hasNumbers != true
    else { return nil }
    return "there is no text to import as a number: yes or no"
  }

  /// Agrees to an import, with numbers for the texts that are clear.
  static func importNumbers(_ state: inout AppState) {
    guard case .question(let question)? = state.layers.last,
      case .importRecords(let progress) = question.purpose,
      let texts = question.importedTexts
    else { return }
    if isTooSoon(&state, question, "again imports numbers", .dialogNumbers) { return }
    state.closeLayer()
    let plan = texts.withNumbers(progress.plan)
    Importing.startImport(
      &state, ImportProgress(plan, file: progress.file, view: progress.view))
  }

  /// What the question would write to the opened file instead of all; nil if there is no such part.
  private var replacedPart: ExportJob.Source? {
    if case .replaceFile(let replacing) = purpose { replacing.part } else { nil }
  }

  /// The reason why the question in front has no part to write, or nil if it has.
  static func reasonNoPart(_ state: AppState) -> String? {
    guard case .question(let question)? = state.layers.last, question.replacedPart == nil else {
      return nil
    }
    return "there is no part to write: yes or no"
  }

  /// Agrees to replace the opened file by the part that the export was begun for.
  static func replaceByPart(_ state: inout AppState) {
    guard case .question(let question)? = state.layers.last,
      case .replaceFile(let replacing) = question.purpose, replacing.part != nil
    else { return }
    if isTooSoon(&state, question, "again writes the part", .dialogPart) { return }
    state.closeLayer()
    Exporting.replace(&state, replacing, onlyPart: true)
  }

  /// Agrees to the question if the typed word is right.
  static func acceptWord(_ state: inout AppState) {
    guard case .question(var question)? = state.layers.last, let word = question.word else {
      return
    }
    if word.editor.text == word.word { return agree(&state, to: question) }
    question.word?.error = "not `\(word.word)`: nothing is deleted"
    state.layers[state.layers.count - 1] = .question(question)
  }

  /// Shows the full explanation of the question in front; returns false if there is no question.
  static func explainQuestion(_ state: inout AppState) -> Bool {
    guard case .question(var question)? = state.layers.last else { return false }
    question.turnPage(in: state.layout.overlay)
    state.layers[state.layers.count - 1] = .question(question)
    return true
  }

  private static func agree(_ state: inout AppState, to question: Question) {
    state.closeLayer()
    switch question.purpose {
    case .remove(let removal, _): remove(&state, removal)
    case .dropRefused(let id): QueueScreen.drop(&state, id)
    case .leaveOut(let id): QueueScreen.leaveOut(&state, id)
    case .dropPending(let id): QueueScreen.drop(&state, pending: id)
    case .disconnect(let id): ClientsScreen.disconnect(&state, id)
    case .revokeDevice(let id): DevicesScreen.revoke(&state, id)
    case .pruneDevices(let days): DevicesScreen.prune(&state, days: days)
    case .write(let held): HeldWrite.write(&state, held)
    case .writeToo(let held):
      state.writes.queue.endEdit(held.purpose)
      HeldWrite.write(&state, held)
    case .importRecords(let progress): Importing.startImport(&state, progress)
    case .replaceFile(let replacing): Exporting.replace(&state, replacing)
    case .exportKnown(let export): KnownExport.start(&state, export)
    case .discardForm: state.closeLayer()
    case .leave: state.session.isLeaving = true
    case .signInAnonymously: AccountsScreen.signInAnonymously(&state)
    case .deleteAccount: AccountsScreen.delete(&state)
    case .signOut(let user): AccountsScreen.signOut(&state, user)
    case .giveUp(let user): AccountsScreen.giveUp(&state, user)
    case .saveView(let saving): saving.save(&state)
    case .undoOlder: UndoHistory.undoOlder(&state)
    case .reverse(let reversing): UndoHistory.reverse(&state, reversing)
    case .changeAccount(let change): state.session.accountChange = change
    }
  }

  private static func remove(_ state: inout AppState, _ removal: Removal) {
    if state.refusesWriting() || Deleting.asksAgain(&state, removal) { return }
    guard let path = removal.paths.first, removal.paths.count == 1 else {
      return Deleting.delete(&state, removal)
    }
    do throws(Refusal) {
      let request = try state.database.resources.removing(path)
      var kept = Deleting.conditions(state, removal)[path] ?? []
      if request.isOperation { kept.append(.known(at: path)) }
      state.submit(.delete(path), kept.isEmpty ? request : .guarded(request, kept))
    } catch {
      state.say(.error, error.message)
    }
  }
}
