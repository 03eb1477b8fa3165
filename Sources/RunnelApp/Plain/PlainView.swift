import RunnelBase
package import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import RunnelWorkspace

/// Lists a view as lines of text, without a screen: first its rows, then their changes.
///
/// Its owner carries its requests to the database, and the messages of the database back. It
/// belongs to one thread.
///
/// What is followed. With `--rows all`, and while a list is as short as its first listing, all rows are
/// requested at once, so that no row of a large write is left out, and none seems removed by it. Of a
/// longer list the rows from its live end to the last one listed are followed; a list that shows its
/// newest rows unloads the oldest of them, as the workspace does, so that a log can be followed for
/// ever.
public final class PlainView {
  /// The number of rows that stands for all.
  private static let allRows = Int(Int32.max)

  /// Whether all rows were listed, if changes are not followed.
  public private(set) var isDone = false
  /// The reason why the rows cannot be read, or nil.
  public private(set) var failure: String?
  /// A sentence that says why the filter finds nothing, if its words may be wrong, or which rows it does not
  /// compare, until it is taken.
  private var doubt: String?

  /// The requests to the database that were not taken yet, in order.
  private var requests: [DatabaseRequest] = []
  /// The lines that were not taken yet, each with its line end.
  private var lines: [String] = []
  private let definition: ViewDefinition
  private let request: PlainRequest
  private let text: PlainText
  private let streams: ViewStreams
  private let source: PlainSource
  /// Whether the rows were listed.
  private var told = false
  private var records: [String: Record] = [:]
  private var filter: Filter?
  /// The latest state of the rows.
  private var latest: ListChange?
  /// Whether rows are being unloaded: then they are not told as removed.
  private var isUnloading = false
  private let clock: () -> Int64

  /// Creates a listing of a view.
  ///
  /// - Throws: `ConfigurationError` if the filter is not valid.
  init(
    _ definition: ViewDefinition, _ request: PlainRequest, me: String, local: LocalTime,
    clock: @escaping () -> Int64 = LocalTime.now
  ) throws {
    self.definition = definition
    self.request = request
    self.clock = clock
    text = PlainText(definition, request, local: local)
    source = PlainSource()
    let wantsAll = request.follows && request.rows == .all
    streams = try ViewStreams(
      definition, first: wantsAll ? PlainView.allRows : nil, source: source, local: local)
    filter = try PlainView.filter(request.filter, now: clock(), local: local)
    if let filter {
      streams.show(only: filter, FilterMatcher.Surroundings(me: me))
    }
  }

  /// Parses a filter from the command line; returns nil for none.
  ///
  /// - Throws: `ConfigurationError` that describes the mistake.
  static func filter(_ text: String?, now: Int64, local: LocalTime) throws -> Filter? {
    guard let text else { return nil }
    var parser = FilterParser(text, moments: MomentReader(now: now, local: local))
    do throws(FilterError) {
      let filter = try parser.filter()
      return filter.isEmpty ? nil : filter
    } catch {
      let pointer = String(repeating: " ", count: error.range.lowerBound) + "^"
      throw ConfigurationError(
        file: "--filter", line: nil, "\(error.message)\n  \(text)\n  \(pointer)")
    }
  }

  /// The sentence about a filter that finds nothing, for a reason.
  static func nothingWords(_ reason: String) -> String { "The filter finds nothing: \(reason)." }

  /// The sentence about a filter that does not compare some rows.
  static func partWords(_ rows: String) -> String { "The filter leaves rows out: \(rows)." }

  private static func words(
    about filter: Filter, in definition: ViewDefinition, _ records: [Record], findsNothing: Bool,
    isComplete: Bool
  ) -> String? {
    if findsNothing {
      let doubt = FilterDoubt(filter, in: definition, records, isComplete: isComplete)
      return (doubt?.message).map(nothingWords)
    }
    var uncompared = UncomparedTexts(filter)
    uncompared.take(records)
    return uncompared.message.map(partWords)
  }

  /// Requests the first rows.
  public func start() {
    streams.start { [weak self] change in self?.take(change) }
    collectRequests()
  }

