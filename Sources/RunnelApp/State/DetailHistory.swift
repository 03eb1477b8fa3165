import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// What is shown of a record beside the list besides its fields: its newest changes.
///
/// They are read when the cursor has rested on the record for a moment, so that whoever moves on reads
/// nothing.
struct DetailHistory: Hashable, Sendable {
  /// How long the cursor rests before they are read, in milliseconds.
  static let restMilliseconds: Int64 = 250
  /// How many of them are shown.
  static let count = 5

  /// The record; nil if none is shown.
  fileprivate(set) var path: Path?
  /// Its newest changes, the newest first.
  fileprivate(set) var entries: [HistoryEntry] = []
  /// Since when the cursor rests on it, or since when it is as it is.
  fileprivate var since: Int64 = 0
  /// True if what is known of it is not all.
  fileprivate var isOutdated = false
  /// True while the changes of a record are being read: one at a time.
  fileprivate var isReading = false

  /// When it is to be read; nil if it is not.
  var due: Int64? {
    path != nil && isOutdated && !isReading ? since + DetailHistory.restMilliseconds : nil
  }
}

extension AppState {
  /// The record whose changes are shown beside the list; nil if none is.
  private var recordInDetail: Path? {
    guard !isTree, layers.isEmpty, arrangement.detailShare > 0 else { return nil }
    return lists[active].cursorRecord?.path
  }

  /// Notes which record is shown beside the list.
  mutating func followDetail() {
    let path = recordInDetail
    guard detailHistory.path != path else { return }
    let isReading = detailHistory.isReading
    detailHistory = DetailHistory()
    detailHistory.path = path
    detailHistory.since = now
    detailHistory.isOutdated = true
    detailHistory.isReading = isReading
  }

  /// Asks for the changes of the record beside the list, if its time has come.
  mutating func readDetailHistory() {
    guard let due = detailHistory.due, due <= now, let path = detailHistory.path else { return }
    detailHistory.isReading = true
    detailHistory.isOutdated = false
    ask(
      .history(path, before: nil, count: DetailHistory.count), for: .detailHistory(path))
  }

  /// A record was changed: what is known of its changes is not all.
  mutating func noteDetailChange(_ change: ListChange) {
    followDetail()
    guard let path = detailHistory.path, change.records[Record.key(of: path)] != nil,
      !detailHistory.isOutdated
    else { return }
    detailHistory.isOutdated = true
    detailHistory.since = now
  }

  /// The changes of a record were read; nil if they could not be.
  mutating func take(detailHistory page: HistoryPage?, of path: Path) {
    detailHistory.isReading = false
    if path == detailHistory.path { detailHistory.entries = page?.entries ?? [] }
  }

  /// Where the record beside the list leads: to other records and to the web, each place once.
  var detailLinks: [String] {
    guard !isTree, let record = lists[active].cursorRecord, let node = record.row.node else {
      return []
    }
    var links: [String] = []
    for link in referencesAtHand.map(\.description) + WebLink.all(in: node)
    where !links.contains(link) { links.append(link) }
    return links
  }
}
