import Logging
import RunnelBase
import RunnelDatabase
import RunnelServicesTree
import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// The streams of a view, from the tree to the list.
///
/// ```
/// query of `also` ──┐
/// query of `source` ┼─ union ─ partition by section ─ adapter with the fetch-more row ─ list changes
/// rows found beyond ┤
/// transient row ────┘
/// ```
///
/// The queries of `also` come first, so a pinned message belongs to the pinned query, however old
/// it is.
final class ViewStreams {
  static let log = Logger(label: "runnel.streams")

  let definition: ViewDefinition
  /// The number of rows of the next page.
  var pageSize: Int
  private let queries: [QueryStream<Record>]
  let paged: QueryStream<Record>
  /// The end of the list at which older rows are fetched, opposite to the end where rows arrive.
  private let olderEnd: ListEnd
  /// The state of the paged query's new request, by which the list unloads rows.
  private var reading = Reading.none
  private var readingToken: StreamToken?
  /// The ends at which pages are to be fetched once the kept rows are there.
  private var wantsMore: Set<ListEnd> = []
  /// The last known fetch state at each end of the list.
  private var knownStates: [ListEnd: FetchState] = [:]
  let transient = TransientStream<Record>()
  /// The new records that wait for the server of a service; they stand in place of their stored rows.
  let waiting = WaitingRows()
  private let union: UnionStream<Record>
  private let partition: PartitionedStream<Record, SectionID>
  private var adapter: IndexPathAdapter<Record>?
  /// The tree.
  let source: any TreeSource
  /// The searches beyond the loaded rows, by the end of the list.
  var far: [ListEnd: FarSearch] = [:]
  /// The rows that they found.
  let found: FoundRows
  private var matcher: FilterMatcher?
  /// What the server finds by itself, if the rows are those of its services.
  let reach: FindReach?
  /// Whether what is not known here is being asked for.
  var awaitsOrigin: () -> Bool = { false }
  /// Whether there is an origin, and no connection to it.
  var isCutOff: () -> Bool = { false }
  /// The numbers of rows to search for when the origin is there again, by the end of the list.
  var unsearched: [ListEnd: Int] = [:]
  /// Whether there is an origin that was not connected yet.
  var isUnconfirmed: () -> Bool = { false }
  /// The part of the filter that the server is asked for, and whether it is all of it.
  var serverPart: (condition: FindCondition, isWhole: Bool)?
  private var receive: ((ListChange) -> Void)?
  /// The query for the number of rows: the collection as a child of its parent, whose summary has
  /// the number of children.
  private let counted: QueryStream<Record>?
  private var countToken: StreamToken?
  private var tellCount: ((Int?) -> Void)?
  private var lastCount: Int?
  private var isFiltered = false
  /// Whether the list was told that its first page is not there.
  private var isToldLoading = false
  private var search: FilterSearch?

  /// Creates the streams of a view; they request nothing before they are started.
  ///
  /// `first` is the number of rows to read at first, if that is more than a page.
  ///
  /// - Throws: `TreeError` if the query of a source contradicts itself.
  init(
    _ definition: ViewDefinition, first: Int? = nil, source: any TreeSource, local: LocalTime,
    reach: FindReach? = nil, countsRows: Bool = true
  ) throws {
    let definition = reach == nil ? definition : definition.countingNull
    self.definition = definition
    self.source = source
    self.reach = reach
    let found = FoundRows(of: definition.source, source: source)
    self.found = found
    pageSize = definition.source.page
    let isDescending = definition.source.isDescending
    var request = try definition.source.request()
    request.paging = request.paging.map {
      Paging(anchor: $0.anchor, count: max(first ?? 0, $0.count))
    }
    paged = QueryStream(request: request, isDescending: isDescending, source: source)
    olderEnd = paged.pagedEnds.first ?? .end
    queries =
      try definition.also.map { also in
        try ViewStreams.query(also, inOrderOf: definition.source, source: source)
      } + [paged]
    counted =
      countsRows
      ? definition.countRequest.map { QueryStream(request: $0, source: source) } : nil
    let sources: [any SectionedStream<Record>] =
      [waiting.stream] + queries + [found.stream, transient]
    let union = UnionStream(inTreeOrder: sources, isDescending: isDescending)
    self.union = union
    partition = PartitionedStream(
      union, fixed: definition.fixedSections, sectionID: \.text,
      partition: { record in
        SectionID(of: record.row.node ?? .empty, key: record.row.key, in: definition, local: local)
      })
  }

