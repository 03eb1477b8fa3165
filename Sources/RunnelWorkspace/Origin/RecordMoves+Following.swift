import RunnelTree

extension RecordMoves {
  /// Has everything that names records follow them: what is open, marked, asked, written, kept and
  /// remembered.
  static func follow(_ state: inout AppState, _ places: [Path: Path]) {
    if places.isEmpty { return }
    let moves = RecordMoves(places)
    state.database.moves.note(places)
    for index in state.tabs.lists.indices {
      state.tabs.lists[index].follow(moves)
      if state.tabs.lists[index].followAwaited(moves) {
        ComposeScreen.showComposedAgain(&state, inView: index)
      }
    }
    state.tabs.tree.follow(moves)
    for index in state.layers.indices { follow(&state, moves, inLayer: index) }
    state.trail.places.follow(moves)
    state.trail.bookmarks = state.trail.bookmarks.mapValues { $0.following(moves) }
    state.requests.follow(moves)
    state.writes.queue.follow(moves)
    state.writes.held = state.writes.held.map { $0.following(moves) }
    state.writes.drafts.follow(moves)
    state.writes.comparable = state.writes.comparable.map { $0.following(moves) }
    state.writes.undoing.follow(moves)
    state.writes.restoration?.follow(moves)
    QueueScreen.refreshQueue(&state)
  }

  private static func follow(
    _ state: inout AppState, _ moves: RecordMoves, inLayer index: Int
  ) {
    switch state.layers[index] {
    case .record(var screen):
      let old = screen.path
      screen.path = moves.place(old)
      if screen.path == old { return }
      screen.related = Related.all(state, of: screen.path)
      state.layers[index] = .record(screen)
      state.effects += [.closeRecord(old), .openRecord(screen.path)]
      Related.count(&state, at: index)
    case .form(let form): state.layers[index] = .form(form.following(moves))
    case .compare(let screen): state.layers[index] = .compare(screen.following(moves))
    case .question(let question):
      state.layers[index] = .question(question.following(moves))
      Deleting.describeAgain(&state, layer: index, question.removal)
    default: break
    }
  }
}
