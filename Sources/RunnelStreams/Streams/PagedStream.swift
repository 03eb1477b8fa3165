/// A stream that is fetched page by page, at one end or at both.
///
/// Pages join the present rows as one range, without gaps or duplicates, and stay live.
public protocol PagedStream<Item>: SectionedStream {
  /// The ends at which pages are fetched; the first is the default.
  var pagedEnds: [ListEnd] { get }
  /// The fetch state at an end; exhausted at an end that is not paged.
  func fetchState(at end: ListEnd) -> FetchState
  /// The id of the row at an end of the fetched rows; nil if there are no rows.
  func boundaryID(at end: ListEnd) -> String?

  /// Fetches up to `count` rows beyond an end.
  ///
  /// - Parameters:
  ///   - count: the number of rows; fewer than 1 are refused.
  ///   - end: the end at which they are added; one of `pagedEnds`.
  ///   - completion: called once, after the observers were told of the rows. It is called at once,
  ///     with `refused`, if nothing is fetched: the stream is not loaded, has no more rows, or is
  ///     fetching some already; or no rows were asked for.
  func fetchMore(_ count: Int, at end: ListEnd, completion: @escaping (FetchOutcome) -> Void)
  /// Gives up a page that is being fetched; its completion is called with `cancelled`.
  ///
  /// If its rows come nevertheless, they are shown, since they belong to the range.
  func cancelFetch(at end: ListEnd)
}

/// An end of a list.
public enum ListEnd: Hashable, Sendable, CaseIterable {
  /// The end before the first row.
  case start
  /// The end after the last row.
  case end
}

/// The fetch state of a paged stream at an end.
public enum FetchState: Hashable, Sendable {
  /// Unknown whether there are more rows; or the stream is not paged.
  case unknown
  /// There are more rows, which are not being fetched.
  ///
  /// It is known with each page. Rows beyond it are not observed: if others remove all of them, this is the
  /// state until the next fetch, which adds nothing.
  case more
  /// More rows are being fetched.
  case fetching
  /// Fetching failed, for this reason; another fetch is a new attempt.
  case failed(StreamFailure)
  /// There are no more rows.
  case exhausted
}

/// The result of fetching a page.
public enum FetchOutcome: Hashable, Sendable {
  /// The rows were added.
  case fetched
  /// Fetching failed, for this reason.
  case failed(StreamFailure)
  /// The fetch was cancelled by `cancelFetch`, or because the stream was stopped.
  case cancelled
  /// Nothing was fetched: fewer rows than 1 were asked for, the stream is not loaded yet, a page is being
  /// fetched already, or there are no more rows. `fetchState(at:)` tells which.
  case refused
}

extension PagedStream {
  /// The fetch state at the first paged end; unknown if it is not paged.
  public var fetchState: FetchState { pagedEnds.first.map { fetchState(at: $0) } ?? .unknown }

  /// The id of the row at the first paged end; nil if there are no rows, or the stream is not paged.
  public var boundaryID: String? { pagedEnds.first.flatMap { boundaryID(at: $0) } }

  /// True if pages are added before the present rows.
  public var isPagedAtStart: Bool { pagedEnds.first == .start }

  /// Fetches up to `count` rows beyond the first paged end.
  ///
  /// Does nothing if the stream is not paged, is not loaded, has no more rows, or is fetching some
  /// already, nor if `count` is less than 1.
  public func fetchMore(_ count: Int) {
    if let end = pagedEnds.first { fetchMore(count, at: end) { _ in } }
  }

  /// Fetches up to `count` rows beyond an end.
  ///
  /// Does nothing if nothing is fetched there, as the other `fetchMore`.
  public func fetchMore(_ count: Int, at end: ListEnd) { fetchMore(count, at: end) { _ in } }

  /// Fetches up to `count` rows beyond the first paged end.
  public func fetchMore(_ count: Int, completion: @escaping (FetchOutcome) -> Void) {
    guard let end = pagedEnds.first else { return completion(.refused) }
    fetchMore(count, at: end, completion: completion)
  }
}
