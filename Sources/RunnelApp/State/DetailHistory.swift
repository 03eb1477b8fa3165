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
  /// The number of the question that is not answered, and the record that it is about.
  fileprivate var request: (number: Int, path: Path)? {
    get { number.flatMap { number in asked.map { (number, $0) } } }
    set { (number, asked) = (newValue?.number, newValue?.path) }
  }
  private var number: Int?
  private var asked: Path?

  /// When it is to be read; nil if it is not.
  var due: Int64? {
    path != nil && isOutdated && number == nil ? since + DetailHistory.restMilliseconds : nil
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
    let request = detailHistory.request
    detailHistory = DetailHistory()
    detailHistory.path = path
    detailHistory.since = now
    detailHistory.isOutdated = true
    detailHistory.request = request
  }

  /// Asks for the changes of the record beside the list, if its time has come.
  mutating func readDetailHistory() {
    guard let due = detailHistory.due, due <= now, let path = detailHistory.path else { return }
    lastWrite += 1
    detailHistory.request = (lastWrite, path)
    detailHistory.isOutdated = false
    effects.append(.readHistory(lastWrite, path, before: nil, count: DetailHistory.count))
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

  /// Changes were read, or could not be; false if nobody asked for them by that number.
  mutating func take(detailHistory number: Int, _ page: HistoryPage?) -> Bool {
    guard let request = detailHistory.request, request.number == number else { return false }
    detailHistory.request = nil
    if request.path == detailHistory.path { detailHistory.entries = page?.entries ?? [] }
    return true
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
