import RunnelStreams
import RunnelTree
import RunnelWorkspace

// Unloading: a list that is left open unloads rows far from the cursor. Its paged query is
// requested again for a part of its rows, and reports the others as gone. Near the end where rows
// arrive, the query starts from that end, as at first; elsewhere it starts at a row and is paged at
// both ends.

extension ViewStreams {
  /// Unloads the rows far from those to keep; returns false if that cannot be done now.
  ///
  /// O(protected rows · log n), and a read of the kept rows.
  func letGo(_ kept: KeptRows) -> Bool {
    guard canLetGo, let window = window(keeping: kept) else { return false }
    switch window {
    case .fromLiveEnd(let count): ask(forFirst: count, from: nil)
    case .around(let place, let count): ask(forFirst: count, from: place)
    }
    return true
  }

  /// Requests the rows at the end where rows arrive, wherever the list is; `count` is the number of rows, if
  /// that is more than a page.
  func goToLiveEnd(count: Int? = nil) {
    guard !paged.isStopped else { return }
    ask(
      forFirst: max(pageSize, definition.source.page, count ?? 0), from: nil,
      waits: awaitsOrigin())
  }

  /// Requests the rows around a place in the order of the list, wherever the list is; `count` is the number
  /// of rows at each side, if that is more than a page.
  ///
  /// The rows at the far end are read from that end: a server of services would read all rows before the place.
  func go(to position: IndexPosition, count: Int? = nil) {
    guard !paged.isStopped else { return }
    let count = max(pageSize, definition.source.page, count ?? 0)
    let isFarEnd = position == Jump.farEnd.position(in: definition.source)
    ask(
      forFirst: count, from: isFarEnd ? nil : position, atFarEnd: isFarEnd, waits: awaitsOrigin())
  }

  /// Starts a query of the list.
  func start(_ query: QueryStream<Record>) {
    (query.asksOrigin, query.isUnconfirmed) = (awaitsOrigin, isUnconfirmed)
    query.start()
  }

  /// Shows and searches what is known, because the origin will not answer now.
  func originIsGone() {
    paged.waitsForAnswer = false
    stopAsking()
  }

  /// The rows that were read, including those that a filter hides.
  ///
  /// O(n log n) in the rows.
  var scannedRecords: [Record] { (0..<paged.scannedCount).map(paged.record(ofScanned:)) }

  /// A part of the rows of the paged query.
  private enum Window {
    case fromLiveEnd(count: Int)
    /// A number of rows on each side of a place.
    case around(IndexPosition, count: Int)
  }

  /// Returns the window that contains the rows to keep, without the marked rows, or those around the
  /// cursor, if they are too far away.
  private func window(keeping kept: KeptRows) -> Window? {
    let ranges = [kept.protected.union(kept.marked), kept.protected].lazy.map { self.range(of: $0) }
    let near = ranges.first { $0.count <= kept.count * KeptRows.reach }
    return window(around: near ?? range(of: kept.nearest), count: kept.count)
  }

  /// Returns the range of indices, among the rows read, that contains some rows.
  ///
  /// A list that shows none of its own rows is at the end where rows arrive.
  private func range(of ids: Set<String>) -> ClosedRange<Int> {
    let places = ids.compactMap { paged.scannedIndex(forID: $0) }
    let live = isLiveAtEnd ? max(paged.scannedCount - 1, 0) : 0
    return (places.min() ?? live)...(places.max() ?? live)
  }

  private func window(around rows: ClosedRange<Int>, count: Int) -> Window? {
    let total = paged.scannedCount
    if total == 0 { return nil }
    let half = max(count / 2, rows.count / 2 + 1)
    let middle = (rows.lowerBound + rows.upperBound + 1) / 2
    if reachesLiveEnd {
      let reach = isLiveAtEnd ? total - rows.lowerBound : rows.upperBound + 1
      if reach <= count { return .fromLiveEnd(count: count) }
      let rest = isLiveAtEnd ? total - middle : middle
      if rest <= half { return .fromLiveEnd(count: half + rest) }
    }
    return .around(paged.position(ofScanned: min(middle, total - 1)), count: half)
  }

  private func ask(
    forFirst count: Int, from place: IndexPosition?, atFarEnd: Bool = false, waits: Bool = false
  ) {
    var request = paged.request
    guard let own = try? definition.source.request() else { return }
    request.paging = own.paging.map {
      Paging(anchor: atFarEnd ? $0.anchor.opposite : $0.anchor, count: count)
    }
    beginReading()
    paged.waitsForAnswer = waits
    paged.swap(to: request, isDescending: definition.source.isDescending, from: place)
  }
}
