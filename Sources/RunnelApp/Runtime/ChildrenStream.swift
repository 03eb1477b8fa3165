import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// The children of an expanded node of the tree, page by page and live: names, kinds and sizes.
final class ChildrenStream {
  /// The number of children of the next page.
  var pageSize: Int
  private let stream: QueryStream<Record>
  private var receive: ((TreeChange) -> Void)?
  private var token: StreamToken?
  /// Whether children are being unloaded: the others are shown meanwhile.
  private var isUnloading = false

  /// Whether the children are those of a service, or the services.
  private let isOfService: Bool

  init(
    of path: Path, source: any TreeSource, pageSize: Int = Settings().pageSize,
    isOfService: Bool = false
  ) {
    (self.pageSize, self.isOfService) = (pageSize, isOfService)
    stream = QueryStream(
      request: ChildrenStream.request(of: path, count: pageSize), source: source)
  }

  /// Returns the request for the first children of a node.
  private static func request(of path: Path, count: Int) -> ListenRequest {
    // The order by key is valid for every query.
    let query = (try? Query(path).ordered(by: .key)) ?? Query(path)
    return ListenRequest(
      query: query, paging: Paging(anchor: .first, count: count), detail: .shallow)
  }

  /// Starts to listen, and reports each change of the children.
  func start(_ receive: @escaping (TreeChange) -> Void) {
    self.receive = receive
    stream.start()
    token = stream.observe { [weak self] change in self?.changed(change) }
  }

  /// Stops listening.
  func stop() {
    if let token { stream.cancel(token) }
    receive = nil
    stream.stop()
  }

  /// Fetches the next page.
  func fetchMore() { stream.fetchMore(pageSize) }

  /// Keeps only the first children, and reports the others as gone.
  func keep(_ count: Int) {
    isUnloading = true
    stream.swap(to: ChildrenStream.request(of: stream.request.query.path, count: count))
  }

  /// Takes events of the tree.
  func receive(_ events: [TreeEvent], from listener: ListenerID) {
    stream.receive(events, from: listener)
  }

  /// Takes the error if the children could not be read.
  func receive(_ error: DatabaseError, from listener: ListenerID) {
    let failure = StreamFailure(
      error, readingAt: stream.request.query.path, isOfService: isOfService)
    stream.receive(failure: failure, from: listener)
  }

  private func changed(_ change: StreamChange<Record>) {
    if change.loadState != .loading { isUnloading = false }
    let loading: LoadState = isUnloading ? .loaded : .loading
    let isLoading = change.loadState == .idle || change.loadState == .loading
    let phase =
      isLoading ? loading : change.loadState.showsRows ? .loaded : change.loadState
    let paging = isUnloading || stream.fetchState == .unknown ? .more : stream.fetchState
    receive?(
      TreeChange(
        content: .rows(
          change.sections.first?.items ?? [], came: change.changes.contentPaths.map(\.row)),
        update: change.changes.batch, phase: phase,
        paging: phase == .loaded ? paging : .exhausted))
  }
}

extension TreeRow {
  /// The row as a screen holds it: its key and content, without the value that a query compares.
  var shown: TreeRow { TreeRow(key: key, value: .null, content: content) }
}
