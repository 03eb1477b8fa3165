import RunnelBase
import RunnelTree

/// An origin that does everything right: it holds the tree, answers listens, tells each window what changed
/// in it before it acknowledges, and does a write once however often it is asked.
///
/// What it tells waits in `outbox` until it is delivered.
struct FakeOrigin {
  private struct Listen {
    var query: Query
    var tag: Int?
    /// What the listener was told of the answer last.
    var told: Node
  }

  private(set) var tree = MemoryTree()
  private(set) var outbox: [OriginMessage] = []
  /// How many messages were ever put in the outbox.
  private(set) var messageCount = 0
  private var listens: [Listen] = []
  private var answers: [Int64: OriginMessage] = [:]
  private var onDisconnect = OnDisconnect()
  private var random: RandomTree

  init(seed: UInt64) { random = RandomTree(seed: seed ^ 0x5eed) }

  // MARK: The connection

  mutating func takeMessage() -> OriginMessage? { outbox.isEmpty ? nil : outbox.removeFirst() }

  mutating func disconnect(now: Int64) {
    outbox = []
    listens = []
    // A refused one is dropped: nobody is left to be told.
    for write in onDisconnect.execute() where random.chance(90) { try? change(write, now: now) }
  }

  private mutating func tell(_ message: OriginMessage) {
    outbox.append(message)
    messageCount += 1
  }

  // MARK: Commands

  /// Does what it is asked.
  ///
  /// `isFresh` is true if the one who asks had got every message by then.
  mutating func handle(_ command: OriginCommand, isFresh: Bool, now: Int64) throws {
    switch command {
    case .listen(let query, let tag, let known):
      try listen(query, tag, known: isFresh ? known : nil)
    case .unlisten(let query, let tag):
      listens.removeAll { $0.query == query && $0.tag == tag }
    case .write(let id, let write):
      if answers[id] == nil { answers[id] = carryOut(write, id: id, now: now) }
      if let answer = answers[id] { tell(answer) }
    case .get(let id, let query):
      if random.chance(10) { return tell(.rejected(id: id, FakeOrigin.refusal)) }
      tell(.answer(id: id, FakeOrigin.answer(query, tree.root)))
    case .onDisconnect(let id, let request):
      if random.chance(15) { return tell(.rejected(id: id, FakeOrigin.refusal)) }
      try onDisconnect.register(request)
      tell(.acknowledged(id: id))
    case .compareAndSet(let id, let path, let json, let hash):
      guard tree.root[path].contentHash == hash else {
        tell(.push(.set(tree.root[path]), path, tag: nil))
        return tell(.stale(id: id))
      }
      tell(carryOut(.set(path, json), id: id, now: now))
    }
  }

  private mutating func listen(_ query: Query, _ tag: Int?, known: KnownHash?) throws {
    if random.chance(3) {
      return tell(.listenRefused(query.path, tag: tag, FakeOrigin.refusal))
    }
    let answer = FakeOrigin.answer(query, tree.root)
    if let ranges = known?.ranges, random.chance(80) {
      let merges = RangeMerge.merges(updating: ranges, to: answer)
      tell(.ranges(merges, query.path, tag: tag))
    } else if known?.whole != answer.contentHash || random.chance(20) {
      tell(.push(.set(answer), query.path, tag: tag))
    }
    tell(.listenComplete(query.path, tag: tag))
    listens.append(Listen(query: query, tag: tag, told: answer))
  }

  private static let refusal = TreeError(.permissionDenied, "Permission denied.")

  private static func answer(_ query: Query, _ root: Node) -> Node {
    if query.loadsAllData { return root[query.path] }
    let rows = RowSlice(query).rows(among: root[query.path].children, detail: .full)
    return Node(children: rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } })
  }

  // MARK: Writes

  /// Does a write of the replica or refuses it; returns the answer.
  private mutating func carryOut(_ write: Write, id: Int64, now: Int64) -> OriginMessage {
    guard random.chance(85), (try? change(write, now: now)) != nil else {
      return .rejected(id: id, FakeOrigin.refusal)
    }
    return .acknowledged(id: id)
  }

  /// Does a write and tells everybody.
  mutating func change(_ write: Write, now: Int64) throws {
    let parts = try write.assignments(now: now, reader: tree)
    for part in parts { tree.perform(part) }
    for index in listens.indices {
      if listens[index].tag == nil {
        tellPlaces(parts.map(\.path), listens[index].query.path)
      } else {
        tellWindow(index)
      }
    }
  }

  private mutating func tellPlaces(_ paths: [Path], _ place: Path) {
    if paths.contains(where: { $0.contains(place) }) {
      return tell(.push(.set(tree.root[place]), place, tag: nil))
    }
    let below = paths.filter { place.contains($0) }
    if below.count > 1 || random.chance(30) {
      var nodes: [Path: Node] = [:]
      for path in below {
        if let rest = path.relative(to: place) { nodes[rest] = tree.root[path] }
      }
      if !nodes.isEmpty { tell(.push(.merge(nodes), place, tag: nil)) }
    } else {
      for path in below { tell(.push(.set(tree.root[path]), path, tag: nil)) }
    }
  }

  private mutating func tellWindow(_ index: Int) {
    let (old, query) = (listens[index].told, listens[index].query)
    let new = FakeOrigin.answer(query, tree.root)
    if new == old { return }
    listens[index].told = new
    let tag = listens[index].tag
    if random.chance(15) { return tell(.push(.set(new), query.path, tag: tag)) }
    var nodes: [Path: Node] = [:]
    for key in Set(old.children.map(\.key)).union(new.children.map(\.key))
    where old[key] != new[key] {
      nodes[Path.root.appending(key)] = new[key]
    }
    tell(.push(.merge(nodes), query.path, tag: tag))
  }
}

extension Path {
  /// The path of one key below; those of tests are short.
  fileprivate func appending(_ key: Key) -> Path { Path(unchecked: keys + [key]) }
}
