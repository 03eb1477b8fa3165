import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// The live queries of the screen: the streams of views, the children of expanded nodes, and open
/// records.
///
/// They belong to the runtime's thread.
final class LiveQueries {
  /// The receiver of an event of the tree.
  private enum Receiver {
    case view(Int)
    case children(Path)
    case record(Path)
    case count(AppRequestID)
    /// A value that is read once.
    case found(AppRequestID)
    /// A value of the listed tree.
    case value(Path)
    /// All rows of a view, before they are exported.
    case whole
  }

  /// Rows that are counted.
  private struct Count {
    var counting: Counting
    var rows: [TreeRow] = []
  }

  /// Takes the resulting actions.
  var report: (AppAction) -> Void = { _ in }
  /// The streams of the opened views, by index.
  private(set) var views: [Int: ViewStreams] = [:]
  /// What the server finds by itself, if the rows are those of its services.
  var reach: FindReach?
  /// Whether what is not known here is being asked for.
  var awaitsOrigin: () -> Bool = { false }
  /// Whether there is an origin, and no connection to it.
  var isCutOff: () -> Bool = { false }
  /// Whether there is an origin that was not connected yet.
  var isUnconfirmed: () -> Bool = { false }
  /// The new records that wait for the server of a service.
  private var waiting = WaitingRecords()
  /// The rows of a view that are read from the origin, and kept live, for an export.
  private var whole: WholeReading?
  /// The tree of a server, whose levels are listed; nil if the tree tells them itself.
  let listed: ListedTree?
  private let backend: any TreeBackend
  private var nodes: [Path: ChildrenStream] = [:]
  private var records: [Path: ListenerID] = [:]
  private var receivers: [ListenerID: Receiver] = [:]
  private var counts: [AppRequestID: Count] = [:]
  private var lastListener = 0

  init(_ backend: any TreeBackend, levels: (any LevelSource)? = nil) {
    self.backend = backend
    listed = levels.map { ListedTree($0, backend) }
    listed?.report = { [weak self] in self?.report($0) }
    listed?.listen = { [weak self] path in
      self?.listen(ListenRequest(query: Query(path), events: .value), .value(path)) ?? ListenerID(0)
    }
    listed?.listenToFirst = { [weak self] path in
      let all = Query(path)
      let first = try? all.ordered(by: .key).limited(to: 1, from: .first)
      return self?.listen(ListenRequest(query: first ?? all, events: .value), .value(path))
        ?? ListenerID(0)
    }
    listed?.unlisten = { [weak self] in self?.unlisten($0) }
  }

  // MARK: Opening and closing

  /// Opens the streams of a view; at first they read a number of rows, or a page.
  func open(view index: Int, _ definition: ViewDefinition, first: Int?, local: LocalTime) {
    let source = Source(queries: self, receiver: .view(index))
    do {
      let streams = try ViewStreams(
        definition, first: first, source: source, local: local, reach: reach,
        // A server tells the number of rows only by sending all of them.
        countsRows: listed == nil)
      (streams.awaitsOrigin, streams.isUnconfirmed) = (awaitsOrigin, isUnconfirmed)
      streams.isCutOff = isCutOff
      views[index]?.stop()
      views[index] = streams
      streams.show(waiting)
      streams.start { [weak self] change in
        self?.report(.list(view: index, change))
      } count: { [weak self] count in
        self?.report(.counted(view: index, count))
      }
    } catch {
      report(.trouble("\(error)"))
    }
  }

  /// Shows and searches what is known, because the origin will not answer now.
  func originIsGone() {
    for streams in views.values { streams.originIsGone() }
    whole?.fail("the connection was lost before all rows were read")
  }

  /// Goes on with the searches that waited for the origin.
  func originIsThere() {
    for (_, streams) in views.sorted(by: { $0.key < $1.key }) { streams.searchUnsearched() }
  }

  /// Takes the writes that the origin has not answered, the oldest first.
  func take(pending writes: [PendingWrite]) {
    listed?.take(pending: writes)
    guard reach != nil, case let records = WaitingRecords(writes), records != waiting else {
      return
    }
    waiting = records
    for (_, streams) in views.sorted(by: { $0.key < $1.key }) { streams.show(records) }
  }

  /// Sets the sizes of pages that are fetched from now on.
  func resizePages(ofViews sizes: [Int], ofNodes size: Int) {
    for (index, streams) in views { streams.pageSize = sizes[index] }
    for children in nodes.values { children.pageSize = size }
    listed?.resizePages(size)
  }

  func expand(_ path: Path, pageSize: Int) {
    if let listed { return listed.expand(path, pageSize: pageSize) }
    nodes[path]?.stop()
    let source = Source(queries: self, receiver: .children(path))
    let children = ChildrenStream(
      of: path, source: source, pageSize: pageSize, isOfService: reach != nil)
    nodes[path] = children
    children.start { [weak self] children in self?.report(.tree(path, children)) }
  }

  func collapse(_ path: Path) {
    listed?.collapse(path)
    nodes.removeValue(forKey: path)?.stop()
  }

  func fetchMoreChildren(of path: Path) {
    listed?.fetchMore(of: path)
    nodes[path]?.fetchMore()
  }