  /// Returns a further query of a view, whose records hold the values that order the list.
  static func query(
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

  /// Starts to listen: reports each change of the list, and each change of the number of rows in
  /// the collection if that number is cheap to know.
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
    for query in queries { start(query) }
    adapter.start()
  }

  /// Stops listening; nothing is reported after that, and the streams cannot be started again.
  func stop() {
    receive = nil
    tellCount = nil
    if let countToken { counted?.cancel(countToken) }
    countToken = nil
    if let readingToken { paged.cancel(readingToken) }
    readingToken = nil
    counted?.stop()
    search = nil
    forgetFarSearch()
    adapter?.stop()
    adapter = nil
    for query in queries { query.stop() }
  }

  /// Returns the row at an end of the paged rows, beside which the fetch-more row stands.
  ///
  /// A pinned message may be the oldest loaded one, but it stands among the pinned messages: the
  /// fetch-more row must not stand there.
  private func boundaryID(at end: ListEnd) -> String? {
    let own = queries.count
    let isOwn: (Record) -> Bool = { [union] in union.source(of: $0.id) == own }
    let record = end == .start ? paged.items.first(where: isOwn) : paged.items.last(where: isOwn)
    return farthestFound(at: end, beyond: record)?.id ?? paged.boundaryID(at: end)
  }

  /// Whether a row is shown because a search found it.
  func isFoundHere(_ record: Record) -> Bool { union.source(of: record.id) == queries.count + 1 }

  /// Returns the fetch state at an end of the list, for its fetch-more row.
  ///
  /// At the end where rows arrive, there is a fetch-more row only if some rows are not loaded.
  /// While rows are being unloaded, the state before is kept.
  private func fetchState(at end: ListEnd) -> FetchState {
    if !paged.loadState.showsRows || reading == .asked { return knownStates[end] ?? .unknown }
    let state = far[end]?.state ?? paged.fetchState(at: end)
    knownStates[end] = end == newerEnd && state == .exhausted ? .unknown : state
    return knownStates[end] ?? .unknown
  }

  /// Takes events of one of the queries.
  func receive(_ events: [TreeEvent], from listener: ListenerID) {
    for query in queries { query.receive(events, from: listener) }
    receiveFar(events, from: listener)
    tellWhatIsThere()
    counted?.receive(events, from: listener)
  }

  /// Takes the failure of one of the queries: all queries stop, and the last report is an empty
  /// list.
  func receive(_ error: DatabaseError, from listener: ListenerID) {
    if takesFailure(of: listener) { return }
    let failure = StreamFailure(
      error, readingAt: definition.source.path, isOfService: reach != nil)
    for query in queries { query.receive(failure: failure, from: listener) }
    guard case .failed(let message) = partition.loadState else { return }
    let tell: ((ListChange) -> Void)? = self.receive
    stop()
    tell?(
      ListChange(
        content: .sections([]), update: .reload, phase: .failed(message), paging: .exhausted,
        loadedCount: 0))
  }

  /// Pauses the list, or reports at once what happened meanwhile.
  func pause(_ isPaused: Bool) {
    if isPaused { adapter?.hold() } else { adapter?.release() }
    tellWhatIsThere()
  }

  /// The number of rows that wait while the list is paused; nil if it is live.
  var waitingCount: Int? {
    guard let adapter, adapter.isHeld else { return nil }
    return adapter.waitingRowCount
  }

  /// Fetches the next pages of older rows; with a filter, searches for so many matching rows.
  func fetchMore(pages: Int = 1) { fetch(pages: pages, at: olderEnd) }

  /// Fetches the next pages at the end where rows arrive, if the list does not reach it; with a
  /// filter, searches for so many matching rows.
  func fetchNewer(pages: Int = 1) { fetch(pages: pages, at: newerEnd) }

  private func fetch(pages: Int, at end: ListEnd) {
    if paged.loadState == .loading || reading != .none { return wantsMore = [end] }
    guard isFiltered else { return fetch(pageSize * pages, at: end) }
    startSearch(at: end, for: pageSize * pages)
  }

