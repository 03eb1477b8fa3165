import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The history of a place as a layer: the author and the time of each write, and undoing a write.

extension HistoryScreen {
  /// Opens the history of the place at hand, or of the whole database.
  static func openHistory(_ state: inout AppState, ofAll: Bool) {
    if case .history? = state.layers.last { return }
    let path = ofAll ? .root : OutsideEdit.placeAtHand(state) ?? placeOfView(state)
    state.layers.append(
      .history(
        HistoryScreen(
          path: path, log: state.database.resources.registry.log,
          isReplica: state.database.origin != nil)))
    readHistory(&state, .newest)
  }

  /// The place that the whole view is about.
  private static func placeOfView(_ state: AppState) -> Path {
    state.tabs.frontList?.definition.source.path ?? .root
  }

  /// Shows the write under the cursor in full, or closes it again; on the fetch-more row, fetches
  /// older writes.
  static func toggleHistoryEntry(_ state: inout AppState) {
    guard case .history(var screen)? = state.layers.last else { return }
    if screen.isOnFetchMoreRow { return fetchOlderHistory(&state) }
    screen.toggle(height: state.height, now: state.now, local: state.settings.local)
    state.layers[state.layers.count - 1] = .history(screen)
  }

  static func fetchOlderHistory(_ state: inout AppState) {
    guard case .history(let screen)? = state.layers.last else { return }
    if case .failed = screen.phase { return readHistory(&state, .newest) }
    readHistory(&state, .older)
  }

  /// Requests entries for each open history.
  private static func readHistory(_ state: inout AppState, _ reading: HistoryScreen.Reading) {
    for (index, layer) in state.layers.enumerated() {
      guard case .history(var screen) = layer else { continue }
      if screen.request != nil {
        screen.isOutdated = true
      } else {
        let before = reading == .older ? screen.entries.last?.id : nil
        screen.wait(
          for: state.ask(
            .history(screen.path, before: before, count: HistoryScreen.pageSize),
            for: .history(reading)))
        if reading == .older {
          screen.fetchOlder(height: state.height, now: state.now, local: state.settings.local)
        }
      }
      state.layers[index] = .history(screen)
    }
  }

  /// Cancels the request for entries of the history in front; returns false if there is none.
  static func stopReadingHistory(_ state: inout AppState) -> Bool {
    guard case .history(var screen)? = state.layers.last, let request = screen.request,
      case .history(let reading)? = state.requests.remove(request)
    else { return false }
    screen.stop(reading, height: state.height, now: state.now, local: state.settings.local)
    state.layers[state.layers.count - 1] = .history(screen)
    state.say(.info, state.phrase("stopped", .sectionMore, "reads on"))
    return true
  }

  /// Takes entries of the history that were read.
  static func take(
    _ state: inout AppState, history id: AppRequestID, _ reading: HistoryScreen.Reading,
    _ page: HistoryPage
  ) {
    updateHistory(&state, id) { screen, state in
      screen.take(page, reading, height: state.height, now: state.now, local: state.settings.local)
    }
  }

  /// Shows that entries of the history could not be read.
  static func fail(
    _ state: inout AppState, history id: AppRequestID, _ reading: HistoryScreen.Reading,
    _ refusal: Refusal
  ) {
    updateHistory(&state, id) { screen, state in
      screen.fail(
        refusal.message, reading, height: state.height, now: state.now, local: state.settings.local)
    }
  }

  /// Changes the history that requested entries; does nothing if that history was closed.
  private static func updateHistory(
    _ state: inout AppState, _ id: AppRequestID, _ body: (inout HistoryScreen, AppState) -> Void
  ) {
    for (index, layer) in state.layers.enumerated() {
      guard case .history(var screen) = layer, screen.request == id else { continue }
      let isOutdated = screen.isOutdated
      screen.isOutdated = false
      body(&screen, state)
      state.layers[index] = .history(screen)
      if isOutdated { readHistory(&state, .newest) }
    }
  }

  /// Reads the new entries of an open history after something was written.
  static func refreshHistory(_ state: inout AppState, after action: AppAction) {
    switch action {
    case .list, .tree, .record, .answered(_, .written), .answered(_, .undonePartly),
      .answered(_, .performed):
      break
    default: return
    }
    if state.layers.contains(where: { if case .history = $0 { true } else { false } }) {
      readHistory(&state, .newest)
    }
  }

  // MARK: Taking back

  /// Undoes the write under the cursor, as `u` does with the last one.
  ///
  /// The writes of operations are undone by operations, which the write's own entries of the action
  /// log describe.
  static func undoHistoryEntry(_ state: inout AppState) {
    guard case .history(let screen)? = state.layers.last, let entry = screen.cursorEntry else {
      return
    }
    let title = screen.text(ellipsis: "...").title(of: entry)
    UndoHistory.undo(
      &state,
      ofHistory: UndoHistory.Step(
        title: title, parts: parts(state, of: entry), places: Set(entry.parts.map(\.path))))
  }

  private static func parts(_ state: AppState, of entry: HistoryEntry) -> [UndoHistory.Part] {
    let logged = entry.parts.compactMap { part -> RunnelStreams.ActionLogEntry? in
      guard let log = state.database.resources.registry.log, part.path.parent == log,
        !part.isPriority,
        let key = part.path.lastKey, let values = part.values, values.old == .null,
        let node = try? RunnelTree.Node(json: values.new)
      else { return nil }
      return RunnelStreams.ActionLogEntry(id: key, node)
    }
    if logged.isEmpty { return [.entry(entry.id)] }
    return UndoHistory.parts(of: logged.sorted { $0.id < $1.id }) ?? [.entry(entry.id)]
  }
}
