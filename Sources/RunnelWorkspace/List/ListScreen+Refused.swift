import RunnelStreams

// Lists that a server refused are read again: its rules, or who is signed in, may be others now.

extension ListScreen {
  /// Reads the lists that could not be read again, because there is another connection: the server may have
  /// refused them to a session that had ended.
  static func readFailedAgain(_ state: inout AppState) {
    for view in state.tabs.lists.indices {
      guard case .failed = state.tabs.lists[view].reach.phase else { continue }
      state.tabs.lists[view].reach.phase = .loading
      askAgain(&state, view)
    }
  }

  /// Reads the list in front again if the server refused it a while ago.
  ///
  /// What is shown stays until the answer comes. A list that is not in front is read when it is.
  static func readRefusedAgain(_ state: inout AppState) {
    guard let due = refusedDue(state), due <= state.now, let view = state.tabs.front.view else {
      return
    }
    askAgain(&state, view)
  }

  /// Returns when the list in front is read again because the server refused it; nil if it is not, as that of a
  /// service: what such a server refuses does not change by itself.
  static func refusedDue(_ state: AppState) -> Int64? {
    guard let origin = state.database.origin, !origin.isDisconnected, !origin.hasServices,
      let list = state.tabs.frontList, case .failed = list.reach.phase
    else { return nil }
    return list.reach.askAgainTime
  }

  private static func askAgain(_ state: inout AppState, _ view: Int) {
    state.tabs.lists[view].reach.noteAsking()
    state.effects.append(.openView(view))
    if state.tabs.lists[view].filtering.filter != nil {
      FilterScreen.applyFilter(&state, inView: view)
    }
  }
}
