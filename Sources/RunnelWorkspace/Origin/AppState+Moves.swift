import RunnelTree

/// What names records by their places.
protocol RecordNaming {
  /// Names the records by the places to which they have moved.
  mutating func follow(_ moves: RecordMoves)
}

extension RecordNaming {
  func following(_ moves: RecordMoves) -> Self {
    var result = self
    result.follow(moves)
    return result
  }
}

extension AppState {
  /// Has everything that names records follow them: what is open, marked, asked, written, kept and
  /// remembered.
  mutating func follow(_ places: [Path: Path]) {
    if places.isEmpty { return }
    let moves = RecordMoves(places)
    database.moves.note(places)
    for index in tabs.lists.indices { tabs.lists[index].follow(moves) }
    tabs.tree.follow(moves)
    for index in layers.indices { follow(moves, inLayer: index) }
    trail.places.follow(moves)
    trail.bookmarks = trail.bookmarks.mapValues { $0.following(moves) }
    requests.follow(moves)
    writes.queue.follow(moves)
    writes.held = writes.held.map { $0.following(moves) }
    writes.drafts.follow(moves)
    writes.comparable = writes.comparable.map { $0.following(moves) }
    writes.undoing.follow(moves)
    writes.restoration?.follow(moves)
    QueueScreen.refreshQueue(&self)
  }

  private mutating func follow(_ moves: RecordMoves, inLayer index: Int) {
    switch layers[index] {
    case .record(var screen):
      let old = screen.path
      screen.path = moves.place(old)
      if screen.path == old { return }
      screen.related = Related.all(self, of: screen.path)
      layers[index] = .record(screen)
      effects += [.closeRecord(old), .openRecord(screen.path)]
      Related.count(&self, at: index)
    case .form(let form): layers[index] = .form(form.following(moves))
    case .compare(let screen): layers[index] = .compare(screen.following(moves))
    case .question(let question):
      layers[index] = .question(question.following(moves))
      Deleting.describeAgain(&self, layer: index, question.removal)
    case .help, .compose, .filter, .search, .debug, .history, .queue, .palette, .menu, .calendar,
      .clients, .accounts, .devices, .why:
      break
    }
  }
}
