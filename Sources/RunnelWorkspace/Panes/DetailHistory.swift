import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// The newest changes of the record in the detail pane.
///
/// They are read after the cursor has rested on the record for a moment, so that moving through a
/// list reads nothing.
package struct DetailHistory: Hashable, Sendable {
  /// The time in milliseconds that the cursor rests on a record before its changes are read.
  static let restMilliseconds: Int64 = 250
  /// The number of changes shown.
  package static let count = 5

  /// The record shown, or nil if there is none.
  package fileprivate(set) var path: Path?
  /// The newest changes of the record, the newest first.
  package fileprivate(set) var entries: [HistoryEntry] = []
  /// The time since the cursor rests on the record, or since the record last changed, in
  /// milliseconds since 1970.
  fileprivate var since: Int64 = 0
  /// Whether the changes have to be read, or read again.
  fileprivate var isOutdated = false
  /// Whether the changes of a record are being read; only one read runs at a time.
  fileprivate var isReading = false

  /// The time when the changes are to be read, in milliseconds since 1970; nil for no read.
  package var due: Int64? {
    path != nil && isOutdated && !isReading ? since + DetailHistory.restMilliseconds : nil
  }
}

extension DetailHistory {
  /// The record in the detail pane, or nil if there is none.
  private static func recordInDetail(_ state: AppState) -> Path? {
    guard state.layers.isEmpty, state.arrangement.detailShare > 0 else { return nil }
    return state.tabs.frontList?.cursorRecord?.path
  }

  /// Notes which record is in the detail pane.
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

  /// Reads the changes of the record in the detail pane, if it is time.
  static func readDetailHistory(_ state: inout AppState) {
    guard let due = state.panes.detailHistory.due, due <= state.now,
      let path = state.panes.detailHistory.path
    else { return }
    state.panes.detailHistory.isReading = true
    state.panes.detailHistory.isOutdated = false
    state.ask(
      .history(path, before: nil, count: DetailHistory.count), for: .detailHistory(path))
  }

  /// Notes a change of the record in the detail pane: its changes have to be read again.
  static func noteDetailChange(_ state: inout AppState, _ change: ListChange) {
    followDetail(&state)
    guard let path = state.panes.detailHistory.path, change.records[Record.id(of: path)] != nil,
      !state.panes.detailHistory.isOutdated
    else { return }
    state.panes.detailHistory.isOutdated = true
    state.panes.detailHistory.since = state.now
  }

  /// Takes the changes of a record; nil if they could not be read.
  static func take(_ state: inout AppState, detailHistory page: HistoryPage?, of path: Path) {
    state.panes.detailHistory.isReading = false
    if path == state.panes.detailHistory.path {
      state.panes.detailHistory.entries = page?.entries ?? []
    }
  }

  /// Returns the links of the record in the detail pane, to other records and to the web, without
  /// repetition.
  static func detailLinks(_ state: AppState) -> [String] {
    guard let record = state.tabs.frontList?.cursorRecord, let node = record.row.node
    else {
      return []
    }
    var links: [String] = []
    for link in RowCommands.referencesAtHand(state).map(\.description) + WebLink.all(in: node)
    where !links.contains(link) { links.append(link) }
    return links
  }
}
