import RunnelBase
import RunnelTree
import WireSimulation

/// An origin that takes commands in order, one at a time, and remembers every state of its tree.
///
/// Each message says at which state it was told, so that what a client shows can be compared with what
/// was true then.
struct TalkOrigin {
  struct Told {
    var message: OriginMessage
    /// The state of the tree when this was told.
    var state: Int
    /// The state that it tells of: for a write that was asked twice, the one it was done in.
    var tells: Int
    /// False if more is to be told of the same change.
    var isLast = true
  }

  private struct Listen {
    var id: AskID
    var query: Query
    var tag: Int?
  }

  /// Every state of the tree, the oldest first.
  private(set) var history: [Node]
  private(set) var outbox: [Told] = []
  private var listens: [Listen] = []
  /// Listens that were taken, and whose answer is late.
  private(set) var unanswered: [AskID] = []
  private var answers: [Int64: (message: OriginMessage, state: Int)] = [:]

  init(_ tree: Node) { history = [tree] }

  var tree: Node { history[history.count - 1] }

  mutating func takeMessage() -> Told? { outbox.isEmpty ? nil : outbox.removeFirst() }

  /// The connection ended.
  mutating func disconnect() { (outbox, listens, unanswered) = ([], [], []) }

  private mutating func tell(_ message: OriginMessage, of state: Int? = nil) {
    let now = history.count - 1
    outbox.append(Told(message: message, state: now, tells: state ?? now))
  }

  /// What the origin does with a command.
  enum Manner {
    case atOnce
    /// A listen is answered later; what changes meanwhile is told before.
    case answerLate
    case refuse
  }

  mutating func handle(_ command: OriginCommand, _ manner: Manner = .atOnce) throws {
    switch command {
    case .listen(let id, let query, let tag, let known):
      if manner == .refuse { return tell(.listenRefused(id, TalkOrigin.refusal)) }
      listens.append(Listen(id: id, query: query, tag: tag))
      let answer = TalkOrigin.window(query, tree)
      if answer.contentHash != known.whole { tell(.push(.set(answer), query.path, tag: tag)) }
      if manner == .answerLate { unanswered.append(id) } else { tell(.listenComplete(id)) }
    case .unlisten(let id, _, _):
      listens.removeAll { $0.id == id }
      tell(.unlistened(id))
    case .write(let id, let write):
      if answers[id] == nil { try perform(write, id, isRefused: manner == .refuse) }
      if let answer = answers[id] { tell(answer.message, of: answer.state) }
    case .get(let id, let query): tell(.answer(id: id, TalkOrigin.window(query, tree)))
    case .writeIf, .compareAndSet, .onDisconnect:
      throw SimulationError("\(command) is not asked here")
    }
  }

  static let refusal = TreeError(.permissionDenied, "Permission denied.")

  /// The oldest answer that is late.
  mutating func answerListen() {
    if !unanswered.isEmpty { tell(.listenComplete(unanswered.removeFirst())) }
  }

  private mutating func perform(_ write: Write, _ id: Int64, isRefused: Bool) throws {
    if !isRefused { try change(write) }
    let message =
      isRefused
      ? OriginMessage.rejected(id: id, TalkOrigin.refusal) : OriginMessage.acknowledged(id: id)
    answers[id] = (message, history.count - 1)
  }

  /// Somebody's write, of which everybody is told.
  mutating func change(_ write: Write) throws {
    let before = tree
    let parts = try write.assignments(now: 0, reader: MemoryTree(before))
    history.append(parts.reduce(before) { $1.applied(to: $0) })
    let count = outbox.count
    tellPlaces(parts, before)
    for listen in listens where listen.tag != nil { tellWindow(listen, before) }
    for index in outbox.indices.dropFirst(count).dropLast() { outbox[index].isLast = false }
  }

  /// One push serves all who listen by default.
  private mutating func tellPlaces(_ parts: [Assignment], _ before: Node) {
    var changed: Set<Path> = []
    for place in listens.filter({ $0.tag == nil }).map(\.query.path) {
      for path in parts.map(\.path) {
        let met = path.contains(place) ? place : path
        if place.contains(met), before[met] != tree[met] { changed.insert(met) }
      }
    }
    // What lies below another place is told with it.
    let places = changed.filter { place in !changed.contains { $0 != place && $0.contains(place) } }
    if let place = places.first, places.count == 1 {
      tell(.push(.set(tree[place]), place, tag: nil))
    } else if !places.isEmpty {
      let told = places.sorted().map { Assignment(path: $0, target: .node(tree[$0])) }
      tell(.push(.merge(told), .root, tag: nil))
    }
  }

  private mutating func tellWindow(_ listen: Listen, _ before: Node) {
    let old = TalkOrigin.window(listen.query, before)
    let new = TalkOrigin.window(listen.query, tree)
    let keys = Set((old.children + new.children).map(\.key)).sorted()
    let parts = keys.filter { old[$0] != new[$0] }.map { key in
      Assignment(path: Path(unchecked: [key]), target: .node(new[key]))
    }
    if parts.isEmpty { return }
    tell(.push(.merge(parts), listen.query.path, tag: listen.tag))
  }

  /// What a query shows of a tree.
  static func window(_ query: Query, _ tree: Node) -> Node {
    if query.loadsAllData { return tree[query.path] }
    let rows = RowSlice(query).rows(among: tree[query.path].children, detail: .full)
    return Node(children: rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } })
  }
}

extension Assignment {
  /// The tree after this was done.
  func applied(to root: Node) -> Node {
    switch target {
    case .node(let node): root.replacing(path, with: node)
    case .priority(let priority):
      root.replacing(path, with: root[path].with(priority: priority))
    }
  }
}
