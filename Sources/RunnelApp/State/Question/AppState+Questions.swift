import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Questions.

extension AppState {
  /// Gives a question its keys: for its answers, and for all there is to say of it.
  func offer(_ yes: String, _ no: String, in question: inout ConfirmScreen) {
    let actions: [(ActionID, String)] =
      question.word == nil
      ? [(.dialogYes, yes), (.dialogNo, no), (.helpOpen, "in full")]
      : [(.inputAccept, yes), (.inputCancel, no), (.helpOpen, "in full")]
    let contexts: [KeymapContext] = question.word == nil ? [.confirm] : [.input, .textField]
    let keys = KeyText(keymap, contexts)
    let offered = actions.compactMap { action, words in
      keys.key(action, words).map { (action, $0) }
    }
    question.answers = offered.map(\.0)
    question.dialog.hints = offered.map(\.1)
  }

  mutating func sayYes() {
    guard case .confirm(let question)? = layers.last else { return }
    // A key that was struck before the question could be read is no answer to it.
    guard now - question.openedAt >= ConfirmScreen.graceMilliseconds else {
      return say(.info, phrase("struck too soon to be an answer", .dialogYes, "again says yes"))
    }
    agree(to: question)
  }

  /// Agrees if the word is right.
  mutating func acceptWord() {
    guard case .confirm(var question)? = layers.last, var word = question.word else { return }
    if word.editor.text == word.word { return agree(to: question) }
    word.error = "not `\(word.word)`: nothing is deleted"
    question.word = word
    layers[layers.count - 1] = .confirm(question)
  }

  /// Changes the word as a text field does.
  mutating func editWord(_ id: ActionID) {
    guard case .confirm(var question)? = layers.last,
      question.word?.editor.perform(id) == true
    else { return }
    layers[layers.count - 1] = .confirm(question)
    editWord()
  }

  /// The word of a question was changed: what was wrong with it may be no more.
  mutating func editWord() {
    guard case .confirm(var question)? = layers.last else { return }
    question.word?.error = nil
    layers[layers.count - 1] = .confirm(question)
  }

  /// Tells in full what a question is about; false if none is in front.
  mutating func explainQuestion() -> Bool {
    guard case .confirm(var question)? = layers.last else { return false }
    question.toggleFull()
    layers[layers.count - 1] = .confirm(question)
    return true
  }

  private mutating func agree(to question: ConfirmScreen) {
    closeLayer()
    if question.leaves {
      isLeaving = true
      return
    }
    if let plan = question.plan { return startImport(plan) }
    if let number = question.drops { return drop(number) }
    if let id = question.dropsPending { return drop(pending: id) }
    guard let removal = question.removal else { return }
    if refusesWriting() { return }
    if let path = removal.paths.first, removal.paths.count == 1 { return remove(path) }
    delete(removal.paths)
  }

  private mutating func remove(_ path: Path) {
    do throws(Refusal) {
      submit(.delete(path), try resources.removing(path))
    } catch {
      say(.error, error.message)
    }
  }
}
