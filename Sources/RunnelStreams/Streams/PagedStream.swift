/// A stream that is fetched page by page, at one end or at both.
///
/// Pages join the rows that are there as one range, without a hole or a duplicate, and stay live.
public protocol PagedStream<Item>: SectionedStream {
  /// The ends at which pages are fetched; the first is the one meant where none is named.
  var pagedEnds: [ListEnd] { get }
  /// How far it has been paged at an end; exhausted at one that is not paged.
  func fetchState(at end: ListEnd) -> FetchState
  /// The key of the row at an end of what was fetched; nil if there are no rows.
  func boundaryKey(at end: ListEnd) -> String?

  /// Asks for up to `count` rows beyond an end: at least 1.
  ///
  /// - Parameters:
  ///   - count: how many rows.
  ///   - end: where they are added; one of `pagedEnds`.
  ///   - completion: called once, after the observers were told the rows. At once, with `refused`, if
  ///     nothing is asked for: the stream is not loaded, has no more rows, or fetches some already.
  func fetchMore(_ count: Int, at end: ListEnd, completion: @escaping (FetchOutcome) -> Void)
  /// Gives up a page that was asked for; its completion is called with `cancelled`.
  ///
  /// Rows of it that come nevertheless are shown: they are part of the range.
  func cancelFetch(at end: ListEnd)
}

/// An end of a list as it is shown.
public enum ListEnd: Hashable, Sendable, CaseIterable {
  /// Before the first row.
  case start
  /// After the last row.
  case end
}

/// How far a stream has been paged.
public enum FetchState: Hashable, Sendable {
  /// It is not known yet whether there are more rows, or the stream is not paged.
  case unknown
  /// There are more rows, which nobody has asked for.
  case more
  /// More rows were asked for.
  case fetching
  /// They could not be got, for this reason; asking again is a new attempt.
  case failed(String)
  /// There are no more rows.
  case exhausted
}

/// What became of a page that was asked for.
public enum FetchOutcome: Hashable, Sendable {
  /// Its rows are there.
  case fetched
  /// It could not be got, for this reason.
  case failed(String)
  /// It was given up, by `cancelFetch` or because the stream was stopped.
  case cancelled
  /// Nothing was asked for.
  case refused
}

extension PagedStream {
  /// How far it has been paged at the first paged end; unknown if it is not paged.
  public var fetchState: FetchState { pagedEnds.first.map { fetchState(at: $0) } ?? .unknown }

  /// The key of the row at the first paged end; nil if there are no rows, or the stream is not paged.
  public var boundaryKey: String? { pagedEnds.first.flatMap { boundaryKey(at: $0) } }

  /// True if pages are added before the rows that are there.
  public var isPagedAtStart: Bool { pagedEnds.first == .start }

  /// Asks for up to `count` rows beyond the first paged end: at least 1.
  ///
  /// Nothing happens if the stream is not paged, not loaded, has no more, or fetches some already.
  public func fetchMore(_ count: Int) {
    if let end = pagedEnds.first { fetchMore(count, at: end) { _ in } }
  }

  /// Asks for up to `count` rows beyond the first paged end: at least 1.
  public func fetchMore(_ count: Int, completion: @escaping (FetchOutcome) -> Void) {
    guard let end = pagedEnds.first else { return completion(.refused) }
    fetchMore(count, at: end, completion: completion)
  }
}
