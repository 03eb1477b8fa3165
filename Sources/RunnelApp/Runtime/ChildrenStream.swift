import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// The children of one expanded node of the tree: names, kinds and sizes, page by page, live.
final class ChildrenStream {
  /// How many children the next page has.
  var pageSize: Int
  private let stream: QueryStream<Record>
  private var receive: ((TreeChange) -> Void)?
  private var token: StreamToken?

  init(of path: Path, source: any TreeSource, pageSize: Int = Settings().pageSize) {
    self.pageSize = pageSize
    // The order of keys takes every query.
    let query = (try? Query(path).ordered(by: .key)) ?? Query(path)
    let request = ListenRequest(
      query: query, paging: Paging(anchor: .first, count: pageSize),
      detail: .shallow)
    stream = QueryStream(request: request, source: source)
  }

  /// Starts to listen, and tells each change of the children.
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

  /// Asks for the next page.
  func fetchMore() { stream.fetchMore(pageSize) }

  /// Takes events over.
  func receive(_ events: [TreeEvent], from listener: ListenerID) {
    stream.receive(events, from: listener)
  }

  /// Learns that the children could not be read.
  func receive(_ error: DatabaseError, from listener: ListenerID) {
    stream.receive(failure: error.message, from: listener)
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
  /// The row as a screen holds it: its key and content, without what a query compares of it.
  var shown: TreeRow { TreeRow(key: key, value: .null, content: content) }
}
