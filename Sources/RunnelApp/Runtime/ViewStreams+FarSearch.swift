import Logging
import RunnelServicesTree
import RunnelStreams
import RunnelTree
import RunnelWorkspace

// Searching for rows that fit a filter beyond the rows that a list loads: parts of them are read and
// looked through, and only what fits comes into the list.

extension ViewStreams {
  /// The number of rows beyond the loaded ones that were looked through.
  var searchedCount: Int { far.values.reduce(0) { $0 + $1.scannedCount } }

  /// Searches on beyond the loaded rows of an end, for a number of rows that fit; returns false if the
  /// search has not gone so far yet.
  func searchFar(at end: ListEnd, for count: Int) -> Bool {
    guard let search = far[end], !(search.isAsking && isCutOff()) else { return false }
    // What was found before makes room, as rows far from the cursor do in a list that is left open.
    if found.isFull { found.reset() }
    search.wantedCount = count
    read(search)
    return true
  }

  /// Begins to search beyond the loaded rows of an end.
  func beginFarSearch(at end: ListEnd, for count: Int) {
    guard far[end] == nil, paged.scannedCount > 0 else { return }
    let place = paged.position(ofScanned: end == .start ? 0 : paged.scannedCount - 1)
    far[end] = FarSearch(
      beyond: place, at: end, of: definition.source, source: source,
      asking: isCutOff() ? nil : serverPart?.condition.predicate, awaitsOrigin: awaitsOrigin)
    _ = searchFar(at: end, for: count)
  }

  /// Notes the part of the filter that the server can look for.
  func ask(_ part: (predicate: ChildPredicate, isWhole: Bool)?) {
    serverPart = nil
    guard let part,
      let found = reach?.condition(part.predicate.countingNull, at: definition.source.path)
    else { return }
    serverPart = (found, part.isWhole)
  }

  /// Where the filter runs, or the condition of the view; nil if the rows are not those of a server's
  /// services, or if there is neither.
  func filterPlace(isFiltered: Bool) -> FilterPlace? {
    guard let reach else { return nil }
    let place = definition.source.path
    if isFiltered {
      guard let serverPart, far.values.contains(where: \.isAsking) else { return .here }
      return reach.filterPlace(serverPart.condition, isWhole: serverPart.isWhole, at: place)
    }
    guard let filter = definition.source.filter else { return nil }
    return reach.filterPlace(reach.condition(filter, at: place), isWhole: true, at: place)
  }

  /// Stops searching; what was found stays.
  func stopFarSearch() {
    unsearched = [:]
    if far.isEmpty { return }
    for search in far.values { search.stop() }
    tellFetchStates()
  }

  /// Forgets what was searched and found beyond the loaded rows.
  func forgetFarSearch() {
    unsearched = [:]
    if far.isEmpty { return }
    for search in far.values { search.stop() }
    far = [:]
    found.reset()
  }

  /// Takes events of the rows that are searched, and of those that were found.
  func receiveFar(_ events: [TreeEvent], from listener: ListenerID) {
    if far.isEmpty { return }
    found.receive(events, from: listener)
    for search in far.values {
      guard let part = search.take(events, from: listener) else { continue }
      take(part, of: search)
    }
  }

  /// Looks through the parts that are read as far as they are known.
  func takeKnownParts() {
    for search in far.values {
      if let part = search.takeKnown() { take(part, of: search) }
    }
  }

  /// Stops to ask the origin, which will not answer now; what is known is looked through, and the rest when
  /// the origin is there again.
  func stopAsking() {
    for search in far.values where search.isAsking && search.wantedCount > 0 {
      unsearched[search.end] = search.wantedCount
    }
    takeKnownParts()
    let open = far.values.filter { $0.isAsking && $0.state == .fetching }
    for search in open { search.stop() }
    if !open.isEmpty { tellFetchStates() }
  }

  /// Searches what could not be searched while the origin was not there.
  func searchUnsearched() {
    if unsearched.isEmpty { return }
    let open = unsearched
    unsearched = [:]
    // What was searched without the origin may have gaps.
    for (end, search) in far where !search.isAsking && serverPart != nil {
      search.stop()
      far[end] = nil
    }
    for (end, count) in open { startSearch(at: end, for: count) }
  }

  private func take(_ part: FarSearch.Part, of search: FarSearch) {
    if !search.isAsking { tolerating { try search.readAhead(after: part) } }
    let all = part.rows.map { Record($0, in: definition.source.path) }
    let records = all.filter { wants($0) && paged.scannedIndex(forID: $0.id) == nil }
    let further = furtherRows
    search.note(
      part, foundCount: records.count,
      shared: further.isEmpty ? [] : all.map(\.id).filter(further.contains))
    found.add(records)
    if found.isFull { search.stop() }
    if search.isAsking, search.wantedCount > 0 { tolerating { try search.read() } }
    let missing = search.wantedCount
    if search.isExhausted, missing > 0 {
      search.wantedCount = 0
      searchOtherEnd(than: search.end, for: missing)
    }
    tellFetchStates()
  }

  /// Searches on at the other end of the list, once all rows at one end were searched and too few fit.
  func searchOtherEnd(than end: ListEnd, for count: Int) {
    let other: ListEnd = end == .start ? .end : .start
    guard (far[other]?.state ?? paged.fetchState(at: other)) == .more else { return }
    startSearch(at: other, for: count)
  }

  /// Takes the failure of a query; returns whether it was one of a search.
  func takesFailure(of listener: ListenerID) -> Bool {
    guard far.values.contains(where: { $0.fails(listener) }) else { return false }
    tellFetchStates()
    return true
  }

  private func read(_ search: FarSearch) {
    tolerating { try search.read() }
    tellFetchStates()
  }

  /// The list was opened with the same query, so that it is none that contradicts itself.
  private func tolerating(_ read: () throws -> Void) {
    do { try read() } catch { ViewStreams.log.error("\(error)") }
  }

  /// Returns the row that was found farthest beyond an end, if it is farther than a row.
  func farthestFound(at end: ListEnd, beyond record: Record?) -> Record? {
    guard far[end] != nil else { return record }
    let isShown: (Record) -> Bool = { [self] in isFoundHere($0) }
    let items = found.stream.items
    guard let candidate = end == .start ? items.first(where: isShown) : items.last(where: isShown)
    else { return record }
    guard let record else { return candidate }
    let isUp = (end == .end) != definition.source.isDescending
    let isFarther =
      isUp ? Record.isOrdered(record, candidate) : Record.isOrdered(candidate, record)
    return isFarther ? candidate : record
  }
}