  func keepChildren(of path: Path, count: Int) {
    listed?.keep(count, of: path)
    nodes[path]?.keep(count)
  }

  func open(record path: Path) {
    guard records[path] == nil else { return }
    records[path] = listen(ListenRequest(query: Query(path), events: .value), .record(path))
  }

  func close(record path: Path) {
    guard let listener = records.removeValue(forKey: path) else { return }
    unlisten(listener)
  }

  /// Reads a value once, from the origin if it is not known here, and reports it as the answer to a request.
  func find(_ path: Path, _ id: AppRequestID) {
    listen(ListenRequest(query: Query(path), events: .value), .found(id))
  }

  /// Reads all rows of a view from the origin, and follows them; `done` is called once, with the reason if
  /// that fails.
  func readWhole(_ definition: ViewDefinition, done: @escaping (String?) -> Void) {
    endWhole()
    do {
      let requests = try WholeReading.requests(of: definition)
      whole = WholeReading(requests.map { listen($0, .whole) }, done: done)
    } catch {
      done("\(error)")
    }
  }

  /// Ends the reading of all rows, or their following; returns whether they were still being read.
  @discardableResult
  func endWhole() -> Bool {
    guard let reading = whole else { return false }
    whole = nil
    for listener in reading.listeners { unlisten(listener) }
    return reading.isReading
  }

  /// Counts records once, and reports their number as the answer to a request.
  func count(_ counting: Counting, _ id: AppRequestID) {
    do throws(TreeError) {
      let request = try counting.request()
      counts[id] = Count(counting: counting)
      listen(request, .count(id))
    } catch {
      report(.answered(id, .refused(Refusal(error.message))))
    }
  }

  /// Takes rows that are counted; once the first page is whole, the listener is removed.
  private func take(_ events: [TreeEvent], of id: AppRequestID, from listener: ListenerID) {
    for event in events {
      switch event {
      case .childAdded(let row, _): counts[id]?.rows.append(row)
      case .page(let hasMore):
        guard let count = counts.removeValue(forKey: id) else { return }
        unlisten(listener)
        let number = count.counting.number(in: count.rows)
        return report(.answered(id, .count(number, hasMore: hasMore)))
      default: break
      }
    }
  }

  // MARK: What the tree tells

  /// Delivers a message as one batch: the events of each listener are handed over together.
  ///
  /// The oldest listener comes first. So a view, which requests the number of its rows first, knows
  /// it before the rows.
  func deliver(_ deliveries: [Delivery]) {
    var batches: [ListenerID: [TreeEvent]] = [:]
    for delivery in deliveries { batches[delivery.listener, default: []].append(delivery.event) }
    for (listener, events) in batches.sorted(by: { $0.key < $1.key }) {
      switch receivers[listener] {
      case .view(let index):
        views[index]?.receive(events, from: listener)
        if let count = views[index]?.waitingCount { report(.waiting(view: index, count)) }
      case .children(let path): nodes[path]?.receive(events, from: listener)
      case .record(let path):
        if case .value(let node)? = events.last { report(.record(path, node)) }
      case .count(let id): take(events, of: id, from: listener)
      case .found(let id):
        guard case .value(let node)? = events.last else { break }
        unlisten(listener)
        report(.answered(id, .value(node)))
      case .value(let path):
        if case .value(let node)? = events.last { listed?.take(node, at: path) }
      case .whole: whole?.take(events, from: listener)
      case nil: break
      }
    }
  }

  /// Takes the failure of a query.
  func fail(_ listener: ListenerID, _ error: DatabaseError) {
    switch receivers[listener] {
    case .view(let index): views[index]?.receive(error, from: listener)
    case .children(let path): nodes[path]?.receive(error, from: listener)
    case .count(let id):
      counts[id] = nil
      receivers[listener] = nil
      report(.answered(id, .refused(Refusal(error))))
    case .found(let id):
      receivers[listener] = nil
      report(.answered(id, .refused(Refusal(error))))
    case .value(let path): listed?.fail(error.message, at: path)
    case .whole: whole?.fail(error.message)
    case .record, nil: report(.trouble(error.message))
    }
  }

  // MARK: Listening

  @discardableResult
  private func listen(_ request: ListenRequest, _ receiver: Receiver) -> ListenerID {
    lastListener += 1
    let listener = ListenerID(lastListener)
    receivers[listener] = receiver
    backend.submit(.listen(listener, request))
    return listener
  }

  private func unlisten(_ listener: ListenerID) {
    receivers[listener] = nil
    backend.submit(.unlisten(listener))
  }

  /// The tree as the source of one receiver's streams.
  private final class Source: TreeSource {
    // The reference is weak because streams that are freed with the queries stop their listeners
    // during that.
    private weak var queries: LiveQueries?
    private let receiver: Receiver

    init(queries: LiveQueries, receiver: Receiver) {
      self.queries = queries
      self.receiver = receiver
    }

    func listen(_ request: ListenRequest) -> ListenerID {
      queries?.listen(request, receiver) ?? ListenerID(0)
    }

    func unlisten(_ listener: ListenerID) { queries?.unlisten(listener) }

    func extend(_ listener: ListenerID, by count: Int) {
      queries?.backend.submit(.extend(listener, count: count))
    }
  }
}
