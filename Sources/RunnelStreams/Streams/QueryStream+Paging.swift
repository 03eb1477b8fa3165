public import RunnelTree

extension QueryStream: PagedStream {
  /// The ends at which pages are fetched: none if the request is not paged.
  public var pagedEnds: [ListEnd] {
    windows.filter { $0.request.paging != nil }.map(\.end)
  }

  /// How far the stream has been paged at an end; exhausted at one that is not paged.
  public func fetchState(at end: ListEnd) -> FetchState {
    guard let window = window(at: end) else { return .exhausted }
    return windows[window].fetchState
  }

  /// The key of the row that is shown at an end; nil if there are no rows.
  public func boundaryKey(at end: ListEnd) -> String? {
    (end == .start ? items.first : items.last)?.key
  }

  /// Asks for up to `count` rows beyond an end: at least 1.
  ///
  /// - Parameters:
  ///   - count: how many rows.
  ///   - end: where they are added.
  ///   - completion: called once, after the observers were told what became of it.
  public func fetchMore(
    _ count: Int, at end: ListEnd, completion: @escaping (FetchOutcome) -> Void
  ) {
    precondition(count > 0, "A page holds at least one row.")
    hub.perform { [self] in
      guard let window = window(at: end), loadState == .loaded, windows[window].canFetch else {
        tell([completion], .refused)
        return nil
      }
      fetch(count, window, completion)
      return change(ChangeSet())
    }
  }

  /// Gives up a page that was asked for.
  ///
  /// Rows of it that come nevertheless are shown: they are part of the range.
  public func cancelFetch(at end: ListEnd) {
    hub.perform { [self] in
      guard let window = window(at: end), let completion = windows[window].cancelFetch() else {
        return nil
      }
      tell([completion], .cancelled)
      return change(ChangeSet())
    }
  }

  /// Learns which rows the reader sees; fetches a page if `prefetchDistance` is set and one of them is
  /// as near to an end.
  ///
  /// What failed is not fetched again by itself.
  public func rowsSeen(_ range: Range<Int>) {
    guard let prefetchDistance, !range.isEmpty else { return }
    if range.lowerBound < prefetchDistance { prefetch(at: .start) }
    if range.upperBound > items.count - prefetchDistance { prefetch(at: .end) }
  }

  private func prefetch(at end: ListEnd) {
    if fetchState(at: end) == .more { fetchMore(prefetchCount, at: end) { _ in } }
  }

  /// Fetches more if fewer rows are shown than the limit wishes for.
  func refill() {
    guard let limit, loadState == .loaded, items.count < limit.count else { return }
    for window in windows.indices where windows[window].fetchState == .more {
      if windows[window].canFetch { fetch(limit.count, window) { _ in } }
    }
  }

  /// How many rows that were read stand before the row with a key, in the order in which they are
  /// shown; nil if it was not read.
  ///
  /// O(log n). Rows that the predicate or the limit hides are counted.
  public func scannedIndex(forKey key: String) -> Int? {
    rowsByKey[key].map { rows.list.scannedIndex(of: $0) }
  }

  /// The place in the tree's order of a row that was read; its index is below `scannedCount`.
  ///
  /// O(log n).
  public func position(ofScanned index: Int) -> IndexPosition {
    Row.row(rows.list.all[index]).record.row.position
  }

  private func window(at end: ListEnd) -> Int? {
    windows.firstIndex { $0.end == end && $0.request.paging != nil }
  }

  private func fetch(_ count: Int, _ window: Int, _ completion: @escaping (FetchOutcome) -> Void) {
    guard let listener = windows[window].listener else { return }
    windows[window].fetch(completion)
    source.extend(listener, by: count)
  }
}
