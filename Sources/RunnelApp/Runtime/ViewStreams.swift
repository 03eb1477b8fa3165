import Logging
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// The streams of one view, from the tree to the list.
///
/// ```
/// query of `also` ──┐
/// query of `source` ┼─ union ─ partition by section ─ adapter with the fetch-more row ─ list changes
/// transient row ────┘
/// ```
///
/// The queries of `also` come first, so a pinned message is the pinned query's, however old it is.
final class ViewStreams {
  private static let log = Logger(label: "runnel.streams")

  let definition: ViewDefinition
  /// How many rows the next page has.
  var pageSize: Int
  private let queries: [QueryStream<Record>]
  let paged: QueryStream<Record>
  /// The end of the list at which older rows are fetched, or those further from where rows arrive.
  private let olderEnd: ListEnd
  /// How far the paged query is that was asked for anew, so that the list lets go of rows.
  private var reading = Reading.none
  private var readingToken: StreamToken?
  /// The ends at which pages are to be fetched when the rows are there that are kept.
  private var wantsMore: Set<ListEnd> = []
  /// How far the list was paged at its ends when that was known last.
  private var knownStates: [ListEnd: FetchState] = [:]
  private let transient = TransientStream<Record>()
  private let union: UnionStream<Record>
  private let partition: PartitionedStream<Record, SectionID>
  private var adapter: IndexPathAdapter<Record>?
  private var receive: ((ListChange) -> Void)?
  /// The collection as a child of its place's parent, which knows the number of its children.
  private let counted: QueryStream<Record>?
  private var countToken: StreamToken?
  private var tellCount: ((Int?) -> Void)?
  private var lastCount: Int?
  private var isFiltered = false
  private var search: FilterSearch?

  /// Makes the streams of a view; they ask for nothing before they are started.
  ///
  /// - Throws: `TreeError` if a source's question contradicts itself.
  init(_ definition: ViewDefinition, source: any TreeSource, local: LocalTime) throws {
    self.definition = definition
    pageSize = definition.source.page
    let isDescending = definition.source.isDescending
    paged = QueryStream(
      request: try definition.source.request(), isDescending: isDescending, source: source)
    olderEnd = paged.pagedEnds.first ?? .end
    queries =
      try definition.also.map { also in
        try ViewStreams.query(also, inOrderOf: definition.source, source: source)
      } + [paged]
    counted = definition.countRequest.map { QueryStream(request: $0, source: source) }
    let sources: [any SectionedStream<Record>] = queries + [transient]
    let union = UnionStream(inTreeOrder: sources, isDescending: isDescending)
    self.union = union
    partition = PartitionedStream(
      union, fixed: definition.fixedSections, sectionID: \.text,
      partition: { record in
        SectionID(of: record.row.node ?? .empty, key: record.row.key, in: definition, local: local)
      })
  }

  /// A further query of a view, whose records hold what the order of the list compares.
  private static func query(
    _ also: SourceDefinition, inOrderOf source: SourceDefinition, source tree: any TreeSource
  ) throws -> QueryStream<Record> {
    let (path, index) = (also.path, source.order)
    return QueryStream(
      request: try also.request(), isDescending: also.isDescending, source: tree
    ) { row in
      let child = Child(key: row.key, node: row.node ?? .empty)
      return Record(
        TreeRow(key: row.key, value: index.value(of: child), content: row.content), in: path)
    }
  }

  /// Starts to listen, and tells each change of the list; and how many rows the collection has, if
  /// that is cheap to know, each time it is another number.
  func start(
    _ receive: @escaping (ListChange) -> Void, count: @escaping (Int?) -> Void = { _ in }
  ) {
    self.receive = receive
    tellCount = count
    let ends = [(ListScreen.fetchMoreRow, olderEnd), (ListScreen.newerRow, newerEnd)]
    let pagings = ends.map { id, end in
      PagingPoint(
        paged, id: id, end: end, state: { [weak self] in self?.fetchState(at: end) ?? .unknown },
        boundaryID: { [weak self] in self?.boundaryID(at: end) })
    }
    let adapter = IndexPathAdapter(
      [ListPart(partition, pagings: pagings)],
      log: { ViewStreams.log.error("\($0)") }, receive: { [weak self] in self?.changed($0) })
    self.adapter = adapter
    startCounting()
    readingToken = paged.observe { [weak self] change in
      guard let self, reading == .asked, change.loadState == .loading else { return }
      reading = .begun
    }
    for query in queries { query.start() }
    adapter.start()
  }

  /// Stops listening; nothing is told afterwards, and it is not started again.
  func stop() {
    receive = nil
    tellCount = nil
    if let countToken { counted?.cancel(countToken) }
    countToken = nil
    if let readingToken { paged.cancel(readingToken) }
    readingToken = nil
    counted?.stop()
    search = nil
    adapter?.stop()
    adapter = nil
    for query in queries { query.stop() }
  }

