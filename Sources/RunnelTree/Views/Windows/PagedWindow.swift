/// The window of a paged listener: it reaches from one end of the order, the anchor, to the *frontier*,
/// which moves when the listener extends the window.
struct PagedWindow: Window {
  let query: Query
  private let paging: Paging
  /// The range from the anchor to the frontier, which is one of its ends.
  private(set) var slice: RowSlice
  private(set) var hasMore = false

  init(_ query: Query, _ paging: Paging) {
    self.query = query
    self.paging = paging
    slice = RowSlice(query)
  }

  /// Reads the window; it is filled up to its first count if it holds less.
  mutating func load(
    shownCount: Int, _ source: RowSource<some TreeReader>
  ) throws(TreeError) -> [TreeRow] {
    // Without a frontier, a page counts from the live end, and there are no rows before it.
    let kept = hasMore ? try source.rows(in: slice) : []
    let wanted = hasMore ? paging.count : max(paging.count, shownCount)
    let gained = try takePage(of: max(wanted - kept.count, 0), source)
    return paging.anchor == .last ? gained + kept : kept + gained
  }

  /// Moves the frontier by up to `count` rows; a count below 1 gains nothing.
  mutating func grow(
    by count: Int, _ source: RowSource<some TreeReader>
  ) throws(TreeError) -> [TreeRow]? {
    hasMore ? try takePage(of: count, source) : nil
  }

  /// Reads up to `count` rows beyond the frontier and moves it there.
  private mutating func takePage(
    of count: Int, _ source: RowSource<some TreeReader>
  ) throws(TreeError) -> [TreeRow] {
    let count = min(max(count, 0), Int.max - 1)
    // Requesting one extra row tells whether there are others.
    var page = try source.rows(in: beyond(limit: count + 1))
    let old = frontier
    hasMore = page.count > count
    if hasMore {
      if paging.anchor == .last { page.removeFirst() } else { page.removeLast() }
    }
    let outermost = paging.anchor == .last ? page.first : page.last
    let reached = outermost.map { Query.Bound($0.position, isInclusive: true) }
    frontier = hasMore ? reached ?? old : nil
    return page
  }

  /// The first rows beyond the frontier.
  private func beyond(limit count: Int) -> RowSlice {
    var beyond = RowSlice(query)
    if let frontier {
      let bound = Query.Bound(frontier.position, isInclusive: !frontier.isInclusive)
      if paging.anchor == .last { beyond.end = bound } else { beyond.start = bound }
    }
    beyond.limit = Query.Limit(count: count, side: paging.anchor)
    return beyond
  }

  /// The end of the window; nil while no row is loaded, and again once all are.
  private var frontier: Query.Bound? {
    get {
      guard hasMore else { return nil }
      return paging.anchor == .last ? slice.start : slice.end
    }
    set {
      switch paging.anchor {
      case .last: slice.start = newValue ?? query.start
      case .first: slice.end = newValue ?? query.end
      }
    }
  }
}
