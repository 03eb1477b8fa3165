import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The write of a value that was edited in the user's editor.
struct OutsideWrite: WriteKind {
  let edit: OutsideEdit
  let text: String

  var place: String { "outside \(edit.path)" }
  var typed: [String] { text.split(separator: "\n").map(String.init) }
  var isEditable: Bool { true }
  var replacesData: Bool { true }

  func draft(_ state: AppState) -> Draft? { Draft(edit, text: text) }

  func comparison(_ state: AppState) -> CompareDraft? {
    guard let mine = try? JSONValue(parsing: text) else { return nil }
    return CompareDraft(
      path: edit.path, base: state.database.coding.stored(edit.original),
      mine: state.database.coding.stored(mine))
  }

  func changedRecords(_ state: AppState, key: RunnelTree.Key?) -> [Path] { [edit.path] }

  func finish(_ state: inout AppState, _ write: FinishedWrite) {
    state.say(.info, state.database.savedWords)
  }

  func fail(_ state: inout AppState, _ write: FailedWrite) {
    if !write.isUntouched { return Writing.sayKept(&state, write.refusal, write.dropped) }
    OutsideEdit.reopen(&state, edit, text, write.refusal)
  }

  func editAgain(_ state: inout AppState, _ item: WriteQueue.Refused) {
    OutsideEdit.reopen(&state, edit, text, item.refusal)
  }

  func giveBack(_ state: inout AppState, _ refusal: Refusal) {
    OutsideEdit.reopen(&state, edit, text, refusal)
  }
}
