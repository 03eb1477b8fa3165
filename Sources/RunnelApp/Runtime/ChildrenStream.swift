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

  init(of path: Path, source: any TreeSource, pageSize: Int = Settings().pageSize) {
    self.pageSize = pageSize
    // The order by key is valid for every query.
    let query = (try? Query(path).ordered(by: .key)) ?? Query(path)
    let request = ListenRequest(
      query: query, paging: Paging(anchor: .first, count: pageSize),
      detail: .shallow)
    stream = QueryStream(request: request, source: source)
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

  /// Takes events of the tree.
  func receive(_ events: [TreeEvent], from listener: ListenerID) {
    stream.receive(events, from: listener)
  }

  /// Takes the error if the children could not be read.
  func receive(_ error: DatabaseError, from listener: ListenerID) {
    stream.receive(failure: StreamFailure(error), from: listener)
  }

  private func changed(_ change: StreamChange<Record>) {
    let phase = change.loadState == .idle ? .loading : change.loadState
    let paging = stream.fetchState == .unknown ? .more : stream.fetchState
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
