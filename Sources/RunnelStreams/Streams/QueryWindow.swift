import RunnelTree

/// One listener of a query stream: what it asks for, and how far it is.
struct QueryWindow {
  /// A page that was asked for.
  struct Fetch {
    var isCancelled = false
    var completion: (FetchOutcome) -> Void
  }

  /// What is asked for.
  let request: ListenRequest
  /// The end of the list at which its pages are added.
  let end: ListEnd
  /// Its name while it listens.
  var listener: ListenerID?
  /// True once the initial events came.
  var isLoaded = false
  /// How far it has been paged.
  var fetchState = FetchState.unknown
  /// How many rows it has.
  var rowCount = 0
  /// The pages that were asked for and did not come yet, in order.
  private(set) var fetches: [Fetch] = []

  init(_ request: ListenRequest, isDescending: Bool) {
    self.request = request
    end = (request.paging?.anchor == .last) != isDescending ? .start : .end
  }

  /// True if there are rows that may be asked for now.
  var canFetch: Bool {
    guard listener != nil, isLoaded, request.paging != nil else { return false }
    switch fetchState {
    case .more, .failed: return true
    case .unknown, .fetching, .exhausted: return false
    }
  }

  /// What to ask for when it starts again: as many rows as it had.
  var restartRequest: ListenRequest {
    var request = request
    if let paging = request.paging {
      request.paging = Paging(anchor: paging.anchor, count: max(paging.count, rowCount))
    }
    return request
  }

  /// Notes that a page was asked for.
  mutating func fetch(_ completion: @escaping (FetchOutcome) -> Void) {
    fetches.append(Fetch(completion: completion))
    fetchState = .fetching
  }

  /// Takes the page off that came or failed; returns whom to tell.
  mutating func finishFetch() -> ((FetchOutcome) -> Void)? {
    if fetches.isEmpty { return nil }
    let fetch = fetches.removeFirst()
    return fetch.isCancelled ? nil : fetch.completion
  }

  /// Gives the page up that is being fetched; returns whom to tell.
  mutating func cancelFetch() -> ((FetchOutcome) -> Void)? {
    guard let last = fetches.indices.last, !fetches[last].isCancelled else { return nil }
    fetches[last].isCancelled = true
    fetchState = .more
    return fetches[last].completion
  }

  /// Forgets the listener; returns whom to tell that their pages do not come.
  mutating func stop() -> [(FetchOutcome) -> Void] {
    let waiting = fetches.filter { !$0.isCancelled }.map(\.completion)
    fetches = []
    (listener, isLoaded) = (nil, false)
    if fetchState == .fetching { fetchState = .more }
    return waiting
  }
}
