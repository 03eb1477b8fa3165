import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The write of a field that was edited in its line.
struct FieldWrite: WriteKind {
  let record: Path
  let edit: RecordScreen.Edit

  var place: String { "\(record)/\(edit.field.text)" }
  var typed: [String] { ["\(edit.field.text)  \(edit.input.editor.text)"] }
  var typedValues: [(path: Path, text: String)] { [(path, edit.input.editor.text)] }
  var isEditable: Bool { true }
  var replacesData: Bool { true }
  private var path: Path { Path(unchecked: record.keys + edit.field.keys) }

  func draft(_ state: AppState) -> Draft? { edit.draft(ofRecord: record) }

  func comparison(_ state: AppState) -> CompareDraft? {
    let mine =
      edit.input.isEmpty
      ? JSONValue.null : (try? edit.input.value()).map { state.database.coding.stored($0) } ?? .null
    let base = edit.original?.json ?? edit.record[edit.field].json
    var draft = CompareDraft(path: path, base: base, mine: mine)
    if !edit.field.isRoot, let value = try? RunnelTree.Node(json: mine) {
      draft.record = CompareDraft.Whole(
        path: record, base: edit.record.json,
        mine: edit.record.replacing(edit.field, with: value).json)
    }
    return draft
  }

  func changedRecords(_ state: AppState, key: RunnelTree.Key?) -> [Path] { [record] }

  func finish(_ state: inout AppState, _ write: FinishedWrite) {
    state.say(.info, "\(state.database.savedWords)\(wordsOnPlace(state))")
  }

  /// The words that say why the record has no row in the list in front after the write; empty if it
  /// has one, or belongs to another list.
  private func wordsOnPlace(_ state: AppState) -> String {
    guard let screen = state.tabs.frontList, screen.definition.source.path == record.parent,
      screen.reach.phase == .loaded, !screen.hasRow(Record.id(of: record)),
      !screen.passing.moves.coming.contains(Record.id(of: record))
    else { return "" }
    if screen.filtering.filter != nil { return ": the filter hides the row now" }
    if screen.reach.paging == .exhausted, !screen.reach.isAway {
      return ": this view does not show it now"
    }
    return ": the row is now among those that are not loaded"
  }

  func fail(_ state: inout AppState, _ write: FailedWrite) {
    // A user who has done something else is not interrupted, and their keys do not go into a reopened
    // field.
    if !write.isUntouched { return Writing.sayKept(&state, write.refusal, write.dropped) }
    let isThere = state.layers.contains {
      if case .record(let screen) = $0 { screen.path == record } else { false }
    }
    if !(isThere || state.layers.isEmpty)
      || !Writing.reopen(&state, edit, inRecord: record, write.refusal)
    {
      Writing.sayKept(&state, write.refusal)
    }
  }

  func editAgain(_ state: inout AppState, _ item: WriteQueue.Refused) {
    if !Writing.reopen(&state, edit, inRecord: record, item.refusal) {
      state.say(
        .warning,
        state.phrase("finish first what is typed here · it is kept", .syncOpen, "lists it"))
    }
  }

  func giveBack(_ state: inout AppState, _ refusal: Refusal) {
    if !Writing.reopen(&state, edit, inRecord: record, refusal), let draft = draft(state) {
      Drafts.keep(&state, draft, again: nil)
    }
  }
}

extension RecordScreen.Edit {
  /// Returns the conditions of the write: the field is as it was when the text was begun, and the
  /// record is there.
  func conditions(inRecord path: Path) -> [WriteCondition] {
    if original == nil, let kept = WriteCondition.keeping(field, in: record, at: path) {
      return kept
    }
    return [WriteCondition(Path(unchecked: path.keys + field.keys), original?.json ?? .null)]
  }
}
