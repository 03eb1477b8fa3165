package import RunnelTree

/// Where records stand that have got another key at the server: a service gives a new record its id.
///
/// Whatever names a record by its place follows it, once: see `AppState.follow`. What is asked for later
/// is looked up here.
package struct RecordMoves: Hashable, Sendable {
  /// The greatest number of records; the oldest are forgotten first.
  private static let countMax = 10_000

  private var places: [Path: Path] = [:]
  private var order: [Path] = []

  /// Makes the moves to the places of some records.
  package init(_ places: [Path: Path] = [:]) { note(places) }

  /// Whether no record has moved.
  package var isEmpty: Bool { places.isEmpty }

  /// The former places and the new ones.
  package var all: [(old: Path, new: Path)] {
    order.compactMap { old in places[old].map { (old, $0) } }
  }

  /// Adds records that have moved.
  package mutating func note(_ new: [Path: Path]) {
    for (old, place) in new.sorted(by: { $0.key < $1.key }) {
      if places.updateValue(place, forKey: old) == nil { order.append(old) }
    }
    let extra = order.count - RecordMoves.countMax
    if extra <= 0 { return }
    for old in order.prefix(extra) { places[old] = nil }
    order.removeFirst(extra)
  }

  /// Returns where a record, or what stands below one, is now.
  ///
  /// O(depth).
  package func place(_ path: Path) -> Path {
    if places.isEmpty { return path }
    for depth in path.keys.indices {
      if let new = places[Path(unchecked: Array(path.keys[...depth]))] {
        return Path(unchecked: new.keys + path.keys.dropFirst(depth + 1))
      }
    }
    return path
  }
}

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
