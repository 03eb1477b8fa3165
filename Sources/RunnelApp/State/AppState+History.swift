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

  mutating func performInHistory(_ action: ActionID, count: Int?) {
    guard case .history(var screen)? = layers.last else { return }
    switch action {
    case .stepBack: return closeLayer()
    case .rowOpen, .sectionMore:
      if action == .sectionMore || screen.isOnPagingRow { return fetchOlderHistory() }
      screen.toggle(height: height, now: now, local: local)
    default:
      if performSearching(action, count ?? 1) { return }
      guard AppState.move(&screen.list, screen.content, height, action, count) else { return }
    }
    layers[layers.count - 1] = .history(screen)
  }

  private mutating func fetchOlderHistory() {
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
        lastWrite += 1
        screen.ask(lastWrite, for: reading)
        if reading == .older { screen.fetchOlder(height: height, now: now, local: local) }
        let before = reading == .older ? screen.entries.last?.id : nil
        effects.append(
          .readHistory(lastWrite, screen.path, before: before, count: HistoryScreen.pageSize))
      }
      layers[index] = .history(screen)
    }
  }

  /// Waits no longer for entries of the history in front; false if none were asked for.
  mutating func stopReadingHistory() -> Bool {
    guard case .history(var screen)? = layers.last, screen.request != nil else { return false }
    screen.stop(height: height, now: now, local: local)
    layers[layers.count - 1] = .history(screen)
    say(.info, phrase("stopped", .sectionMore, "reads on"))
    return true
  }

  /// Entries of the history were read.
  mutating func take(history number: Int, _ page: HistoryPage) {
    updateHistory(number) { screen, state in
      screen.take(page, height: state.height, now: state.now, local: state.local)
    }
  }

  /// Entries of the history could not be read; false if nobody asked for them by that number.
  mutating func failHistory(_ number: Int, _ refusal: Refusal) -> Bool {
    updateHistory(number) { screen, state in
      screen.fail(refusal.message, height: state.height, now: state.now, local: state.local)
    }
  }

  @discardableResult
  private mutating func updateHistory(
    _ number: Int, _ body: (inout HistoryScreen, AppState) -> Void
  ) -> Bool {
    for (index, layer) in layers.enumerated() {
      guard case .history(var screen) = layer, screen.request?.number == number else { continue }
      let isOutdated = screen.isOutdated
      screen.isOutdated = false
      body(&screen, self)
      layers[index] = .history(screen)
      if isOutdated { readHistory(.newest) }
      return true
    }
    return false
  }

  /// Where something was written, an open history reads what is new.
  mutating func refreshHistory(after action: AppAction) {
    switch action {
    case .list, .tree, .record, .written, .performed: break
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
