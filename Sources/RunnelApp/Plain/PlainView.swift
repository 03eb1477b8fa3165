import RunnelBase
public import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import RunnelWorkspace

/// A view as lines of text, without a screen: what is there, and then what changes.
///
/// Its owner carries what it asks to the database, and what the database says back to it. It belongs to
/// one thread.
public final class PlainView {
  /// True once all is listed, if nothing is followed.
  public private(set) var isDone = false
  /// Why the rows cannot be read; nil if they can.
  public private(set) var failure: String?

  /// What is asked of the database and not taken yet, in order.
  private var requests: [DatabaseRequest] = []
  /// The lines that are not taken yet, each with its line end.
  private var lines: [String] = []
  private let definition: ViewDefinition
  private let request: PlainRequest
  private let text: PlainText
  private let streams: ViewStreams
  private let source: PlainSource
  /// True once all that is wanted was there, and was told.
  private var told = false
  private var records: [String: Record] = [:]
  /// The rows as they are.
  private var latest: ListChange?
  private let clock: () -> Int64

  /// Makes a listing of one of the views of a workspace.
  ///
  /// - Throws: `ConfigurationError` if there is no such view, or the filter cannot be read.
  init(
    _ definition: ViewDefinition, _ request: PlainRequest, me: String, local: LocalTime,
    clock: @escaping () -> Int64 = LocalTime.now
  ) throws {
    self.definition = definition
    self.request = request
    self.clock = clock
    text = PlainText(definition, request, local: local)
    source = PlainSource()
    streams = try ViewStreams(definition, source: source, local: local)
    if let filter = try PlainView.filter(request.filter, now: clock(), local: local) {
      streams.show(only: filter, FilterMatcher.Surroundings(me: me))
    }
  }

  /// Reads a filter that was given on the command line; nil for none.
  ///
  /// - Throws: `ConfigurationError` that says what is wrong with it.
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

  /// Asks for the first rows.
  public func start() {
    streams.start { [weak self] change in self?.take(change) }
    collectRequests()
  }

  /// Takes over what the database says.
  public func receive(_ messages: [DatabaseMessage]) {
    for message in messages {
      switch message {
      case .deliveries(let deliveries):
        for (listener, events) in PlainSource.batches(deliveries) {
          streams.receive(events, from: listener)
        }
      case .failed(let listener, let error): streams.receive(error, from: listener)
      // Nothing else is asked for.
      default: break
      }
    }
    if !told { askForMore() }
    collectRequests()
  }

  /// The lines that are to be written now.
  public func takeLines() -> [String] {
    defer { lines = [] }
    return lines
  }

  /// The requests that are to be carried to the database now.
  public func takeRequests() -> [DatabaseRequest] {
    defer { requests = [] }
    return requests
  }

  private func collectRequests() {
    requests += source.requests
    source.requests = []
  }

  // MARK: The list

  private func take(_ change: ListChange) {
    if case .failed(let message) = change.phase {
      failure = message
      return
    }
    let old = latest
    latest = change
    if told { tell(change, since: old?.told ?? []) }
    if change.update.isReload { records = [:] }
    for id in change.removed { records[id] = nil }
    for (id, record) in change.records { records[id] = record }
  }

  /// Asks for a page more until enough is there, then tells the list.
  private func askForMore() {
    guard let latest, failure == nil else { return }
    let count = latest.told.reduce(0) { $0 + $1.rows.storedCount }
    switch latest.paging {
    case .fetching: return
    case .unknown where count < wantedCount, .more where count < wantedCount:
      return streams.fetchMore()
    case .failed(let message): failure = message
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

  /// Tells what is there.
  private func list(_ change: ListChange) {
    told = true
    let now = clock()
    for (section, rows) in limited(change) {
      lines += text.heading(section, rows.count { $0 != ListScreen.fetchMoreRow }, now: now)
      for id in rows {
        if id == ListScreen.fetchMoreRow {
          // At the true end the row stays, and stands for nothing.
          if change.paging != .exhausted { lines += text.pagingLine }
        } else if let record = records[id] {
          lines.append(text.line(record, change: nil, in: section, now: now))
        }
      }
    }
    isDone = !request.follows
  }

  /// The rows that are told: at most as many as are wanted, from the live end.
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

  /// Tells what went, and then what came and changed, in the order of the list.
  ///
  /// O(t log t) in the t rows of the change; O(n) if it is a reload.
  private func tell(_ change: ListChange, since old: [ListSection]) {
    let now = clock()
    let (before, after) = (ListContent(sections: old), ListContent(sections: change.told))
    let gone = change.update.isReload ? Set(records.keys) : Set(change.removed)
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
  /// The sections as the streams told them.
  fileprivate var told: [ListSection] {
    if case .sections(let sections) = content { sections } else { [] }
  }
}

extension ListContent {
  /// The rows that leave their places by an update, in order; after a reload all.
  fileprivate func paths(departingBy update: BatchUpdate) -> [ListIndexPath] {
    let whole = update.isReload ? Array(sections.indices) : update.deletedSections
    return (update.deletedRows + paths(ofSections: whole)).sorted()
  }

  /// The rows that come to their places by an update or have another content, in order; after a reload
  /// all.
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

/// The tree as the streams of a listing ask it: what they ask waits until its owner takes it.
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

  /// What each listener is told by one message, together, in order of the first.
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
