import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// A new record of a service that the list does not show before the server has given it its id: what orders
/// the list, as the time of creation, comes with the answer.
///
/// If it was sent from the line, its row stays at the live end until the record is among those that wait for the
/// server: these stand there themselves.
struct AwaitedRow: Hashable, Sendable {
  /// Where the record was made.
  let first: Path
  /// Where it is.
  var place: Path
  /// The write and the text of the line; nil for a record that was made otherwise.
  var sent: Sent?
  /// Whether the server has given the record its id.
  var hasID = false

  /// What was sent from the line of a list.
  struct Sent: Hashable, Sendable {
    var id: AppRequestID
    var text: String
  }
}

extension ListScreen {
  /// The rows that come for new records that have just got their ids; they are no news.
  var comingRows: Set<String> {
    passing.moves.coming.union(passing.awaited.lazy.filter(\.hasID).map { Record.id(of: $0.place) })
  }

  /// Waits for the row of a new record, if it may come with the server's answer; returns false otherwise.
  static func awaits(
    _ state: inout AppState, _ key: RunnelTree.Key, _ sent: AwaitedRow.Sent? = nil, inView view: Int
  ) -> Bool {
    let screen = state.tabs.lists[view]
    guard state.database.coding == .services, screen.filtering.filter == nil else { return false }
    let first = Path(unchecked: screen.definition.source.path.keys + [key])
    // It may have got its id already.
    let place = state.database.moves.place(first)
    let id = Record.id(of: place)
    if screen.content.indexPath(ofRow: id) != nil { return false }
    state.tabs.lists[view].passing.awaited.append(
      AwaitedRow(first: first, place: place, sent: sent, hasID: place != first))
    let isSentRow = sent.map { screen.list.cursor == .row(screen.sentRow($0.id)) }
    if isSentRow ?? true, sent == nil || place != first {
      state.tabs.lists[view].goal.want(row: id)
    }
    return true
  }

  /// Has the rows that are awaited follow their records; returns true if there are such.
  mutating func followAwaited(_ moves: RecordMoves) -> Bool {
    var hasMoved = false
    for index in passing.awaited.indices where moves.hasMoved(passing.awaited[index].place) {
      let row = passing.awaited[index]
      passing.awaited[index].place = moves.place(row.place)
      passing.awaited[index].hasID = true
      hasMoved = true
      if let sent = row.sent, list.cursor == .row(sentRow(sent.id)) {
        goal.want(row: Record.id(of: passing.awaited[index].place))
      }
    }
    return hasMoved
  }

  /// Has the rows of records that wait for the server take the place of those of the line.
  static func replaceSent(_ state: inout AppState) {
    let waiting = state.writes.queue.places
    for view in state.tabs.lists.indices where state.tabs.lists[view].definition.source.putsNewLast
    {
      let sent = state.tabs.lists[view].passing.awaited.compactMap { row in
        row.sent.flatMap { waiting.touch(row.first) ? (id: $0.id, place: row.place) : nil }
      }
      if sent.isEmpty { continue }
      for (id, place) in sent
      where state.tabs.lists[view].list.cursor == .row(state.tabs.lists[view].sentRow(id)) {
        state.tabs.lists[view].goToRow(
          Record.id(of: place), height: state.tabs.height(ofView: view, in: state.height))
      }
      ComposeScreen.showComposedAgain(&state, inView: view)
    }
  }

  /// Moves the cursor to a row, now or when it comes.
  private mutating func goToRow(_ id: String, height: Int) {
    if hasRow(id) {
      list.moveTo(.row(id), in: content, height: height)
    } else {
      goal.want(row: id)
    }
  }

  /// Ends the waiting for rows whose writes are done or refused, and says where a new record is that has none.
  static func endAwaiting(_ state: inout AppState) {
    for view in state.tabs.lists.indices where !state.tabs.lists[view].passing.awaited.isEmpty {
      let places = state.writes.queue.places
      let ended = state.tabs.lists[view].passing.awaited.filter {
        !places.touch($0.place) && !places.touch($0.first)
      }
      if ended.isEmpty { continue }
      state.tabs.lists[view].passing.awaited.removeAll { ended.contains($0) }
      ComposeScreen.showComposedAgain(&state, inView: view)
      let screen = state.tabs.lists[view]
      guard let last = ended.last, last.hasID, !screen.hasRow(Record.id(of: last.place)) else {
        continue
      }
      // What is fetched later does not pull the cursor.
      state.tabs.lists[view].goal.want(row: nil)
      Writing.sayNotShown(&state, last.place.lastKey, inView: view)
    }
  }
}

extension SourceDefinition {
  /// Whether a new record without the field that orders the list stands behind all rows: it will be the last one.
  package var putsNewLast: Bool { anchor == .last && hasPlaceBehindAll }

  /// Whether there is a value behind all others: an order of several fields has none.
  package var hasPlaceBehindAll: Bool {
    switch order {
    case .compound, .key: false
    case .child, .value, .priority: true
    }
  }
}