  /// Searches for a number of rows that fit the filter.
  func startSearch(at end: ListEnd, for count: Int) {
    if searchFar(at: end, for: count) { return }
    if reach != nil, isCutOff() { unsearched[end] = count }
    // The server looks through the rows that are not loaded; while it cannot be asked, those that are known are.
    if serverPart != nil, !isCutOff(), paged.fetchState(at: end) != .exhausted {
      return beginFarSearch(at: end, for: count)
    }
    search = FilterSearch(
      at: end, from: paged.items.count, scanned: paged.scannedCount, page: count)
    searchOn()
  }

  private func fetch(_ count: Int, at end: ListEnd) {
    paged.fetchMore(count, at: end) { _ in }
  }

  /// Stops fetching pages and searching.
  func stopFetching() {
    search = nil
    stopFarSearch()
    (wantsMore, paged.waitsForAnswer) = ([], false)
    for end in paged.pagedEnds { paged.cancelFetch(at: end) }
  }

  /// Shows only the rows that match a filter; nil shows all.
  ///
  /// `part` is the part of the filter that a condition can say, and whether it is all of it.
  func show(
    only filter: Filter?, _ surroundings: FilterMatcher.Surroundings,
    asking part: (predicate: ChildPredicate, isWhole: Bool)? = nil
  ) {
    search = nil
    isFiltered = filter != nil
    forgetFarSearch()
    ask(part)
    let matcher = filter.map { FilterMatcher($0, in: definition, surroundings) }
    self.matcher = matcher
    let predicate: ((Record) -> Bool)? = matcher.map { matcher in { matcher.wants($0) } }
    for query in queries { query.predicate = predicate }
    found.stream.predicate = predicate
    waiting.show { [self] in wants($0) }
  }

  /// Whether a row fits the filter.
  func wants(_ record: Record) -> Bool { matcher?.wants(record) ?? true }

  private func searchOn() {
    guard let end = search?.end, isSearching(at: end) else { return endSearch() }
    let scanned = paged.scannedCount
    paged.fetchMore(FilterSearch.step, at: end) { [weak self] outcome in
      guard let self else { return }
      // Without a connection a page brings nothing once all that is known is loaded, though there may be more.
      let endsUnknown = paged.scannedCount == scanned && paged.fetchState(at: end) == .more
      if outcome != .fetched || endsUnknown {
        // The list was told of the page while the search went on.
        search = nil
        return tellFetchStates()
      }
      searchOn()
    }
  }

  /// Ends a search through rows that are loaded for it; if it has not found enough, the rows beyond are
  /// searched without being loaded.
  private func endSearch() {
    guard let ended = search else { return }
    search = nil
    let missing = ended.missingCount(found: paged.items.count)
    guard missing > 0 else { return }
    switch paged.fetchState(at: ended.end) {
    case .more: beginFarSearch(at: ended.end, for: missing)
    case .exhausted: searchOtherEnd(than: ended.end, for: missing)
    case .unknown, .fetching, .failed: break
    }
  }

  /// Whether a search runs at an end that has neither found nor read enough.
  private func isSearching(at end: ListEnd) -> Bool {
    guard let search, search.end == end, paged.fetchState(at: end) != .exhausted else {
      return false
    }
    return !search.isDone(found: paged.items.count, scanned: paged.scannedCount)
  }

  /// The fetch state of the fetch-more row for older rows.
  private var paging: FetchState {
    isSearching(at: olderEnd) ? .fetching : known(fetchState(at: olderEnd))
  }

  /// The fetch state of the fetch-more row for newer rows; `exhausted` if they are all loaded.
  private var newerPaging: FetchState {
    if isSearching(at: newerEnd) { return .fetching }
    let state = fetchState(at: newerEnd)
    return state == .unknown ? .exhausted : state
  }

  /// Returns the state, with an unknown one shown as if there were more rows: a fetch finds out.
  private func known(_ state: FetchState) -> FetchState { state == .unknown ? .more : state }

  /// The end of the list at which rows arrive.
  private var newerEnd: ListEnd { olderEnd == .start ? .end : .start }

  /// Whether rows arrive at the end of the list.
  var isLiveAtEnd: Bool { newerEnd == .end }

  /// Whether all rows at the end where rows arrive are loaded.
  var reachesLiveEnd: Bool { paged.fetchState(at: newerEnd) == .exhausted }

