import CPlatform
import Glibc
import RunnelBase
import RunnelDatabase
import RunnelTree

/// Prints the events of one query as they happen, from the database's thread to standard output.
///
/// It waits for three events at once: messages of the database, signals, and the end of the
/// output's reader. Only the main thread uses it.
final class Watcher {
  /// A request: what to watch.
  struct Request {
    /// The query of the rows to watch.
    var query: Query
    /// The events to print; nil for those of children, and of the value if the place has no
    /// children.
    var events: EventKinds?
    /// True if the initial events are not printed.
    var skipsInitial: Bool
  }

  /// The listeners in the database.
  private enum Listener {
    /// The events that are printed.
    static let events = ListenerID(1)
    /// The single value of a place without children.
    static let leaf = ListenerID(2)
    /// A listener whose first event shows that those of the other listeners have come.
    static let marker = ListenerID(3)
  }

  /// The bytes that the output accepts without waiting, once it accepts any (POSIX: at least 512).
  private static let pipeBytes = 4096
  /// The most messages that wait for the output.
  ///
  /// They are few, because each may hold a large child. While there are more, the writes of others are left
  /// in the feed: a slow reader is told what has come of them, and not each of them.
  private static let messagesMax = 4

  private let request: Request
  private let interruption: Interruption
  private let wake: Int32
  private let inbox: Inbox<DatabaseMessage>
  private let database: Database
  private var leafWatch = LeafWatch()
  /// The listener to the single value of the root, which is told only while the root has no children; nil
  /// while it has some, or if the value is not printed.
  private var rootListener: ListenerID?
  /// The last number of a listener.
  private var lastListener = 3
  private var isPrinting: Bool

  /// Opens the database for reading and registers the listeners.
  ///
  /// - Throws: `DatabaseError` or `Failure` if that is impossible.
  init(file: String, request: Request, interruption: Interruption) throws {
    self.request = request
    self.interruption = interruption
    isPrinting = !request.skipsInitial
    let wake = runnel_eventfd_open()
    if wake < 0 { throw Failure.system("A wake-up cannot be made") }
    self.wake = wake
    inbox = Inbox(limit: Watcher.messagesMax) { _ = runnel_eventfd_signal(wake) }
    database = try Database(
      file: file, isReadOnly: true, inbox: inbox, environment: .system)
  }

  /// Closes the database.
  func close() { database.close() }

  /// Prints events until something ends it.
  ///
  /// - Throws: `Interruption.Stopped` if a signal ended it, `StandardOutput.Closed` if the output's
  ///   reader is gone, `DatabaseError` if the database cannot be read.
  func run() throws -> Never {
    listen()
    var descriptors = [wake, interruption.descriptor]
    if StandardOutput.isPipe { descriptors.append(STDOUT_FILENO) }
    var answers = [UInt8](repeating: 0, count: descriptors.count)
    while true {
      guard runnel_poll(descriptors, &answers, Int32(descriptors.count), -1) >= 0 else {
        throw Failure.system("Waiting failed")
      }
      _ = runnel_eventfd_drain(wake)
      for message in inbox.drain() { try receive(message) }
      try interruption.check()
      if answers.count > 2, answers[2] != 0 { throw StandardOutput.Closed() }
    }
  }

  private func listen() {
    let query = request.query
    let events = request.events ?? .children
    database.submit(.listen(Listener.events, ListenRequest(query: query, events: events)))
    if watchesRoot {
      listenToRoot()
    } else if request.events == nil, query.loadsAllData {
      database.submit(.listen(Listener.leaf, LeafWatch.request(query)))
    }
    let paging = Paging(anchor: .first, count: 1)
    database.submit(
      .listen(
        Listener.marker,
        ListenRequest(query: Query(query.path), paging: paging, detail: .shallow, events: [])))
    database.submit(.unlisten(Listener.marker))
  }

  /// Whether the single value is watched that the root may have.
  private var watchesRoot: Bool {
    request.events == nil && request.query.loadsAllData && request.query.path.isRoot
  }

  private func listenToRoot() {
    lastListener += 1
    let listener = ListenerID(lastListener)
    rootListener = listener
    database.submit(.listen(listener, LeafWatch.request(request.query)))
  }

