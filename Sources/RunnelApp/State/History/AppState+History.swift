import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The history of a place, as a layer: who wrote what when, to be taken back.

extension AppState {
  /// Opens the history of what the keys are about, or of the whole database.
  mutating func openHistory(ofAll: Bool) {
    if case .history? = layers.last { return }
    let path = ofAll ? .root : placeAtHand ?? placeOfView
    layers.append(.history(HistoryScreen(path: path, log: resources.registry.log)))
    readHistory(.newest)
  }

  /// The place that a view is about as a whole.
  private var placeOfView: Path {
    isTree ? .root : lists[active].definition.source.path
  }

  /// Shows all of the write under the cursor, or no longer; fetches older ones at the end.
  mutating func toggleHistoryEntry() {
    guard case .history(var screen)? = layers.last else { return }
    if screen.isOnPagingRow { return fetchOlderHistory() }
    screen.toggle(height: height, now: now, local: local)
    layers[layers.count - 1] = .history(screen)
  }

  mutating func fetchOlderHistory() {
    guard case .history(let screen)? = layers.last else { return }
    if case .failed = screen.phase { return readHistory(.newest) }
    readHistory(.older)
  }

  /// Asks for entries of the open history.
  private mutating func readHistory(_ reading: HistoryScreen.Reading) {
    for (index, layer) in layers.enumerated() {
      guard case .history(var screen) = layer else { continue }
      if screen.request != nil {
        screen.isOutdated = true
      } else {
        let before = reading == .older ? screen.entries.last?.id : nil
        screen.wait(
          for: ask(
            .history(screen.path, before: before, count: HistoryScreen.pageSize),
            for: .history(reading)))
        if reading == .older { screen.fetchOlder(height: height, now: now, local: local) }
      }
      layers[index] = .history(screen)
    }
  }

  /// Waits no longer for entries of the history in front; false if none were asked for.
  mutating func stopReadingHistory() -> Bool {
    guard case .history(var screen)? = layers.last, let request = screen.request,
      case .history(let reading)? = requests.remove(request)
    else { return false }
    screen.stop(reading, height: height, now: now, local: local)
    layers[layers.count - 1] = .history(screen)
    say(.info, phrase("stopped", .sectionMore, "reads on"))
    return true
  }

  /// Entries of the history were read.
  mutating func take(history id: RequestID, _ reading: HistoryScreen.Reading, _ page: HistoryPage) {
    updateHistory(id) { screen, state in
      screen.take(page, reading, height: state.height, now: state.now, local: state.local)
    }
  }

  /// Entries of the history could not be read.
  mutating func fail(history id: RequestID, _ reading: HistoryScreen.Reading, _ refusal: Refusal) {
    updateHistory(id) { screen, state in
      screen.fail(
        refusal.message, reading, height: state.height, now: state.now, local: state.local)
    }
  }

  /// Changes the history that asked for entries; one that was closed waits for nothing.
  private mutating func updateHistory(
    _ id: RequestID, _ body: (inout HistoryScreen, AppState) -> Void
  ) {
    for (index, layer) in layers.enumerated() {
      guard case .history(var screen) = layer, screen.request == id else { continue }
      let isOutdated = screen.isOutdated
      screen.isOutdated = false
      body(&screen, self)
      layers[index] = .history(screen)
      if isOutdated { readHistory(.newest) }
    }
  }

  /// Where something was written, an open history reads what is new.
  mutating func refreshHistory(after action: AppAction) {
    switch action {
    case .list, .tree, .record, .answered(_, .written), .answered(_, .performed): break
    default: return
    }
    if layers.contains(where: { if case .history = $0 { true } else { false } }) {
      readHistory(.newest)
    }
  }

  // MARK: Taking back

  /// Takes the write under the cursor back, as `u` does with the last one.
  ///
  /// What an operation wrote is taken back by operations, which its own entries of the log tell.
  mutating func undoHistoryEntry() {
    guard case .history(let screen)? = layers.last, let entry = screen.cursorEntry else { return }
    let text = screen.text(ellipsis: "...").text(of: entry)
    startReversal(
      .undo,
      UndoHistory.Step(
        title: String(text.prefix(60)), parts: parts(of: entry),
        places: Set(entry.parts.map(\.path))),
      following: 0)
  }

  private func parts(of entry: HistoryEntry) -> [UndoHistory.Part] {
    let logged = entry.parts.compactMap { part -> RunnelStreams.ActionLogEntry? in
      guard let log = resources.registry.log, part.path.parent == log, !part.isPriority,
        let key = part.path.lastKey, let values = part.values, values.old == .null,
        let node = try? RunnelTree.Node(json: values.new)
      else { return nil }
      return RunnelStreams.ActionLogEntry(id: key, node)
    }
    if logged.isEmpty { return [.entry(entry.id)] }
    return UndoHistory.parts(of: logged.sorted { $0.id < $1.id }) ?? [.entry(entry.id)]
  }
}
