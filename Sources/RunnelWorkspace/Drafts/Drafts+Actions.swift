import RunnelBase
import RunnelTerminal
import RunnelTree

// What is typed into forms and fields, kept as drafts and offered again.

extension FieldInput {
  /// Puts the text of a draft into the field.
  ///
  /// - Parameters:
  ///   - draft: the text.
  ///   - isStored: whether the field began with a stored value; then another one, which others wrote
  ///     meanwhile, is told.
  mutating func restore(_ draft: Draft.Text, isStored: Bool) {
    if rule == nil { kind = draft.kind }
    draftBase = draft.base
    editor = LineEditor(draft.text, isMultiline: editor.isMultiline)
    check()
    if isStored, draft.base != firstText {
      let now = firstText.isEmpty ? "nothing" : firstText
      error = "changed meanwhile: it is now \(now.prefix(60))"
    }
  }

  /// Puts the first text back; the typed one can be had again by undoing.
  mutating func takeBack() {
    editor.replaceText(firstText)
    draftBase = nil
    check()
  }
}

// MARK: - Forms

extension FormScreen {
  /// What the form is for, as the subject of a draft; nil if it is not kept.
  func subject(_ state: AppState) -> Draft.Subject? {
    switch purpose {
    case .addRecord(let view):
      return Draft.Subject(.add, state.tabs.lists[view].definition.source.path)
    case .addResource(_, let collection, _): return Draft.Subject(.add, collection)
    case .addChild(let path): return Draft.Subject(.child, path)
    case .addField(let path): return Draft.Subject(.field, path)
    case .setLeaf(let path, _): return Draft.Subject(.value, path)
    case .editResource(let path, _): return Draft.Subject(.edit, path)
    case .editField(let edited):
      return edited.paths.first?.parent.map { Draft.Subject(.marked, $0, field: edited.field) }
    case .importFile(let view):
      return Draft.Subject(.importing, state.tabs.lists[view].definition.source.path)
    case .export:
      let list = state.tabs.frontList?.definition.source.path
      return Draft.Subject(.exporting, list ?? .root)
    case .choose, .account, .renameDevice, .callMethod: return nil
    }
  }

  /// The typed text as a draft; nil if nothing was changed, or if the form keeps none.
  func draft(_ state: AppState) -> Draft? {
    let changed = fields.filter { $0.input.isChanged && !$0.input.editor.isSecret }
    guard !changed.isEmpty, let subject = subject(state) else { return nil }
    return Draft(subject, changed.map { Draft.Text($0.label, $0.input) })
  }

  /// Opens a form, filled with the draft that there is for the same subject.
  static func open(_ state: inout AppState, _ form: FormScreen) {
    guard let draft = form.subject(state).flatMap({ state.writes.drafts.take($0) }) else {
      return state.layers.append(.form(form))
    }
    var form = form
    var lost: [String] = []
    for text in draft.texts {
      if let index = form.fields.firstIndex(where: { $0.label == text.label }) {
        form.resume(text, at: index, isStored: draft.subject.kind.isStored)
      } else {
        lost.append("\(text.label): \(text.text)")
      }
    }
    state.layers.append(.form(form))
    let words = state.phrase("this is your draft", .draftDrop, "begins anew")
    let rest = lost.isEmpty ? "" : " · no field any more: \(lost.joined(separator: ", "))"
    changeForm(&state) { $0.draftNote = words + rest }
  }

  /// Takes up the draft of a field.
  ///
  /// If a stored field had another value when that was typed, the write of the form will be refused, and
  /// compared with what others wrote.
  private mutating func resume(_ text: Draft.Text, at index: Int, isStored: Bool) {
    let (path, input) = (fields[index].path, fields[index].input)
    fields[index].input.restore(text, isStored: isStored)
    guard isStored, text.base != input.firstText else { return }
    let before = purpose
    let base = text.baseValue(as: input.kind)
    switch before {
    case .setLeaf(let place, _): purpose = .setLeaf(place, original: base)
    case .editResource(let place, .object(var members)):
      members.put(base, at: path.keys[...])
      members.removeAll { $0.value == .null }
      purpose = .editResource(place, original: .object(members))
    default: return
    }
    purposeWithoutDraft = purposeWithoutDraft ?? before
  }

