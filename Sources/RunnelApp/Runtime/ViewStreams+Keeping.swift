import RunnelStreams
import RunnelTree
import RunnelWorkspace

// A list that is left open lets go of rows far from the cursor: its paged query is asked for again for a
// part of what it was asked for, and tells the rest as gone. Near the end where rows arrive it reaches
// from that end on, as at first; elsewhere it begins at a row and is paged at both ends.

extension ViewStreams {
  /// Lets go of the rows far from those that are to be kept; false if it cannot be done now.
  ///
  /// O(protected rows · log n), and a read of the rows that are kept.
  func letGo(_ kept: KeptRows) -> Bool {
    guard canLetGo, let window = window(keeping: kept) else { return false }
    switch window {
    case .fromLiveEnd(let count): ask(forFirst: count, from: nil)
    case .around(let place, let count): ask(forFirst: count, from: place)
    }
    return true
  }

  /// Asks for the rows at the end where rows arrive, wherever the list is.
  func goToLiveEnd() {
    guard !paged.isStopped else { return }
    ask(forFirst: max(pageSize, definition.source.page), from: nil)
  }

  /// A part of the rows of the paged query.
  private enum Window {
    case fromLiveEnd(count: Int)
    /// So many rows on each side of a place.
    case around(IndexPosition, count: Int)
  }

  /// The window that holds what is to be kept; without the marked rows if they are too far away.
  private func window(keeping kept: KeptRows) -> Window? {
    let window = range(of: kept.protected.union(kept.marked))
    let isNear = window.count <= kept.count * KeptRows.marksReach
    return self.window(around: isNear ? window : range(of: kept.protected), count: kept.count)
  }

  /// The indices from the first to the last of some rows among those that were read.
  ///
  /// A list that shows none of its own rows is where rows arrive.
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

  private func ask(forFirst count: Int, from place: IndexPosition?) {
    var request = paged.request
    guard let own = try? definition.source.request() else { return }
    request.paging = own.paging.map { Paging(anchor: $0.anchor, count: count) }
    beginReading()
    paged.swap(to: request, isDescending: definition.source.isDescending, from: place)
  }
}
