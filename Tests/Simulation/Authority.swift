import RunnelBase
import RunnelTree

/// The origin that simulated replicas talk to: one tree, and what each client listens to.
///
/// It does a write once, however often it is asked under one id, tells everybody who listens before it
/// answers, and refuses every write below `/forbidden`. What a client asked for is done when it goes away.
struct Authority {
  struct Listen: Hashable {
    var id: AskID
    var query: Query
    var tag: Int?
  }

  private(set) var tree = MemoryTree()
  private var listens: [Int: [Listen]] = [:]
  /// What became of the writes of each file, which may have several clients.
  private var answers: [Int: [Int64: OriginMessage]] = [:]
  /// How many writes were done.
  private(set) var doneCount = 0
  private var disconnects: [Int: OnDisconnect] = [:]

  /// The connection of a client ended; returns what the others are told.
  mutating func disconnect(
    _ client: Int, now: Int64
  ) throws -> [(client: Int, message: OriginMessage)] {
    listens[client] = nil
    guard let writes = disconnects[client]?.execute() else { return [] }
    return try writes.flatMap { try carryOut($0.assignments(now: now, reader: tree)) }
  }

  /// Does what a client asks; returns what each client is told, in order.
  mutating func handle(
    _ command: OriginCommand, of client: Int, on file: Int, now: Int64
  ) throws -> [(client: Int, message: OriginMessage)] {
    switch command {
    case .listen(let id, let query, let tag, let known):
      let listen = Listen(id: id, query: query, tag: tag)
      listens[client, default: []].append(listen)
      let answer = answer(query, tree)
      var messages: [OriginMessage] = []
      if answer.contentHash != known.whole, let ranges = known.ranges {
        let merges = RangeMerge.merges(updating: ranges, to: answer)
        messages.append(.ranges(merges, query.path, tag: tag))
      } else if answer.contentHash != known.whole {
        messages.append(.push(.set(answer), query.path, tag: tag))
      }
      messages.append(.listenComplete(id))
      return messages.map { (client, $0) }
    case .unlisten(let id, _, _):
      listens[client]?.removeAll { $0.id == id }
      return [(client, .unlistened(id))]
    case .write(let id, let write):
      if let answer = answers[file]?[id] { return [(client, answer)] }
      return try perform(write, id: id, of: client, on: file, now: now)
    case .get(let id, let query): return [(client, .answer(id: id, answer(query, tree)))]
    case .onDisconnect(let id, let request):
      try disconnects[client, default: OnDisconnect()].register(request)
      return [(client, .acknowledged(id: id))]
    case .writeIf(let id, let write, let hashes):
      if let answer = answers[file]?[id] { return [(client, answer)] }
      let changed = hashes.filter { tree.root[$0.path].contentHash != $0.hash }
      if changed.isEmpty { return try perform(write, id: id, of: client, on: file, now: now) }
      return changed.map { (client, .push(.set(tree.root[$0.path]), $0.path, tag: nil)) }
        + [(client, .stale(id: id))]
    case .compareAndSet(let id, let path, let json, let hash):
      let current = tree.root[path]
      if current.contentHash != hash {
        return [
          (client, .push(.set(current), path, tag: nil)), (client, .stale(id: id)),
        ]
      }
      return try perform(.set(path, json), id: id, of: client, on: file, now: now)
    }
  }

  private mutating func perform(
    _ write: Write, id: Int64, of client: Int, on file: Int, now: Int64
  ) throws -> [(client: Int, message: OriginMessage)] {
    let parts = try write.assignments(now: now, reader: tree)
    let forbidden = try Path("/forbidden")
    if parts.contains(where: { forbidden.contains($0.path) }) {
      let error = TreeError(.permissionDenied, "Permission denied.")
      answers[file, default: [:]][id] = .rejected(id: id, error)
      return [(client, .rejected(id: id, error))]
    }
    doneCount += 1
    answers[file, default: [:]][id] = .acknowledged(id: id)
    return carryOut(parts) + [(client, .acknowledged(id: id))]
  }

  /// Changes the tree; returns what everybody is told.
  private mutating func carryOut(
    _ parts: [Assignment]
  ) -> [(client: Int, message: OriginMessage)] {
    let before = tree
    for part in parts { tree = MemoryTree(part.applied(to: tree.root)) }
    var messages: [(client: Int, message: OriginMessage)] = []
    for (other, listens) in listens.sorted(by: { $0.key < $1.key }) {
      for listen in listens {
        guard let message = push(listen, parts, before) else { continue }
        messages.append((other, message))
      }
    }
    return messages
  }

  /// What one listener is told of a write; nil if it does not concern it.
  private func push(
    _ listen: Listen, _ parts: [Assignment], _ before: MemoryTree
  ) -> OriginMessage? {
    let path = listen.query.path
    if listen.tag == nil {
      var told: [Assignment] = []
      for part in parts {
        if part.path.contains(path) { return .push(.set(tree.root[path]), path, tag: nil) }
        guard let below = part.path.relative(to: path) else { continue }
        told.append(Assignment(path: below, target: .node(tree.root[part.path])))
      }
      return told.isEmpty ? nil : .push(.merge(told), path, tag: nil)
    }
    let (old, new) = (answer(listen.query, before), answer(listen.query, tree))
    let keys = Set((old.children + new.children).map(\.key)).sorted()
    let told = keys.filter { old[$0] != new[$0] }.map { key in
      Assignment(path: Path(key), target: .node(new[key]))
    }
    return told.isEmpty ? nil : .push(.merge(told), path, tag: listen.tag)
  }

  /// What a query shows, as one node.
  func answer(_ query: Query, _ tree: MemoryTree) -> Node {
    if query.loadsAllData { return tree.root[query.path] }
    let rows = RowSlice(query).rows(among: tree.root[query.path].children, detail: .full)
    return Node(children: rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } })
  }
}

extension Path {
  /// The path of one key.
  fileprivate init(_ key: Key) { self = (try? Path([key])) ?? .root }
}
