import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The copy of a record.
struct CopyWrite: WriteKind {
  /// The place of the original.
  let path: Path

  var place: String { "duplicate \(path)" }
  var addsRowToGoTo: Bool { true }

  func changedRecords(_ state: AppState, key: RunnelTree.Key?) -> [Path] {
    added(key, to: path.parent)
  }

  /// Moves the cursor to the copy, if it is visible.
  func finish(_ state: inout AppState, _ write: FinishedWrite) {
    guard let key = write.key, let parent = path.parent else { return }
    let copy = Path(unchecked: parent.keys + [key])
    var dropped = ""
    // If the user has done something else meanwhile, the cursor stays.
    switch write.goesThere ? state.tabs.front : nil {
    case .tree:
      _ = state.tabs.tree.list.moveTo(
        .row(copy.description), in: state.tabs.tree.content, height: state.height)
      if state.tabs.tree.list.cursor != .row(copy.description) {
        dropped = TypeAhead.letGoOfInputForRow(&state)
      }
    case .view(let view) where state.tabs.lists[view].definition.source.path == parent:
      state.withList { list, content, height in
        _ = list.moveTo(.row(Record.id(of: copy)), in: content, height: height)
      }
      if state.tabs.lists[view].list.cursor != .row(Record.id(of: copy)) {
        dropped = TypeAhead.letGoOfInputForRow(&state)
      }
    case .view, nil: break
    }
    let words = RowCommands.wordsOnComputedFields(state, in: parent)
    state.say(.info, "duplicated \(path) as \(key)\(words)\(dropped)")
  }

  func fail(_ state: inout AppState, _ write: FailedWrite) {
    if !write.dropped.isEmpty { state.say(.error, write.refusal.message + write.dropped) }
  }
}
