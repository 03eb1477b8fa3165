import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Forms and questions.

extension AppState {
  // MARK: Forms

  mutating func performInForm(_ action: ActionID) {
    guard case .form(var form)? = layers.last else { return }
    switch action {
    case .inputCancel: return closeLayer()
    case .fieldNext, .inputNext: form.moveFocus(by: 1)
    case .fieldPrevious, .inputPrevious: form.moveFocus(by: -1)
    case .fieldType:
      form.fields[form.focus].input.changeKind()
      form.followFormat()
    case .inputAccept where form.focus < form.fields.count - 1: form.moveFocus(by: 1)
    case .inputAccept, .formSave:
      if save(&form) { return closeLayer() }
    default:
      _ = form.fields[form.focus].input.editor.perform(action)
      form.fields[form.focus].input.check()
      form.followFormat()
    }
    layers[layers.count - 1] = .form(form)
  }

  /// The keys by which a form is left.
  var cancelKeys: String { formKeys.keys(.inputCancel) ?? "cancel" }

  /// Asks for the write of a form; if something is wrong with a field, marks it and returns false.
  private mutating func save(_ form: inout FormScreen) -> Bool {
    guard let values = form.values() else { return false }
    if form.writes, let reason = reasonReadOnly { return form.refuse(form.focus, reason) }
    switch form.purpose {
    case .setLeaf(let path, let original):
      guard let value = values.first?.value else {
        return form.refuse(0, "type a value, or \(cancelKeys)")
      }
      return submit(&form) { book throws(Refusal) in
        .guarded(try book.setting(value, at: path), [WriteCondition(path, original)])
      }
    case .choose(let index):
      take(choice: values.first?.value ?? .null, at: index)
      return true
    case .addChild(let path), .addField(let path):
      guard case .string(let name)? = values.first?.value else {
        return form.refuse(0, "type a name")
      }
      guard values.count == 2 else {
        return form.refuse(1, "a value is missing: put texts in \"quotes\"")
      }
      do {
        let place = try path.appending(Path(name))
        if place == path { return form.refuse(0, "type a name") }
        if isKnown(place) {
          return form.refuse(
            0, "\(place) is there already" + treeKeys.hint(.recordEdit, "edits it", after: ": "))
        }
        let value = values[1].value
        return submit(&form) { book throws(Refusal) in try book.setting(value, at: place) }
      } catch {
        return form.refuse(0, "\(error)")
      }
    case .addRecord(let view):
      if values.isEmpty { return form.refuse(0, "fill in a field, or \(cancelKeys)") }
      let definition = lists[view].definition
      let record = definition.record(filledWith: values, me: me, isForm: true)
      return submit(&form) { book throws(Refusal) in
        try book.adding(record, to: definition.source.path)
      }
    case .addResource(_, let collection, let view):
      return addRecord(&form, values.filter { !$0.path.isRoot }, to: collection, view: view)
    case .editResource(let path, let original):
      return changeRecord(&form, values, at: path, original)
    case .export(let choices, let replaces):
      return startExport(&form, choices, replaces: replaces)
    case .importFile: return readImport(&form)
    }
  }

  /// Asks for the write of a form; if it is refused before, its fields say why, and it is false.
  mutating func submit(
    _ form: inout FormScreen, _ make: (ResourceBook) throws(Refusal) -> WriteRequest
  ) -> Bool {
    do throws(Refusal) {
      let request = try make(resources)
      form.attempt = form.attempt ?? requests.newID()
      submit(.form(form), request)
      return true
    } catch {
      form.take(error)
      return false
    }
  }

  /// True if something is known to stand at a place: what is added there would replace it.
  ///
  /// Limit: children that are not loaded are not known; to refuse them takes a conditional write.
  func isKnown(_ place: Path) -> Bool {
    for case .record(let screen) in layers {
      guard let node = screen.node, let field = place.relative(to: screen.path) else { continue }
      // What is put below a value replaces the value.
      return field.keys.indices.contains { index in
        let above = node[Path(unchecked: Array(field.keys[...index]))]
        return index == field.keys.count - 1 ? !above.isEmpty : above.leaf != nil
      }
    }
    guard let parent = place.parent, let children = tree.expanded[parent] else { return false }
    return children.rows.contains { $0.key == place.lastKey }
  }

  // MARK: Questions

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

  mutating func performInConfirm(_ action: ActionID) {
    guard case .confirm(var question)? = layers.last else { return }
    switch action {
    case .dialogYes:
      // A key that was struck before the question could be read is no answer to it.
      guard now - question.openedAt >= ConfirmScreen.graceMilliseconds else {
        return say(.info, phrase("struck too soon to be an answer", .dialogYes, "again says yes"))
      }
      agree(to: question)
    case .inputAccept, .formSave:
      guard var word = question.word else { return }
      if word.editor.text == word.word { return agree(to: question) }
      word.error = "not `\(word.word)`: nothing is deleted"
      question.word = word
      layers[layers.count - 1] = .confirm(question)
    case .dialogNo, .inputCancel: closeLayer()
    default:
      guard question.word?.editor.perform(action) == true else { return }
      layers[layers.count - 1] = .confirm(question)
      editWord()
    }
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
