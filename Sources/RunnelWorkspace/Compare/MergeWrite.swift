import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The write of the result of a comparison.
struct MergeWrite: WriteKind {
  let draft: CompareDraft

  var place: String { "merge \(draft.path)" }
  /// The comparison showed what is replaced, and was the question.
  var replacesData: Bool { false }
  /// The refused write that the comparison was made for.
  var replaced: AppRequestID? { draft.queued }

  /// What was chosen, as the text of the place; nil if it is removed.
  func draft(_ state: AppState) -> Draft? {
    if draft.mine == .null { return nil }
    let coding = state.database.coding
    let edit = OutsideEdit(path: draft.path, original: coding.shown(draft.base))
    return Draft(edit, text: coding.shown(draft.mine).jsonText(pretty: true) + "\n")
  }

  func comparison(_ state: AppState) -> CompareDraft? { draft }

  func changedRecords(_ state: AppState, key: RunnelTree.Key?) -> [Path] { [draft.path] }

  func finish(_ state: inout AppState, _ write: FinishedWrite) {
    CompareScreen.finish(&state, draft)
  }
}
