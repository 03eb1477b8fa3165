import RunnelDatabase
import RunnelStreams
import RunnelTree

/// The children of one expanded node of the tree: names, kinds and sizes, page by page, live.
final class ChildrenStream {
  /// How many children the next page has.
  var pageSize: Int
  private let stream: QueryStream<Record>
  private var receive: ((TreeChildren) -> Void)?
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

  /// Starts to listen, and tells the children after each change.
  func start(_ receive: @escaping (TreeChildren) -> Void) {
    self.receive = receive
    stream.start()
    token = stream.observe { [weak self] _ in self?.changed() }
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

  private func changed() {
    let phase: LoadPhase =
      switch stream.loadState {
      case .idle, .loading: .loading
      case .loaded: .loaded
      case .failed(let message): .failed(message)
      }
    let paging: PagingPhase =
      phase == .loaded
      ? PagingPhase(stream.fetchState, count: pageSize) : .exhausted
    receive?(TreeChildren(rows: stream.items.map(\.row.shown), phase: phase, paging: paging))
  }
}

extension TreeRow {
  /// The row as a screen holds it: its key and content, without what a query compares of it.
  var shown: TreeRow { TreeRow(key: key, value: .null, content: content) }
}