  /// The row at an end of the history.
  ///
  /// A pinned message may be the oldest one loaded, but it stands among the pinned ones: the row for
  /// older messages is not to stand there.
  private func boundaryID(at end: ListEnd) -> String? {
    let own = queries.count - 1
    let isOwn: (Record) -> Bool = { [union] in union.source(of: $0.id) == own }
    let record = end == .start ? paged.items.first(where: isOwn) : paged.items.last(where: isOwn)
    return record?.id ?? paged.boundaryID(at: end)
  }

  /// How far the list is paged at an end, for its fetch-more rows.
  ///
  /// Where rows arrive there is a fetch-more row only if some are not loaded. While rows are let go of, what
  /// was known before holds.
  private func fetchState(at end: ListEnd) -> FetchState {
    if paged.loadState != .loaded || reading == .asked { return knownStates[end] ?? .unknown }
    let state = paged.fetchState(at: end)
    knownStates[end] = end == newerEnd && state == .exhausted ? .unknown : state
    return knownStates[end] ?? .unknown
  }

  /// Takes the events of one of the queries over.
  func receive(_ events: [TreeEvent], from listener: ListenerID) {
    for query in queries { query.receive(events, from: listener) }
    if hasRead, adapter?.isHeld == false { tellUnchanged() }
    counted?.receive(events, from: listener)
  }

  /// Learns that one of the queries could not be answered: then all stop, and the empty list that is
  /// told is the last one.
  func receive(_ error: DatabaseError, from listener: ListenerID) {
    for query in queries { query.receive(failure: error.message, from: listener) }
    guard case .failed(let message) = partition.loadState else { return }
    let tell: ((ListChange) -> Void)? = self.receive
    stop()
    tell?(
      ListChange(
        content: .sections([]), update: .reload, phase: .failed(message), paging: .exhausted,
        loadedCount: 0))
  }

  /// Holds the list as it is, or tells at once what happened meanwhile.
  func pause(_ isPaused: Bool) {
    if isPaused { adapter?.hold() } else { adapter?.release() }
  }

  /// How many rows wait to be shown; nil if the list is not held.
  var waitingCount: Int? {
    guard let adapter, adapter.isHeld else { return nil }
    return adapter.waitingRowCount
  }

  /// Asks for the next page of the history; while a filter is in force, for one of rows that it wants.
  func fetchMore() {
    if paged.loadState == .loading || reading != .none { return wantsMore = [olderEnd] }
    guard isFiltered else { return fetch(pageSize, at: olderEnd) }
    search = FilterSearch(
      from: paged.items.count, scanned: paged.scannedCount, page: pageSize)
    searchOn()
  }

  /// Asks for the next page towards the end where rows arrive, if the list does not reach it.
  func fetchNewer() {
    if paged.loadState == .loading || reading != .none { return wantsMore = [newerEnd] }
    fetch(pageSize, at: newerEnd)
  }

  private func fetch(_ count: Int, at end: ListEnd) {
    paged.fetchMore(count, at: end) { _ in }
  }

  /// Gives up the page that is being fetched.
  func stopFetching() {
    search = nil
    wantsMore = []
    for end in paged.pagedEnds { paged.cancelFetch(at: end) }
  }

  /// Shows only the rows that a filter wants; nil shows all.
  func show(only filter: Filter?, _ surroundings: FilterMatcher.Surroundings) {
    search = nil
    isFiltered = filter != nil
    let matcher = filter.map { FilterMatcher($0, in: definition, surroundings) }
    for query in queries { query.predicate = matcher.map { matcher in { matcher.wants($0) } } }
  }

  private func searchOn() {
    guard isSearching else { return search = nil }
    paged.fetchMore(FilterSearch.step, at: olderEnd) { [weak self] outcome in
      if outcome != .fetched { self?.search = nil }
      self?.searchOn()
    }
  }

  /// True until a search that was asked for has found enough, or looked at enough.
  private var isSearching: Bool {
    guard let search, paged.fetchState(at: olderEnd) != .exhausted else { return false }
    return !search.isDone(found: paged.items.count, scanned: paged.scannedCount)
  }

  /// Shows the records that are being sent, and the one that is being composed if there is one.
  func compose(_ json: JSONValue?, sending sent: [SentRecord], now: Int64) {
    var rows = sent.suffix(ListScreen.sentRowsMax).compactMap { record in
      row(of: record.value, key: ListScreen.sentKey(record.id), now: now)
    }
    if let json, let row = row(of: json, key: ListScreen.composeKey, now: now) { rows.append(row) }
    transient.reset(rows)
  }

  private func row(of json: JSONValue, key: String, now: Int64) -> Record? {
    // A preview that cannot be made is not shown; the write itself says why.
    guard let node = try? Write.preview(json, now: now), !node.isEmpty else { return nil }
    let row = TreeRow(
      Child(key: RunnelTree.Key(unchecked: key), node: node), index: definition.source.order,
      detail: .full)
    return Record(row, in: definition.source.path)
  }

  /// What the fetch-more row says.
  private var paging: FetchState {
    isSearching ? .fetching : known(fetchState(at: olderEnd))
  }

