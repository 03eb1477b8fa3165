import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// A write that was on disk already when the origin refused it.
struct EarlierWrite: WriteKind {
  let write: PendingWrite

  var place: String { "earlier \(write.id)" }
  var title: String? { PendingText.deed(of: write) }

  func comparison(_ state: AppState) -> CompareDraft? { EarlierEdit(write)?.comparison(state) }

  func finish(_ state: inout AppState, _ finished: FinishedWrite) {
    state.say(.info, state.database.waitingWords.isEmpty ? "written" : state.database.savedWords)
  }
}
