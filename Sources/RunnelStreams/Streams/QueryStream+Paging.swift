public import RunnelTree

extension QueryStream: PagedStream {
  /// The ends at which pages are fetched: none if the request is not paged.
  public var pagedEnds: [ListEnd] {
    windows.filter { $0.request.paging != nil }.map(\.end)
  }

  /// The fetch state at an end; exhausted at an end that is not paged.
  ///
  /// It is `more` only while a page can be fetched, so that a loop that fetches as long as there is more
  /// ends: a stream that has failed has failed here too, a stopped one does not know, and one that is
  /// loaded anew is fetching.
  public func fetchState(at end: ListEnd) -> FetchState {
    guard let window = window(at: end) else { return .exhausted }
    let state = windows[window].fetchState
    return switch loadState {
    case .failed(let failure): .failed(failure)
    case .idle: state == .more ? .unknown : state
    case .loading: state == .more ? .fetching : state
    case .cached, .loaded: state
    }
  }

  /// The id of the row that is shown at an end; nil if there are no rows.
  public func boundaryID(at end: ListEnd) -> String? {
    (end == .start ? items.first : items.last)?.id
  }

  /// Fetches up to `count` rows beyond an end.
  ///
  /// - Parameters:
  ///   - count: the number of rows; fewer than 1 are refused.
  ///   - end: the end at which they are added.
  ///   - completion: called once, after the observers were told the result.
  public func fetchMore(
    _ count: Int, at end: ListEnd, completion: @escaping (FetchOutcome) -> Void
  ) {
    hub.perform { [self] in
      guard count > 0, let window = window(at: end), loadState.showsRows,
        windows[window].canFetch
      else {
        tell([completion], .refused)
        return nil
      }
      fetch(count, window, completion)
      return change(ChangeSet())
    }
  }

  /// Gives up a page that is being fetched.
  ///
  /// If its rows come nevertheless, they are shown, since they belong to the range.
  public func cancelFetch(at end: ListEnd) {
    hub.perform { [self] in
      guard let window = window(at: end), let completion = windows[window].cancelFetch() else {
        return nil
      }
      tell([completion], .cancelled)
      return change(ChangeSet())
    }
  }

  /// Notes which rows are visible; fetches a page if `prefetchDistance` is set and one of them is
  /// that near to an end.
  ///
  /// After a failure nothing is fetched automatically.
  public func rowsSeen(_ range: Range<Int>) {
    guard let prefetchDistance, !range.isEmpty else { return }
    if range.lowerBound < prefetchDistance { prefetch(at: .start) }
    if range.upperBound > items.count - prefetchDistance { prefetch(at: .end) }
  }

  private func prefetch(at end: ListEnd) {
    if fetchState(at: end) == .more { fetchMore(prefetchCount, at: end) { _ in } }
  }

  /// Fetches more rows if fewer are shown than the limit allows.
  func refill() {
    guard let limit, loadState.showsRows, items.count < limit.count else { return }
    for window in windows.indices where windows[window].fetchState == .more {
      if windows[window].canFetch { fetch(limit.count, window) { _ in } }
    }
  }

  /// The number of read rows before the row with an id, in the order of the list; nil if the row
  /// was not read.
  ///
  /// O(log n). Rows that the predicate or the limit hides are counted.
  package func scannedIndex(forID id: String) -> Int? {
    rowsByID[id].map { rows.list.scannedIndex(of: $0) }
  }

  /// The place in the tree's order of a row that was read; its index is below `scannedCount`.
  ///
  /// O(log n).
  public func position(ofScanned index: Int) -> IndexPosition {
    Row.row(rows.list.all[index]).record.row.position
  }

  /// The id of a row that was read; its index is below `scannedCount`.
  ///
  /// O(log n).
  package func id(ofScanned index: Int) -> String { rows.list.all[index].id }

  /// The record of a row that was read; its index is below `scannedCount`.
  ///
  /// O(log n).
  package func record(ofScanned index: Int) -> Record { Row.row(rows.list.all[index]).record }

  private func window(at end: ListEnd) -> Int? {
    windows.firstIndex { $0.end == end && $0.request.paging != nil }
  }

  private func fetch(_ count: Int, _ window: Int, _ completion: @escaping (FetchOutcome) -> Void) {
    guard let listener = windows[window].listener else { return }
    windows[window].fetch(completion)
    source.extend(listener, by: count)
  }
}