  /// What the row says that stands for newer rows; there is none if they are all loaded.
  private var newerPaging: FetchState {
    let state = fetchState(at: newerEnd)
    return state == .unknown ? .exhausted : state
  }

  /// What is not known yet is told as if there were more: asking finds out.
  private func known(_ state: FetchState) -> FetchState { state == .unknown ? .more : state }

  /// The end of the list at which rows arrive.
  private var newerEnd: ListEnd { olderEnd == .start ? .end : .start }

  /// True if rows arrive at the end of the list.
  var isLiveAtEnd: Bool { newerEnd == .end }

  /// True if nothing is missing at the end where rows arrive.
  var reachesLiveEnd: Bool { paged.fetchState(at: newerEnd) == .exhausted }

  /// True if the rows that are shown may be let go of now.
  var canLetGo: Bool {
    paged.loadState == .loaded && reading == .none && search == nil
      && [olderEnd, newerEnd].allSatisfy { paged.fetchState(at: $0) != .fetching }
  }

  /// Asks for the number of rows, before the rows, so that the header is right at once.
  private func startCounting() {
    guard let counted, countToken == nil else { return }
    counted.start()
    countToken = counted.observe { [weak self] _ in self?.countChanged() }
  }

  private func countChanged() {
    guard let counted, counted.loadState == .loaded else { return }
    var count: Int?
    if case .children(let number)? = counted.items.first?.row.summary.kind { count = number }
    if count == lastCount { return }
    lastCount = count
    tellCount?(count)
  }

  /// Tells that the rows are there that are kept, where they are those that were there before.
  private func tellUnchanged() {
    guard let adapter else { return }
    changed(
      ListUpdate(sections: adapter.sections, update: BatchUpdate()))
  }

  private func changed(_ update: ListUpdate<Record>) {
    var records: [String: Record] = [:]
    for record in update.touched { records[record.id] = record.shown }
    let isLettingGo = hasRead
    // What is told may ask for other rows again.
    if isLettingGo { reading = .none }
    receive?(
      ListChange(
        content: .sections(update.listSections()), update: update.update,
        newRows: update.arrived, records: records, removed: update.removed, phase: .loaded,
        paging: paging, newer: newerPaging, loadedCount: paged.scannedCount,
        isLettingGo: isLettingGo))
    if paged.loadState == .loaded, reading == .none { fetchWanted() }
  }
}

extension ViewStreams {
  /// How far a query is that was asked for anew.
  private enum Reading {
    /// It was not.
    case none
    /// It was; its rows are those of before.
    case asked
    /// Its rows are those of before until it is loaded.
    case begun
  }

  /// True from when the rows are there that were asked for anew until they are told.
  private var hasRead: Bool { reading == .begun && paged.loadState == .loaded }

  /// Notes that the rows are asked for anew.
  func beginReading() { reading = .asked }

  /// Fetches what was asked for meanwhile.
  private func fetchWanted() {
    let ends = wantsMore
    wantsMore = []
    for end in ends { if end == olderEnd { fetchMore() } else { fetchNewer() } }
  }
}

/// How far a search through older rows goes that was asked for once.
private struct FilterSearch {
  /// How many rows are read at once.
  static let step = 500
  /// How many rows are looked at before the user is asked again.
  private static let scannedMax = 10_000

  private let found: Int
  private let scanned: Int

  /// Begins with so many rows found and read, and is to find a page more.
  init(from found: Int, scanned: Int, page: Int) {
    self.found = found + page
    self.scanned = scanned + FilterSearch.scannedMax
  }

  func isDone(found: Int, scanned: Int) -> Bool {
    found >= self.found || scanned >= self.scanned
  }
}

extension Record {
  /// The record as a screen holds it: its place and content, whichever query it came from.
  fileprivate var shown: Record { Record(path: path, row: row.shown) }
}

extension ViewDefinition {
  /// Asks for the collection without its rows, which tells their number; nil where the list shows other
  /// rows than those of one collection.
  fileprivate var countRequest: ListenRequest? {
    let path = source.path
    guard source.equalTo == nil, source.filter == nil, also.allSatisfy({ $0.path == path }),
      let parent = path.parent, let key = path.lastKey,
      let query = try? Query(parent).ordered(by: .key).equal(to: .leaf(.string(key.text)))
    else { return nil }
    return ListenRequest(query: query, detail: .shallow)
  }

  /// The sections that are shown even without rows: those with titles of their own.
  fileprivate var fixedSections: [SectionID] {
    for (index, rule) in sections.enumerated() {
      guard case .field(_, let titles) = rule else { continue }
      return titles.enumerated().map { rank, title in
        SectionID(rule: index, rank: rank, value: title.value)
      }
    }
    return []
  }
}

extension Write {
  /// The node that a record would become if it were written now.
  fileprivate static func preview(_ json: JSONValue, now: Int64) throws -> RunnelTree.Node {
    let parts = try Write.set(.root, json).assignments(now: now, reader: MemoryTree())
    if case .node(let node)? = parts.first?.target { return node }
    return .empty
  }
}