  /// Puts the first texts back into all fields.
  fileprivate mutating func takeBack() {
    for index in fields.indices { fields[index].input.takeBack() }
    if let before = purposeWithoutDraft { (purpose, purposeWithoutDraft) = (before, nil) }
    draftNote = ""
  }

  /// Closes the form in front, and keeps its text as a draft.
  static func keepForm(_ state: inout AppState) {
    guard case .form(let form)? = state.layers.last, let draft = form.draft(state) else { return }
    state.closeLayer()
    Drafts.keep(&state, draft, again: form.isNewRecord ? .recordAdd : nil)
  }

  /// Whether the form is for a new record of a list.
  private var isNewRecord: Bool {
    switch purpose {
    case .addRecord, .addResource: true
    default: false
    }
  }
}

extension Draft.Kind {
  /// Whether its fields began with stored values.
  fileprivate var isStored: Bool { self == .edit || self == .value || self == .line }
}

// MARK: - Fields

extension RecordScreen.Edit {
  /// The typed text as a draft; nil if nothing was changed.
  func draft(ofRecord path: Path) -> Draft? {
    guard input.isChanged, !input.editor.isSecret else { return nil }
    return Draft(
      Draft.Subject(.line, path, field: field), [Draft.Text(field.text, input)])
  }
}

extension RecordScreen {
  /// The text of the field that is edited, as a draft; nil if there is none.
  var draft: Draft? { edit?.draft(ofRecord: path) }

  /// Puts the draft of the field whose edit has just begun into it.
  ///
  /// - Parameters:
  ///   - state: the state of the workspace.
  ///   - index: the index of the record among the layers.
  static func offerDraft(_ state: inout AppState, at index: Int) {
    guard case .record(var screen) = state.layers[index], var edit = screen.edit, edit.isUntouched,
      let draft = state.writes.drafts.take(
        Draft.Subject(.line, screen.path, field: edit.field)),
      let text = draft.texts.first
    else { return }
    edit.resume(text)
    screen.edit = edit
    state.layers[index] = .record(screen)
    state.say(.info, state.phrase("this is your draft", .draftDrop, "begins anew"))
  }
}

// MARK: - Both

extension Drafts {
  /// Keeps a draft, and says so.
  ///
  /// - Parameters:
  ///   - state: the state of the workspace.
  ///   - draft: the draft.
  ///   - action: the command that takes it up again, or nil if there are several.
  static func keep(_ state: inout AppState, _ draft: Draft, again action: ActionID?) {
    let dropped = state.writes.drafts.keep(draft)
    let words = state.session.wordsForDraft
    if let oldest = dropped.first {
      let more = dropped.count == 1 ? "" : " and \(dropped.count - 1) more"
      return state.say(
        .warning, "\(words); for lack of room, this one went: \(oldest.title)\(more)")
    }
    state.say(.info, action.map { state.phrase(words, $0, "goes on with it") } ?? words)
  }

  /// Takes back all that was typed into the form or the field in front.
  static func beginAnew(_ state: inout AppState) {
    switch state.layers.last {
    case .form(var form)?:
      form.takeBack()
      state.layers[state.layers.count - 1] = .form(form)
    case .record?: RecordScreen.changeEdit(&state) { $0.takeBack() }
    default: return
    }
    if state.toast?.toast.kind == .info { state.toast = nil }
  }

  /// The reason why nothing can be taken back in the form or the field in front, or nil.
  static func reasonNothingTyped(_ state: AppState) -> String? {
    let isChanged =
      switch state.layers.last {
      case .form(let form)?: form.fields.contains(where: \.input.isChanged)
      case .record(let screen)?: screen.edit?.input.isChanged == true
      default: false
      }
    return isChanged ? nil : "nothing was typed here"
  }
}
