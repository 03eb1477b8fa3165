package import RunnelStreams

/// How far the rows of a list reach: what is loaded of its collection.
package struct ListReach: Hashable, Sendable {
  /// Whether the streams of the view were opened.
  package var isOpen = false
  /// The load state of the rows.
  package var phase = LoadState.loading
  /// The fetch state of the fetch-more row.
  package var paging = FetchState.exhausted
  /// The fetch state of the row for more rows at the end where rows arrive; `exhausted` if the list
  /// reaches that end.
  package var newer = FetchState.exhausted
  /// The number of loaded rows, whether they match the filter or not.
  package private(set) var loadedCount = 0
  /// The number of rows of the collection, loaded or not; nil if it is not known.
  package var total: Int?
  /// The number of rows to read when the list is opened; nil for a page.
  package private(set) var firstCount: Int?
  /// The number of rows that wait while the list is paused; nil if the list is live.
  package var waitingCount: Int?
  /// When rows that a server refused are asked for again, at the earliest; nil if they are not.
  package private(set) var askAgainTime: Int64?
  /// The number of refusals in a row, up to that of the longest pause.
  private var refusalCount = 0

  /// The pauses after refusals, in milliseconds; the last one is repeated.
  private static let pauses: [Int64] = [2000, 4000, 8000, 16_000, 30_000]

  /// Whether nothing is known of the rows: there is no connection, and the server has not answered before.
  ///
  /// A list that the server knows to be empty has both its ends.
  func isUnknown(_ origin: OriginFacts?) -> Bool {
    origin?.isDisconnected == true && loadedCount == 0 && !isExhausted
  }

  /// Whether the list does not reach the end where rows arrive.
  var isAway: Bool { newer != .exhausted }

  /// Whether there are no rows to be fetched or searched at either end.
  var isExhausted: Bool { paging == .exhausted && !isAway }

  /// Whether the rows that are not loaded are all at the end where rows arrive.
  var hasOnlyNewerRows: Bool { isAway && paging == .exhausted }

  /// Whether a page is being fetched at one of the ends.
  var isFetching: Bool { paging == .fetching || newer == .fetching }

  /// Whether the rows are loaded, none are being fetched, and none wait.
  var isAtRest: Bool { phase == .loaded && waitingCount == nil && !isFetching }

  /// Takes what a change tells of the far end and of the loaded rows.
  mutating func take(_ change: ListChange) {
    (phase, paging, loadedCount) = (change.phase, change.paging, change.loadedCount)
  }

  /// Notes at a time whether a server gave the rows.
  mutating func noteAnswer(now: Int64) {
    switch phase {
    case .failed where askAgainTime == nil:
      askAgainTime = now + ListReach.pauses[refusalCount]
      refusalCount = min(refusalCount + 1, ListReach.pauses.count - 1)
    case .loaded: (askAgainTime, refusalCount) = (nil, 0)
    case .failed, .idle, .loading, .cached: break
    }
  }

  /// Notes that the rows are asked for again.
  mutating func noteAsking() { askAgainTime = nil }

  /// Begins to read the rows of a source again: what was loaded stays loaded, as far as the list keeps so
  /// many rows.
  mutating func beginReading(_ source: SourceDefinition) {
    let count = min(loadedCount, source.keep ?? loadedCount)
    firstCount = count > source.page ? count : nil
    (phase, paging, newer) = (.loading, .exhausted, .exhausted)
  }
}
