/// A stream in a list, and the placeholders among its rows.
///
/// In a list of several parts, the sections of each part come after those of the part before.
public struct ListPart<Item: StreamItem> {
  /// The kinds of placeholders, except those for paging.
  public enum Placeholder: Hashable, Sendable {
    /// A row while the first rows are being loaded, and if loading failed.
    ///
    /// It stands at `statusEnd` in the first or last section; alone if there is no section.
    case status
    /// A row in each section without items; alone if there is no section.
    case empty
  }

  /// The stream that is shown.
  public var stream: any SectionedStream<Item>
  /// The prefix of the ids of its rows and sections in the list; two parts that may have equal ones need
  /// different prefixes.
  public var idPrefix: String
  /// The ends at which it is fetched page by page.
  public var pagings: [PagingPoint<Item>]
  /// The other placeholders that it has.
  public var placeholders: Set<Placeholder>
  /// The end at which the status row stands.
  public var statusEnd: ListEnd
  /// Returns the header and footer of a section; the section is reloaded when they change.
  public var labels: (StreamSection<Item>) -> SectionLabels

  /// Makes a part.
  public init(
    _ stream: any SectionedStream<Item>, idPrefix: String = "",
    pagings: [PagingPoint<Item>] = [], placeholders: Set<Placeholder> = [],
    labels: @escaping (StreamSection<Item>) -> SectionLabels = { SectionLabels(of: $0) }
  ) {
    self.stream = stream
    self.idPrefix = idPrefix
    self.pagings = pagings
    self.placeholders = placeholders
    statusEnd = .start
    self.labels = labels
  }
}

/// An end at which a stream is fetched page by page, with the fetch-more row that stands there for rows
/// not loaded.
///
/// The fetch-more row is the first or last row of the section with the boundary row. If no section has
/// the boundary row, the fetch-more row stands alone, in a section after the part's own, unless there
/// is nothing more to fetch.
public struct PagingPoint<Item: StreamItem> {
  /// The id of the fetch-more row; no item may have it.
  public var id: String
  /// The stream that is fetched: the part's stream, or one that it is made of.
  public var stream: any SectionedStream<Item>
  /// The end at which pages are added.
  public var end: ListEnd
  /// Returns the fetch state.
  public var state: () -> FetchState
  /// Returns the id of the boundary row, beside which the fetch-more row stands; nil if there is none.
  public var boundaryID: () -> String?
  /// The rule for fetching pages when rows near the fetch-more row are shown.
  ///
  /// Nil if pages are fetched only on request.
  public var prefetch: Prefetch?

  /// A rule for fetching pages before the user asks.
  public struct Prefetch {
    /// The distance from the fetch-more row at which a page is fetched, in rows.
    public var distance: Int
    /// Fetches the next page.
    public var fetch: () -> Void

    /// Makes a rule.
    public init(distance: Int, fetch: @escaping () -> Void) {
      self.distance = distance
      self.fetch = fetch
    }
  }

  /// Makes the paging point of a paged stream.
  ///
  /// - Parameters:
  ///   - paged: the stream.
  ///   - end: one of its paged ends; nil for the first of them.
  ///   - id: the id of the fetch-more row; it differs for each point of a part.
  ///   - boundaryID: returns the id of the boundary row; nil to use that of `paged`. A list that
  ///     shows some rows of `paged` elsewhere names the last row that is in place.
  public init(
    _ paged: any PagedStream<Item>, at end: ListEnd? = nil, id: String = "fetch-more",
    boundaryID: (() -> String?)? = nil
  ) {
    let end = end ?? paged.pagedEnds.first ?? .end
    self.init(
      paged, id: id, end: end, state: { paged.fetchState(at: end) },
      boundaryID: boundaryID ?? { paged.boundaryID(at: end) })
  }

  /// Makes a paging point of a stream whose fetch state is known elsewhere.
  public init(
    _ stream: any SectionedStream<Item>, id: String, end: ListEnd,
    state: @escaping () -> FetchState, boundaryID: @escaping () -> String?
  ) {
    self.stream = stream
    self.id = id
    self.end = end
    self.state = state
    self.boundaryID = boundaryID
  }
}
