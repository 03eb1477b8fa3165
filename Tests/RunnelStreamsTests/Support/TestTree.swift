import RunnelBase
import RunnelStreams
import RunnelTree

/// A tree in memory with its engine, which answers when it is told to.
final class TestTree: TreeSource {
  private(set) var tree = MemoryTree()
  private(set) var listened: [ListenRequest] = []
  private var engine = TreeEngine()
  private var lastListener = 0
  private var requests: [() throws -> [Delivery]] = []
  private var batches: [ListenerID: [[TreeEvent]]] = [:]
  private var active: [ListenerID] = []

  /// The events of the last answers that nobody has taken, by listener.
  var activeListeners: [ListenerID] { active }

  func listen(_ request: ListenRequest) -> ListenerID {
    lastListener += 1
    let id = ListenerID(lastListener)
    listened.append(request)
    active.append(id)
    requests.append { [unowned self] in
      let deliveries = try engine.listen(id, request, reader: tree)
      // Initial events are a batch even if there are none.
      if deliveries.isEmpty { batches[id, default: []].append([]) }
      return deliveries
    }
    return id
  }

  func unlisten(_ listener: ListenerID) {
    active.removeAll { $0 == listener }
    requests.append { [unowned self] in
      engine.unlisten(listener)
      return []
    }
  }

  func extend(_ listener: ListenerID, by count: Int) {
    requests.append { [unowned self] in try engine.extend(listener, by: count, reader: tree) }
  }

  /// Carries out what was asked for, and gives the answers to the streams until all is quiet.
  func settle(_ streams: [any TreeListener]) throws {
    while !requests.isEmpty || !batches.isEmpty {
      let asked = requests
      requests = []
      for request in asked { sort(try request()) }
      let told = batches
      batches = [:]
      for (listener, batches) in told.sorted(by: { $0.key < $1.key }) {
        for events in batches {
          for stream in streams { stream.receive(events, from: listener) }
        }
      }
    }
  }

  /// Writes, as one batch; the events wait for `settle`.
  func write(_ write: Write) throws {
    let parts = try write.assignments(now: 0, reader: tree)
    for part in parts {
      if case .node(let node) = part.target {
        tree.root = tree.root.replacing(part.path, with: node)
      }
    }
    let deliveries = try engine.apply(touched: parts.map(\.path), reader: tree)
    sort(deliveries)
  }

  private func sort(_ deliveries: [Delivery]) {
    var events: [ListenerID: [TreeEvent]] = [:]
    for delivery in deliveries { events[delivery.listener, default: []].append(delivery.event) }
    for (listener, events) in events { batches[listener, default: []].append(events) }
  }
}

extension TestTree {
  /// Writes several children of `/m`, as one batch.
  func write(_ members: [JSONMember]) throws { try write(.update(Path("m"), members)) }

  /// The rows of a query as the tree would give them.
  func rows(_ query: Query) throws -> [TreeRow] {
    try tree.rows(of: query.path, in: RowSlice(query), detail: .full)
  }
}

extension QueryStream where Item == Record {
  /// The last keys of the paths of the rows.
  var names: [String] { items.map(\.row.key.text) }
}

/// A question about the children of `/m`, in the order of a child.
func messages(
  by child: String = "at", limit: (Int, Query.Side)? = nil, paging: Paging? = nil
) throws -> ListenRequest {
  var query = try Query(Path("m")).ordered(by: .child(Path(child)))
  if let limit { query = try query.limited(to: limit.0, from: limit.1) }
  return ListenRequest(query: query, paging: paging)
}

/// A question about the children of `/m` that are not pinned, by day, the last one first, and time.
func filteredMessages(
  limit: (Int, Query.Side)? = nil, paging: Paging? = nil
) throws -> ListenRequest {
  var query = try Query(Path("m")).ordered(by: SortKey.list("day:desc,at"))
    .filtered(by: ChildPredicate(parsing: "not pin"))
  if let limit { query = try query.limited(to: limit.0, from: limit.1) }
  return ListenRequest(query: query, paging: paging)
}

extension TestTree {
  /// Writes one to four children of `/m`, or all of it, with few values so that many are equal.
  func writeAtRandom(_ random: inout SeededRandom) throws {
    if Int.random(in: 0..<12, using: &random) == 0 {
      let members = (0..<5).map { _ in member(&random) }
      return try write(.set(Path("m"), .object(unique(members))))
    }
    let count = Int.random(in: 1...4, using: &random)
    try write(unique((0..<count).map { _ in member(&random) }))
  }

  private func member(_ random: inout SeededRandom) -> JSONMember {
    let name = "k\(Int.random(in: 0..<14, using: &random))"
    if Int.random(in: 0..<4, using: &random) == 0 { return JSONMember(name, nil) }
    let at = Int64.random(in: 0..<5, using: &random)
    let day = Int64.random(in: 0..<3, using: &random)
    let pin = Bool.random(using: &random)
    return JSONMember(
      name,
      ["at": .number(JSONNumber(at)), "day": .number(JSONNumber(day)), "pin": .bool(pin)])
  }

  private func unique(_ members: [JSONMember]) -> [JSONMember] {
    var names = Set<String>()
    return members.filter { names.insert($0.name).inserted }
  }
}