  /// Takes messages of the database.
  package func receive(_ messages: [DatabaseMessage]) {
    for message in messages {
      switch message {
      case .deliveries(let deliveries):
        for (listener, events) in PlainSource.batches(deliveries) {
          streams.receive(events, from: listener)
        }
      case .failed(let listener, let error): streams.receive(error, from: listener)
      // No other messages are expected.
      default: break
      }
    }
    if told { unload() } else { askForMore() }
    collectRequests()
  }

  /// Returns the lines to write now, once.
  public func takeLines() -> [String] {
    defer { lines = [] }
    return lines
  }

  /// Returns a sentence that says why the filter finds nothing, if its words may be wrong, or which rows it does
  /// not compare, once.
  public func takeDoubt() -> String? {
    defer { doubt = nil }
    return doubt
  }

  /// Returns the requests to send to the database now, once.
  package func takeRequests() -> [DatabaseRequest] {
    defer { requests = [] }
    return requests
  }

  private func collectRequests() {
    requests += source.requests
    source.requests = []
  }

  // MARK: The list

  private func take(_ change: ListChange) {
    if case .failed(let reason) = change.phase {
      failure = reason.message
      return
    }
    let old = latest
    latest = change
    if told { tell(change, since: old?.told ?? []) }
    if change.isLettingGo { isUnloading = false }
    if change.update.isReload { records = [:] }
    for id in change.removed { records[id] = nil }
    for (id, record) in change.records { records[id] = record }
  }

  /// Fetches another page until there are enough rows, then lists them.
  private func askForMore() {
    guard let latest, failure == nil else { return }
    let count = latest.told.reduce(0) { $0 + $1.rows.storedCount }
    switch latest.paging {
    case .fetching: return
    case .unknown where count < wantedCount, .more where count < wantedCount:
      return streams.fetchMore()
    case .failed(let reason): failure = reason.message
    case .unknown, .more, .exhausted: list(latest)
    }
  }

  private var wantedCount: Int {
    switch request.rows {
    case .page: definition.source.page
    case .count(let count): count
    case .all: .max
    }
  }

  /// Lists the rows.
  private func list(_ change: ListChange) {
    told = true
    let now = clock()
    let parts = limited(change)
    let listedCount = parts.reduce(0) { $0 + $1.rows.count { $0 != ListScreen.fetchMoreRow } }
    if let filter {
      doubt = PlainView.words(
        about: filter, in: definition, streams.scannedRecords, findsNothing: listedCount == 0,
        isComplete: change.paging == .exhausted)
    }
    let isWhole =
      change.paging == .exhausted
      && listedCount == change.told.reduce(0) { $0 + $1.rows.storedCount }
    for (section, rows) in parts {
      let count = rows.count { $0 != ListScreen.fetchMoreRow }
      lines += text.heading(section, count, isWhole: isWhole, now: now)
      for id in rows {
        if id == ListScreen.fetchMoreRow {
          // At the end of the rows, the fetch-more row stays, and stands for nothing.
          if change.paging != .exhausted { lines += text.pagingLine }
        } else if let record = records[id] {
          lines.append(text.line(record, change: nil, in: section, now: now))
        }
      }
    }
    isDone = !request.follows
    if request.follows, request.rows != .all, change.paging == .exhausted {
      streams.goToLiveEnd(count: PlainView.allRows)
    }
  }

  /// Unloads the oldest rows of a list that shows its newest ones, if there are a quarter more than it
  /// keeps.
  private func unload() {
    guard let kept = keptCount, let latest, !isUnloading,
      latest.loadedCount > kept + max(kept / 4, definition.source.page)
    else { return }
    isUnloading = streams.letGo(KeptRows(count: kept))
  }

  /// The number of rows that stay loaded; nil for all.
  private var keptCount: Int? {
    guard request.rows != .all, definition.source.anchor == .last, let kept = definition.source.keep
    else { return nil }
    return max(kept, 2 * definition.source.page, wantedCount)
  }