  /// Listens to the value of the root while it has no children: with them, each event would read them all.
  private func followRoot() {
    guard watchesRoot, leafWatch.hasChildren == (rootListener != nil) else { return }
    guard let listener = rootListener else { return listenToRoot() }
    rootListener = nil
    database.submit(.unlisten(listener))
    // Children replaced the value, if there was one: their events have told that.
    _ = leafWatch.change(to: .empty)
  }

  private func receive(_ message: DatabaseMessage) throws {
    switch message {
    case .deliveries(let deliveries):
      for delivery in deliveries { try receive(delivery) }
    case .failed(_, let error): throw error
    case .advice(let advice): StandardError.say(advice.text(forFile: database.file))
    case .stale(let error): StandardError.say("\(error) It is tried again.")
    case .fileGone(let error): throw error
    case .written, .undonePartly, .performed, .refused, .resourceRefused, .found, .excerpt, .rows,
      .orders,
      .history,
      .acknowledged, .copying:
      preconditionFailure("A watcher asks for nothing but events.")
    case .origin, .pendingWrites, .refusedWrites, .rejected, .fileBack: break
    }
  }

  private func receive(_ delivery: Delivery) throws {
    switch delivery.listener {
    case Listener.marker: isPrinting = true
    case Listener.leaf, rootListener:
      if let node = LeafWatch.node(in: delivery.event), let value = leafWatch.change(to: node) {
        try print(.value(value))
      }
    case Listener.events:
      leafWatch.count(delivery.event)
      try print(delivery.event)
      followRoot()
    // A listener to the root that has been ended.
    default: break
    }
  }

  private func print(_ event: TreeEvent) throws {
    guard isPrinting, let line = EventLine(event, of: request.query) else { return }
    var rest = StandardOutput.prepared(line.bytes)[...]
    while !rest.isEmpty {
      // Signals are handled during the wait for a slow reader.
      try interruption.wait(forOutput: STDOUT_FILENO)
      rest = rest.dropFirst(try StandardOutput.writeSome(rest.prefix(Watcher.pipeBytes)))
    }
  }
}

/// Tracks the value of a place without children.
///
/// It listens to the summary of the place, which is a row of the place above: the cost of an event does
/// not depend on the number of children. The events of the children come before, as those of deeper
/// places do.
struct LeafWatch {
  private var hasLeaf = false
  private var childCount = 0

  /// Whether the place has children.
  var hasChildren: Bool { childCount > 0 }

  /// The request for the value of a query's place; the root, which is a row of nothing, tells its own
  /// value: O(n) in its children for an event.
  static func request(_ query: Query) -> ListenRequest {
    guard let parent = query.path.parent, let key = query.path.lastKey,
      let row = try? Query(parent).ordered(by: .key).equal(to: .leaf(.string(key.text)))
    else { return ListenRequest(query: query, detail: .shallow, events: .value) }
    return ListenRequest(query: row, detail: .shallow, events: .children)
  }

  /// The node that an event of the request tells, without its children; nil for another event.
  static func node(in event: TreeEvent) -> Node? {
    switch event {
    case .value(let node): return node
    case .childAdded(let row, _), .childChanged(let row, _):
      guard case .leaf(let leaf) = row.summary.kind else { return .empty }
      return Node(leaf, priority: row.summary.priority)
    case .childRemoved: return .empty
    case .childMoved, .page, .pending, .answered: return nil
    }
  }

  /// Counts a child that was added or removed.
  mutating func count(_ event: TreeEvent) {
    switch event {
    case .childAdded: childCount += 1
    case .childRemoved: childCount -= 1
    case .childChanged, .childMoved, .value, .page, .pending, .answered: break
    }
  }

  /// Returns the value to print after the place's content became `node`, or nil if there is nothing
  /// to print.
  ///
  /// A place with children looks empty. If children replaced the value, their
  /// own events have reported that before.
  mutating func change(to node: Node) -> Node? {
    let hadLeaf = hasLeaf
    hasLeaf = node.leaf != nil
    if hasLeaf { return node }
    return hadLeaf && childCount == 0 ? .empty : nil
  }
}
