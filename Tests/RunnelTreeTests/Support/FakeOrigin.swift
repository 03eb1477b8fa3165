import RunnelBase
import RunnelTree

/// An origin that does everything right: it holds the tree, answers listens, tells each window what changed
/// in it before it acknowledges, and does a write once however often it is asked.
///
/// What it tells waits in `outbox` until it is delivered.
struct FakeOrigin {
  private struct Listen {
    var id: AskID
    var query: Query
    var tag: Int?
    /// What the listener was told of the answer last.
    var told: Node
  }

  private(set) var tree = MemoryTree()
  private(set) var outbox: [OriginMessage] = []
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

  private mutating func tell(_ message: OriginMessage) { outbox.append(message) }

  // MARK: Commands

  /// Does what it is asked.
  mutating func handle(_ command: OriginCommand, now: Int64) throws {
    switch command {
    case .listen(let id, let query, let tag, let known): listen(id, query, tag, known)
    case .unlisten(let id, _, _):
      listens.removeAll { $0.id == id }
      tell(.unlistened(id))
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
    case .writeIf(let id, let write, let hashes):
      if let answer = answers[id] { return tell(answer) }
      let changed = hashes.filter { tree.root[$0.path].contentHash != $0.hash }
      for place in changed { tell(.push(.set(tree.root[place.path]), place.path, tag: nil)) }
      if !changed.isEmpty { return tell(.stale(id: id)) }
      let answer = carryOut(write, id: id, now: now)
      answers[id] = answer
      tell(answer)
    case .compareAndSet(let id, let path, let json, let hash):
      guard tree.root[path].contentHash == hash else {
        tell(.push(.set(tree.root[path]), path, tag: nil))
        return tell(.stale(id: id))
      }
      tell(carryOut(.set(path, json), id: id, now: now))
    }
  }

  private mutating func listen(_ id: AskID, _ query: Query, _ tag: Int?, _ known: KnownHash) {
    if random.chance(3) { return tell(.listenRefused(id, FakeOrigin.refusal)) }
    let answer = FakeOrigin.answer(query, tree.root)
    if let ranges = known.ranges, random.chance(80) {
      let merges = RangeMerge.merges(updating: ranges, to: answer)
      tell(.ranges(merges, query.path, tag: tag))
    } else if known.whole != answer.contentHash || random.chance(20) {
      tell(.push(.set(answer), query.path, tag: tag))
    }
    tell(.listenComplete(id))
    listens.append(Listen(id: id, query: query, tag: tag, told: answer))
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
      let parts = below.compactMap { path in
        path.relative(to: place).map { Assignment(path: $0, target: .node(tree.root[path])) }
      }
      if !parts.isEmpty { tell(.push(.merge(parts), place, tag: nil)) }
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
    let keys = Set(old.children.map(\.key)).union(new.children.map(\.key)).sorted()
    let parts = keys.filter { old[$0] != new[$0] }.map { key in
      Assignment(path: Path.root.appending(key), target: .node(new[key]))
    }
    tell(.push(.merge(parts), query.path, tag: tag))
  }
}

extension Path {
  /// The path of one key below; those of tests are short.
  fileprivate func appending(_ key: Key) -> Path { Path(unchecked: keys + [key]) }
}
