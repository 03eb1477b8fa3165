import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The write of a form.
struct FormWrite: WriteKind {
  let form: FormScreen

  /// The record that the form changes, or for a new one the form itself, as there may be several with
  /// the same title.
  var place: String {
    switch form.purpose {
    case .addRecord, .addChild, .addField, .addResource:
      "\(form.title) \(form.attempt?.number ?? 0)"
    // The title counts the records that are still there.
    case .editField(let edited): "marked \(edited.field) \(form.attempt?.number ?? 0)"
    case .setLeaf, .choose, .editResource, .export, .importFile, .account, .renameDevice,
      .callMethod:
      form.title
    }
  }

  var title: String? {
    if case .editField(let edited) = form.purpose { BulkEdit.words(on: edited) } else { nil }
  }

  var typed: [String] {
    form.fields.filter { !$0.input.editor.isEmpty }.map { "\($0.label)  \($0.input.editor.text)" }
  }

  var typedValues: [(path: Path, text: String)] {
    switch form.purpose {
    case .setLeaf(let path, _): return [(path, form.fields[0].input.editor.text)]
    case .editResource(let record, let original):
      return form.fields.compactMap { field in
        let text = field.input.editor.text
        let old = FieldKind.text(of: original[field.path] ?? .null)
        return text == old ? nil : (Path(unchecked: record.keys + field.path.keys), text)
      }
    default: return []
    }
  }

  var isEditable: Bool { true }

  var replacesData: Bool {
    switch form.purpose {
    case .setLeaf, .editResource, .editField: true
    default: false
    }
  }

  var addsRowToGoTo: Bool {
    switch form.purpose {
    case .addRecord, .addResource(_, _, view: .some): true
    default: false
    }
  }

  /// A key that is not valid was refused in the form.
  var chosenKey: RunnelTree.Key? { form.typedKey.flatMap { try? RunnelTree.Key($0) } }

  var list: Int? {
    switch form.purpose {
    case .addRecord(let view), .importFile(let view): view
    case .addResource(_, _, let view): view
    default: nil
    }
  }

  /// The typed text replaces a pasted record.
  var replaced: AppRequestID? { form.pasted }

  func draft(_ state: AppState) -> Draft? { form.draft(state) }

  func comparison(_ state: AppState) -> CompareDraft? {
    var form = form
    guard let values = form.values() else { return nil }
    switch form.purpose {
    case .setLeaf(let path, let original):
      return CompareDraft(path: path, base: original, mine: values.first?.value ?? .null)
    case .editResource(let path, let original):
      guard var mine = try? RunnelTree.Node(json: original) else { return nil }
      for field in form.fields {
        let value = values.first { $0.path == field.path }?.value ?? .null
        if let node = try? RunnelTree.Node(json: value) {
          mine = mine.replacing(field.path, with: node)
        }
      }
      return CompareDraft(path: path, base: original, mine: mine.json)
    case .addRecord, .addChild, .addField, .addResource, .editField, .choose, .export,
      .importFile, .account, .renameDevice, .callMethod:
      return nil
    }
  }

  func changedRecords(_ state: AppState, key: RunnelTree.Key?) -> [Path] {
    switch form.purpose {
    case .setLeaf(let path, _), .editResource(let path, _), .addField(let path): [path]
    case .editField(let edited): edited.paths
    case .addRecord(let view): added(key, to: state.tabs.lists[view].definition.source.path)
    case .addResource(_, let collection, _): added(key, to: collection)
    case .addChild, .choose, .export, .importFile, .account, .renameDevice, .callMethod: []
    }
  }

  func told(_ refusal: Refusal) -> Refusal { form.told(refusal) }

  func finish(_ state: inout AppState, _ write: FinishedWrite) {
    if let pasted = form.pasted { state.writes.queue.drop(pasted) }
    QueueScreen.refreshQueue(&state)
    switch form.purpose {
    case .setLeaf, .editResource: state.say(.info, state.database.savedWords)
    case .editField(let edited):
      // Other writes of it were refused, which the form says.
      if BulkEdit.givenBack(state, form) != nil { break }
      // Records may be written one by one: it is said when the last one is stored.
      if state.requests.writes.values.contains(.form(form)) { break }
      let words = edited.wordsOnLeft
      state.say(
        words.isEmpty ? .info : .warning,
        "changed \(BulkEdit.words(edited.targets.count))\(words)")
    case .addChild, .addField, .addResource(_, _, view: nil):
      state.say(.info, state.database.addedWords)
    case .choose, .export, .importFile, .account, .renameDevice, .callMethod: break
    case .addRecord(let view), .addResource(_, _, let view?): goToRecord(&state, write, view)
    }
  }

  /// Moves the cursor to the new record of a view, unless the user has done something else.
  private func goToRecord(_ state: inout AppState, _ write: FinishedWrite, _ view: Int) {
    state.say(.info, state.database.addedWords)
    guard let key = write.key, write.goesThere else { return }
    if !ListScreen.awaits(&state, key, inView: view) { Writing.goTo(&state, key, inView: view) }
    let row = Record.id(
      of: Path(unchecked: state.tabs.lists[view].definition.source.path.keys + [key]))
    guard state.tabs.lists[view].list.cursor != .row(row) else { return }
    let words = TypeAhead.letGoOfInputForRow(&state)
    if !words.isEmpty { state.say(.warning, "the new record is not shown here" + words) }
  }

  func fail(_ state: inout AppState, _ write: FailedWrite) {
    if case .editField(let edited) = form.purpose { BulkEdit.markAgain(&state, edited) }
    if !write.isUntouched { return Writing.sayKept(&state, write.refusal, write.dropped) }
    if case .editField(let edited) = form.purpose {
      return BulkEdit.giveBack(&state, form, edited, write.refusal)
    }
    Writing.reopen(&state, form, write.refusal)
  }

  func editAgain(_ state: inout AppState, _ item: WriteQueue.Refused) {
    Writing.reopen(&state, form, item.refusal)
  }

  func giveBack(_ state: inout AppState, _ refusal: Refusal) {
    Writing.reopen(&state, form, refusal)
  }
}