  /// Whether shown rows can be unloaded now.
  var canLetGo: Bool {
    paged.loadState.showsRows && reading == .none && search == nil && far.isEmpty
      && [olderEnd, newerEnd].allSatisfy { paged.fetchState(at: $0) != .fetching }
  }

  /// Requests the number of rows before the rows, so that the header is right from the start.
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

  /// Reports that kept rows or a first page are there, if the adapter told nothing: a filter may hide them all,
  /// or the rows came before the answer that says that they are a whole page.
  private func tellWhatIsThere() {
    let isThere = !paged.awaitsFirstPage && paged.loadState.showsRows
    if hasRead || isToldLoading && isThere, adapter?.isHeld == false { tellUnchanged() }
  }

  private func tellUnchanged() {
    guard let adapter else { return }
    changed(ListUpdate(sections: adapter.sections, update: BatchUpdate()))
  }

  /// Reports what became of the fetch-more rows.
  func tellFetchStates() {
    guard let adapter, !adapter.isHeld else { return }
    adapter.refresh()
    tellUnchanged()
  }

  /// The number of rows that were read: the paged ones, and if there is a filter also those that only
  /// the further queries have, for `N of M rows`; not those that were searched beyond the paged ones.
  ///
  /// O(t log n) in the t rows of further queries, if there is a filter.
  private var scannedCount: Int {
    if !isFiltered { return paged.scannedCount }
    let further = furtherRows.filter { id in !far.values.contains { $0.shared.contains(id) } }
    return paged.scannedCount + further.count
  }

  /// The rows that only the further queries have, by their ids.
  var furtherRows: Set<String> {
    var further: Set<String> = []
    for query in queries where query !== paged {
      for index in 0..<query.scannedCount {
        let id = query.id(ofScanned: index)
        if paged.scannedIndex(forID: id) == nil { further.insert(id) }
      }
    }
    return further
  }

  private func changed(_ update: ListUpdate<Record>) {
    var records: [String: Record] = [:]
    for record in update.touched { records[record.id] = record.shown }
    let isLettingGo = hasRead
    // The receiver may request other rows again.
    if isLettingGo { reading = .none }
    // Until the origin has answered, a row is there because a further query has it, and is not new.
    let isWaiting = paged.awaitsFirstPage
    isToldLoading = isWaiting
    var change = ListChange(
      content: .sections(update.listSections()), update: update.update,
      newRows: isWaiting ? [] : arrived(update), records: records, removed: update.removed,
      phase: isWaiting ? .loading : .loaded,
      paging: paging, newer: newerPaging, loadedCount: scannedCount, isLettingGo: isLettingGo)
    change.searchedCount = searchedCount
    change.filterPlace = filterPlace(isFiltered: isFiltered)
    receive?(change)
    if paged.loadState.showsRows, reading == .none { fetchWanted() }
  }
}

extension ViewStreams {
  /// The state of a new request of the paged query.
  private enum Reading {
    /// There is no new request.
    case none
    /// It was requested; the rows are still those before.
    case asked
    /// It has begun; the rows are those before until it is loaded.
    case begun
  }

  /// Whether the newly requested rows are loaded and not yet reported.
  private var hasRead: Bool { reading == .begun && paged.loadState.showsRows }

  /// Notes that the rows are requested again.
  func beginReading() {
    forgetFarSearch()
    reading = .asked
  }

  /// Fetches the pages that were requested meanwhile.
  private func fetchWanted() {
    let ends = wantsMore
    wantsMore = []
    for end in ends { if end == olderEnd { fetchMore() } else { fetchNewer() } }
  }
}

extension Record {
  /// The record as a screen holds it: its place and content, without the values that a query
  /// compares.
  fileprivate var shown: Record { Record(path: path, row: row.shown) }
}

extension ViewDefinition {
  /// The request for the collection's number of rows, or nil if the list shows other rows than
  /// those of one collection.
  fileprivate var countRequest: ListenRequest? {
    let path = source.path
    guard source.equalTo == nil, source.filter == nil, also.allSatisfy({ $0.path == path }),
      let parent = path.parent, let key = path.lastKey,
      let query = try? Query(parent).ordered(by: .key).equal(to: .leaf(.string(key.text)))
    else { return nil }
    return ListenRequest(query: query, detail: .shallow)
  }

  /// The sections that are shown even without rows: those with titles.
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
