import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// The newest changes of the record in the detail pane.
///
/// They are read when the cursor has rested on the record for a moment, so that whoever moves on reads
/// nothing.
package struct DetailHistory: Hashable, Sendable {
  /// How long the cursor rests before they are read, in milliseconds.
  static let restMilliseconds: Int64 = 250
  /// How many of them are shown.
  package static let count = 5

  /// The record; nil if none is shown.
  package fileprivate(set) var path: Path?
  /// Its newest changes, the newest first.
  package fileprivate(set) var entries: [HistoryEntry] = []
  /// Since when the cursor rests on it, or since when it is as it is.
  fileprivate var since: Int64 = 0
  /// True if what is known of it is not all.
  fileprivate var isOutdated = false
  /// True while the changes of a record are being read: one at a time.
  fileprivate var isReading = false

  /// When it is to be read; nil if it is not.
  package var due: Int64? {
    path != nil && isOutdated && !isReading ? since + DetailHistory.restMilliseconds : nil
  }
}

extension DetailHistory {
  /// The record whose changes are shown beside the list; nil if none is.
  private static func recordInDetail(_ state: AppState) -> Path? {
    guard !state.tabs.isTree, state.layers.isEmpty, state.arrangement.detailShare > 0 else {
      return nil
    }
    return state.tabs.front.cursorRecord?.path
  }

  /// Notes which record is shown beside the list.
  static func followDetail(_ state: inout AppState) {
    let path = recordInDetail(state)
    guard state.panes.detailHistory.path != path else { return }
    let isReading = state.panes.detailHistory.isReading
    state.panes.detailHistory = DetailHistory()
    state.panes.detailHistory.path = path
    state.panes.detailHistory.since = state.now
    state.panes.detailHistory.isOutdated = true
    state.panes.detailHistory.isReading = isReading
  }

  /// Asks for the changes of the record beside the list, if its time has come.
  static func readDetailHistory(_ state: inout AppState) {
    guard let due = state.panes.detailHistory.due, due <= state.now,
      let path = state.panes.detailHistory.path
    else { return }
    state.panes.detailHistory.isReading = true
    state.panes.detailHistory.isOutdated = false
    state.ask(
      .history(path, before: nil, count: DetailHistory.count), for: .detailHistory(path))
  }

  /// A record was changed: what is known of its changes is not all.
  static func noteDetailChange(_ state: inout AppState, _ change: ListChange) {
    followDetail(&state)
    guard let path = state.panes.detailHistory.path, change.records[Record.id(of: path)] != nil,
      !state.panes.detailHistory.isOutdated
    else { return }
    state.panes.detailHistory.isOutdated = true
    state.panes.detailHistory.since = state.now
  }

  /// The changes of a record were read; nil if they could not be.
  static func take(_ state: inout AppState, detailHistory page: HistoryPage?, of path: Path) {
    state.panes.detailHistory.isReading = false
    if path == state.panes.detailHistory.path {
      state.panes.detailHistory.entries = page?.entries ?? []
    }
  }

  /// Where the record beside the list leads: to other records and to the web, each place once.
  static func detailLinks(_ state: AppState) -> [String] {
    guard !state.tabs.isTree, let record = state.tabs.front.cursorRecord, let node = record.row.node
    else {
      return []
    }
    var links: [String] = []
    for link in RowCommands.referencesAtHand(state).map(\.description) + WebLink.all(in: node)
    where !links.contains(link) { links.append(link) }
    return links
  }
}
