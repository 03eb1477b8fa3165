import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The write of a record that was composed in the line of a list.
struct ComposedWrite: WriteKind {
  let view: Int
  let text: String
  /// The id of the first attempt to send the text.
  let attempt: AppRequestID

  var place: String { "send \(attempt)" }
  var typed: [String] { [text] }
  var isEditable: Bool { true }
  var list: Int? { view }

  func draft(_ state: AppState) -> Draft? { ComposeScreen.draft(state, text, inView: view) }

  func changedRecords(_ state: AppState, key: RunnelTree.Key?) -> [Path] {
    added(key, to: state.tabs.lists[view].definition.source.path)
  }

  func finish(_ state: inout AppState, _ write: FinishedWrite) {
    ComposeScreen.finishSending(&state, write.id, write.key, text, inView: view)
  }

  func fail(_ state: inout AppState, _ write: FailedWrite) {
    ComposeScreen.giveBack(&state, write.id, text, attempt, inView: view, write.refusal)
  }

  func editAgain(_ state: inout AppState, _ item: WriteQueue.Refused) {
    state.open(.view(view))
    state.tabs.lists[view].line.put(text)
    ComposeScreen.openComposer(&state)
  }

  func giveBack(_ state: inout AppState, _ refusal: Refusal) {
    ComposeScreen.putBack(&state, text, attempt, inView: view)
  }
}
