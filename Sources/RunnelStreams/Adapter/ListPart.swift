/// A stream in a list, and the placeholders that stand with its rows.
///
/// A list of several parts shows the sections of each after those of the one before.
public struct ListPart<Item: KeyedItem> {
  /// Placeholders besides those for paging.
  public enum Placeholder: Hashable, Sendable {
    /// One row while the first rows are on their way, and when they could not be got.
    ///
    /// It stands at `statusEnd`, in the first or last section; alone if there is none.
    case status
    /// One row in each section without items; alone if there is no section.
    case empty
  }

  /// What is shown.
  public var stream: any SectionedStream<Item>
  /// What stands before its keys and the ids of its sections in the list; two parts that may have
  /// equal ones need different prefixes.
  public var keyPrefix: String
  /// Where it is fetched page by page: a place for each end at which it is.
  public var pagings: [PagingPoint<Item>]
  /// Which other placeholders it has.
  public var placeholders: Set<Placeholder>
  /// Where the status stands.
  public var statusEnd: ListEnd
  /// What stands above and below a section; the section is reloaded when it changes.
  public var labels: (StreamSection<Item>) -> SectionLabels

  /// Makes a part.
  public init(
    _ stream: any SectionedStream<Item>, keyPrefix: String = "",
    pagings: [PagingPoint<Item>] = [], placeholders: Set<Placeholder> = [],
    labels: @escaping (StreamSection<Item>) -> SectionLabels = { SectionLabels(of: $0) }
  ) {
    self.stream = stream
    self.keyPrefix = keyPrefix
    self.pagings = pagings
    self.placeholders = placeholders
    statusEnd = .start
    self.labels = labels
  }
}

/// An end at which a stream is fetched page by page, and the row that stands there for what is not.
///
/// The row is the first or last one of the section that holds the boundary row. If no section holds
/// it, the row stands alone, in a section after the part's own, unless there is nothing more to fetch.
public struct PagingPoint<Item: KeyedItem> {
  /// The key of the paging row; no item may have it.
  public var key: String
  /// The stream that is fetched, which the part's stream is or is made of.
  public var stream: any SectionedStream<Item>
  /// At which end pages are added.
  public var end: ListEnd
  /// How far it is paged.
  public var state: () -> FetchState
  /// The key of the row beside which the paging row stands; nil if there is none.
  public var boundaryKey: () -> String?
  /// Asks for the next page; called when rows near the paging row are shown.
  ///
  /// Nil to fetch only when asked for.
  public var prefetch: Prefetch?

  /// How to fetch before anyone asks.
  public struct Prefetch {
    /// How many rows before the paging row.
    public var distance: Int
    /// Asks for the next page.
    public var fetch: () -> Void

    /// Makes a rule.
    public init(distance: Int, fetch: @escaping () -> Void) {
      self.distance = distance
      self.fetch = fetch
    }
  }

  /// Makes the point of a paged stream.
  ///
  /// - Parameters:
  ///   - paged: the stream.
  ///   - end: one of its ends that are paged; nil for the first of them.
  ///   - key: the key of the paging row; each point of a part has another.
  ///   - boundaryKey: the row beside which it stands; nil to take that of `paged`. A list that shows
  ///     some rows of `paged` elsewhere names the last that is in place.
  public init(
    _ paged: any PagedStream<Item>, at end: ListEnd? = nil, key: String = "fetch-more",
    boundaryKey: (() -> String?)? = nil
  ) {
    let end = end ?? paged.pagedEnds.first ?? .end
    self.init(
      paged, key: key, end: end, state: { paged.fetchState(at: end) },
      boundaryKey: boundaryKey ?? { paged.boundaryKey(at: end) })
  }

  /// Makes a point of a stream that says elsewhere how far it is paged.
  public init(
    _ stream: any SectionedStream<Item>, key: String, end: ListEnd,
    state: @escaping () -> FetchState, boundaryKey: @escaping () -> String?
  ) {
    self.stream = stream
    self.key = key
    self.end = end
    self.state = state
    self.boundaryKey = boundaryKey
  }
}
