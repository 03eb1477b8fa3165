import RunnelTree

/// A listener of a query stream: its request and its state.
struct QueryWindow {
  /// A page that is being fetched.
  struct Fetch {
    var isCancelled = false
    var completion: (FetchOutcome) -> Void
  }

  /// The request.
  let request: ListenRequest
  /// The end of the list at which its pages are added.
  let end: ListEnd
  /// The name of the listener while it listens.
  var listener: ListenerID?
  /// True once the initial events have come.
  var isLoaded = false
  /// The fetch state.
  var fetchState = FetchState.unknown
  /// The number of its rows.
  var rowCount = 0
  /// True if its rows are all that the origin has.
  var isAnswered = false
  /// True if it was loaded without rows although there are others, until its first page has come: the
  /// origin of a replica has not answered yet.
  var awaitsFirstPage = false
  /// True once its first page has come, which may be what is known before the origin has answered.
  var hasKnownPage = false
  /// The pages that are being fetched, in order.
  private(set) var fetches: [Fetch] = []

  init(_ request: ListenRequest, isDescending: Bool) {
    self.request = request
    end = (request.paging?.anchor == .last) != isDescending ? .start : .end
  }

  /// True if there are more rows and none are being fetched.
  var canFetch: Bool {
    guard listener != nil, isLoaded, request.paging != nil else { return false }
    switch fetchState {
    case .more, .failed: return true
    case .unknown, .fetching, .exhausted: return false
    }
  }

  /// The request for a restart: as many rows as it had.
  var restartRequest: ListenRequest {
    var request = request
    if let paging = request.paging {
      request.paging = Paging(anchor: paging.anchor, count: max(paging.count, rowCount))
    }
    return request
  }

  /// Notes that a page is being fetched.
  mutating func fetch(_ completion: @escaping (FetchOutcome) -> Void) {
    fetches.append(Fetch(completion: completion))
    fetchState = .fetching
  }

  /// Removes a page that has come or failed; returns its completion.
  mutating func finishFetch() -> ((FetchOutcome) -> Void)? {
    if fetches.isEmpty { return nil }
    let fetch = fetches.removeFirst()
    return fetch.isCancelled ? nil : fetch.completion
  }

  /// Gives up the page that is being fetched; returns its completion.
  mutating func cancelFetch() -> ((FetchOutcome) -> Void)? {
    guard let last = fetches.indices.last, !fetches[last].isCancelled else { return nil }
    fetches[last].isCancelled = true
    fetchState = .more
    return fetches[last].completion
  }

  /// Forgets the listener; returns the completions of its pages.
  mutating func stop() -> [(FetchOutcome) -> Void] {
    let waiting = fetches.filter { !$0.isCancelled }.map(\.completion)
    fetches = []
    (listener, isLoaded, isAnswered, hasKnownPage) = (nil, false, false, false)
    if fetchState == .fetching { fetchState = .more }
    return waiting
  }
}