  /// Returns the rows to list: at most the requested number, from the live end.
  private func limited(_ change: ListChange) -> [(section: String, rows: [String])] {
    guard case .count(let count) = request.rows else {
      return change.told.map { ($0.id, Array($0.rows)) }
    }
    var left = count
    let isAtEnd =
      (definition.source.anchor == .last) != definition.source.isDescending
    var kept: [(section: String, rows: [String])] = []
    for section in isAtEnd ? change.told.reversed() : change.told {
      let rows = section.rows.filter { $0 != ListScreen.fetchMoreRow }
      let part = isAtEnd ? rows.suffix(left) : rows.prefix(left)
      left -= part.count
      if !part.isEmpty { kept.append((section.id, Array(part))) }
    }
    return isAtEnd ? kept.reversed() : kept
  }

  /// Lists a change: removed rows first, then new and changed ones in the order of the list.
  ///
  /// O(t log t) in the t rows of the change; O(n) if it is a reload.
  private func tell(_ change: ListChange, since old: [ListSection]) {
    let now = clock()
    let (before, after) = (ListContent(sections: old), ListContent(sections: change.told))
    let isUnloaded = isUnloading && change.isLettingGo
    let removed = change.update.isReload ? Set(records.keys) : Set(change.removed)
    let gone = isUnloaded ? [] : removed
    for path in before.paths(departingBy: change.update) {
      guard let id = before.row(at: path), gone.contains(id), let record = records[id],
        !change.update.isReload || change.records[id] == nil
      else { continue }
      lines.append(text.line(record, change: .removed, in: old[path.section].id, now: now))
    }
    for path in after.paths(arrivingBy: change.update, from: before) {
      guard let id = after.row(at: path), let record = change.records[id] else { continue }
      let section = change.told[path.section].id
      if let known = records[id] {
        if known.row.content == record.row.content { continue }
        lines.append(text.line(record, change: .changed, in: section, now: now))
      } else {
        lines.append(text.line(record, change: .added, in: section, now: now))
      }
    }
  }
}

extension ListChange {
  /// The sections as the streams have them.
  fileprivate var told: [ListSection] {
    if case .sections(let sections) = content { sections } else { [] }
  }
}

extension ListContent {
  /// Returns the rows that an update removes from their places, in order; all rows after a reload.
  fileprivate func paths(departingBy update: BatchUpdate) -> [ListIndexPath] {
    let whole = update.isReload ? Array(sections.indices) : update.deletedSections
    return (update.deletedRows + paths(ofSections: whole)).sorted()
  }

  /// Returns the rows that an update inserts or changes, in order; all rows after a reload.
  fileprivate func paths(arrivingBy update: BatchUpdate, from old: ListContent) -> [ListIndexPath] {
    if update.isReload { return paths(ofSections: Array(sections.indices)) }
    let changed = update.reloadedRows.compactMap {
      old.passage(of: $0, through: update, to: self)?.path
    }
    let came = update.insertedRows + paths(ofSections: update.insertedSections)
    return Set(came + changed).sorted()
  }

  private func paths(ofSections numbers: [Int]) -> [ListIndexPath] {
    numbers.flatMap { section in
      sections[section].rows.indices.map { ListIndexPath(section: section, row: $0) }
    }
  }
}

/// The source of the streams of a listing: requests wait until the owner takes them.
private final class PlainSource: TreeSource {
  var requests: [DatabaseRequest] = []
  private var lastListener = 0

  func listen(_ request: ListenRequest) -> ListenerID {
    lastListener += 1
    let listener = ListenerID(lastListener)
    requests.append(.listen(listener, request))
    return listener
  }

  func unlisten(_ listener: ListenerID) { requests.append(.unlisten(listener)) }

  func extend(_ listener: ListenerID, by count: Int) {
    requests.append(.extend(listener, count: count))
  }

  /// Groups deliveries by listener, in the order of each listener's first one.
  static func batches(_ deliveries: [Delivery]) -> [(ListenerID, [TreeEvent])] {
    var order: [ListenerID] = []
    var batches: [ListenerID: [TreeEvent]] = [:]
    for delivery in deliveries {
      if batches[delivery.listener] == nil { order.append(delivery.listener) }
      batches[delivery.listener, default: []].append(delivery.event)
    }
    return order.compactMap { listener in batches[listener].map { (listener, $0) } }
  }
}
